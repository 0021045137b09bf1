"""The atlas: passports of all heads of a model, to be found by words, read one or two at a time,
and tried on a sentence of one's own.

Doors to other pages: model.
"""
