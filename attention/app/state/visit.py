"""The state of one visit, from a tab's first run to its last: a value, replaced and never changed.

Streamlit holds the widgets and the address; all else that a visit keeps between its runs is here.
Nothing here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from attention.app.state.links import every_setting
from attention.app.state.pages import Page
from attention.core.settings import Value, settings_of
from attention.hosting.uploads import Reservation
from attention.pipeline import Selection
from attention.training import TrainingSettings

SELECTED = tuple(settings_of(Selection))  # in the pictures
Link = Mapping[str, Sequence[str]]


class Entry(Enum):
    """Entry of a whole run to its page."""

    OPENED = "a link was opened: the address decides"
    STAYED = "the page was there already: its widgets decide"
    ARRIVED = "the menu led here: the settings of the page before go along"
    RETURNED = "a step in the browser's history led here: the address decides again"


@dataclass(frozen=True)
class Choice:
    """A value set from code, and the values a browser may still send that has not received it.

    number: how many such choices the visit had by then.
    """

    value: Any
    before: tuple[Any, ...]
    number: int


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
class Visit:
    """State of a visit, kept from one run to the next."""

    # The page, and the link that was opened.
    page: str = ""  # its name
    next_page: str = ""  # to go on to, "" = none
    problems: tuple[str, ...] = ()  # of the opened link, in words
    opened_as: object = None  # the settings it was opened with
    started: frozenset[str] = frozenset()  # pages whose `starts` were set
    viewed: str = ""  # the last page whose view can stand in a chapter

    # Widgets, and what code has set in their place.
    lent: str = ""  # the model of a page that needs one, where none was chosen, see `_lend_model`
    # settings that a link hides, with their values
    hidden: Mapping[str, Value] = field(default_factory=dict)
    drawn: frozenset[str] = frozenset()  # settings that have had a widget
    choices: Mapping[str, Choice] = field(default_factory=dict)  # set from code
    received: int = 0  # so many of these the browser has received
    # the parts at the side, each with its setting and all that decides it; None: no side
    beside: tuple[tuple[str, object], ...] | None = None
    # query and stage chosen in the pictures
    selected: Mapping[str, Any] = field(default_factory=dict)
    chosen_word: ChosenWord | None = None  # chosen there

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
    answer: Any = None  # to the question asked
    # cells marked for it, see `predicting`
    marked: tuple[int | None, frozenset[tuple[int, int]]] = (None, frozenset())
    # the first choice in each chapter or at each question, by its lesson and name
    guesses: Mapping[tuple[object, str], int] = field(default_factory=dict)
    draft: Any = None  # a lesson that is being written

    # Work of seconds, and files.
    begun: frozenset[Hashable] = frozenset()  # names of jobs asked for by a click
    stopped: object = None  # the name of the job that was stopped
    learned: tuple[TrainingSettings, ...] = ()  # trainings shown, to stand side by side
    # the parts of each map of a page that the browser asks for
    map_asked: Mapping[int, Any] = field(default_factory=dict)
    asked_file: str = ""  # the mark of a file that a link has named and that is not open

    def entry(self, page: Page, returned: bool) -> Entry:
        """Entry of the run to a page. returned: by a step in the browser's history.

        A second such step may come before the run is over that takes the link of the first.
        """
        if returned and (self.page or self.drawn):
            return Entry.RETURNED
        if not self.page:
            return Entry.OPENED
        return Entry.STAYED if page.name == self.page else Entry.ARRIVED

    def entered(self, page: Page, entry: Entry, problems: Sequence[str]) -> Visit:
        """The visit on a page. problems: what of the address cannot be taken."""
        decides = entry in (Entry.OPENED, Entry.RETURNED)
        return replace(
            self,
            page=page.name,
            problems=tuple(problems) if decides else self.problems,
            opened_as=None if decides else self.opened_as,
            selected={} if decides else self.selected,
            chosen_word=None if decides else self.chosen_word,
            started=self.started | {page.name},
            viewed=page.name if page.chapter else self.viewed,
            draft=None if decides and self.draft and self.draft.link is not None else self.draft,
        )

    @property
    def last_choice(self) -> int:
        """The number of the last choice from code."""
        return max((choice.number for choice in self.choices.values()), default=0)

    def newest(self, name: str, sent: Any) -> Any:
        """The value of a widget: as the browser sent it, unless it had not received a choice yet.

        A browser sends the values of all widgets with each message.
        """
        choice = self.choices.get(name)
        unreceived = choice is not None and choice.number > self.received
        return choice.value if choice and unreceived and sent in choice.before else sent

    def choosing(self, name: str, value: Any, sent: Any) -> Visit:
        """The visit after code has set a value. sent: the one that the browser sent."""
        last = self.choices.get(name)
        before = (*last.before, last.value) if last and last.number > self.received else ()
        older = tuple(other for other in (*before, sent) if other != value)
        choice = Choice(value, older, self.last_choice + 1)
        return replace(self, choices={**self.choices, name: choice})

    def selecting(self, values: Mapping[str, Any]) -> Visit:
        """The visit after a choice in the pictures; one that is not legal changes nothing."""
        return replace(self, selected={**self.selected, **legal_selection(values)})

    def in_its_chapter(self, **chosen: Any) -> Visit:
        """The visit after something was chosen in the figure of the open chapter."""
        return replace(self, in_chapter={**self.in_chapter, **chosen})


def legal_selection(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a choice in the pictures what they can show."""
    declared = every_setting()
    return {name: values[name] for name in SELECTED if declared[name].problem(values[name]) is None}
