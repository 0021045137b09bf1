"""Everything that is set, in one immutable value for one run: what pages and results start from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from attention.app.state.links import every_setting
from attention.app.state.pages import (
    OF_MODELS,
    SHARED,
    EmbedSettings,
    Page,
    hidden_names,
    page_named,
)
from attention.app.state.shared import load_model, width_of
from attention.app.state.visit import SELECTED, Visit
from attention.core.settings import Declared, Value, settings_of, with_divisors
from attention.core.variants import VARIANTS
from attention.figures.scene_message import Selection
from attention.inputs.text import tokenize
from attention.pipeline import Settings
from attention.trained.layers import Layer
from attention.trained.sources import NONE

OF = "values"  # of `View.known`: those that all else there was made of
Made = TypeVar("Made")
# Whether a layer of a trained model has what a setting leaves out.
OF_LAYERS: Mapping[str, Callable[[Layer], bool]] = {
    "trained_mask": lambda layer: bool(layer.masks(1, 1)),
    "trained_positions": lambda layer: layer.attention.has_positions,
}


@dataclass(frozen=True, eq=False)
class View(Mapping[str, Any]):
    """The value of every setting, by name, as a page shows it: each is legal.

    page: the one it is for; visit: what the visit keeps besides; known: what was made of the values
    in this run, see `once_a_run`.
    """

    page: Page
    visit: Visit
    values_: Mapping[str, Any] = field(repr=False)
    known: dict[object, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.known.get(OF) is not self.values_:
            object.__setattr__(self, "known", {OF: self.values_})

    def __getitem__(self, name: str) -> Any:
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    @functools.cached_property
    def hidden(self) -> Set[str]:
        """The names of the settings that the link leaves undrawn; their values are in force."""
        return {name for name in hidden_names(self["hide"]) if name in self}

    @property
    def calm(self) -> bool:
        """True if nothing stands at the side of the page."""
        return self.page.calm

    @property
    def selection(self) -> Selection:
        """Query and stage that the pictures show; they are chosen in the browser.

        The query that a page opens on is the one that no link names.
        """
        values: Any = {name: self[name] for name in SELECTED}
        defaults: Any = {name: every_setting()[name].default for name in SELECTED}
        if (word := self.visit.chosen_word) is not None:
            defaults["query"] = self.page.asks(self, word.tokens) or defaults["query"]
        return {"values": values, "defaults": defaults}

    def of(self, schema: Any) -> Any:
        """A dataclass of settings with their values; the default where one does not apply."""
        return schema(**{name: self[name] for name in settings_of(schema) if self.applies(name)})

    def applies(self, name: str) -> bool:
        """True if a setting has any effect, given the others."""
        if name not in self.known:
            self.known[name] = self._applies(name)
        return bool(self.known[name])

    def _applies(self, name: str) -> bool:
        if name == "model":
            return len(every_setting()[name].choices) > 1
        if name in OF_LAYERS and self["model"] != NONE:
            return any(map(OF_LAYERS[name], load_model(self["model"]).layers))
        if name in ("head", "seed"):
            if self["model"] != NONE:
                return name == "head"
            config = settings_of(VARIANTS[self["variant"]].Config)
            if name == "head":
                return "heads" in config
            return "seed" in config or self["vectors"] == "random"
        about = every_setting()[name]
        if not about.applies(self.__getitem__):
            return False
        return about.when is None or self.applies(about.when[0])

    @property
    def has_variants(self) -> bool:
        """True if the page has a menu of variants."""
        return "variant" in self.page.beside(self)

    def in_use(self) -> dict[str, Value]:
        """The settings that have an effect, with their values."""
        names = [name for name in SHARED if name != "s" and self.applies(name)]
        values = {name: self[name] for name in names}
        if "variant" in values:
            values |= {name: self[name] for name in own_settings(self["variant"])}
        return values

    def settings(self) -> Settings:
        """The settings that decide the numbers; those without any effect have their default."""
        return _settings(self)

    def changed(self) -> dict[str, Value]:
        """The settings that have an effect and are no defaults."""
        declared = every_setting()
        return {n: v for n, v in self.in_use().items() if v != declared[n].default}

    @property
    def in_address(self) -> dict[str, Value]:
        """The wishes that stand in the address: of the settings that have an effect, no defaults.

        The selection is not among them: the browser writes it.
        """
        names = {"s", *self.page.beside(self), *self.page.declared, *settings_of(EmbedSettings)}
        if self.page.models:
            names |= {*OF_MODELS, "head"}
        if self.has_variants and self["model"] == NONE:
            names |= own_settings(self["variant"]).keys()
        wished, declared = dict(self.visit.settings), every_setting()
        if self.page.models == "needed":
            wished |= {"model": self["model"], "s": self["s"]}
        named = {n: wished[n] for n in declared if n in names & wished.keys() and self.applies(n)}
        unnamed = self.page.unnamed(self)
        return {n: it for n, it in named.items() if it != unnamed.get(n, declared[n].default)}

    @property
    def two_sequences(self) -> tuple[list[str], list[str]]:
        """The tokens of queries and keys where they are two sentences."""
        return tokenize(self["target"]), tokenize(self["memory"])

    def divided(self, name: str) -> int:
        """The number that a setting must divide, 0 where it need not divide any."""
        divides = every_setting()[name].divides
        if divides == "d_model":
            return _width(self)
        return int(self[divides]) if divides else 0


def once_a_run(make: Callable[[View], Made]) -> Callable[[View], Made]:
    """A function of a view that is computed once in a run; one that raises is asked again."""

    @functools.wraps(make)
    def known(view: View) -> Made:
        if make not in view.known:
            view.known[make] = make(view)
        made: Made = view.known[make]
        return made

    return known


@once_a_run
def _settings(view: View) -> Settings:
    values = view.in_use()
    shared: dict[str, Any] = {name: value for name, value in values.items() if name in SHARED}
    own = tuple((name, value) for name, value in values.items() if name not in SHARED)
    return Settings(view["s"], **shared, config=own)


def view_of(page: Page, visit: Visit) -> View:
    """The view of a page: what is in force of the settings that the visit wishes.

    One that is not legal has its default. A page without trained models goes on as if none were
    chosen, one that needs a model takes the first where none is; a number that must divide another
    becomes the greatest below it that does.
    """
    declared = every_setting()
    values: dict[str, Any] = {name: about.default for name, about in declared.items()}
    values |= {n: it for n, it in visit.settings.items() if not declared[n].problem(it)}
    values["model"] = model_on(page, values["model"])
    values |= _fitting(declared, values)
    return View(page, visit, values)


def viewed(page: str, /, **link: object) -> View:
    """The view of the page of that name as a link opens it, where no app runs.

    link: settings by name; of a list all texts are given. Raises KeyError where there is no such
    page; `subjects.declare_pages` makes them known.
    """
    texts = {
        name: [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
        for name, value in link.items()
    }
    there = page_named(page)
    return view_of(there, Visit().opening(there, texts, ()))


def model_on(page: Page, chosen: Value) -> Value:
    """The trained model that a page shows where this one, or none, is chosen."""
    if not page.models:
        return NONE
    models = every_setting()["model"].choices
    return models[1] if page.models == "needed" and chosen == NONE and len(models) > 1 else chosen


def _fitting(declared: Declared, values: Mapping[str, Any]) -> dict[str, Value]:
    """The settings that must divide others, each lowered until it does."""
    ours = {name: about for name, about in declared.items() if about.divides}
    wanted = {name: values[name] for name in ours}
    fitting = with_divisors(ours, wanted | {"d_model": _width(values)})
    return {name: fitting[name] for name in ours}


def _width(values: Mapping[str, Any]) -> int:
    """The d_model of the vectors."""
    vectors = values["vectors"]
    return int(values["d_model"]) if vectors == "random" else width_of(vectors)


def own_settings(variant: str) -> Declared:
    """The settings only the variant of that name has."""
    config = settings_of(VARIANTS[variant].Config)
    return {name: about for name, about in config.items() if name not in SHARED}
