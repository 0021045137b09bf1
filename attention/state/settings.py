"""The settings as they stand: in their widgets, or in the address until these are drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st
from torchtext.vocab import Vectors

from attention import compare, heads
from attention.compare import CompareSettings
from attention.cross import CrossSettings
from attention.heads import HeadSettings
from attention.params import Declared, Value, complaint, read, settings_of
from attention.steps import StepSettings
from attention.text import tokenize
from attention.variants import VARIANTS
from attention.vectors import OwnVectors, PackagedGlove, own_vectors_path
from attention.view import Selection, Settings

SHARED = settings_of(Settings)
SELECTION = settings_of(Selection)
STEP_BY_STEP = settings_of(StepSettings)
CROSS = settings_of(CrossSettings)
HEADS = settings_of(HeadSettings)
COMPARE = settings_of(CompareSettings)
OTHER = compare.OTHER
SIDES = {"": SHARED, OTHER: compare.other_side(SHARED)}


@st.cache_resource(show_spinner="Loading the word vectors …")
def load_vectors(name: str) -> Vectors:
    """The vectors of that name, loaded once for everybody."""
    return PackagedGlove() if name == "glove" else OwnVectors(own_vectors_path() or "")


def value_of(name: str, schema: Declared = SHARED) -> Any:
    """The value of a setting as its widget has it, or its default where that is not legal.

    Until the widget has been drawn the address speaks for it.
    """
    default, about = schema[name]
    value = st.session_state.get(name)
    if value is None:
        value = read(default, st.query_params.get(name, str(default)))
    return default if complaint(name, default, about, value) else value


def applies(name: str, side: str = "") -> bool:
    """Whether a shared setting means anything, given the others of its side."""
    plain, shared = name.removeprefix(side), SIDES[side]
    if plain in ("head", "seed"):
        config = settings_of(VARIANTS[value_of(f"{side}variant", shared)].Config)
        if plain == "head":
            return "heads" in config
        return "seed" in config or value_of(f"{side}vectors", shared) == "random"
    when = shared[name][1].when
    return when is None or value_of(when[0], shared) == when[1]


def own_settings(variant: str | None = None, side: str = "") -> Declared:
    """The settings only the chosen variant, or the one of that name, has."""
    config = VARIANTS[variant or value_of(f"{side}variant", SIDES[side])].Config
    own = {name: item for name, item in settings_of(config).items() if name not in SHARED}
    return compare.other_side(own) if side else own


def in_use(side: str = "") -> Declared:
    """The settings of one side that mean something as they stand, under their own names."""
    shared = {name: item for name, item in SIDES[side].items() if applies(name, side)}
    return shared | own_settings(side=side)


def current_settings() -> Settings:
    """The settings as they stand; those without a widget at the moment have their default."""
    shared = {name: value_of(name) for name in SHARED if applies(name)}
    own = own_settings()
    return Settings(**shared, config=tuple((name, value_of(name, own)) for name in own))


def layer_settings() -> Settings:
    """The settings as they stand, for multi-head attention whatever variant is chosen."""
    own = own_settings(heads.LAYER)
    return dataclasses.replace(
        current_settings(),
        variant=heads.LAYER,
        head=value_of("head"),
        seed=value_of("seed"),
        config=tuple((name, value_of(name, own)) for name in own),
    )


def other_settings() -> Settings:
    """The settings of B as they stand: those of `OTHER`, and the sentence of A."""
    declared = in_use(OTHER)
    values = {name.removeprefix(OTHER): value_of(name, declared) for name in declared}
    shared = {name: value for name, value in values.items() if name in SHARED}
    own = tuple((name, value) for name, value in values.items() if name not in SHARED)
    return Settings(value_of("s"), **shared, config=own)


def cross_settings() -> CrossSettings:
    """What the page of two sequences is set to, as it stands."""
    return CrossSettings(**{name: value_of(name, CROSS) for name in CROSS})


def cells_of(name: str) -> str:
    """The hidden cells of the setting of that name, `cells` or that of another side."""
    return str(value_of(name, SIDES[name.removesuffix("cells")]))


def own_sequence() -> tuple[list[str], list[str]]:
    """The tokens of queries and keys where both are those of the sentence."""
    tokens = tokenize(value_of("s"))
    return tokens, tokens


def two_sequences() -> tuple[list[str], list[str]]:
    """The tokens of queries and keys where they are two sentences."""
    asking, memory = (tokenize(value_of(name, CROSS)) for name in ("asking", "memory"))
    return asking, memory


def by_hand(page: str) -> bool:
    """Whether the page works on matrices by hand instead of the sentence."""
    return page == "steps" and bool(value_of("input", STEP_BY_STEP) == "hand")


def width_of_vectors(side: str = "") -> int:
    """The d_model that the chosen vectors have; side: before the names of settings, as `OTHER`."""
    name = value_of(f"{side}vectors", SIDES[side])
    random = name == "random"
    return int(value_of(f"{side}d_model", SIDES[side]) if random else load_vectors(name).dim)


def choose(name: str, value: Value) -> None:
    """Set a bound setting from code, within a callback; Streamlit writes it into the address."""
    st.session_state[name] = value
