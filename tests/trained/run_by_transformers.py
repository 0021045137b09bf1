"""Packaged models once more, run by transformers as if their layout were not known here."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from attention.trained import by_transformers, sources
from attention.trained.gguf_files import GgufFile
from attention.trained.hooked import ByTransformers
from tests.trained.making import transformers
from tests.trained.packaged import packaged

PAIRS = ("minilm", "smollm2")


@functools.cache
def by_hook(name: str) -> ByTransformers:
    """A packaged model as transformers runs it, with the same weights and tokenizer."""
    transformers()
    known = packaged(name)
    settings, weights = _bert() if name == "minilm" else _llama()
    parts, network = by_transformers.load(by_transformers.family_of(settings, ()), weights)
    about = replace(known.about, name=f"{name}-by-transformers")
    return ByTransformers(about, known._read, parts, network)


def _bert() -> tuple[Mapping[str, Any], dict[str, Tensor]]:
    folder = sources.MINILM.path
    assert folder is not None
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    return settings, by_transformers.read_weights([folder / "model.safetensors"])


def _llama() -> tuple[Mapping[str, Any], dict[str, Tensor]]:
    """SmolLM2 as safetensors files would have it."""
    folder = sources.SMOLLM2.path
    assert folder is not None
    file = GgufFile(folder / sources.SMOLLM2_FILE)
    file.map()
    settings = {
        **file.layout.config,
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "pad_token_id": None,
    }
    config = transformers().LlamaConfig.from_dict(settings)
    torch = __import__("torch")
    with torch.device("meta"):
        shapes = transformers().LlamaForCausalLM(config).state_dict()
    wanted = {name: tuple(each.shape) for name, each in shapes.items() if "lm_head" not in name}
    weights = {name: file.take(name.removeprefix("model."), *wanted[name]) for name in wanted}
    return settings, weights
