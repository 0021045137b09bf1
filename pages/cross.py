"""Two sequences: queries from one sentence, keys and values from another, or from a batch."""

from attention.subjects.two_sequences import page

page.draw_page(__file__)
