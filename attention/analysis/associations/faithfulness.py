"""Agreement of associations with a yardstick, and faithfulness of an order of tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis.associations.followed import Followed
from attention.changing.erasing import mask_of

FEWEST = 5  # keys of a row that has a rank correlation


def row_agreements(
    found: np.ndarray, yardstick: np.ndarray, kept: Sequence[int], causal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Spearman's rank correlation of each row that has one, and of how many keys; ties are ties.

    found (…, queries, keys); yardstick (queries, keys). Of each row count the keys that are kept,
    but the token itself, those behind it where causal, and what is no number in the yardstick. A
    row needs `FEWEST` keys and two numbers in the yardstick; one of a single number in `found` is
    nan. (…, rows), (rows,).
    """
    rows, counts = [np.empty((*found.shape[:-2], 0))], []
    for query in kept:
        keys = [key for key in kept if key != query and not (causal and key > query)]
        keys = [key for key in keys if np.isfinite(yardstick[query, key])]
        if len(keys) < FEWEST or np.ptp(yardstick[query, keys]) == 0:
            continue
        ours = _centred_ranks(found[..., query, :][..., keys])
        theirs = _centred_ranks(yardstick[query, keys])
        lengths = np.linalg.norm(ours, axis=-1) * np.linalg.norm(theirs)
        with np.errstate(invalid="ignore"):
            rows.append((ours @ theirs / lengths)[..., None])
        counts.append(len(keys))
    return np.concatenate(rows, -1), np.array(counts)


def _centred_ranks(numbers: np.ndarray) -> np.ndarray:
    ranks = rankdata(numbers, axis=-1)
    centred: np.ndarray = ranks - ranks.mean(-1, keepdims=True)
    return centred


def agreement(found: Tensor, yardstick: Tensor, kept: Sequence[int], causal: bool = False) -> float:
    """The rank agreement of two associations (queries, keys): see `row_agreements`.

    The mean over the rows, each weighted by how many keys it has. kept: the positions that count,
    without those of attention sinks, see `Pieces.kept`. nan where no row has a correlation.
    """
    rows, counts = row_agreements(found.numpy(), yardstick.numpy(), kept, causal)
    known = np.isfinite(rows)
    return float(np.average(rows[known], weights=counts[known])) if known.any() else math.nan


@dataclass(frozen=True, eq=False)
class Curves:
    """Faithfulness of an order of tokens, by how many of the first ones are taken (DeYoung et al.
    2020, section 4.2): 0, 1, … all of them.

    comprehensiveness: how far the target drops when these are removed; sufficiency: how far it
    drops when these alone are kept.
    """

    comprehensiveness: Tensor
    sufficiency: Tensor


@torch.no_grad()
def curves(followed: Followed, importance: Tensor) -> Curves:
    """Fall of the target as tokens go, the most important first.

    importance (pieces,). Special tokens stay, and for decoders the last one, at which the target
    is. For decoders the target is that of `Followed.directions` there; for others it is the cosine
    between the mean hidden state and that of the whole sentence. Removed tokens become the mask
    token, or are left out where the model has none.
    """
    pieces, mask = followed.pieces, mask_of(followed.model)
    free = [at for at in range(len(pieces.ids)) if not pieces.special[at]]
    if followed.goes_on:
        free = [at for at in free if at != len(pieces.ids) - 1]
    order = sorted(free, key=lambda at: -float(importance[at]))

    def target(states: Tensor) -> float:
        if followed.goes_on:
            return float(states[-1] @ followed.directions[-1])
        return float(cosine_similarity(states.mean(0), followed.hidden.mean(0), dim=-1))

    def without(removed: Sequence[int]) -> Tensor:
        ids = pieces.ids.clone()
        if mask is None:
            return ids[[at for at in range(len(ids)) if at not in removed]]
        ids[[*removed]] = mask
        return ids

    whole, counts = target(followed.hidden), range(len(order) + 1)
    left = [without(part) for count in counts for part in (order[:count], order[count:])]
    there = [ids for ids in left if len(ids)]
    states = followed.ends_of(there) if there else iter(())
    drops = [whole - (target(next(states)) if len(ids) else 0.0) for ids in left]
    return Curves(torch.tensor(drops[::2]), torch.tensor(drops[1::2]))
