"""Attention itself: functions, masks, positions, variants, and what a trace tells.

May import: nothing of this project; torch.
"""
