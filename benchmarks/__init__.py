"""Measurements of the app and of its library: run ``python -m benchmarks``."""
