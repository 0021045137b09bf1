"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from attention.subjects.long_run import page

page.draw_page(__file__)
