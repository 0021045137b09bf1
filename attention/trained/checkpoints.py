"""Files -> a model: weights from safetensors, pieces from tokenizer.json. Data, never code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import Tensor

from attention.core.limits import limits
from attention.trained import by_transformers
from attention.trained.by_transformers import Family
from attention.trained.hooked import ByTransformers
from attention.trained.layouts import LAYOUTS, Layout
from attention.trained.models import About, Model, Parts, Transformer
from attention.trained.pieces import Reader, read_tokenizer

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


class Checkpoint:
    """The tensors of one or several safetensors files, mapped into memory.

    Names may begin with the `prefix` of a larger model that this one is part of ("bert.").
    Where only the `outline` is wanted, none are read: tensors have their shapes, and zeros.
    """

    def __init__(self, files: Sequence[Path], prefix: str = "", outline: bool = False) -> None:
        self._files: dict[str, Any] = {}
        for file in files:
            try:
                opened: Any = safe_open(file, "pt")
            except (OSError, SafetensorError) as error:
                raise ValueError(
                    f"{file.name} must be a whole safetensors file: {error}"
                ) from error
            self._files |= dict.fromkeys(opened.keys(), opened)
        self._prefix, self._outline = prefix, outline

    def __contains__(self, name: str) -> bool:
        return self._stored(name) in self._files

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all tensors, by the names in the files."""
        of = {name: file.get_slice(name).get_shape() for name, file in self._files.items()}
        return {name: tuple(shape) for name, shape in of.items()}

    def _stored(self, name: str) -> str:
        return self._prefix + name if self._prefix + name in self._files else name

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor of that name, as float32. Raises ValueError unless it is there, of floats, in
        the shape expected."""
        if name not in self:
            raise ValueError(f"the file of weights must have a tensor {name!r}, it has none")
        stored = self._stored(name)
        part = self._files[stored].get_slice(stored)
        if tuple(part.get_shape()) != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(part.get_shape())}")
        if "F" not in part.get_dtype():
            raise ValueError(f"{name} must be of floats, got {part.get_dtype()}")
        if self._outline:
            return torch.zeros(()).expand(shape)  # one number, seen everywhere
        tensor: Tensor = self._files[stored].get_tensor(stored)
        return tensor.to(torch.float32)


class Outline(NamedTuple):
    """A model of which no weights were read.

    source: who described its layout; shapes: of its tensors by their names, without the `prefix` of
    a larger model; pieces: the ids of its vocabulary; known: if its layout is known here.
    """

    source: str
    shapes: Mapping[str, tuple[int, ...]]
    prefix: str
    pieces: Mapping[str, int]
    known: bool = True

    def check_same(self, tuned: Outline) -> None:
        """Raise ValueError unless a model that was tuned from this has its tensors and pieces."""
        for name in sorted({*self.shapes, *tuned.shapes}):
            expected, came = (each.shapes.get(name, "none") for each in (self, tuned))
            if expected != came:
                raise ValueError(f"its {name} must be {expected} as its base's, got {came}")
        if tuned.pieces != self.pieces:
            differs = len({*self.pieces.items()} ^ {*tuned.pieces.items()})
            raise ValueError(f"its pieces must be its base's, {differs} are not")


def load_folder(folder: Path, about: About) -> Model:
    """The model in a folder of config.json, model.safetensors and tokenizer.json.

    Instead of model.safetensors there may be several, named by model.safetensors.index.json. Where
    the layout is not known here, transformers runs it if it is installed. Raises ValueError, saying
    what was expected and what came, where it cannot be read.
    """
    layout, tokenizer = read_layout(folder), read_tokenizer(_there(folder / TOKENIZER))
    if isinstance(layout, Family):
        weights = by_transformers.read_weights(_weight_files(folder))
        read, network = by_transformers.load(layout, weights)
        parts, reader = fitting(read, tokenizer)
        return ByTransformers(about, reader, parts, network)
    parts, reader = fitting(_parts(folder, layout, outline=False), tokenizer)
    return Transformer(about, reader, parts)


def check_folder(folder: Path) -> Outline:
    """Return the outline of a folder. Raises ValueError where `load_folder` would, as far as that
    is seen without its weights."""
    layout, tokenizer = read_layout(folder), read_tokenizer(_there(folder / TOKENIZER))
    if isinstance(layout, Family):
        shapes = Checkpoint(_weight_files(folder)).shapes
        return Outline(layout.source, shapes, "", tokenizer.get_vocab(), known=False)
    return outline_of(layout, *fitting(_parts(folder, layout, outline=True), tokenizer))


def outline_of(layout: Layout, parts: Parts, reader: Reader) -> Outline:
    """The outline of a model whose layout is known."""
    assert parts.stored is not None
    shapes = {name: tuple(tensor.shape) for name, tensor in parts.stored.tensors.items()}
    return Outline(layout.source, shapes, layout.prefix, reader.vocabulary)


def _parts(folder: Path, layout: Layout, outline: bool) -> Parts:
    return layout.keep(Checkpoint(_weight_files(folder), layout.prefix, outline))


def fitting(parts: Parts, tokenizer: Tokenizer) -> tuple[Parts, Reader]:
    """The parts of a model, and what reads for it. Raises ValueError where it has ids without a
    vector."""
    reader = Reader(tokenizer, min(limits().tokens, parts.limit))
    vocabulary = len(parts.embedding.pieces)
    if reader.largest_id >= vocabulary:
        raise ValueError(
            f"the tokenizer must have ids below {vocabulary}, one for each vector, "
            f"it has {reader.largest_id}"
        )
    return parts, reader


def read_layout(folder: Path) -> Layout | Family:
    """Read the layout of a folder's files from its config.json, or the family of transformers' that
    runs it. Raises ValueError where it says nothing, or nothing that is known."""
    config = read_json(folder / CONFIG)
    layout = LAYOUTS.get(str(config.get("model_type")))
    return by_transformers.family_of(config, LAYOUTS) if layout is None else layout(config)


def read_index(file: Path) -> list[str]:
    """The files of weights that an index names, all in the folder of the index. Raises ValueError
    where it is no such index."""
    file_of = read_json(file).get("weight_map")
    names = sorted(set(map(str, file_of.values()))) if isinstance(file_of, dict) else []
    if not names:
        raise ValueError(f"{file.name} must have a weight_map from tensors to files")
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise ValueError(
                f"{file.name} must name safetensors files beside itself, it has {name!r}"
            )
    return names


def _weight_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file() or not (folder / INDEX).is_file():
        return [_there(folder / WEIGHTS)]
    return [_there(folder / name) for name in read_index(folder / INDEX)]


def _there(file: Path) -> Path:
    if not file.is_file():
        raise ValueError(f"a file {file.name} is needed, there is none")
    return file


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises ValueError where there is none."""
    try:
        read = json.loads(_there(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file.name} must be JSON: {error}") from error
    if not isinstance(read, dict):
        raise ValueError(f"{file.name} must be a JSON object, got {type(read).__name__}")
    return read
