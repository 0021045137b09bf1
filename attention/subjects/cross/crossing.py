"""Sentences on links that cross: from one sentence to the other, and over each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from torch import Tensor

from attention.core.functional import Trace
from attention.core.printing import percent
from attention.figures import layer_words
from attention.figures.tables import number
from attention.pipeline import Result

CLEAR = 0.5  # a row whose greatest weight is less has no one word that it is made from
IN_ORDER = "No lines cross: its words stand in the order of those that they are made from."
NOTHING = "Nothing crosses: no query may look at any key."


def of_translation(result: Result) -> str:
    """Say which words of a translation stand the other way round, see `crossing`."""
    words = layer_words.words_of(result)
    tokens, keys, trace = layer_words.shown(result)
    special = [at for at, word in enumerate(result.groups or ()) if word is None]
    ends = {words.rows[at] for at in special} if words else {*special}
    return crossing(tokens, keys, trace.weights, ends)


def crossing(
    tokens: Sequence[str], keys: Sequence[str], weights: Tensor, ends: Collection[int] = ()
) -> str:
    """Say which lines cross nearest, from each token to the key it looks at most, and why.

    weights: (tokens, keys); ends: tokens that are no words. Rows without a clear key are left out.
    """
    most, best = weights.max(-1)
    clear = [at for at in range(len(tokens)) if at not in ends and most[at] >= CLEAR]
    pairs = [pair for pair in combinations(clear, 2) if best[pair[0]] > best[pair[1]]]
    if not pairs:
        return IN_ORDER
    first, second = min(pairs, key=lambda pair: pair[1] - pair[0])
    return (
        f"The lines of “{tokens[first]}” and “{tokens[second]}” cross: they are made from "
        f"“{keys[int(best[first])]}” and “{keys[int(best[second])]}”, which stand the other way "
        "round in the original."
    )


def strongest(tokens: Sequence[str], keys: Sequence[str], trace: Trace) -> str:
    """Say which link carries most from one sentence to the other; of weights that are no shares the
    greatest by size."""
    row, column = divmod(int(trace.weights.abs().argmax()), trace.weights.shape[1])
    weight = float(trace.weights[row, column])
    if not weight:
        return NOTHING
    if trace.weights_are_a_distribution:
        share = percent(weight)
        return f"Most crosses from “{keys[column]}” to “{tokens[row]}”, {share} of its weight."
    does = "adds" if weight > 0 else "takes away"
    return f"“{tokens[row]}” {does} most, by its weight of {number(weight)} on “{keys[column]}”."
