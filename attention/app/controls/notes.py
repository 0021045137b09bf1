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
from attention.figures import captions, files, plots
from attention.figures.layer_words import layer_words, words_of
from attention.figures.script import pytorch_script
from attention.figures.short_script import is_short, short_script
from attention.pipeline import Result
from attention.trained import sources

JOINED = "Rows of a word are averaged, its columns summed."


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


def note_unknown_words(words: Iterable[str], so: str = "they count as zeros") -> None:
    """Note the words that have no vector, if any; so: what follows from that."""
    if unknown := list(dict.fromkeys(words)):
        named = ", ".join(f"“{token[:40]}”" for token in unknown[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        note(f"No vector for {named}{more}: {so}.")


def note_problems(result: Result) -> None:
    """Words without a vector, and all else that could not be used as it was set."""
    note_unknown_words([*result.unknown, *(result.memory.unknown if result.memory else ())])
    for words in result.notes:
        note(words)
    note_trained(result)


def note_problems_of_both(results: Sequence[Result]) -> None:
    """Words without a vector in A or B, all else that could not be used as it was set, and what
    is not as it was trained."""
    note_unknown_words(token for result in results for token in result.unknown)
    for side, result in zip("AB", results, strict=True):
        for words in result.notes:
            note(f"{side}: {words}")
        if result.left_out:
            note(f"{side}: {left_out_words(result)}.")
        if result.changes:
            note(f"{side}: {_changed(result)}")
    if words_of(results[0]):
        st.caption(JOINED)


def left_out_words(result: Result) -> str:
    """Count the tokens that there was no room for."""
    many = result.left_out > 1
    last = f"{result.left_out} tokens" if many else "token"
    return f"the last {last} did not fit and {'are' if many else 'is'} left out"


def note_reader(result: Result, names_head: bool) -> None:
    """Words without a vector, all else that could not be used as it was set, and in a line which
    trained model is shown, and which head of it where that is to be named."""
    note_unknown_words([*result.unknown, *(result.memory.unknown if result.memory else ())])
    for words in result.notes:
        note(words)
    if result.trained is not None:
        of = f", {head_words(result)}" if names_head else ""
        st.caption(f"{sources.about(result.settings.model).title}{of}.")
        if result.ignored:
            caption(f"We left out {result.ignored}: the others share the weight.")


def note_head(result: Result) -> None:
    """Note the head that is shown where there are several, and whose output is meant."""
    heads = result.layer.heads
    if heads == 1:
        return
    mixed = result.trace.mixed_weights is not None
    words = [
        f"One head of {heads}: y is the output of head {result.head} by itself, before W_o joins "
        "all heads; the page Heads shows the output of the layer.",
        "The sum takes its weights after they were mixed across heads." if mixed else "",
        captions.group_words(result.layer, result.head),
    ]
    st.caption(" ".join(filter(None, words)))


def note_group(result: Result) -> None:
    """Note the heads that share keys and values with the one that is shown, if any."""
    if words := captions.group_words(result.layer, result.head):
        st.caption(words)


def head_words(result: Result) -> str:
    """Name the head of a result, and its layer, where there are others: for names of files."""
    layer = [] if result.trained is None else [f"layer {result.trained.position}"]
    head = [f"head {result.head}"] if result.layer.heads > 1 else []
    return ", ".join(layer + head)


def note_trained(result: Result) -> None:
    """Note the layer of a trained model that is shown, and what of it is not as it was trained."""
    if result.trained is None:
        return
    st.caption(layer_words(result))
    if result.changes:
        note(_changed(result))


def _changed(result: Result) -> str:
    if result.changes == [f"without {result.ignored}"]:
        return f"We left out {result.ignored}, which the model normally sees."
    title = sources.about(result.settings.model).title
    return f"Not as {title} was trained: {'; '.join(result.changes)}."


def note_masks(result: Result, query: int, side: str = "") -> None:
    """Note what each mask hides from the chosen query, if any mask is chosen; side: A or B.

    Nothing where pieces are joined: each of a word's may see other keys.
    """
    if words_of(result):
        return
    if words := captions.row_words(result.masks, query, result.tokens):
        note(f"{side}: {words}" if side else words)


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

    variant = "trained" if result.trained else result.settings.variant

    files.offer_matrix("vectors x", result.x, named(result.tokens))
    files.offer_csv(f"row {query} term by term", table, head_words(result))
    files.offer("Heatmaps and weighted sum, HTML", "heatmaps-and-weighted-sum.html", pictures)
    if is_short(result):
        short = f"{variant}_attention_short.py"
        files.offer("PyTorch in a few lines", short, lambda: short_script(result))
    if result.trained is None:  # the parameters of a trained layer would make it 13 MB long
        script = f"{variant}_attention.py"
        files.offer("PyTorch script of every step", script, lambda: pytorch_script(result))


def explain_missing_models() -> None:
    """Explain how to add trained models where there are none."""
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code(sources.installing(), language=None, wrap_lines=True)
