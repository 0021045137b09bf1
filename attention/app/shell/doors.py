"""The menu: seven doors, and behind one with several pages a row of links to the others."""

from __future__ import annotations

import copy
import functools
from typing import Literal

import streamlit as st

from attention.app.state.pages import PAGES, Page

ADDRESS = "address"  # of the page shown, the name of a path


def addresses() -> dict[str, Page]:
    """The page at each address, in the order of the menu; the first page has two of them."""
    found: dict[str, Page] = {}
    for page in PAGES:
        found |= {"": page, page.name: page} if page.first else {page.name: page}
    return found


def enter() -> tuple[Page, st.Page]:
    """The page that the visitor has come to, and Streamlit's, which runs it. Draws the menu.

    A door leads to its first page. The one behind which the visitor is stands for the page shown,
    so that Streamlit marks it.
    """
    shown = _navigate(st.session_state.get(ADDRESS, ""))
    if shown.url_path != st.session_state.get(ADDRESS, ""):
        st.session_state[ADDRESS] = shown.url_path
        shown = _navigate(shown.url_path)
    return addresses()[shown.url_path], shown


def _navigate(here: str) -> st.Page:
    """Streamlit's page, with the menu of one who is at an address."""
    known = addresses()
    doors = {page.door: address for address, page in reversed(known.items())}
    if here in known:
        doors[known[here].door] = here
    position: Literal["hidden", "top"] = "hidden" if st.context.is_embedded else "top"
    pages = [
        # Made for this run alone: a page can be shown once.
        copy.copy(_streamlit_page(page, address, doors[page.door] == address))
        for address, page in known.items()
    ]
    return st.navigation(pages, position=position)


@functools.lru_cache(maxsize=64)
def _streamlit_page(page: Page, address: str, listed: bool) -> st.Page:
    return st.Page(
        page.path,
        title=page.door if listed else page.title,
        url_path=address,
        default=not address,
        visibility="visible" if listed else "hidden",
    )


def views(page: Page) -> None:
    """Links to all pages behind the door of a page: what is set goes along."""
    behind = [other for other in PAGES if other.door == page.door]
    if len(behind) < 2 or st.context.is_embedded:
        return
    here = st.session_state.get(ADDRESS, "")
    with st.container(horizontal=True, width="content", key="views"):
        for other in behind:
            address = here if other is page else "" if other.first else other.name
            st.page_link(_streamlit_page(other, address, False), label=other.title)
