"""Two settings or two sentences side by side, and one setting over its range.

Doors to other pages: none.
"""
