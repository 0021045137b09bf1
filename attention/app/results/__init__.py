"""Results of a view, by subject, each computed once for all visitors."""
