"""Heads: what each head of a layer looks at, and what it adds."""

from attention.subjects.heads import page

page.draw_page(__file__)
