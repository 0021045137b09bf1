"""Heads one can break: a card for each, with a sentence whose answer falls without it.

Doors to other pages: model.
"""
