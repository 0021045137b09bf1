"""Layers of a trained model in pieces or words."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis import heads as analysed
from attention.analysis.heads import Keys, Overview
from attention.analysis.words import Words, slots, whole_words
from attention.core.functional import Trace
from attention.pipeline import Result
from attention.trained import sources


def words_of(result: Result) -> Words | None:
    """The words a result is to be shown in, None where it is shown in its tokens or pieces."""
    if result.settings.join != "words" or result.groups is None:
        return None
    memory = result.memory or result
    rows, columns = slots(result.groups), slots(memory.groups or ())
    words = whole_words(result.tokens, rows), whole_words(memory.tokens, columns)
    return Words(*words, rows, columns)


def shown(result: Result) -> tuple[Sequence[str], Sequence[str], Trace]:
    """The tokens of queries and keys, and the trace of the head a result shows, in its words."""
    if words := words_of(result):
        trace = result.trace
        return words.tokens, words.keys, words.of_words(trace.weights, trace.mask)
    return result.tokens, result.key_tokens, result.trace.handed_on


def overview(result: Result) -> Overview:
    """All heads of a result at a glance, in its words."""
    words, trace = words_of(result), result.layer_trace
    if words is None:
        known = Keys(result.special, result.key_tokens)
        return analysed.overview(trace, result.head, known, result.shares)
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(result.head)
    special = [False] * len(words.keys)
    for word, is_special in zip(words.columns, result.special, strict=True):
        special[word] = is_special
    return analysed.overview_of(words.of_words(weights).weights, Keys(special, words.keys))


def layer_words(result: Result) -> str:
    """Name a result's layer of a trained model, and what X is there, in a sentence or two."""
    assert result.trained is not None
    where, title = result.trained, sources.about(result.settings.model).title
    learned = "" if result.changes else ", as learned"
    normed = " X is what comes in, after a layer norm." if where.layer.norm_first else ""
    return (
        f"{title}: the {ordinal(where.position + 1)} of {counted(where.of)} (number "
        f"{where.position}){learned}.{normed}"
    )


NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def counted(layers: int) -> str:
    """So many layers: "six layers"."""
    number = NUMERALS[layers - 1] if layers <= len(NUMERALS) else str(layers)
    return f"{number} layer{'' if layers == 1 else 's'}"


def ordinal(place: int) -> str:
    """A place counted from 1: "fourth", "21st"."""
    if place <= len(ORDINALS):
        return ORDINALS[place - 1]
    teens = place % 100 in (11, 12, 13)
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def piece_at(result: Result, query: int) -> int:
    """The position of the chosen piece, or of the first one of the chosen word; the last if there
    is no such one."""
    if words := words_of(result):
        return words.rows.index(min(query, len(words.tokens) - 1))
    return min(query, len(result.tokens) - 1)
