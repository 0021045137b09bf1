"""Play: which words each word looks at, and five folds in the columns of its sentence."""

from attention.subjects.explore import page

page.draw_page(__file__)
