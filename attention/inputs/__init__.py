"""A sentence becomes tokens, and tokens become word vectors.

Needs torch and torchtext, and nothing else of this project.
"""
