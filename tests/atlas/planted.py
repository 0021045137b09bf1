"""Models whose heads look where a test says: no weights but those of attention, a piece a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attention.atlas.corpus import Corpus, CorpusItem
from attention.atlas.passport import half_of
from attention.core import masks
from attention.trained.models import LayerInput, Pieces, Run

Looks = Callable[[int], Tensor]  # so many pieces -> weights (queries, keys)


def on(offset: int, weight: float = 0.9) -> Looks:
    """A head with this weight on the piece so many further, the rest spread over all others; even
    where there is no such piece."""

    def looks(many: int) -> Tensor:
        rows = torch.full((many, many), (1 - weight) / (many - 1))
        for row in range(many):
            if 0 <= row + offset < many:
                rows[row, row + offset] = weight
            else:
                rows[row] = 1 / many
        return rows

    return looks


def even(many: int) -> Tensor:
    """A head that spreads all rows evenly."""
    return torch.full((many, many), 1 / many)


def noise(seed: int) -> Looks:
    """A head that looks anywhere."""

    def looks(many: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed * 1009 + many)
        return torch.rand(many, many, generator=generator).softmax(-1)

    return looks


class Layer:
    """One layer of such heads."""

    crosses = False

    def __init__(self, heads: Sequence[Looks], causal: bool) -> None:
        self.heads, self.causal = heads, causal
        self.attention = SimpleNamespace(heads=len(heads))

    def mask(self, queries: int, keys: int) -> Tensor | None:
        return masks.causal(queries, keys) if self.causal else None

    def trace(self, x: Tensor, memory: Tensor | None) -> Any:
        weights = torch.stack([looks(len(x)) for looks in self.heads])
        mask = self.mask(len(x), len(x))
        if mask is not None:
            weights = weights * mask
            weights = weights / weights.sum(-1, keepdim=True)
        return SimpleNamespace(weights=weights)


class Model:
    """One layer over words; ids are equal for equal words."""

    def __init__(self, heads: Sequence[Looks], *, causal: bool, special: bool) -> None:
        self.layers = [Layer(heads, causal)]
        self.special = special

    def pieces(self, text: str) -> Pieces:
        words = [*(["[CLS]"] if self.special else []), *text.split()]
        ids = torch.tensor([[*dict.fromkeys(words)].index(word) for word in words])
        first = int(self.special)
        places = tuple(None if at < first else at - first for at in range(len(words)))
        return Pieces(ids, tuple(words), places)

    def run_pieces(self, pieces: Pieces, output: Pieces | None = None) -> Run:
        x = torch.zeros(len(pieces.ids), 1)
        layer: Any = self.layers[0]
        return Run(pieces, (LayerInput(layer, pieces, x, x),), x)

    def run(self, text: str) -> Run:
        return self.run_pieces(self.pieces(text))


def subject(
    heads: Sequence[Looks],
    twin: Sequence[Looks],
    texts: Sequence[str],
    *,
    causal: bool = False,
    special: bool = True,
) -> Any:
    """Such a model with its twin and its texts, as `stages.Subject` has them."""
    model, other = (Model(each, causal=causal, special=special) for each in (heads, twin))
    asked = tuple(CorpusItem(text, "", half_of(at)) for at, text in enumerate(texts))
    places = [(0, head) for head in range(len(heads))]
    return SimpleNamespace(model=model, twins=[other], corpus=Corpus(asked, (), ()), heads=places)
