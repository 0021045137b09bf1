"""Small tasks learned live: the loss as a curve, the attention of every head, step by step.

Doors to other pages: model.
"""
