"""Sources: documents the app grew out of, each step with its number and a link that opens it."""

from attention.subjects.sources import page

page.draw_page(__file__)
