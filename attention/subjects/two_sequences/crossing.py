"""Sentences on links that cross: from one sentence to the other, and over each other."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor

from attention.analysis.words import SPECIAL
from attention.core.functional import Trace
from attention.core.printing import listed, percent
from attention.figures import layer_words
from attention.figures.tables import number
from attention.pipeline import Result

LEAST = 0.25  # the weight of a line that a sentence speaks of
IN_ORDER = "No two lines of 25 % or more between words cross: its words keep the order."
NOTHING = "Nothing crosses: no query may look at any key."
COPIED = (
    "Most of these words came back as they are: this translator reads English, and copies what it "
    "does not know."
)


def of_translation(result: Result) -> str:
    """Say which words of a translation stand the other way round, see `crossing`."""
    tokens, keys, trace = layer_words.shown(result)
    rows, columns = (_is_word(texts) for texts in (tokens, keys))
    return crossing(tokens, keys, trace.weights, rows[:, None] & columns)


def _is_word(texts: Sequence[str]) -> Tensor:
    return torch.tensor([not SPECIAL.match(text) for text in texts])


def crossing(tokens: Sequence[str], keys: Sequence[str], weights: Tensor, words: Tensor) -> str:
    """Say which two lines cross, and that their words stand the other way round.

    weights (tokens, keys); words, bool, alike: between two words. Of the greatest weights of the
    tokens, each `LEAST` or more, the two whose lesser one is the greatest.
    """
    most = (weights == weights.amax(-1, keepdim=True)) & (weights >= LEAST) & words
    lines: list[tuple[int, int]] = [(row, key) for row, key in most.nonzero().tolist()]
    crossed = [
        (one, other)
        for one, other in combinations(lines, 2)
        if one[0] < other[0] and one[1] > other[1]
    ]
    if not crossed:
        return IN_ORDER
    pair = max(crossed, key=lambda pair: min(float(weights[line]) for line in pair))
    first, second = (f"“{tokens[row]}”" for row, _ in pair)
    looks = listed(f"“{keys[key]}” ({percent(float(weights[row, key]))})" for row, key in pair)
    return (
        f"The lines of {first} and {second} cross: they look at {looks}, which stand the "
        "other way round in the original."
    )


def sources_of(result: Result) -> list[str]:
    """The word of the original that each word of a translation looks at most, without marks."""
    tokens, keys, trace = layer_words.shown(result)
    most = (trace.weights * _is_word(keys)).argmax(-1).tolist()
    pairs = zip(tokens, most, strict=True)
    return [
        token if SPECIAL.match(token) else keys[key].strip(string.punctuation)
        for token, key in pairs
    ]


def is_copied(words: Sequence[str], given: Sequence[str]) -> bool:
    """True if half of the words or more are among those given, whatever their case."""
    known = {word.casefold() for word in given}
    copied = [word.casefold() in known for word in words if not SPECIAL.match(word)]
    return 2 * sum(copied) >= max(1, len(copied))


def strongest(tokens: Sequence[str], keys: Sequence[str], trace: Trace) -> str:
    """Say which link carries most from one sentence to the other; of weights that are no shares the
    greatest by size."""
    trace = trace.handed_on
    row, column = divmod(int(trace.weights.abs().argmax()), trace.weights.shape[1])
    weight = float(trace.weights[row, column])
    if not weight:
        return NOTHING
    if trace.weights_are_a_distribution:
        share = percent(weight)
        return f"Most crosses from “{keys[column]}” to “{tokens[row]}”, {share} of its weight."
    does = "adds" if weight > 0 else "takes away"
    return f"“{tokens[row]}” {does} most, by its weight of {number(weight)} on “{keys[column]}”."
