"""Orders of the keys that ask no layer of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.stats import rankdata
from torch import Tensor

from attention.analysis.associations.followed import Followed


def recency(followed: Followed) -> Tensor:
    """The position of the key, whatever the query: a later one counts for more. (n, n)."""
    positions = torch.arange(1.0, 1 + len(followed.positions))
    return followed.seen(positions.expand(len(positions), -1))


def nearness(followed: Followed) -> Tensor:
    """The number of tokens less the distance of the key from the query. (n, n)."""
    positions = torch.arange(float(len(followed.positions)))
    return followed.seen(len(positions) - (positions - positions[:, None]).abs())


def embedding_length(followed: Followed) -> Tensor:
    """The length of what enters the first layer at the key, whatever the query. (n, n)."""
    lengths = followed.runs[0].entered.norm(dim=-1)
    return followed.seen(lengths.expand(len(lengths), -1))


def rarity(followed: Followed) -> Tensor:
    """The number of the key's piece in the vocabulary, whatever the query. (n, n)."""
    ids = followed.pieces.ids.float()
    return followed.seen(ids.expand(len(ids), -1))


def rarity_and_nearness(followed: Followed) -> Tensor:
    """The sum of the ranks of both among the keys that a query sees. (n, n)."""
    found = torch.zeros(len(followed.positions), len(followed.positions))
    for query, both in enumerate(zip(rarity(followed), nearness(followed), strict=True)):
        seen = slice(query + 1 if followed.causal else None)
        ranks = (torch.from_numpy(rankdata(numbers[seen])).float() for numbers in both)
        found[query, seen] = sum(ranks)
    return found


@dataclass(frozen=True)
class Baseline:
    """An order of the keys. number: a `Followed` -> (queries, keys); others as in `Method`."""

    name: str
    title: str
    definition: str
    number: Callable[[Followed], Tensor]

    def __call__(self, followed: Followed) -> Tensor:
        """Numbers of the keys, for all layers alike. (1, queries, keys)."""
        with torch.no_grad():
            return self.number(followed)[None]


# A method that agrees with erasure no better than these says nothing of the model.
BASELINES = {
    method.name: method
    for method in (
        Baseline(
            "recency", "Recency", "The position of the key: a later one counts more.", recency
        ),
        Baseline("nearness", "Nearness", "A key nearer to the query counts more.", nearness),
        Baseline(
            "embedding",
            "Length of the embedding",
            "The length of what enters the first layer at the key.",
            embedding_length,
        ),
        Baseline(
            "rarity",
            "Number in the vocabulary",
            "The number of the key's piece in the vocabulary, where rarer pieces stand later.",
            rarity,
        ),
        Baseline(
            "rarity-nearness",
            "Number in the vocabulary and nearness",
            "The sum of the ranks of both among the keys that a query sees.",
            rarity_and_nearness,
        ),
    )
}
