"""The current settings of a session: from their widgets, or from the address before these."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from torchtext.vocab import Vectors

from attention.app.links import every_setting, value_in
from attention.app.pages import SHARED, VARIANT_MENUS, Page, hidden_names
from attention.components.pictures import Place
from attention.core.settings import Declared, Value, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.inputs.vector_file import Report
from attention.inputs.vectors import OwnVectors, PackagedGlove, own_vectors_path
from attention.pipeline import Settings
from attention.trained import sources
from attention.trained.models import Model
from attention.trained.sources import NONE

_drawing = threading.local()


@dataclass(frozen=True)
class Choice:
    """What code has chosen, and what a browser may still say that has not heard of it."""

    value: Any
    before: list[Any]
    number: int

    @property
    def unheard(self) -> bool:
        """Whether the browser's last message was sent before it heard of this choice."""
        return bool(st.session_state.get("heard", 0) < self.number)


@st.cache_resource(show_spinner="Loading the word vectors …")
def load_vectors(name: str, _report: Report = lambda line: None) -> Vectors:
    """The vectors of that name, loaded once for everybody. _report: is told how far it is."""
    return PackagedGlove() if name == "glove" else OwnVectors(own_vectors_path() or "", _report)


@st.cache_resource(show_spinner="Loading the trained model …")
def load_model(name: str) -> Model:
    """The trained model of that name, loaded once for everybody."""
    return sources.load(name)


def width_of(vectors: str) -> int:
    """The d_model of the vectors of that name."""
    return int(load_vectors(vectors).dim)


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """While a page is drawn, each setting is asked of Streamlit once: 7 % less CPU for a change."""
    outer, _drawing.values = getattr(_drawing, "values", None), {}
    try:
        yield
    finally:
        _drawing.values = outer


def forget(name: str) -> None:
    """To be called when a setting may have been changed while a page is drawn."""
    if values := getattr(_drawing, "values", None):
        values.pop(name, None)


def value_of(name: str) -> Any:
    """The value of a setting as its widget has it, or its default where that is not legal.

    Until the widget has been drawn the address speaks for it. A page without trained models goes
    on as if none were chosen, one that needs a model takes the first where none is.
    """
    values: dict[str, Any] | None = getattr(_drawing, "values", None)
    if values is None:
        return _asked(name)
    if name not in values:
        values[name] = _asked(name)
    return values[name]


def _asked(name: str) -> Any:
    about = every_setting()[name]
    if name == "model" and not st.session_state.get("models"):
        return about.default
    value = _newest(name)
    if value is None and name in st.query_params:
        value = about.parse_all(st.query_params.get_all(name))
    elif isinstance(value, list):
        value = about.parse_all(value)
    if value is None or about.problem(value):
        value = about.default
    if name == "model" and value == NONE and st.session_state.get("models") == "needed":
        return about.choices[1] if len(about.choices) > 1 else NONE
    return value


def hidden() -> Set[str]:
    """The names of the settings that the link leaves undrawn; their values are in force."""
    undrawn: dict[str, Value] = st.session_state.get("undrawn", {})
    return undrawn.keys()


def values_of(schema: Any) -> Any:
    """A dataclass of settings with their current values; the default where one does not apply."""
    return schema(**{name: value_of(name) for name in settings_of(schema) if applies(name)})


def applies(name: str, side: str = "", variant: str | None = None) -> bool:
    """Whether a setting has any effect, given the others of its side (`OTHER` or none).

    variant: the one in use, None = the chosen one.
    """
    if name == "model":
        return len(every_setting()[name].choices) > 1
    if name == "trained_mask" and (model := value_of("model")) != NONE:
        return any(layer.causal for layer in load_model(model).layers)
    if name in ("head", "seed"):
        if value_of("model") != NONE:
            return name == "head"
        config = settings_of(VARIANTS[variant or value_of(f"{side}variant")].Config)
        if name == "head":
            return "heads" in config
        return "seed" in config or value_of(f"{side}vectors") == "random"
    about = every_setting()[of_side(side, name)]
    if not about.applies(value_of):
        return False
    return about.when is None or applies(about.when[0].removeprefix(side), side, variant)


