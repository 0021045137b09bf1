"""A trained model: its answer, all its heads with a switch on each, and views behind tabs.

Doors to other pages: none.
"""
