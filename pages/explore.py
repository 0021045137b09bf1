"""Explore: which words each word looks at, and its new vector."""

from attention.subjects.explore import page

page.draw_page(__file__)
