"""Explore: where each word looks, its new vector, and the opening of the bare address.

Doors to other pages: cross, long_run, model.
"""
