"""Models that have learned: a sentence -> pieces -> one forward pass, followed or edited.

May import: core; torch, safetensors, tokenizers, sentencepiece, huggingface_hub.
"""