def of_side(side: str, name: str) -> str:
    """What a setting of a side is called in links: those that both sides share have one name."""
    return side + name if side + name in every_setting() else name


def menu_of(page: Page) -> str:
    """The name of the setting that chooses the variant of a page, "" where there is none."""
    return next((name for name in page.beside(value_of) if name in VARIANT_MENUS), "")


def own_settings(variant: str) -> Declared:
    """The settings only the variant of that name has."""
    config = settings_of(VARIANTS[variant].Config)
    return {name: about for name, about in config.items() if name not in SHARED}


def in_use(side: str = "", variant: str | None = None) -> dict[str, Value]:
    """The settings of one side that have an effect, with their values, under their plain names.

    variant: the one in use, None = the chosen one.
    """
    names = [name for name in SHARED if name != "s" and applies(name, side, variant)]
    values = {name: value_of(of_side(side, name)) for name in names}
    if "variant" in values:
        values["variant"] = variant = variant or values["variant"]
        values |= {name: value_of(side + name) for name in own_settings(variant)}
    return values


def current_settings(side: str = "", variant: str | None = None) -> Settings:
    """The current settings of one side; those without any effect have their default."""
    values = in_use(side, variant)
    shared: dict[str, Any] = {name: value for name, value in values.items() if name in SHARED}
    own = tuple((name, value) for name, value in values.items() if name not in SHARED)
    return Settings(value_of("s"), **shared, config=own)


def layer_settings() -> Settings:
    """The current settings, for the variant that the page Heads shows."""
    return current_settings(variant=value_of("heads_variant"))


def two_sequences() -> tuple[list[str], list[str]]:
    """The tokens of queries and keys where they are two sentences."""
    target, memory = (tokenize(value_of(name)) for name in ("target", "memory"))
    return target, memory


def _newest(name: str) -> Any:
    """What a widget says, or what code has chosen since, if the browser cannot have heard of it."""
    value = st.session_state.get(name)
    choice: Choice | None = st.session_state.get("chosen", {}).get(name)
    return choice.value if choice and choice.unheard and value in choice.before else value


def keep_choice(name: str) -> None:
    """To be called before a widget is drawn: what code has chosen for it is in force, and told."""
    if (newest := _newest(name)) != st.session_state.get(name):
        st.session_state[name] = newest


def tell_choices() -> None:
    """To be called before the widget `heard` is drawn: the browser gets all choices with it."""
    for name in st.session_state.get("chosen", ()):
        keep_choice(name)
    if (last := st.session_state.get("choices", 0)) != st.session_state.get("heard", 0):
        st.session_state["heard"] = last


def all_heard() -> bool:
    """Whether the browser's last message was sent after it heard of all that code has chosen."""
    return bool(st.session_state.get("heard", 0) >= st.session_state.get("choices", 0))


def choose(name: str, value: Value) -> None:
    """Set a bound setting from code, within a callback; Streamlit writes it into the address.

    But not for a widget that is yet to be drawn: that one takes what the address says.
    """
    chosen = list(value) if isinstance(value, tuple) else value
    choices: dict[str, Choice] = st.session_state.setdefault("chosen", {})
    last = choices.get(name)
    before = last.before if last and last.unheard else []
    before = [*before, _newest(name), st.session_state.get(name)]
    number = st.session_state["choices"] = st.session_state.get("choices", 0) + 1
    choices[name] = Choice(chosen, [said for said in before if said != chosen], number)
    if name not in st.session_state.get("drawn", ()):
        if name in st.query_params:
            del st.query_params[name]
            st.session_state["address_is_old"] = True
        if value != every_setting()[name].default:
            st.query_params[name] = chosen if isinstance(chosen, list) else str(chosen)
    st.session_state[name] = chosen
    forget(name)
    if name in st.session_state.get("beside", ()):
        st.session_state["beside_is_old"] = True


