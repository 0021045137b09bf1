"""The shortest program that gives the numbers of a fold, by the library's public names."""

from __future__ import annotations

from attention.app.state.openings import AGAINST, ALL_WORDS, HEADS, HOW, NUMBERS
from attention.app.state.view import View
from attention.core.functional import Trace
from attention.core.settings import settings_of
from attention.figures import layer_words
from attention.figures.script import call_of
from attention.pipeline import Result
from attention.subjects.play.against import numbers
from attention.subjects.play.against.words import AgainstSettings


def program(view: View, result: Result, fold: str, query: int) -> str:
    """Python that prints the numbers of the chosen word, or of all words, as a fold shows them."""
    every = view["words"] == ALL_WORDS and fold in (HEADS, AGAINST)
    row = "" if every else f"[{query}]"
    lines = [f"result = {call_of(result.settings)}"]
    plain = result.trace.mixed_weights is None and layer_words.words_of(result) is None
    trace = "result.trace" if plain else "shown(result)[2]"
    weights = f"print({trace}.weights{row})"
    if fold == HOW:
        lines += [f"print({{name: of[{query}] for name, of in result.trace.stages.items()}})"]
    elif fold == HEADS:
        lines += [f"print({_of_heads(result, query, bool(row))})"]
    elif fold == NUMBERS:
        lines += [weights, f"print(result.trace.output{row})"]
    else:
        lines += [weights]
    if fold == AGAINST:
        chosen = {name: view[name] for name in settings_of(AgainstSettings)}
        if (other := numbers.sides(result, chosen).b) is not None:
            lines += [f"other = {call_of(other.settings)}", weights.replace("result", "other")]
    names = [name for name in ("shown", "words_of") if f"{name}(result)" in "\n".join(lines)]
    imports = [f"from attention.figures.layer_words import {name}" for name in names]
    return "\n".join([*imports, "from attention.pipeline import Settings, compute", "", *lines, ""])


def _of_heads(result: Result, query: int, one: bool) -> str:
    """The weights of all heads, (heads, keys) of one query or (heads, queries, keys)."""
    if layer_words.words_of(result):
        return f"words_of(result).weights_for(result.layer_trace, {query})"
    kept = isinstance(result.layer_trace, Trace)
    at = f"[:, {query if kept else 0}]" if one else ""
    return f"result.weights_for({query}){at}"
