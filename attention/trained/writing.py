"""Going on with a text piece by piece, the keys and values of all pieces before kept.

So a piece costs the same however long the text is (Pope et al. 2022, section 3.3), but for the
weights over the pieces before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.trained.layers import KVCache
from attention.trained.models import Padded, Transformer


@dataclass(frozen=True, eq=False)
class Written:
    """A text in pieces, with all that going on with it takes.

    ids: of its pieces; scores (vocabulary,): of each piece to come next; kept: of each layer.
    """

    ids: tuple[int, ...]
    scores: Tensor
    kept: tuple[KVCache, ...]

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        return self.scores.nbytes + sum(kept.nbytes for kept in self.kept)


def begin(model: Transformer, ids: Sequence[int]) -> Written:
    """A text of these pieces, at least one, to go on with.

    Raises ValueError for models that were not trained to go on.
    """
    return _written(model, tuple(ids), ids, ())


def longer(model: Transformer, written: Written, piece: int) -> Written:
    """The text with one piece more, for the price of that piece alone."""
    return _written(model, (*written.ids, piece), [piece], written.kept)


@torch.no_grad()
def _written(
    model: Transformer, ids: tuple[int, ...], new: Sequence[int], after: Sequence[KVCache]
) -> Written:
    kept = []
    for run in model.forward(Padded(torch.tensor(new)), after=after):
        kept.append(run.kept)
        output = run.output
    scores = model.scores(model.final(output[-1:]))[0]
    return Written(ids, scores, tuple(kept))
