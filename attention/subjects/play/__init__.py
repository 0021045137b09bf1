"""Play: where each word of a sentence looks, above five folds in its columns.

Doors to other pages: two_sequences, model.
"""
