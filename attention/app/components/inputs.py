"""Components that a visitor clicks or types into."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypedDict

from attention.app.components.base import Component


class ExamplesHeader(TypedDict):
    """Header of the examples; so for each component below."""

    words: str
    texts: list[str]
    gone: list[int] | None  # positions


_examples = Component("examples", ExamplesHeader, example=int)


def examples(
    words: str,
    texts: Sequence[str],
    on_choose: Callable[[int], None],
    *,
    key: str,
    gone: Collection[int] | None = None,
) -> None:
    """After some words, things to try; on_choose gets the position of the one clicked.

    gone: where a click takes one away or brings it back, the positions of those that are away.
    """

    header: ExamplesHeader = {
        "words": words,
        "texts": list(texts),
        "gone": None if gone is None else sorted(gone),
    }
    _examples.draw(header, key=key, example=(range(len(texts)).__contains__, on_choose))


class LightsHeader(TypedDict):
    """Words of a text light what they speak of, when pointed at, focused or tapped.

    selectors: CSS for the parts by name, which links to `#light-name` light; figure: CSS for what
    the parts are looked for in. Where the chapter is another one than before, its heading comes
    into view. language: of the chapter's words, "" = not known.
    """

    selectors: Mapping[str, str]
    figure: str
    chapter: int
    language: str


lights = Component("lights", LightsHeader, isolate_styles=False)


class KeptNameHeader(TypedDict):
    """A name that the browser keeps for a day, as a cookie: `st.context.cookies` has it at the next
    visit. Nothing is seen of it.

    settings: to stand in the address in place of those that do, "" = none; once they do, the event
    `written` comes, as Streamlit does not look there.
    """

    cookie: str
    value: str
    settings: Mapping[str, str]


kept_name = Component("kept_name", KeptNameHeader, written=bool)


class CopyLinkHeader(TypedDict):
    """A button that copies the address of exactly this view, and a menu of further ways to share.

    link: to share in place of that address, "" = none; title: what the browser's tab and an
    embedded frame are called; caption: words to stand below a figure; paper: what stands below the
    page's title where it is printed; query: what the token chosen in the figures is called there;
    figures: names of those that can be embedded alone, where they stand on the page, with what the
    keys of their components begin with. Where the page is embedded already, a link to the whole of
    it stands instead.
    """

    link: str
    title: str
    caption: str
    paper: str
    query: str
    figures: Mapping[str, str]
    embedded: bool


copy_link = Component("copy_link", CopyLinkHeader)


class FoundHeader(TypedDict):
    """A place that a search finds, see `Place`."""

    title: str
    told: str
    link: str
    names: str
    whole: bool


class SearchHeader(TypedDict):
    """A button, and the key /, that open a search over places of the app.

    first: name of the page at the address without one.
    """

    first: str
    places: Sequence[FoundHeader]


search = Component("search", SearchHeader)


class SaveFiguresHeader(TypedDict):
    """A button for each figure that stands on the page; it saves what is seen of it
    as PNG, and another as SVG.

    figures: names, with what the keys of their components begin with; begins: what the names of
    their files begin with. Where there is a program, a button that copies this instead.
    """

    figures: Mapping[str, str]
    begins: str
    program: str


save_figures = Component("save_figures", SaveFiguresHeader)
