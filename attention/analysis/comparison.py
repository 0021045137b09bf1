"""Rows of weights compared, and two sentences laid side by side."""

from __future__ import annotations

import functools
from collections import Counter
from difflib import SequenceMatcher
from itertools import zip_longest

import torch
from torch import Tensor

from attention.core.analysis import is_distribution

MAX_PAIRS = 1 << 14  # an ordinary text of 512 words beside another makes some 3,000


def divergence_terms(p: Tensor, q: Tensor) -> Tensor:
    """Terms of the Jensen–Shannon divergence of two rows, one per key, in bits. (…, keys), float64.

    p, q: (…, keys), weights that sum to 1. The term of a key is ½ p log2(p/m) + ½ q log2(q/m)
    with m = (p + q) / 2; it is never below 0 (Lin 1991, section IV, with equal parts).
    """
    p, q = p.double(), q.double()
    mean = (p + q) / 2
    parts = [torch.where(one > 0, one * (one / mean).log2(), 0.0) for one in (p, q)]
    return ((parts[0] + parts[1]) / 2).clamp_min(0.0)


def divergence_bits(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence of rows of weights, in bits (Lin 1991, section IV). (…,), float64.

    p, q: (…, keys). Symmetric; 0 for equal rows, 1 for rows that share no key. nan where one of
    them is no distribution: a row that may look at nothing, one with weights below 0, or another
    that does not sum to 1.
    """
    bits = divergence_terms(p, q).sum(-1).clamp_max(1.0)
    return bits.where(is_distribution(p) & is_distribution(q), torch.nan)


Slots = tuple[tuple[int | None, int | None], ...]


@functools.lru_cache(maxsize=32)
def align(first: tuple[str, ...], second: tuple[str, ...]) -> Slots:
    """Align the positions of one sentence with those of the other, in order; None: none beside it.

    Equal stretches as difflib's SequenceMatcher finds them; what replaces another stretch is
    paired with it word by word, as far as the shorter one goes. Where words repeat so often that
    they make more than `MAX_PAIRS`, the commonest are found only beside others that match.
    """
    slots: list[tuple[int | None, int | None]] = []
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    pairs = Counter({word: first.count(word) * second.count(word) for word in set(first)})
    while pairs.total() > MAX_PAIRS:
        ((word, _),) = pairs.most_common(1)
        del pairs[word], matcher.b2j[word]  # type: ignore[attr-defined]  # is documented
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        slots += zip_longest(range(start, end), range(other_start, other_end))
    return tuple(slots)
