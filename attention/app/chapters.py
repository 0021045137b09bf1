"""The chapter that is open: its settings, what is chosen in it, and what it comes to.

All of it follows from the chapter's own link and the visitor's sentence. What the visitor has set
on other pages neither shows here nor is changed.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
import torch

from attention.app.links import every_setting, read_link, settings_of_link, value_in
from attention.app.pages import PAGES
from attention.app.results import result_of, translation_by
from attention.app.session import PLACE, choose, value_of, width_of
from attention.components.pictures import Place
from attention.core.masks import format_cells
from attention.lessons import compare
from attention.lessons.chapters import (
    GUIDE,
    Chapter,
    Lesson,
    Link,
    own_lessons_path,
    read_lesson,
)
from attention.lessons.compare import OTHER, Comparison
from attention.lessons.spread import Spread, spread_of_scores
from attention.pipeline import NoWords, Result, Settings
from attention.trained import sources
from attention.trained.sources import NONE
from attention.trained.translator import Translation

TRANSLATOR = "en-pt"


def check(link: Link, page: str) -> list[str]:
    """What this app does not know of a link and a page, in words.

    A trained model may be missing here and be there elsewhere: its name is not looked at.
    """
    names = [known.name for known in PAGES if known.name != "guide"]
    if page and page not in names:
        return [f"page must be one of {', '.join(names)}, got {page[:40]!r}"]
    return read_link({name: texts for name, texts in link.items() if name != "model"}, width_of)[1]


def lesson() -> Lesson:
    """The chosen lesson, read again when its files have changed."""
    own = own_lessons_path()
    folder = Path(own) if own and value_of("lesson") == "own" else GUIDE
    try:
        files = sorted(folder.glob("*.md"))
        stamp = tuple((file.name, file.stat().st_mtime_ns) for file in files)
    except OSError:
        stamp = ()
    return _lesson(folder, stamp)


@functools.lru_cache(maxsize=4)
def _lesson(folder: Path, stamp: tuple[tuple[str, int], ...]) -> Lesson:
    return read_lesson(folder, check)


def position(chapters: int) -> int:
    """Which of so many chapters is open, from 0: the chosen one, or the last."""
    return min(int(value_of("chapter")), chapters - 1)


def opened() -> Chapter | None:
    """The open chapter; None where a lesson has none that can be read."""
    there = lesson().chapters
    return there[position(len(there))] if there else None


def turn_to(chapter: int) -> None:
    """Open a chapter, nothing guessed yet, within a callback."""
    choose("chapter", chapter)
    choose("guess", -1)


def sentence_of(chapter: Chapter) -> str:
    """The visitor's sentence, or the chapter's own while none has been typed."""
    typed, default = value_of("s"), every_setting()["s"].default
    return str(typed if typed != default or chapter.sentence is None else chapter.sentence)


def own_sentence(chapter: Chapter | None) -> str:
    """The chapter's own sentence while it is shown in place of that in the box, "" otherwise."""
    if chapter is None or chapter.sentence is None or chapter.figure == "spread":
        return ""
    return chapter.sentence if sentence_of(chapter) == chapter.sentence else ""


def settings_for(chapter: Chapter, side: str = "") -> Settings:
    """The settings of one side of a chapter's figure, with the head that is chosen in it."""
    head = kept("head", value_in(chapter.link, "head")) if not side else None
    menu = "heads_variant" if chapter.figure == "heads" else "variant"
    return settings_of_link(chapter.link, sentence_of(chapter), side, menu, head)


def setting(chapter: Chapter, name: str) -> Any:
    """What a chapter's link says of a setting, or its default."""
    return value_in(chapter.link, name)


def missing_model(chapter: Chapter) -> str:
    """The trained model that a chapter needs and that is not here, "" where none is missing."""
    name = chapter.link.get("model", [NONE])[-1]
    return "" if name in sources.names() else name


def has_translator() -> bool:
    """Whether the trained translator of `alignment` is installed."""
    return TRANSLATOR in sources.names()


def translated_sentence(chapter: Chapter) -> str:
    """What the translator gets: the visitor's sentence, or the longer one of the chapter's own."""
    sentence = sentence_of(chapter)
    own = sentence == chapter.sentence and "memory" in chapter.link
    return chapter.link["memory"][-1] if own else sentence


