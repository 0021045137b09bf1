"""Results that several pages show, computed once for all visitors."""
