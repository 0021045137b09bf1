"""Two settings or two sentences that differ in one thing, side by side."""
