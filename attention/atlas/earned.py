"""Names that hold for the heads of a model and the cost of their loss elsewhere, read from its
passports without all else in these."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attention.analysis.names import WORDS
from attention.atlas import files
from attention.atlas.passport import Cost, Name, Numbered


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
class Costs:
    """The cost of a head's loss to sentences at large, set to its mean and to zero."""

    elsewhere: Cost
    elsewhere_by_zero: Cost


@dataclass(frozen=True)
class _Head(Numbered):
    layer: int
    head: int
    names: tuple[Name, ...]
    effects: Costs


@dataclass(frozen=True)
class _Heads:
    passports: tuple[_Head, ...]


def names_of(model: str) -> tuple[Earned, ...]:
    """The names that hold for heads of a model, the one that holds most often first.

    None where there are no passports of it, or their file is broken: the page of these says why.
    """
    found = [
        _earned(one, name)
        for one in _read(model)
        for name in one.names
        if name.holds and name.name in WORDS
    ]
    return tuple(sorted(found, key=lambda one: (-one.share, one.layer, one.head, one.name)))


def costs_of(model: str) -> Mapping[tuple[int, int], Costs]:
    """The costs of each head's loss, by layer and head; none as in `names_of`."""
    return {one.place: one.effects for one in _read(model)}


def _read(model: str) -> tuple[_Head, ...]:
    path = files.available().get(model)
    return () if path is None else _heads_in(path, path.stat().st_mtime)


@functools.lru_cache(maxsize=8)
def _heads_in(path: Path, stamp: float) -> tuple[_Head, ...]:
    try:
        return files.decoded(files.packed_in(path), _Heads).passports
    except (OSError, ValueError, ArithmeticError):
        return ()


def _earned(one: _Head, name: Name) -> Earned:
    sentences = sum(half.count for half in name.halves)
    times = sum(round(half.mean * half.count) for half in name.halves)
    return Earned(name.name, one.layer, one.head, times / sentences, sentences)
