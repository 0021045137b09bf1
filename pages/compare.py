"""Compare: two settings on one sentence, one setting over its range, or two sentences."""

from attention.subjects.compare import page

page.draw_page(__file__)
