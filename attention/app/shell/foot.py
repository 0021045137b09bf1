"""The foot of each page: source and licence, what is stored and for how long, and keys to press."""

from __future__ import annotations

import functools
import html
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import streamlit as st

from attention import __version__

STORED = {
    "Your words": "stand in the address, with all that is set. The server has them in memory while "
    "the tab is open and two minutes longer, and what it worked out until newer results need the "
    "room. There is no account, no database and no file.",
    "A class": "is in memory, without names, for 3 hours after its teacher last looked.",
    "Cookies": "hold the name of a pupil or the key of a class for a day, a place in the queue for "
    "an hour, and what keeps a visit together until the browser is closed.",
    "The log": "says when a visit ended, how long it was and how much was sent: no address, no "
    "word. Whoever runs the server may keep a log of requests beside it.",
}
KEYS = {
    "/": "search pages, settings and words",
    "?": "open these shortcuts, and close them",
    "P": "leave the page alone on the screen, with larger letters, for a projector",
    "← ↑ → ↓": "move among the words, cells or heads of a figure that is focused",
    "Space or X": "on A real model, switch the focused head off and on",
    "Esc": "close what is open",
}
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"  # of a clone; a package has its metadata


def draw() -> None:
    """The foot, on pages that are not embedded."""
    if not st.context.is_embedded:
        st.html(_foot(), width="stretch")


@functools.cache
def _foot() -> str:
    address = source()
    link = f' · <a href="{html.escape(address, quote=True)}">Source</a>' if address else ""
    return (
        f"<footer class='foot'><span>Attention explorer {__version__} · open source, MIT licence; "
        f"models and vectors have their own{link}</span>"
        f"{_popover('stored', 'What is stored', STORED)}"
        f"{_popover('shortcuts', 'Shortcuts (?)', KEYS, 'kbd')}</footer>"
    )


def _popover(name: str, title: str, lines: dict[str, str], tag: str = "b") -> str:
    """A button, and what it opens: the browser closes that by Esc and by a click beside it."""
    rows = "".join(f"<dt><{tag}>{term}</{tag}></dt><dd>{told}</dd>" for term, told in lines.items())
    return (
        f"<button type='button' popovertarget='{name}'>{title}</button>"
        f"<div id='{name}' popover role='dialog' tabindex='-1' aria-label='{title}'>"
        f"<h2>{title}</h2><dl>{rows}</dl></div>"
    )


def source(pyproject: Path = PYPROJECT) -> str:
    """Where the project is kept, as pyproject.toml or the installed package says; "" = not said."""
    if pyproject.is_file():
        hatch = tomllib.loads(pyproject.read_text("utf-8"))["tool"]["hatch"]
        return str(hatch["metadata"]["hooks"]["custom"]["address"])
    try:
        links = metadata("attention-explorer").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((link.partition(", ")[2] for link in links if link.startswith("Source, ")), "")