def alignment(chapter: Chapter) -> tuple[Translation, Result] | None:
    """A trained translation, and the head that says what each of its words is drawn from.

    None where the sentence has no words. The translator must be here, see `has_translator`.
    """
    return translation_by(TRANSLATOR, translated_sentence(chapter), "words")


# What is chosen in the figure of a chapter is kept for as long as that chapter is open.


def _open() -> dict[str, Any]:
    of = (value_of("lesson"), value_of("chapter"))
    if st.session_state.get("of_chapter", {}).get("of") != of:
        st.session_state["of_chapter"] = {"of": of}
    found: dict[str, Any] = st.session_state["of_chapter"]
    return found


def kept(name: str, otherwise: Any) -> Any:
    """What has been chosen in the figure of the open chapter."""
    return _open().get(name, otherwise)


def keep(name: str, value: Any) -> None:
    """Choose something in the figure of the open chapter, within a callback."""
    _open()[name] = value


def place(chapter: Chapter) -> Place:
    """Which query and stage the chapter's pictures show: see `session.place`."""
    own: Any = {name: value_in(chapter.link, name) for name in PLACE}
    return {
        "turn": st.session_state.get("turn", 0),
        "values": kept("place", own),
        "defaults": own,
    }


def choose_place(chosen: dict[str, Any]) -> None:
    """Take over what has been chosen in the browser, within a callback; on this page alone."""
    st.session_state["turn"] = chosen["turn"]
    values = {name: chosen["values"][name] for name in PLACE}
    if all(every_setting()[name].problem(value) is None for name, value in values.items()):
        keep("place", values)


def result(chapter: Chapter, side: str = "") -> Result | None:
    """What the chapter's settings come to; None while the sentence has no words."""
    memory = chapter.link.get("memory", [None])[-1]
    try:
        return result_of(settings_for(chapter, side), memory)
    except NoWords:
        return None


def away(whole: Result) -> frozenset[int]:
    """The positions of the keys that the visitor has taken away from the chapter's figure."""
    keys, gone = kept("away", ((), frozenset()))
    return gone if keys == whole.key_tokens else frozenset()


def take_or_bring_back(whole: Result, key: int) -> None:
    """Take a key away, or bring it back, within a callback."""
    keep("away", (whole.key_tokens, away(whole) ^ {key}))


def without_those_away(whole: Result) -> Result:
    """The same attention where no query may attend to the keys that have been taken away."""
    gone = away(whole)
    if not gone:
        return whole
    shape = len(whole.tokens), len(whole.key_tokens)
    mask = whole.masks.get("cells", torch.ones(shape, dtype=torch.bool)).clone()
    mask[:, sorted(gone)] = False
    chosen = dict.fromkeys((*whole.settings.mask, "cells"))
    settings = replace(whole.settings, mask=tuple(chosen), cells=format_cells(mask))
    return result_of(settings, whole.memory_text)


def compared(chapter: Chapter) -> tuple[Comparison, tuple[Result, Result], list[str]] | None:
    """A beside B, the results of both, and what differs between them, in words.

    With compare=pair in the link B is its second sentence. None while a sentence has no words.
    """
    ours, pair = result(chapter), value_in(chapter.link, "compare") == "pair"
    if ours is None or ours.memory is not None:
        return None
    try:
        if pair:
            settings = settings_of_link(chapter.link, str(value_in(chapter.link, "s2")))
            theirs = result_of(settings)
        else:
            theirs = result_of(settings_for(chapter, OTHER))
    except NoWords:
        return None
    if ours.tokens != theirs.tokens:
        both = compare.of_sentences(ours.tokens, ours.trace, theirs.tokens, theirs.trace)
        return both, (ours, theirs), []
    named = [name.removeprefix(OTHER) for name in chapter.link]
    names = [name for name in dict.fromkeys(["scale", *named]) if OTHER + name in every_setting()]
    a = {name: value_in(chapter.link, name) for name in names}
    b = a if pair else {name: value_in(chapter.link, OTHER + name) for name in names}
    said = compare.differences(a, b, every_setting())
    return compare.of_settings(ours.tokens, ours.trace, theirs.trace), (ours, theirs), said


@functools.cache
def spread() -> Spread:
    """What becomes of random scores as d_k grows."""
    return spread_of_scores()
