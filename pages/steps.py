"""Step by step: one computation of attention, one stage at a time, each cell with its working."""

from attention.subjects.steps import page

page.draw_page(__file__)
