"""The atlas: passports of all heads of a model, listed by any number of them, read one or two at
a time, and tried on a sentence of one's own.

Doors to other pages: model.
"""
