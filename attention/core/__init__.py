"""Attention itself: functions, masks, positions, variants, and what a trace tells.

Needs torch alone, and nothing else of this project.
"""
