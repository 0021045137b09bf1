"""Lessons written on cards or as text, and the answers of a class.

Doors to other pages: guide, learning.
"""
