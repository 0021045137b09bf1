"""The state of one visit, from a tab's first run to its last: a value, replaced and never changed.

Its settings are what was wished for last: by a link, by a visitor in a widget, or by code. Widgets
and the address show them, see `session`. Nothing here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attention.app.state.links import every_setting, value_in
from attention.app.state.pages import EmbedSettings, Page
from attention.core.settings import Value, settings_of
from attention.hosting.uploads import Reservation
from attention.pipeline import Selection
from attention.training import TrainingSettings

SELECTED = tuple(settings_of(Selection))  # in the pictures
Link = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Writing:
    """A model that is going on with a sentence.

    model, text: their names; added: the pieces that it has written so far.
    """

    model: str
    text: str
    added: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class KeptText:
    """A text that a visit keeps: its mark in links, and the room that it takes."""

    text: str
    mark: str
    taken: Reservation


@dataclass(frozen=True)
class ChosenWord:
    """Chosen word, among the tokens it was last seen in.

    by_visitor: whether a visitor or a link has chosen it.
    """

    tokens: tuple[str, ...]
    position: int
    by_visitor: bool


@dataclass(frozen=True)
class Widget:
    """A widget of Streamlit's as it was drawn last, see `session.bound`.

    version: a part of its key; held: what it held then; take: takes what a visitor sets it to;
    labels: of its choices, where these change.
    """

    version: int
    held: Any
    take: Callable[[Any], object]
    labels: object


@dataclass(frozen=True)
class Visit:
    """State of a visit, kept from one run to the next."""

    # The page, and the link that was opened.
    page: str = ""  # its name
    next_page: str = ""  # to go on to, "" = none
    problems: tuple[str, ...] = ()  # of the opened link, in words
    opened_as: object = None  # the settings it was opened with
    started: frozenset[str] = frozenset()  # pages whose `starts` were set
    viewed: str = ""  # the last page whose view can stand in a chapter

    # Settings, and how they are shown.
    settings: Mapping[str, Value] = field(default_factory=dict)  # as wished, default if not named
    widgets: Mapping[str, Widget] = field(default_factory=dict)
    written: Link | None = None  # the address as it was written last
    late: Mapping[str, str] = field(default_factory=dict)  # typed before a choice was received
    # the parts at the side, each with its setting and all that decides it; None: no side
    beside: tuple[tuple[str, object], ...] | None = None
    chosen_word: ChosenWord | None = None  # in the pictures

    # Sentences and texts.
    aside: str = ""  # the visitor's sentence while a page shows its own
    long_texts: tuple[KeptText, ...] = ()  # the last ones that were too long for a link
    refused: str = ""  # why the last edit was not taken
    # a model and a sentence to which nothing was added, and why
    not_added: tuple[tuple[str, str] | None, str] = (None, "")
    writing: Writing | None = None  # a model that goes on with the sentence

    # Lessons and questions.
    chapter: tuple[object, ...] = ()  # the open one
    in_chapter: Mapping[str, Any] = field(default_factory=dict)  # chosen in its figure
    # the first choice in each chapter, by its lesson and name
    guesses: Mapping[tuple[object, str], int] = field(default_factory=dict)
    draft: Any = None  # a lesson that is being written

    # Work of seconds, and files.
    begun: frozenset[Hashable] = frozenset()  # names of jobs asked for by a click
    stopped: object = None  # the name of the job that was stopped
    learned: tuple[TrainingSettings, ...] = ()  # trainings shown, to stand side by side
    map_asked: Any = None  # the parts of the map of a long text that the browser asks for

    def opening(self, page: Page, link: Link, problems: Sequence[str]) -> Visit:
        """The visit once a link is opened, or stepped back to. problems: see `links.read_link`."""
        settings = {name: value_in(link, name) for name in link if name in every_setting()}
        draft = None if self.draft and self.draft.link is not None else self.draft
        anew = replace(self, opened_as=None, chosen_word=None, written=None, late={}, draft=draft)
        if "figure_head" in page.declared:  # its figures have a selection of their own
            chosen = {name: settings.pop(name) for name in SELECTED if name in settings}
            anew = replace(anew, chapter=(), in_chapter={"selection": chosen})
        return replace(anew, problems=tuple(problems)).on(page, settings)

    def arriving(self, page: Page) -> Visit:
        """The visit on another page: all goes along, but the parts that a link has hidden."""
        parts = settings_of(EmbedSettings)
        return self.on(page, {n: it for n, it in self.settings.items() if n not in parts})

    def on(self, page: Page, settings: Mapping[str, Value]) -> Visit:
        """The visit on a page, with these settings."""
        viewed = page.name if page.chapter else self.viewed
        started = self.started | {page.name}
        settings = {**page.unnamed(settings), **settings}
        return replace(self, page=page.name, settings=settings, started=started, viewed=viewed)

    def choosing(self, **values: Value) -> Visit:
        """The visit after settings were chosen."""
        late = {name: text for name, text in self.late.items() if name not in values}
        return replace(self, settings={**self.settings, **values}, late=late)

    def in_its_chapter(self, **chosen: Any) -> Visit:
        """The visit after something was chosen in the figure of the open chapter."""
        return replace(self, in_chapter={**self.in_chapter, **chosen})


def legal_selection(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a choice in the pictures what they can show."""
    declared = every_setting()
    named = {name: values[name] for name in SELECTED if name in values}
    return {name: value for name, value in named.items() if not declared[name].problem(value)}
