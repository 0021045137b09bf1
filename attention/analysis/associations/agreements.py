"""Agreement of associations with a yardstick."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata
from torch import Tensor

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
