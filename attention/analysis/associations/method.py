"""Methods of association: each is its number, its words and an example by hand."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.two_words import WORDS, Row, small_model
from attention.changing.known import Progress
from attention.core.arguments import must_be, must_be_several
from attention.core.papers import ARXIV
from attention.core.registry import check_entry
from attention.trained.models import Model, Pieces

ABNAR = f"[Abnar & Zuidema 2020]({ARXIV}2005.00928)"

METHODS: dict[str, Method] = {}


@dataclass(frozen=True)
class Step:
    """A step of an example: what is done, and the matrices it is done with, joined by signs."""

    words: str
    parts: Row


class Method(ABC):
    """A way to get associations. Subclasses are one each, found by name in `METHODS`.

    name: as links and tables have it; title; source: who described it; definition: exactly;
    by_vectors: whether it needs the vectors that a known layout tells; slow: whether it runs the
    model many times.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    definition: ClassVar[str]
    by_vectors: ClassVar[bool] = False
    slow: ClassVar[bool] = False

    @abstractmethod
    def number(self, followed: Followed) -> Tensor:
        """The associations. (layers, queries, keys)."""

    @abstractmethod
    def steps(self, case: Followed) -> list[Step]:
        """Steps by which it comes to its numbers over two words; the last matrix has these."""

    @property
    def case(self) -> Followed:
        """The two words through the model that it is shown on."""
        model = small_model()
        return Followed(model, model.pieces(" ".join(WORDS)))

    @functools.cached_property
    def by_hand(self) -> tuple[Step, ...]:
        """Its example, see `steps`."""
        with torch.no_grad():
            return tuple(self.steps(self.case))

    def __call__(self, followed: Followed) -> Tensor:
        """See `associate`."""
        if not followed.layers:
            raise ValueError(f"{followed.model.about.title} has no layers of self-attention")
        with torch.no_grad():
            return self.number(followed)


def register(method: type[Method]) -> type[Method]:
    """Class decorator: put a method into `METHODS` under its name; each name once.

    Raises ValueError where it lacks its number, its words or its example.
    """
    check_entry("method of association", method, getattr(method, "name", ""), METHODS)
    METHODS[method.name] = method()
    return method


def associate(
    model: Model,
    pieces: Pieces,
    method: str,
    words: tuple[int, int] | None = None,
    progress: Progress = lambda done, of: None,
) -> Tensor:
    """The associations of a sentence by one of `METHODS`. (layers, queries, keys).

    words: ids of two pieces whose scores are told apart, for decoders; progress: see `Followed`.
    Raises ValueError where there is no such method, or the model has not what it needs.
    """
    must_be("model", model, Model, how="trained.sources.load gives one")
    must_be("pieces", pieces, Pieces, how="model.pieces(text) gives them")
    if words is not None:
        must_be_several("words", words, int, example="the ids of two pieces, (5, 8)")
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method](Followed(model, pieces, words, progress))


def methods_for(model: Model) -> list[str]:
    """The methods that a model has what they need for."""
    return [name for name, method in METHODS.items() if model.laid_out or not method.by_vectors]
