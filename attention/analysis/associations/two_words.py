"""Two words and two layers, small enough to work out each method by hand.

The numbers come from the methods themselves, over a model of two dimensions made here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.core.matrix import Matrix
from attention.trained.layers import KnownLayer, TrainedAttention
from attention.trained.models import About, Embedding, Parts, Pieces, Transformer
from attention.trained.parts import FeedForward, Norms

WORDS = ("the", "cat")
MASK = "[MASK]"
Row = list[Matrix | str]
ROW = 1  # that of "cat", which the words tell
INTRODUCTION = (
    "Two words, “the” and “cat”, two layers, two heads of one dimension. Layer 1 looks as shown; "
    "the value of “the” is 1, that of “cat” 4, so one is four times as long. Layer 2 gives both "
    "words the same weight."
)


class _Words:
    """Reads texts of the words there are, one piece each."""

    texts = (*WORDS, MASK)

    def __call__(self, text: str) -> Pieces:
        known = [self.texts.index(word) for word in text.split() if word in self.texts]
        return Pieces(torch.tensor(known), self.shown(known), tuple(range(len(known))))

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.texts[piece] for piece in ids)

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None:
        return " ".join(self.shown(ids))


def small_model() -> Transformer:
    """Two layers of two heads over two dimensions, without norms and feed-forwards."""
    nothing = FeedForward(torch.zeros(2, 1), None, torch.zeros(1, 2), None, torch.relu)
    # the first head: "cat" scores "the" by ln 3, so that weights are 3/4 and 1/4
    first = {
        "W_q": torch.tensor([[0.0, 0.0], [math.log(3), 0.0]]),
        "W_k": torch.tensor([[1.0, 0.0], [0.0, 0.0]]),
        "W_v": torch.tensor([[1.0, 0.0], [0.0, 4.0]]),
        "W_o": torch.eye(2),
    }
    second = first | {"W_q": torch.zeros(2, 2), "W_v": torch.eye(2)}
    layers = [
        KnownLayer(TrainedAttention(2, parameters), Norms(), nothing, Norms())
        for parameters in (first, second)
    ]
    embedding = Embedding(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    return Transformer(About("small", "Two words", ""), _Words(), Parts(embedding, layers, 2))


def square(name: str, numbers: Tensor) -> Matrix:
    """Shares of both words, or their weights."""
    return Matrix(name, numbers, WORDS, WORDS, "share")


def brought(name: str, numbers: Tensor) -> Matrix:
    """The vectors that each word gives to "cat"."""
    return Matrix(name, numbers[ROW], [f"from {word}" for word in WORDS], ["0", "1"])


def distances(name: str, vectors: Sequence[Tensor], words: Sequence[str]) -> list[Matrix | str]:
    """Vectors of "cat" as it is and changed, and how far these are from it."""
    whole = torch.stack([*vectors])
    changed = whole[1:].double()
    distances = 1 - cosine_similarity(changed, whole[:1].double(), dim=-1)
    return [
        Matrix(name, whole, words, ["0", "1"]),
        "1 − cosine →",
        Matrix("distance", distances[:, None], words[1:], ["distance"], "share"),
    ]
