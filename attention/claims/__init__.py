"""Claims about attention to check, each with its residual.

May import: core, inputs, display; torch.
"""
