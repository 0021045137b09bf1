"""Watch it learn: small tasks learned live, the attention of each head changing on the way."""

from attention.subjects.learning import page

page.draw_page(__file__)
