"""Computations of the pages that teach: steps, heads, two sequences, comparisons, operations;
lessons.

May import: core, inputs, trained, analysis, pipeline, display; torch, torchtext, yaml.
"""
