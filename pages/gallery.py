"""Heads to break: sentences whose answer hangs on one head, as cards."""

from attention.subjects.gallery import page

page.draw_page(__file__)
