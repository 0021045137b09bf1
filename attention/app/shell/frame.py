"""The frame around every page: from an opened link to the page in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from attention.app.components.scene import collecting
from attention.app.controls import long_text_box
from attention.app.controls.notes import note, telling_unknown_layouts
from attention.app.controls.widgets import (
    beside_is_old,
    sentence_box,
    settings_beside,
)
from attention.app.shell import doors, foot, search, server
from attention.app.shell.heading import (
    PageHeading,
    sharing,
    show_files,
    style,
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
class Around:
    """Parts around a page that some have otherwise than most."""

    # called, within a callback, when another sentence has been typed
    typed: Callable[[], object] = lambda: None
    # draws what stands below the sentence
    examples: Callable[[View], object] = long_text_box.examples
    # gives the tokens from which one is chosen in the pictures
    tokens: Callable[[View], Sequence[str]] = long_text_box.tokens
    # True if the page draws a title of its own
    has_title: Callable[[View], bool] = lambda view: False
    # draws more below the title
    on_top: Callable[[View], object] = lambda view: None


AS_USUAL, AROUND_MOST = PageHeading(), Around()


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
        with session.writing_address():
            style(view)
            search.draw()
            if view.calm:
                session.change(beside=None)
            elif not st.context.is_embedded:
                with st.sidebar:
                    settings_beside(view)
            shown.run()
            foot.draw()
        server.freeze()
        server.give_back()


def show(
    file: str,
    draw: Callable[[View], object],
    told: PageHeading = AS_USUAL,
    around: Around = AROUND_MOST,
) -> None:
    """To be called by every page, with its `__file__` and what draws it: puts the frame around it.

    The sentence stands on top where the page has one. Only this runs again while one types, or
    changes something on the page; the settings beside follow where they depend on that. told: the
    words on top of it and in captions.
    """
    first_run.go_to_frame(file)
    page = session.page()
    if Path(page.path).name != Path(file).name:
        page = next(known for known in PAGES if Path(known.path).name == Path(file).name)
    _body(page, draw, told, around)


@st.fragment
def _body(page: Page, draw: Callable[[View], object], told: PageHeading, around: Around) -> None:
    with session.turn(page) as held, session.writing_address():
        if session.whole_run_is_due():
            st.rerun()
        now = session.view()
        session.follow_chosen_word(now, around.tokens(now))
        _draw(session.shown_view(), draw, told, around, held or st.session_state.pop("held", 0.0))


def _draw(
    view: View, draw: Callable[[View], object], told: PageHeading, around: Around, held: float
) -> None:
    if beside_is_old(view):
        st.rerun()
    heading = told.heading(view)
    if not around.has_title(view):
        title(view, heading)
    around.on_top(view)
    if not view.calm:
        doors.views(view.page)
    wanted = sharing(view, heading, told)
    if view.page.sentence(view) and not long_text_box.box(view):
        sentence_box(view, around.typed)
        around.examples(view)
    with st.container():  # what comes and goes leaves the page in its place
        for words in [*session.problems(), *words_on_figure(view), *_words_on_waiting(held)]:
            note(words)
    if wanted:
        with files.collecting() as offered, collecting() as drawn, telling_unknown_layouts():
            draw(view)
        show_files(view, heading[0], wanted, drawn, offered)
    else:
        with telling_unknown_layouts():
            draw(view)


def _words_on_waiting(held: float) -> list[str]:
    """Tell that the last change had to wait, if one could feel it."""
    if held < MAX_UNFELT:
        return []
    return [
        f"This change waited {held:.0f} s: those before it took more than one visitor's share of "
        "the server."
    ]
