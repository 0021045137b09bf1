"""Attention one can see: every step of every variant, computed with PyTorch and kept."""
