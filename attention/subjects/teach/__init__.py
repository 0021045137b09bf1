"""Lessons written on cards, and a class that is asked them.

Doors to other pages: guide, learning.
"""
