"""The lesson that is chosen: the guide, the owner's, or one that a link carries; its menus."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st

from attention.app.components.answers import MAX_NAMES
from attention.app.state import session
from attention.app.state.links import every_setting, read_link
from attention.app.state.pages import PAGES, Values
from attention.app.state.shared import width_of
from attention.app.state.view import View
from attention.subjects.guide import carried
from attention.subjects.guide.chapters import (
    CARRIED,
    GUIDE,
    Lesson,
    Link,
    escaped,
    languages,
    own_lessons_path,
)
from attention.subjects.guide.lesson_words import ENGLISH, words_in
from attention.subjects.guide.reading import MAX_LESSON, read_lesson, read_text

MAX_QUERY = 2 * carried.LONGEST  # bytes of a link to a lesson, of which its title is told


def check(link: Link, page: str) -> list[str]:
    """Problems of a link and a page that this app does not know, in words.

    A trained model may be missing here and be there elsewhere: its name is not looked at.
    """
    names = [known.name for known in PAGES if known.name != "guide"]
    if page and page not in names:
        return [f"page must be one of {', '.join(names)}, got {page[:40]!r}"]
    return read_link({name: texts for name, texts in link.items() if name != "model"}, width_of)[1]


def lesson(view: Values) -> Lesson:
    """The chosen lesson, read again when its files have changed."""
    if view["lesson"] == CARRIED:
        return carried_lesson(view["carried"])
    own = own_lesson() if view["lesson"] == "own" else None
    return _newest(GUIDE, view["lang"]) if own is None else own


def carried_lesson(packed: str) -> Lesson:
    """The lesson that a link carries; anybody may write one, see `text_lesson`."""
    try:
        text = carried.unpack(packed)
    except ValueError as error:
        return Lesson((), (f"{error}",))
    return text_lesson(text)


def text_lesson(text: str) -> Lesson:
    """The lesson of a text, its words shown as they are written, and all that is wrong with it."""
    return _text_lesson(text[: MAX_LESSON + 1])


@functools.lru_cache(maxsize=16)  # up to 1 MB each
def _text_lesson(text: str) -> Lesson:
    read = read_text(text, check)
    return Lesson(tuple(chapter.as_text for chapter in read.chapters), read.problems)


def own_lesson() -> Lesson | None:
    """The owner's lesson, None where none is named. Each reading of it has its lines in the log."""
    own = own_lessons_path()
    return _newest(Path(own)) if own else None


def _newest(folder: Path, language: str = "") -> Lesson:
    """The lesson of a folder, with the words of a language where a folder in it has them."""
    try:
        files = sorted({*folder.glob("*.md"), *(folder / language).glob("*.md")})
        stamp = tuple((file.name, file.stat().st_mtime_ns) for file in files)
    except OSError:
        stamp = ()
    return _lesson(folder, language, stamp)


@functools.lru_cache(maxsize=4)
def _lesson(folder: Path, language: str, stamp: tuple[tuple[str, int], ...]) -> Lesson:
    read = read_lesson(folder, check, folder / language)
    if folder != GUIDE:
        count = len(read.chapters)
        told = f"{count} chapter{'s' if count != 1 else ''} from {str(folder)!r}"
        for line in (told, *read.problems):
            print(f"lesson 'own': {' '.join(line.split())}", file=sys.stderr, flush=True)
    return read


def heading(view: View) -> tuple[str, str]:
    """The title of the chosen lesson, and the line below it."""
    if view["lesson"] != "guide":
        return lesson(view).summary
    language, words = words_in(view["lang"])
    return view.page.heading if language == ENGLISH else (words["guide"], words["purpose"])


def title_of_link(query: bytes) -> tuple[str, str] | None:
    """The title of the lesson that a link names, and a line on it; None for the guide."""
    if len(query) > MAX_QUERY or query.count(b"&") >= MAX_NAMES:  # it is not read
        return None
    named = parse_qs(query.decode("latin-1"))
    if named.get("lesson") == [CARRIED]:
        return carried.told(named.get("carried", [""])[-1])
    own = own_lesson() if named.get("lesson") == ["own"] else None
    return own.summary if own is not None else None


def lesson_menu(view: View, own: Lesson | None) -> None:
    """The guide or the owner's lesson, by their titles; one that a link carries stands alone."""
    if own is not None and view["lesson"] != CARRIED:
        _titled(view, "lesson", {"guide": "Guide", "own": escaped(own.summary[0])})


def language_menu(view: View) -> None:
    """The languages of the guide, by their own names; other lessons have one."""
    if view["lesson"] == "guide":
        _titled(view, "lang", {code: name for code, (name, _) in languages().items()})


def _titled(view: View, name: str, titles: Mapping[str, str]) -> None:
    """A menu of a setting whose values have titles."""
    if name in view.hidden:
        return
    st.segmented_control(
        every_setting()[name].label,
        list(titles),
        format_func=titles.__getitem__,
        required=True,
        default=view[name],
        width="content",
        label_visibility="collapsed",
        **session.bound(f"{name}_menu", view[name], functools.partial(session.choose, name)),
    )
