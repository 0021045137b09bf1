"""Models that have learned: a sentence -> pieces -> one Trace per layer, from real weights.

May import: core; torch, safetensors, tokenizers, sentencepiece, huggingface_hub.
"""
