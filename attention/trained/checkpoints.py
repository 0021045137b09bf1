"""Files -> a model: weights from safetensors, pieces from tokenizer.json. Data, never code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import Tensor

from attention.trained.layouts import LAYOUTS
from attention.trained.models import MAX_PIECES, About, Pieces, Transformer


class Weights:
    """The tensors of a safetensors file, mapped into memory.

    Names may begin with the `prefix` of a larger model that this one is part of ("bert.").
    """

    def __init__(self, file: Path, prefix: str = "") -> None:
        self._file: Any
        try:
            self._file = safe_open(file, "pt")
        except (OSError, SafetensorError) as error:
            raise ValueError(f"{file.name} must be a whole safetensors file: {error}") from error
        self._names = set(self._file.keys())
        self._prefix = prefix if any(name.startswith(prefix) for name in self._names) else ""

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._names

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor of that name, as float32. Raises ValueError unless it is there in the shape
        expected."""
        if name not in self:
            raise ValueError(f"the file of weights must have a tensor {name!r}, it has none")
        tensor: Tensor = self._file.get_tensor(self._prefix + name)
        if tuple(tensor.shape) != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(tensor.shape)}")
        return tensor.to(torch.float32)


def load_folder(folder: Path, about: About) -> Transformer:
    """The model in a folder of config.json, model.safetensors and tokenizer.json.

    Raises ValueError, saying what was expected and what came, where it cannot be read.
    """
    config = _read_json(folder / "config.json")
    layout = LAYOUTS.get(str(config.get("model_type")))
    if layout is None:
        raise ValueError(
            f"its layout must be one of {', '.join(LAYOUTS)}, got {config.get('model_type')!r}"
        )
    weights = Weights(_there(folder / "model.safetensors"), layout.prefix)
    try:
        parts = layout(config).read(weights)
    except KeyError as error:
        raise ValueError(f"config.json must have {error}, it has not") from error
    limit = min(MAX_PIECES, len(parts.embedding.positions))
    reader = read_pieces(_there(folder / "tokenizer.json"), limit)
    return Transformer(
        about, reader, parts.embedding, parts.layers, parts.final_norm, parts.unembedding
    )


def read_pieces(file: Path, limit: int) -> Callable[[str], Pieces]:
    """What turns a text into at most `limit` pieces, as the tokenizer of that file has it."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{file.name} must be a tokenizer of Hugging Face: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)

    def read(text: str) -> Pieces:
        encoded = tokenizer.encode(text)
        special = encoded.special_tokens_mask
        pairs = zip(encoded.word_ids, special, strict=True)
        return Pieces(
            ids=torch.tensor(encoded.ids, dtype=torch.int64),
            texts=tuple(encoded.tokens),
            words=tuple(None if put_in else word for word, put_in in pairs),
            left_out=sum(part.special_tokens_mask.count(0) for part in encoded.overflowing),
        )

    return read


def _there(file: Path) -> Path:
    if not file.is_file():
        raise ValueError(f"a file {file.name} is needed, there is none")
    return file


def _read_json(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(_there(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file.name} must be JSON: {error}") from error
    if not isinstance(read, dict):
        raise ValueError(f"{file.name} must be a JSON object, got {type(read).__name__}")
    return read
