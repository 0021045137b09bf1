"""Lessons in chapters, each with a live figure and a question: the guide, and own ones.

Doors to other pages: play, learning, model.
"""
