"""Claims about attention to check, each with how far its sides differ.

Doors to other pages: none.
"""
