"""Runs and texts of any length as a map: from a file, from a notebook, typed on a page.

Doors to other pages: none.
"""
