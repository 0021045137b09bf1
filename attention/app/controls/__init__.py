"""Controls of pages and what stands around figures: widgets, notes, fragments, waits."""
