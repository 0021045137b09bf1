"""Names of heads: where they look most, counted on a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attention.analysis.heads import NAMINGS, Keys, Measure
from attention.trained.models import Pieces

HOLDS = 0.5  # share of the tokens of a sentence
EARNED = 0.5  # share of the sentences

WORDS = {name: naming.words for name, naming in NAMINGS.items()}


def targets_of(naming: Measure, pieces: Pieces, seen: Tensor | None) -> Tensor:
    """Keys on which the greatest weight of a head of that name lies, of those that it may see.

    seen: (pieces, pieces), bool, None: all; a row that may see no such key does not count for the
    name. (pieces, pieces), bool.
    """
    count = len(pieces.ids)
    targets = naming.targets_of(torch.arange(count), count, Keys.of(pieces))
    return targets if seen is None else targets & seen


def shown(weights: Tensor, targets: Tensor, kept: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Rows in which a name can show, for each head: if it does, and the weight on its keys.

    It shows where one of these keys has more weight than any other, so that an even row shows
    nothing. weights (heads, queries, keys); targets (queries, keys); kept: the positions that
    count. Returns the queries that have such a key, (rows,), and (heads, rows) twice.
    """
    rows = torch.tensor([*kept])
    among = targets[rows[:, None], rows]
    queries = among.any(-1)
    asked, counted = among[queries], weights[:, rows[queries][:, None], rows]
    on, beside = (
        torch.where(which, counted, -1.0).amax(-1, keepdim=True) for which in (asked, ~asked)
    )
    return rows[queries], (on > beside).squeeze(-1), (counted * asked).sum(-1).double()


def holds(weights: Tensor, targets: Tensor, kept: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Test a name for each head on one sentence: if it holds, and the mean weight on its tokens.

    weights, targets, kept: as `shown` has them. Both (heads,), empty where no token that counts has
    such a key.
    """
    queries, right, weight = shown(weights, targets, kept)
    if not len(queries):
        return torch.empty(0), torch.empty(0)
    return right.double().mean(-1), weight.mean(-1)
