"""The words around the figures of a page, and the files it offers."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable, Sequence

import pandas
import streamlit as st
import torch

from attention.app.state.shared import neighbours
from attention.core import analysis
from attention.core.limits import limits
from attention.core.printing import fixed
from attention.figures import files, plots, result_words
from attention.figures.scene import Words
from attention.figures.script import pytorch_script
from attention.pipeline import Result
from attention.trained import sources

# Each of these may hold what a visitor typed: it is never read as Markdown or HTML. hint: what can
# be done at a screen, which paper leaves out.


def note(text: str, hint: str = "") -> None:
    """A quiet line."""
    st.html(f"<p class='note'>{_with_hint(text, hint)}</p>")


def note_quietly(text: str, hint: str = "") -> None:
    """A line of plain text."""
    st.html(f"<p class='told'>{_with_hint(text, hint)}</p>")


def caption(text: str, hint: str = "") -> None:
    """A line below a figure."""
    st.html(f"<p class='quiet'>{_with_hint(text, hint)}</p>")


def titled(title: str, words: str = "", hint: str = "") -> None:
    """The title of a figure, and further words."""
    words = _with_hint(words, f"· {hint}" if hint else "")
    st.html(f"<p class='titled'><strong>{html.escape(title)}</strong> {words}</p>")


def _with_hint(text: str, hint: str) -> str:
    more = f" <span class='on-screen'>{html.escape(hint)}</span>" if hint else ""
    return html.escape(text) + more


def draw_words(words: Iterable[Words]) -> None:
    """Draw words of a scene, each in an element of its own."""
    for one in words:
        {"note": note, "told": note_quietly}.get(one.look, caption)("".join(one.parts))


def note_unknown_words(words: Iterable[str], so: str = "they count as zeros") -> None:
    """Note the words that have no vector, if any; so: what follows from that."""
    draw_words(result_words.unknown_words(words, so))


def note_problems(result: Result) -> None:
    """Words without a vector, and all else that could not be used as it was set."""
    draw_words(result_words.problems(result))


def note_reader(result: Result, names_head: bool) -> None:
    """All that could not be used as it was set, and which model is shown, its head too if named."""
    draw_words(result_words.reader(result, names_head))


def note_head(result: Result) -> None:
    """Note the head that is shown where there are several, and whose output is meant."""
    draw_words(result_words.head(result))


def note_group(result: Result) -> None:
    """Note the heads that share keys and values with the one that is shown, if any."""
    draw_words(result_words.group(result))


def note_trained(result: Result) -> None:
    """Note the layer of a trained model that is shown, and what of it is not as it was trained."""
    draw_words(result_words.trained(result))


def note_masks(result: Result, query: int) -> None:
    """Note what each mask hides from the chosen query, if any mask is chosen."""
    draw_words(result_words.masks(result, query))


def count_of(tokens: Sequence[str], what: str = "token") -> str:
    """Count the tokens, and those of them that are left out."""
    words = f"1 {what}" if len(tokens) == 1 else f"{len(tokens)} {what}s"
    left_out = len(tokens) - limits().seen
    return f"{words}, the last {left_out} left out" if left_out > 0 else words


def nearest_words(result: Result, query: int) -> None:
    """The words nearest to the chosen token before and after, where the output is a word vector."""
    if result.words is None:
        words = "<p>This output cannot be compared with words.</p>"
    else:
        lines = zip(("before", "after"), _nearest(result, query), strict=True)
        nearest = "".join(
            f"<dt>{name}</dt><dd>{' '.join(map(_near, near)) or 'none, the vector is 0'}</dd>"
            for name, near in lines
        )
        title = "<b>Nearest words</b> by cosine, among the 100,000 most frequent"
        words = f"<p>{title}</p><dl>{nearest}</dl>"
    st.html(f"<div class='nearest'>{words}</div>")


def _nearest(result: Result, query: int) -> list[list[tuple[str, float]]]:
    rows = (result.x[query], result.trace.output[query])
    return [_nearest_to(result.settings.vectors, row.numpy().tobytes()) for row in rows]


@functools.lru_cache(maxsize=1024)
def _nearest_to(vectors: str, row: bytes) -> list[tuple[str, float]]:
    return neighbours(vectors)(torch.frombuffer(bytearray(row), dtype=torch.float32)[None])[0]


def _near(word: tuple[str, float]) -> str:
    return f"<span><bdi>{html.escape(word[0])}</bdi> <small>{fixed(word[1], 2)}</small></span>"


def offer_files(result: Result, query: int) -> None:
    """Offer files of a result, beyond the numbers of its picture."""

    def named(tokens: Sequence[str]) -> list[str]:
        return [f"{position} {token}" for position, token in enumerate(tokens)]

    def table() -> str:
        columns = analysis.table(result.trace, query, named(result.key_tokens))
        return pandas.DataFrame(columns).to_csv(index=False)

    def pictures() -> str:
        trace, tokens, key_tokens = result.trace, result.tokens, result.key_tokens
        stages = [
            (
                plots.stage_words(trace, stage, hidden="grey"),
                plots.heatmap(trace, stage, tokens, query, key_tokens),
            )
            for stage in trace.stages
        ]
        terms = plots.weighted_sum(trace, key_tokens, query)
        over = f" over {' '.join(key_tokens)}" if result.memory else ""
        title = f"{result.layer.title}: {' '.join(tokens)}{over}"
        return plots.standalone_html(
            title, [*stages, (f"The weighted sum of token {query}.", terms)]
        )

    files.offer_matrix("vectors x", result.x, named(result.tokens))
    files.offer_csv(f"row {query} term by term", table, result_words.head_words(result))
    files.offer("Heatmaps and weighted sum, HTML", "heatmaps-and-weighted-sum.html", pictures)
    if result.trained is None:  # the parameters of a trained layer would make it 13 MB long
        script = f"{result.settings.variant}_attention.py"
        files.offer("PyTorch script of every step", script, lambda: pytorch_script(result))


def explain_missing_models() -> None:
    """Explain how to add trained models where there are none."""
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code(sources.installing(), language=None, wrap_lines=True)
