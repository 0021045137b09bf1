"""Names that hold for the heads of a model, read from its passports without all else in these."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from attention.analysis.names import WORDS
from attention.atlas import files
from attention.atlas.passport import Name


@dataclass(frozen=True)
class Earned:
    """A name that holds for a head.

    share: of the sentences of both halves that have such words, on how many it holds; sentences:
    how many these are.
    """

    name: str
    layer: int
    head: int
    share: float
    sentences: int


@dataclass(frozen=True)
class _Named:
    layer: int
    head: int
    names: tuple[Name, ...]


@dataclass(frozen=True)
class _Names:
    passports: tuple[_Named, ...]


def names_of(model: str) -> tuple[Earned, ...]:
    """The names that hold for heads of a model, the one that holds most often first.

    None where there are no passports of it, or their file is broken: the page of these says why.
    """
    path = files.available().get(model)
    return () if path is None else _names_in(path, path.stat().st_mtime)


@functools.lru_cache(maxsize=8)
def _names_in(path: Path, stamp: float) -> tuple[Earned, ...]:
    try:
        read = files.decoded(files.packed_in(path), _Names)
        found = [
            _earned(one, name)
            for one in read.passports
            for name in one.names
            if name.holds and name.name in WORDS
        ]
    except (OSError, ValueError, ArithmeticError):
        return ()
    return tuple(sorted(found, key=lambda one: (-one.share, one.layer, one.head, one.name)))


def _earned(one: _Named, name: Name) -> Earned:
    sentences = sum(half.count for half in name.halves)
    times = sum(round(half.mean * half.count) for half in name.halves)
    return Earned(name.name, one.layer, one.head, times / sentences, sentences)
