"""Words on a result: what could not be used as it was set, whose head it is."""

from __future__ import annotations

from collections.abc import Iterable

from attention.figures.layer_words import layer_words
from attention.figures.scene import Words, note
from attention.pipeline import Result
from attention.trained import sources

EMPTY = "Type a sentence above, or take one of the examples."
JOINED = "Rows of a word are averaged, its columns summed."


def unknown_words(words: Iterable[str], so: str = "they count as zeros") -> list[Words]:
    """The words that have no vector, if any; so: what follows from that."""
    unknown = list(dict.fromkeys(words))
    if not unknown:
        return []
    named = ", ".join(f"“{token[:40]}”" for token in unknown[:8])
    more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
    return [note(f"No vector for {named}{more}: {so}.")]


def problems(result: Result) -> list[Words]:
    """Words without a vector, and all else that could not be used as it was set."""
    return [*_not_used(result), *trained(result)]


def _not_used(result: Result) -> list[Words]:
    unknown = [*result.unknown, *(result.memory.unknown if result.memory else ())]
    return [*unknown_words(unknown), *map(note, result.notes)]


def left_out_words(result: Result) -> str:
    """Count the tokens that there was no room for."""
    many = result.left_out > 1
    last = f"{result.left_out} tokens" if many else "token"
    return f"the last {last} did not fit and {'are' if many else 'is'} left out"


def reader(result: Result, names_head: bool) -> list[Words]:
    """All that could not be used as it was set, and which model is shown, its head too if named."""
    lines = _not_used(result)
    if result.trained is not None:
        title = sources.about(result.settings.model).title
        lines += [Words(f"{title}, {head_words(result)}." if names_head else f"{title}.")]
        if result.ignored:
            lines += [Words(f"We left out {result.ignored}: the others share the weight.")]
    return lines


def head_words(result: Result) -> str:
    """Name the head of a result, and its layer, where there are others: for names of files."""
    layer = [] if result.trained is None else [f"layer {result.trained.position}"]
    head = [f"head {result.head}"] if result.layer.heads > 1 else []
    return ", ".join(layer + head)


def trained(result: Result) -> list[Words]:
    """The layer of a trained model that is shown, and what of it is not as it was trained."""
    if result.trained is None:
        return []
    changed = [note(_changed(result))] if result.changes else []
    return [Words(layer_words(result)), *changed]


def _changed(result: Result) -> str:
    if result.changes == [f"without {result.ignored}"]:
        return f"We left out {result.ignored}, which the model normally sees."
    title = sources.about(result.settings.model).title
    return f"Not as {title} was trained: {'; '.join(result.changes)}."
