"""Two sequences: a translator, queries and keys of two sentences, batches with padding.

Doors to other pages: none.
"""
