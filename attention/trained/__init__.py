"""Models that have learned: a sentence -> pieces -> one forward pass, followed or edited.

May import: core, capture; torch, numpy, safetensors, gguf, tokenizers, sentencepiece,
huggingface_hub, transformers.
"""
