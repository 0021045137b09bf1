"""Atlas: a passport for every head of a model, and a name to break."""

from attention.subjects.atlas import page

page.draw_page(__file__)
