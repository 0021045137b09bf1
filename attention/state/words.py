"""What a page says around its figures, and the files it offers."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas
import streamlit as st
import torch

from attention import analysis, figures
from attention.components import weighted_sum
from attention.functional import STAGES
from attention.snippet import pytorch_snippet
from attention.state.views import neighbours
from attention.text import MAX_TOKENS
from attention.view import View


def say(text: str) -> None:
    """A quiet line that may hold what a visitor typed: never read as markdown or HTML."""
    st.html(f"<p class='note'>{html.escape(text)}</p>")


def say_unknown(words: Iterable[str]) -> None:
    """Which words have no vector, if any."""
    if unknown := list(dict.fromkeys(words)):
        named = ", ".join(f"“{token[:40]}”" for token in unknown[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        say(f"No vector for {named}{more}: they count as zeros.")


def say_what_is_missing(view: View) -> None:
    """Words without a vector, and whatever else could not be taken as asked."""
    say_unknown([*view.unknown, *(view.memory.unknown if view.memory else ())])
    for words in view.notes:
        say(words)


def say_what_is_missing_from(views: Sequence[View]) -> None:
    """Words without a vector in any of A and B, and what could not be taken as asked."""
    say_unknown(token for view in views for token in view.unknown)
    for side, view in zip("AB", views, strict=True):
        for words in view.notes:
            say(f"{side}: {words}")
        if view.left_out:
            say(f"{side}: the last {view.left_out} tokens did not fit and are left out.")


def count_of(tokens: Sequence[str]) -> str:
    """How many tokens there are, and how many of them are shown."""
    words = "1 token" if len(tokens) == 1 else f"{len(tokens)} tokens"
    left_out = len(tokens) - MAX_TOKENS
    return f"{words}, the last {left_out} left out" if left_out > 0 else words


def weighted_sum_of(view: View, query: int) -> None:
    """The chosen query's new vector: written out, term by term, and the words it is nearest to."""
    _equation(view, query)
    terms = analysis.strongest(view.trace, view.keys, query, figures.MOST_ROWS)
    weighted_sum(terms, view.trace.output[query], key="terms")
    _nearest_words(view, query)


def _equation(view: View, query: int) -> None:
    """The weighted sum written out, with the checks that it is one."""
    total = float(view.trace.weights[query].double().sum())
    residual = analysis.residual(view.trace, query)
    st.html(
        "<div class='equation'>"
        f"<p>{figures.equation(view.trace, view.tokens, query, keys=view.keys)}</p>"
        f"<p class='check'>Σw = {total:.6f} &emsp; ‖Σ w·v − y‖ = {residual:.1e}</p></div>"
    )


def _nearest_words(view: View, query: int) -> None:
    """The words nearest to the chosen token before and after, where the output is a word vector."""
    if view.words is None:
        found = "<p>The output lives in a space of its own, where no words are.</p>"
    else:
        lines = zip(("before", "after"), _nearest(view, query), strict=True)
        found = "".join(
            f"<dt>{name}</dt><dd>{' '.join(map(_near, words)) or 'none, the vector is 0'}</dd>"
            for name, words in lines
        )
        found = f"<dl>{found}</dl>"
    st.html(
        "<div class='nearest'><p><b>Nearest words</b> by cosine, among the 100,000 most frequent"
        f"</p>{found}</div>"
    )


@functools.lru_cache(maxsize=64)
def _nearest(view: View, query: int) -> list[list[tuple[str, float]]]:
    pair = torch.stack([view.x[query], view.trace.output[query]])
    return neighbours(view.settings.vectors)(pair)


def _near(word: tuple[str, float]) -> str:
    return f"<span><bdi>{html.escape(word[0])}</bdi> <small>{word[1]:.2f}</small></span>"


def downloads(view: View, query: int) -> None:
    """Everything on the page as files, made when asked for."""
    names = [f"{position} {token}" for position, token in enumerate(view.tokens)]
    keys = [f"{position} {token}" for position, token in enumerate(view.keys)]

    def weights() -> str:
        return pandas.DataFrame(view.trace.weights, index=names, columns=keys).to_csv()

    def table() -> str:
        return pandas.DataFrame(analysis.table(view.trace, query, keys)).to_csv(index=False)

    def pictures() -> str:
        stages = [
            (
                figures.STAGE_WORDS[stage],
                figures.heatmap(view.trace, stage, view.tokens, query, view.keys),
            )
            for stage in STAGES
        ]
        terms = figures.weighted_sum(view.trace, view.keys, query)
        over = f" over {' '.join(view.keys)}" if view.memory else ""
        title = f"{view.variant.title}: {' '.join(view.tokens)}{over}"
        return figures.standalone_html(
            title, [*stages, (f"The weighted sum of token {query}.", terms)]
        )

    files = (
        ("Weights, CSV", "weights.csv", weights),
        ("Table, CSV", "table.csv", table),
        ("Figures, one HTML file", "figures.html", pictures),
        ("PyTorch script", "attention_here.py", lambda: pytorch_snippet(view)),
    )
    with st.popover("Download", type="tertiary"):
        for label, name, make in files:
            st.download_button(label, make, name, key=name, on_click="ignore", type="tertiary")


def style() -> None:
    """The few rules that Streamlit's theme cannot say."""
    st.html(f"<style>{(Path(__file__).parent / 'style.css').read_text('utf-8')}</style>")
