"""The frame around every page: from an opened link to the page in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from attention.app.cached import runs
from attention.app.controls.notes import note, telling_unknown_layouts
from attention.app.controls.widgets import (
    beside_is_old,
    examples_row,
    sentence_box,
    settings_beside,
)
from attention.app.shell import doors, server
from attention.app.shell.heading import (
    ICON,
    PageHeading,
    said_alone,
    sharing,
    show_files,
    style,
    tab_title,
    title,
    words_on_figure,
)
from attention.app.state import session
from attention.app.state.pages import PAGES, Page, page_named
from attention.app.state.view import View
from attention.app.streamlit_fixes import first_run
from attention.figures import files

MAX_UNFELT = 1.0  # seconds


@dataclass(frozen=True)
class Drawing:
    """Drawing of a page, which it gives the frame.

    draw: draws the page of a view; told: the words on top of it and in captions, see `PageHeading`;
    typed: to be called when another sentence has been typed; examples: draws those of the page's
    own below the sentence, None where it has none; tokens: gives those from which one is chosen in
    its pictures; has_title: True if it draws a title of its own; on_top: draws more below the
    title; instead: draws what stands in place of the sentence, False where that stands there.
    """

    draw: Callable[[View], object]
    told: PageHeading
    typed: Callable[[], object] | None
    examples: Callable[[View], object] | None
    tokens: Callable[[View], Sequence[str]]
    has_title: Callable[[View], bool]
    on_top: Callable[[View], object]
    instead: Callable[[View], bool]


def run() -> None:
    """The whole app, once: menu, the settings at the side, the page with its sentence on top."""
    page, shown = doors.enter()
    if name := session.visit().next_page:
        session.change(next_page="")
        st.switch_page(page_named(name).path, query_params={})  # none that is bound to a widget
    with session.turn(page) as held:
        st.session_state["held"] = held
        first_run.come_back()
        view = session.enter(page)
        server.warm_up()
        style(view)
        if not st.context.is_embedded:
            with st.sidebar:
                settings_beside(view)
        shown.run()
        server.freeze()
        server.give_back()


def show(
    file: str,
    draw: Callable[[View], object],
    *,
    heading: Callable[[View], tuple[str, str]] = lambda view: view.page.told,
    sentences: Callable[[View], Sequence[tuple[str, str]]] = said_alone,
    more: Callable[[View], Sequence[str]] = lambda view: (),
    typed: Callable[[], object] | None = None,
    examples: Callable[[View], object] | None = None,
    tokens: Callable[[View], Sequence[str]] = runs.tokens_shown,
    has_title: Callable[[View], bool] = lambda view: False,
    on_top: Callable[[View], object] = lambda view: None,
    instead: Callable[[View], bool] = lambda view: False,
) -> None:
    """To be called by every page, with its `__file__` and what draws it: puts the frame around it.

    The sentence stands on top where the page has one. Only this runs again while one types, or
    changes something on the page; the settings beside follow where they depend on that.
    heading: the title on top, and the line below it;
    sentences: the sentences that the page shows, each with the name of its setting; more: further
    words for a caption; typed: to be called, within a callback, when another sentence has been
    typed; examples: draws examples of the page's own in place of the usual ones; tokens: gives
    those from which one is chosen in its pictures; has_title, on_top, instead: see `Drawing`.
    """
    first_run.go_to_frame(file)
    page = session.page()
    if Path(page.path).name != Path(file).name:
        page = next(known for known in PAGES if Path(known.path).name == Path(file).name)
    told = PageHeading(heading, sentences, more)
    _body(page, Drawing(draw, told, typed, examples, tokens, has_title, on_top, instead))


@st.fragment
def _body(page: Page, drawing: Drawing) -> None:
    with session.turn(page) as held:
        if session.whole_run_is_due():
            st.rerun()
        now = session.view()
        now = session.follow_chosen_word(now, drawing.tokens(now))
        _draw(now, drawing, held or st.session_state.pop("held", 0.0))


def _draw(view: View, drawing: Drawing, held: float) -> None:
    if beside_is_old(view):
        st.rerun()
    st.set_page_config(tab_title(view, drawing.told), ICON, "wide")
    if not drawing.has_title(view):
        title(view, drawing.told)
    drawing.on_top(view)
    if not view.calm:
        doors.views(view.page)
    wanted = sharing(view, drawing.told)
    if view.page.sentence(view) and not drawing.instead(view):
        sentence_box(view, drawing.typed)
        if drawing.examples:
            drawing.examples(view)
        elif not view.calm:
            examples_row(view)
    with st.container():  # what comes and goes leaves the page in its place
        for words in [*session.problems(view), *words_on_figure(view), *_words_on_waiting(held)]:
            note(words)
    if wanted:
        with files.collecting() as offered, telling_unknown_layouts():
            drawing.draw(view)
        show_files(view.page, wanted, offered)
    else:
        with telling_unknown_layouts():
            drawing.draw(view)
    session.send_choices()


def _words_on_waiting(held: float) -> list[str]:
    """Tell that the last change had to wait, if one could feel it."""
    if held < MAX_UNFELT:
        return []
    return [
        f"This change waited {held:.0f} s: those before it took more than one visitor's share of "
        "the server."
    ]
