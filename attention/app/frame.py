"""The frame around every page: from an opened link to the page in its place."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import streamlit as st

from attention.app import chapters, server
from attention.app.heading import (
    ICON,
    sharing,
    show_files,
    style,
    tab_title,
    title,
    words_on_figure,
)
from attention.app.links import read_link
from attention.app.notes import note
from attention.app.pages import FIRST, PAGES, VARIANT_MENUS, Page
from attention.app.session import (
    current_settings,
    layer_settings,
    own_settings,
    recall_place,
    recall_settings,
    remembering,
    stepped_in_history,
    take_link,
    value_of,
    width_of,
)
from attention.app.widgets import (
    PAGE,
    acknowledgement,
    beside_is_old,
    fit_divisors,
    parts_beside,
    sentence_box,
    settings_beside,
)
from attention.display import files
from attention.hosting.pace import Pace
from attention.hosting.work import rerun, share

SCRIPT = "streamlit_app.py"
MAX_UNFELT = 1.0  # seconds


def run() -> None:
    """The whole app, once: navigation, the page with the sentence on top, and the settings beside.

    The first page is found without a path, and by its name as the others are.
    The page comes before the settings, since it is what one waits for: they are known before
    their widgets are drawn again. Should the widgets have it otherwise (after a step back in the
    browser's history), everything is drawn once more.
    """
    # Made for this run alone: a page can be shown once.
    pages = {page.name: copy.copy(_streamlit_page(page)) for page in PAGES}
    by_name = st.Page(FIRST.path, title=FIRST.title, url_path=FIRST.name, visibility="hidden")
    place: Literal["hidden", "sidebar"] = "hidden" if st.context.is_embedded else "sidebar"
    shown = st.navigation([*pages.values(), by_name], position=place)
    page = next((page for page in PAGES if pages[page.name] is shown), FIRST)
    with rerun(page.name, _share()) as held:
        st.session_state["held"] = held
        _run(page, shown)


def _run(page: Page, shown: st.Page) -> None:
    st.session_state["models"] = page.models
    _enter()
    recall_settings(page)
    server.warm_up()
    st.set_page_config(page_title=tab_title(page), page_icon=ICON, layout="wide")
    style(page)

    with remembering():
        _around(page, shown)
    server.freeze()
    server.give_back()


def _around(page: Page, shown: st.Page) -> None:
    content = st.container()
    known = None
    if "beside" in st.session_state:
        fit_divisors(_own_names(page))
        known = st.session_state["beside"] = _beside(page)
        st.session_state["parts_beside"] = parts_beside(page)
        st.session_state.pop("beside_is_old", None)
        with content:
            shown.run()
    if not st.context.is_embedded:
        with st.sidebar:
            settings_beside(page)
    st.session_state["beside"] = _beside(page)
    if known is None:
        with content:
            shown.run()
    elif known != st.session_state["beside"]:
        st.rerun()


def show(file: str, page: Callable[[], object]) -> None:
    """To be called by every page, with its `__file__` and what draws it: puts the frame around it.

    The sentence stands on top where the page has one. Only this runs again while one types, or
    changes something on the page; the settings beside follow where they depend on that.
    A cold server answers the first visit to a page's own address with that page alone, since a
    folder called `pages` is there. Then go to the frame, which comes back here.
    """
    if not st.session_state.pop("framed", False):
        st.session_state["return_to"] = f"pages/{Path(file).name}"
        st.switch_page(SCRIPT, query_params=_link())
    known = next(known for known in PAGES if Path(known.path).name == Path(file).name)
    title(known)
    _body(known, page)


@st.fragment(key=PAGE)
def _body(page: Page, draw: Callable[[], object]) -> None:
    with rerun(page.name, _share()) as held, remembering():
        _draw(page, draw, held or st.session_state.pop("held", 0.0))


def _draw(page: Page, draw: Callable[[], object], held: float) -> None:
    wanted = sharing(page)
    if page.sentence(value_of):
        sentence_box(chapters.own_sentence(chapters.opened()) if page.name == "guide" else "")
    with st.container():  # what comes and goes leaves the page in its place
        for words in [*_words_on_link(), *words_on_figure(page), *_words_on_waiting(held)]:
            note(words)
    if wanted:
        with files.collecting() as offered:
            draw()
        show_files(page, wanted, offered)
    else:
        draw()
    acknowledgement()
    if st.session_state.pop("beside_is_old", False) or beside_is_old(page):
        st.rerun()


def _share() -> Pace:
    """What this session may use of the server."""
    if "share" not in st.session_state:
        st.session_state["share"] = share()
    used: Pace = st.session_state["share"]
    return used


def _words_on_waiting(held: float) -> list[str]:
    """That the last change had to wait, if one could feel it."""
    if held < MAX_UNFELT:
        return []
    return [
        f"This change waited {held:.0f} s: those before it took more than one visitor's share of "
        "the server."
    ]


def _beside(page: Page) -> dict[str, object]:
    """The values of the settings at the side of a page."""
    return {name: value_of(name) for name in [*page.beside(value_of), *_own_names(page)]}


def _own_names(page: Page) -> list[str]:
    """The settings beside a page that the variant chosen there has of its own."""
    menus = [name for name in page.beside(value_of) if name in VARIANT_MENUS]
    return [name for menu in menus for name in own_settings(value_of(menu))]


def _enter() -> None:
    """The other half of `show`, and the opened link, before any bound widget is drawn.

    What a link says wrongly is taken out of the address, so that no widget fails on it, after a
    step back too. Where code has just put the address right, see `session.choose`, all begins
    with what it says now.
    """
    if return_to := st.session_state.pop("return_to", None):
        st.switch_page(return_to, query_params=_link())
    st.session_state["framed"] = True
    if st.session_state.pop("address_is_old", False):
        st.rerun()
    if stepped_in_history():
        link = _link()
        taken, _ = read_link(link, width_of)
        if taken != link:
            take_link(taken)
            st.rerun()
    if "link_problems" not in st.session_state:
        link = _link()
        instead = {"model": value_of("model")}
        taken, st.session_state["link_problems"] = read_link(link, width_of, instead)
        if taken != link:
            st.query_params.from_dict(taken)
            st.rerun()
    recall_place()


def _link() -> dict[str, list[str]]:
    """The address now: every text of every name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


@functools.lru_cache(maxsize=64)
def _streamlit_page(page: Page) -> st.Page:
    first = page is FIRST
    return st.Page(page.path, title=page.title, url_path="" if first else page.name, default=first)


def _words_on_link() -> list[str]:
    """What the opened link said that could not be taken, until something is changed."""
    problems: list[str] = st.session_state["link_problems"]
    if not problems:
        return []
    now = (current_settings(), layer_settings())
    return problems if st.session_state.setdefault("as_opened", now) == now else []
