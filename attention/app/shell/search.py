"""A search over all pages: one index, made of what pages, settings and the glossary declare."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlencode

import streamlit as st

from attention.app.components.inputs import FoundHeader, SearchHeader, search
from attention.app.state.glossary import GLOSSARY
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES, SHARED, Page, Place, first_page
from attention.core.settings import Declared


def draw() -> None:
    """The button that opens the search, on top of each page."""
    if not st.context.is_embedded:
        header: SearchHeader = {"first": first_page().name, "places": _headers()}
        search.draw(header, key="search", width="content")


@functools.cache
def _headers() -> list[FoundHeader]:
    return [cast(FoundHeader, place._asdict()) for place in places()]


def places() -> Iterator[Place]:
    """All that a search finds."""
    for page in PAGES:
        yield from page.places()
        yield from _options(page, SHARED | page.declared if page is first_page() else page.declared)
        yield Place(page.title, page.purpose, page.name, page.shows)
    homes = {word: page.name for page in reversed(PAGES) for word in page.words}
    for word, home in homes.items():
        yield Place(word, GLOSSARY[word], home)


def _options(page: Page, declared: Declared) -> Iterator[Place]:
    """The options of a page's settings that have names."""
    for name, about in declared.items():
        for option, names in about.searched.items():
            link = urlencode(_needed(name) | {name: option})
            yield Place.named(names, f"{page.title} · {about.label}", f"{page.name}?{link}")


def _needed(name: str) -> dict[str, str]:
    """Another setting without which one has no effect."""
    when = every_setting()[name].when
    if when is None or every_setting()[when[0]].default == when[1]:
        return {}
    return {**_needed(when[0]), when[0]: when[1]}
