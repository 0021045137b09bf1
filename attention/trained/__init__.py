"""Models that have learned: a sentence -> pieces -> one forward pass, followed or edited.

May import: core; torch, numpy, safetensors, gguf, tokenizers, sentencepiece, huggingface_hub.
"""
