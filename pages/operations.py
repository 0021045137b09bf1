"""Operations: the operations attention is made of, each beside torch's own answer."""

from attention.subjects.operations import page

page.draw_page(__file__)
