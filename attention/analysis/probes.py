"""A probe of all heads: random pieces, said twice (Olsson et al. 2022, "Induction heads")."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.glances import Glance, glances
from attention.analysis.heads import MEASURES
from attention.trained.models import Pieces, Transformer

PIECES = 50
HALF = 0.5
SEED = 0


@dataclass(frozen=True, eq=False)
class Probe:
    """A model on random pieces said twice.

    pieces: how many before they are repeated; glance: all heads on it, with their measures; losses:
    the mean of −ln p of each next piece, over those said first and over their repetition.
    """

    pieces: int
    glance: Glance
    losses: tuple[float, float]


@torch.no_grad()
def probe(model: Transformer, pieces: int = PIECES) -> Probe:
    """A model that goes on, on random pieces said twice: a pattern that no text has taught it.

    Raises ValueError for models that were not trained to go on.
    """
    ids = repeated(model, min(pieces, model.limit // 2))
    run = model.run_pieces(Pieces(ids, model.shown(ids.tolist()), (0,) * len(ids)))
    scores = model.scores(run.hidden[:-1]).log_softmax(-1)
    losses = -scores.gather(-1, ids[1:, None]).squeeze(-1)
    first = len(ids) // 2
    (glance,) = glances(run)
    return Probe(first, glance, (float(losses[: first - 1].mean()), float(losses[first:].mean())))


def best_heads(probed: Probe) -> dict[str, tuple[int, float]]:
    """For each share that is measured the head with the most of it, and how much.

    Shares of which no head has more than half are left out: no head does that alone.
    """
    best = {}
    for name, numbers in probed.glance.seen.measures.items():
        share = float(numbers.max())
        if MEASURES[name].targets is not None and share > HALF:
            best[name] = (int(numbers.argmax()), share)
    return best


def repeated(model: Transformer, pieces: int) -> Tensor:
    """Ids of so many pieces, each drawn alike often, and the same again: (2 · pieces,)."""
    size = model.unembedding.shape[1]
    drawn = torch.randint(size, (pieces,), generator=torch.Generator().manual_seed(SEED))
    return drawn.repeat(2)
