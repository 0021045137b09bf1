"""The words around the figures of a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from attention.core.limits import limits
from attention.trained import sources
from attention.trained.models import UnknownLayout

FOLDERS = re.compile(r"(?<=')[/~][^']*/(?=[^'/]+')")  # before a name: the server's own matter

# Each of these may hold what a visitor typed: it is never read as Markdown or HTML.


def note(text: str) -> None:
    """A quiet line."""
    st.html(f"<p class='note'>{html.escape(text)}</p>")


def note_quietly(text: str) -> None:
    """A line of plain text."""
    st.html(f"<p class='told'>{html.escape(text)}</p>")


def caption(text: str) -> None:
    """A line below a figure."""
    st.html(f"<p class='quiet'>{html.escape(text)}</p>")


@contextmanager
def telling_unknown_layouts() -> Iterator[None]:
    """Note that a model's layout is not known, where what is drawn within asks for it."""
    try:
        yield
    except UnknownLayout as problem:
        words = str(problem)
        note(f"{words[0].upper()}{words[1:]}.")


def count_of(tokens: Sequence[str]) -> str:
    """Count the tokens, and those of them that are left out."""
    words = "1 token" if len(tokens) == 1 else f"{len(tokens)} tokens"
    left_out = len(tokens) - limits().seen
    return f"{words}, the last {left_out} left out" if left_out > 0 else words


def tell_refused_models() -> None:
    """Tell of each model that could not be had or read at start, and why."""
    for problem in sources.problems():
        note(f"The model {FOLDERS.sub('', problem)}")


def explain_missing_models() -> None:
    """Explain how to add trained models where there are none."""
    tell_refused_models()
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code(sources.installing(), language=None, wrap_lines=True)
