"""Stages of a measuring: one text at a time, each kept in a file, so that hours can be resumed."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from attention.atlas.corpus import Corpus, CorpusItem
from attention.atlas.passport import Text
from attention.atlas.twin import twins_of
from attention.changing.change import Head
from attention.changing.corpus import on_corpus
from attention.changing.effects import means
from attention.changing.known import Progress
from attention.trained.models import Model, tensors_of

DIGITS = 16  # of a digest, in a file's name


@dataclass(frozen=True, eq=False)
class Subject:
    """A model that is measured, and the texts that it is measured on."""

    model: Model
    corpus: Corpus

    @functools.cached_property
    def heads(self) -> list[Head]:
        """All its heads, by layer: the order of every tensor that has one number a head."""
        return [
            (at, head)
            for at, layer in enumerate(self.model.layers)
            for head in range(layer.attention.heads)
        ]

    @functools.cached_property
    def means(self) -> list[Tensor]:
        """Mean outputs of heads, of each layer (heads, 1, width), see `effects.means`; of
        packaged models those that come with the library."""
        found = on_corpus(self.model.about.name)
        if found is not None:
            return found.means
        return means(self.model, self.corpus.means_over, "output")

    def text(self, asked: CorpusItem, answer: str = "", before: float = 0.0) -> Text:
        """A text as the atlas has it; answer, before: see there."""
        pieces = self.model.pieces(asked.text).texts
        return Text(asked.text, asked.half, pieces, asked.kind, answer, before, asked.by_zero)

    @functools.cached_property
    def twins(self) -> list[Model]:
        """Untrained twins of the model, see `twin`."""
        return twins_of(self.model, len(self.heads))

    @functools.cached_property
    def weights(self) -> str:
        """SHA-256 of the model's numbers, as they are in memory."""
        digest = hashlib.sha256()
        for tensor in tensors_of([*vars(self.model).values()]):
            digest.update(str((tensor.dtype, *tensor.shape)).encode())
            digest.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    @functools.cached_property
    def known(self) -> dict[str, str]:
        """All that a measurement depends on beside its text: a file of others is made anew."""
        over = hashlib.sha256("\n".join(self.corpus.means_over).encode()).hexdigest()
        return {"weights": self.weights, "means_over": over}


class Stage(Protocol):
    """A measurement of one text at a time. name: of its folder; version: raised where the same text
    would give other numbers."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    def texts(self, corpus: Corpus) -> Sequence[CorpusItem]:
        """The texts that it measures, in order."""
        ...

    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        """Measure one of them."""
        ...


def run(
    stage: Stage, subject: Subject, folder: Path, progress: Progress | None = None
) -> list[dict[str, Tensor]]:
    """Measure all texts of a stage, but those that the folder has already; these are read.

    progress: is told how many of how many are done; an exception that it raises stops the work.
    """
    found, texts = [], stage.texts(subject.corpus)
    for done, asked in enumerate(texts, 1):
        found.append(measured(stage, subject, folder, asked))
        if progress is not None:
            progress(done, len(texts))
    return found


def measured(stage: Stage, subject: Subject, folder: Path, asked: CorpusItem) -> dict[str, Tensor]:
    """Read what a stage measured of a text; measure it where no whole file of it is there."""
    about = {**subject.known, "version": f"{stage.version}", "asked": json.dumps(asdict(asked))}
    name = hashlib.sha256(about["asked"].encode()).hexdigest()[:DIGITS]
    file = folder / stage.name / f"{name}.safetensors"
    found = kept(file, about)
    if found is None:
        found = stage.measure(subject, asked)
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        save_file({key: each.contiguous() for key, each in found.items()}, partial, about)
        partial.replace(file)
    return found


def kept(file: Path, about: dict[str, str]) -> dict[str, Tensor] | None:
    """The tensors of a file, None where it is not there, not whole, or about something else."""
    try:
        with safe_open(file, "pt") as opened:
            if opened.metadata() != about:
                return None
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (FileNotFoundError, SafetensorError):
        return None
