"""Lessons as data: chapters and how they are read, cards, terms, heads whose work is known.

`steps` and `operations` declare the computations that a learner goes through one by one.

May import: core, inputs, trained, analysis, display; torch, yaml.
"""
