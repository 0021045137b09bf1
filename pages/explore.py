"""Play: which words each word looks at, and five folds in the columns of its sentence."""

from attention.subjects.play import page

page.draw_page(__file__)
