"""The frame around every page: from an opened link to the page in its place."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attention.app import server
from attention.app.links import read_link
from attention.app.notes import note, style
from attention.app.pages import PAGES, Page
from attention.app.session import current_settings, layer_settings, value_of, width_of
from attention.app.widgets import sentence_box, settings_beside

APP = "Attention explorer"
SCRIPT = "streamlit_app.py"


def run() -> None:
    """The whole app, once: navigation, the settings at the side, the sentence, and the page.

    The first page is found without a path, and by its name as the others are.
    After the first run the page comes before the settings, since it is what one waits for: they
    are known before their widgets are drawn again. Should the widgets have it otherwise (after a
    step back in the browser's history), everything is drawn once more.
    """
    pages = {page.name: _streamlit_page(page) for page in PAGES}
    first = PAGES[0]
    by_name = st.Page(first.path, title=first.title, url_path=first.name, visibility="hidden")
    shown = st.navigation({APP: [*pages.values(), by_name]})
    page = next((page for page in PAGES if pages[page.name] is shown), first)
    st.set_page_config(page_title=f"{page.title} · {APP}", page_icon="👁", layout="wide")
    _enter()
    server.warm_up()

    top, body = st.container(), st.container()
    if "as_opened" not in st.session_state:
        _controls(page, top)
        with body:
            shown.run()
    else:
        expected = _standing()
        with body:
            shown.run()
        _controls(page, top)
        if _standing() != expected:
            st.rerun()
    server.freeze()
    server.give_back()


def inside(file: str) -> None:
    """To be called first by every page, with its `__file__`: see that the frame is around it.

    A cold server answers the first visit to a page's own address with that page alone, since a
    folder called `pages` is there. Then go to the frame, which comes back here.
    """
    if not st.session_state.pop("framed", False):
        st.session_state["return_to"] = f"pages/{Path(file).name}"
        st.switch_page(SCRIPT, query_params=_link())


def _enter() -> None:
    """The other half of `inside`, and the opened link, before any bound widget is drawn.

    What a link says wrongly is taken out of the address, so that no widget fails on it. Where code
    has just put the address right, see `session.choose`, all begins with what it says now.
    """
    if return_to := st.session_state.pop("return_to", None):
        st.switch_page(return_to, query_params=_link())
    st.session_state["framed"] = True
    if st.session_state.pop("address_is_old", False):
        st.rerun()
    if "link_problems" not in st.session_state:
        link = _link()
        taken, st.session_state["link_problems"] = read_link(link, width_of)
        if taken != link:
            for name, texts in link.items():
                if name not in taken:
                    del st.query_params[name]
                elif taken[name] != texts:
                    st.query_params[name] = taken[name]
            st.rerun()


def _link() -> dict[str, list[str]]:
    """The address now: every text of every name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _streamlit_page(page: Page) -> st.Page:
    first = page is PAGES[0]
    return st.Page(
        page.path, title=page.title, url_path="" if first else page.name, default=first
    )


def _controls(page: Page, top: st.delta_generator.DeltaGenerator) -> None:
    """The settings at the side and the sentence on top, as far as the page has them."""
    with st.sidebar:
        settings_beside(page)
    with top:
        style()
        if page.sentence(value_of):
            sentence_box()
        for words in _words_on_link():
            note(words)


def _words_on_link() -> list[str]:
    """What the opened link said that could not be taken, until something is changed."""
    standing = _standing()
    opened = st.session_state.setdefault("as_opened", standing)
    problems: list[str] = st.session_state["link_problems"]
    return problems if opened == standing else []


def _standing() -> object:
    return current_settings(), layer_settings()
