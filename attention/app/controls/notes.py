"""The words around the figures of a page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from attention.core.limits import limits
from attention.figures import result_words
from attention.figures.scene import Words
from attention.pipeline import Result
from attention.trained import sources
from attention.trained.models import UnknownLayout

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


@contextmanager
def telling_unknown_layouts() -> Iterator[None]:
    """Note that a model's layout is not known, where what is drawn within asks for it."""
    try:
        yield
    except UnknownLayout as problem:
        words = str(problem)
        note(f"{words[0].upper()}{words[1:]}.")


def note_unknown_words(words: Iterable[str], so: str = "they count as zeros") -> None:
    """Note the words that have no vector, if any; so: what follows from that."""
    draw_words(result_words.unknown_words(words, so))


def note_problems(result: Result) -> None:
    """Words without a vector, and all else that could not be used as it was set."""
    draw_words(result_words.problems(result))


def note_reader(result: Result, names_head: bool) -> None:
    """All that could not be used as it was set, and which model is shown, its head too if named."""
    draw_words(result_words.reader(result, names_head))


def count_of(tokens: Sequence[str], what: str = "token") -> str:
    """Count the tokens, and those of them that are left out."""
    words = f"1 {what}" if len(tokens) == 1 else f"{len(tokens)} {what}s"
    left_out = len(tokens) - limits().seen
    return f"{words}, the last {left_out} left out" if left_out > 0 else words


def explain_missing_models() -> None:
    """Explain how to add trained models where there are none."""
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code(sources.installing(), language=None, wrap_lines=True)
