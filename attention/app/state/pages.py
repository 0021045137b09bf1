"""The pages, each declared once: menu, links, tests and docs/pages.md follow from this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from attention.app.state.glossary import GLOSSARY
from attention.core.printing import listed
from attention.core.settings import Declared, Value, choice, settings_of, text
from attention.core.variants import VARIANTS
from attention.pipeline import Settings

Values = Mapping[str, Any]  # of every setting, by name
SHARED = settings_of(Settings)
OF_MODELS = ("model", "layer", "special", "join", "cut", "trained_mask", "trained_positions")
WITH_WORDS = tuple(name for name in SHARED if name != "s")
WHOLE_PAGE = "all"
PLAY, LABORATORY, TEACH = "Play", "Laboratory", "Teach"
WITHOUT_MODELS = tuple(name for name in WITH_WORDS if name not in OF_MODELS)


class Place(NamedTuple):
    """Place that a search finds: its title, a line on it, the link that leads there from the app's
    address, further names, and whether that link is all that is to be set there."""

    title: str
    told: str
    link: str
    names: str = ""
    whole: bool = False

    @classmethod
    def named(cls, names: str, told: str, link: str) -> Place:
        """A place with the names that `Setting.names` has: its title, others behind "; "."""
        title, _, more = names.partition("; ")
        return cls(title, told, link, more)


@dataclass(frozen=True, eq=False)
class Page:
    """One page: the file pages/<name>.py, shown at /<name>."""

    name: str
    title: str
    shows: str  # in a line, for docs/pages.md
    purpose: str  # the line below its title
    words: tuple[str, ...] = ()  # of `GLOSSARY`, explained on demand
    # that can stand alone: the name in a link, and the beginning of their key
    figures: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[type, ...] = ()  # the classes that declare its own
    further_settings: Callable[[], Declared] = dict  # those that follow from others
    # True if the sentence box stands on top
    sentence: Callable[[Values], bool] = lambda values: True
    # whether a trained model may take the place of a variant, or has to
    models: Literal["", "offered", "needed"] = ""
    attention: Literal["self", "cross"] = "self"  # within one sequence or between two
    # the names of the settings at its side
    beside: Callable[[Values], Sequence[str]] = lambda values: ()
    # set when one first comes to it, unless a trained model is
    starts: Mapping[str, Value] = field(default_factory=dict)
    # further settings, where a sentence of one's own comes along; gets its view
    fills: Callable[[Any], Mapping[str, Value]] = lambda view: {}
    # values of settings that a link does not name, where those are no defaults; gets the others
    unnamed: Callable[[Values], Values] = lambda named: {}
    # the query of the link that its bare address (""), and the menu, lead to, or one that says
    # no more than a sentence; "" = it stays
    opens: Callable[[str], str] = lambda s: ""
    former: tuple[str, ...] = ()  # names of pages whose addresses lead to it
    file: str = ""  # from the top of the project, "" = in pages/
    behind: str = ""  # the door of the menu that leads to it, "" = one of its own
    # True if it shows a sentence of its own in place of the given one
    own_sentences: Callable[[Values, str], bool] = lambda values, given: False
    long_texts: bool = False  # whether it shows texts too long for a link, as a map
    # the figure of a chapter that shows its view, "" = none does
    chapter: Callable[[Values], str] | None = None
    place: int = 0  # in the menu
    first: bool = False  # whether it is at the address without a path
    calm: bool = False  # whether nothing stands at its side
    # its view with those in force that it computes, where nobody has set them
    computes: Callable[[Any], Any] = lambda view: view
    # the position that it opens on, among the tokens of a sentence, None = the first
    asks: Callable[[Values, Sequence[str]], int | None] = lambda values, tokens: None
    # places there that a search finds besides its settings
    places: Callable[[], Sequence[Place]] = tuple
    # its title and purpose under the query of a link, None = as always
    title_of_link: Callable[[bytes], tuple[str, str] | None] = lambda query: None
    prepare: Callable[[], object] = lambda: None  # done once, before the server answers anybody

    def __post_init__(self) -> None:
        """Refuse a page that lacks a part. Raises ValueError."""
        said = {"title": self.title, "shows": self.shows, "purpose": self.purpose}
        absent = [part for part, words in said.items() if not words]
        absent += [f"explanation of {word}" for word in self.words if word not in GLOSSARY]
        if absent:
            raise ValueError(f"page {self.name!r} lacks its {listed(absent)}")

    @property
    def path(self) -> str:
        """Its file, from the top of the project."""
        return self.file or f"pages/{self.name}.py"

    @property
    def door(self) -> str:
        """The name in the menu of what leads to it: pages with the same one are views of it."""
        return self.behind or self.title

    @property
    def heading(self) -> tuple[str, str]:
        """Its title, and what one finds there."""
        return self.title, self.purpose

    @property
    def declared(self) -> Declared:
        """The settings that it has besides those all pages share."""
        own = {
            name: about for schema in self.settings for name, about in settings_of(schema).items()
        }
        return own | self.further_settings()


def figure_names() -> tuple[str, ...]:
    """The figures that a link may ask for: all of a page, or one of those some page has."""
    names = {name: None for page in PAGES for name in page.figures}
    return (WHOLE_PAGE, *names)


@dataclass(frozen=True)
class EmbedSettings:
    """The parts of a page that are drawn. A link sets them, for lessons and embedding pages."""

    figure: str = choice(WHOLE_PAGE, "The figure shown alone", figure_names)
    hide: str = text("", "Settings that are not drawn", 400)


def hidden_names(hide: str) -> tuple[str, ...]:
    """The names in the text of `hide`, which has commas between them."""
    return tuple(name for name in (word.strip() for word in hide.split(",")) if name)


def variant_settings() -> Declared:
    """The settings that some variant has, by name."""
    declared: Declared = {}
    for variant in VARIANTS.values():
        declared |= settings_of(variant.Config)
    return declared


PAGES: list[Page] = []  # in the order of the menu, see `declare`


def declare(pages: Iterable[Page]) -> None:
    """Take pages into the menu, each at its place."""
    PAGES.extend(pages)
    PAGES.sort(key=lambda page: page.place)


def first_page() -> Page:
    """The page that is shown at the address without a path."""
    return next(page for page in PAGES if page.first)


def page_named(name: str) -> Page:
    """The page of that name. Raises KeyError where none has it."""
    for page in PAGES:
        if page.name == name:
            return page
    raise KeyError(f"no page is named {name!r}; there are {[page.name for page in PAGES]}")
