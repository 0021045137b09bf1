"""Parts of pages: widgets, words and figures, with works and trainings that are under way."""
