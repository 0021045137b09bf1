"""Two sentences laid side by side."""

from __future__ import annotations

import functools
from collections import Counter
from difflib import SequenceMatcher
from itertools import zip_longest

MAX_PAIRS = 1 << 14  # an ordinary text of 512 words beside another makes some 3,000


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
