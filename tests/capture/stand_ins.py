"""Tiny random models and a tokenizer for those that the docs name: a notebook without a network."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers

from attention.notebook import show
from tests.capture.families import FAMILIES, LLAVA, WITHOUT_SOFTMAX, transformers

NAMED = {
    "Qwen/Qwen3-0.6B": (FAMILIES["Qwen3"], "AutoModelForCausalLM"),
    "Qwen/Qwen3.5-4B": (WITHOUT_SOFTMAX["Qwen 3.5"], "AutoModelForCausalLM"),
    "gpt2": (FAMILIES["GPT-2"], "AutoModelForCausalLM"),
    "google/vit-base-patch16-224": (FAMILIES["ViT"], "AutoModel"),
    "llava-hf/llava-1.5-7b-hf": (LLAVA, "AutoModelForImageTextToText"),
    "openai/whisper-tiny": (FAMILIES["Whisper"], "AutoModel"),
}
WORDS = ["the", "cat", "sat", "on", "mat", "because", "it", "was", "tired"]


def tiny(name: str) -> Any:
    family, kind = NAMED[name]
    return replace(family, model=kind).build()


def tokenizer(name: str) -> Any:
    vocabulary = {word: number for number, word in enumerate(["?", *WORDS])}
    vocabulary |= {f"piece{number}": number for number in range(len(vocabulary), 53)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    kind: Any = transformers.PreTrainedTokenizerFast
    return kind(tokenizer_object=made, unk_token="?", pad_token="?")


for kind in ("AutoModel", "AutoModelForCausalLM", "AutoModelForImageTextToText"):
    getattr(transformers, kind).from_pretrained = staticmethod(tiny)
transformers.AutoTokenizer.from_pretrained = staticmethod(tokenizer)

warnings.filterwarnings("ignore", r"not kept: encoder\.conv1 convolves")  # told in the docs
show.is_live = lambda: True  # they are copied into a notebook
