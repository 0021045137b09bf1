"""Claims about attention to check, each with how far its sides differ.

May import: core, inputs, display; torch.
"""