def choose_sentence(text: str) -> None:
    """Put a text into the sentence box, within a callback, if it has room for it."""
    if every_setting()["s"].problem(text) is None:
        choose("s", text)


def choose_query(query: int) -> None:
    """Choose a token from code, within a callback."""
    st.session_state["query"] = query


PLACE = ("query", "stage")


def recall_place() -> None:
    """To be called as a whole run begins: what is chosen in the pictures goes along to any page.

    The address of a page that one comes to by the menu does not say it yet. But it decides as a
    visit begins, and after a step in the browser's history.
    """
    stepped = stepped_in_history()
    if stepped:
        st.session_state.pop("chosen", None)
    if stepped or not all(name in st.session_state for name in PLACE):
        for name in PLACE:
            st.session_state.pop(name, None)
            st.session_state[name] = value_of(name)


def stepped_in_history() -> bool:
    """Whether this run follows a step in the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _take_browsers_link() -> None:
    """After a step to another page the address decides, as the browser has it; begins the run anew.

    Streamlit would leave out of it what the page before has drawn too.
    """
    context = get_script_run_ctx()
    link = parse_qs(context.query_string if context else "", keep_blank_values=True)
    take_link(link)
    for name in st.session_state.get("drawn", ()):
        if name in link and name not in st.query_params:
            value = st.session_state[name]
            st.query_params[name] = value if isinstance(value, list) else str(value)
    st.rerun()


def take_link(link: Mapping[str, Sequence[str]]) -> None:
    """Set what has been drawn to what a link says."""
    for name in st.session_state.get("drawn", ()):
        said = value_in(link, name)
        st.session_state[name] = list(said) if isinstance(said, tuple) else said


def recall_settings(page: Page) -> None:
    """To be called as a whole run begins: what a page's own widgets say goes along to another page.

    There they are other widgets to Streamlit, which takes along what was typed, but forgets what a
    link said. Those at the side are the same on all pages; but the browser leaves out of the
    address whose widget it has not drawn yet. What a link hides has no widget at all: it is drawn
    on the other page, as it was in force here.
    """
    undrawn = st.session_state.get("undrawn", {})
    st.session_state["undrawn"] = {n: value_of(n) for n in hidden_names(value_of("hide"))}
    before = st.session_state.get("page", page.name)
    st.session_state["page"] = page.name
    if before == page.name:
        return
    st.session_state.pop("chosen", None)
    if stepped_in_history():
        _take_browsers_link()
    for name, value in undrawn.items():
        st.session_state.setdefault(name, list(value) if isinstance(value, tuple) else value)
    beside = st.session_state.get("beside", {})
    there = {"s", *page.declared, *page.beside(value_of)}
    for name in st.session_state.get("drawn", set()):
        if name in there and name in st.session_state and name not in st.query_params:
            chosen = st.session_state[name]
            st.session_state[name] = chosen
            if name not in beside and value_of(name) != every_setting()[name].default:
                st.query_params[name] = chosen if isinstance(chosen, list) else str(chosen)
    started: set[str] = st.session_state.setdefault("started", set())
    if page.name not in started and value_of("model") == NONE:
        for name, value in page.starts.items():
            if name not in undrawn and value_of(name) == every_setting()[name].default:
                choose(name, value)
    started.add(page.name)


def place() -> Place:
    """Which query and stage the pictures show; they are chosen in the browser, see place.js.

    values, and their defaults; turn: how many choices of the browser are known here.
    """
    values: Any = {name: value_of(name) for name in PLACE}
    defaults: Any = {name: every_setting()[name].default for name in PLACE}
    return {"turn": st.session_state.get("turn", 0), "values": values, "defaults": defaults}


def choose_place(chosen: dict[str, Any]) -> None:
    """Take over what has been chosen in the browser, within a callback.

    The browser has put it into the address itself, where it may say something newer by now.
    """
    st.session_state["turn"] = chosen["turn"]
    for name in PLACE:
        value = chosen["values"][name]
        if every_setting()[name].problem(value) is None:
            st.session_state[name] = value
