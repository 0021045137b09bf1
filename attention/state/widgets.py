"""Settings -> widgets that live in the address.

Streamlit itself restores, checks and writes the bound settings (`bind="query-params"`). Nothing
here knows a variant by name: the menu and its fields follow from the registry.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from attention import compare, figures, heads, masks
from attention.components import copy_link, examples, heatmap, mask_grid
from attention.params import Setting, Value, divisors
from attention.state.settings import (
    COMPARE,
    CROSS,
    OTHER,
    SELECTION,
    SHARED,
    SIDES,
    STEP_BY_STEP,
    applies,
    by_hand,
    cells_of,
    choose,
    in_use,
    own_sequence,
    own_settings,
    two_sequences,
    value_of,
    width_of_vectors,
)
from attention.state.words import count_of, say
from attention.text import tokenize
from attention.variants import VARIANTS
from attention.view import View

EXAMPLES = (
    "the cat walks on the street",
    "she sat by the river bank",
    "the bank raised its rates",
    "he said she said",
)
MOST_CLICKABLE = 32
PAGES_WITH_SETTINGS = ("", "steps", "heads", "cross", "compare")
PAGES_WITH_SENTENCE = ("", "steps", "heads", "compare", "identities")


def widget(name: str, default: Value, about: Setting, *, boxed: bool = False, **more: Any) -> Any:
    """The widget of one setting, bound to the address under the setting's name.

    boxed: a box to write the number into, also where it is not whole.
    """
    shared: dict[str, Any] = {
        "label": about.label,
        "key": name,
        "help": about.help or None,
        "bind": "query-params",
        "persist_state": "session",
    } | more
    if choices := about.choices():
        shared.setdefault("width", "stretch")
        return st.segmented_control(options=choices, default=default, required=True, **shared)
    if isinstance(default, str):
        return st.text_input(value=default, max_chars=int(about.maximum or 0) or None, **shared)
    bounds: dict[str, Any] = {
        "min_value": about.minimum,
        "max_value": about.maximum,
        "step": about.step,
    }
    if about.divides:
        side = about.divides.removesuffix("d_model")
        offered = divisors(width_of_vectors(side), int(about.maximum or 1))

        def below(most: Any) -> int:
            return max(number for number in offered if number <= most)

        if st.session_state.get(name, 1) not in offered:
            st.session_state[name] = below(st.session_state[name])
        return st.select_slider(options=offered, value=below(default), **shared)
    slides = isinstance(default, float) and not boxed
    draw: Callable[..., Any] = st.slider if slides else st.number_input
    return draw(value=default, **bounds, **shared)


def sentence_box() -> None:
    """The sentence, which updates as one types, and examples to start from."""
    default, about = SHARED["s"]
    with st.container(horizontal=True, vertical_alignment="center", key="sentence"):
        widget(
            "s", default, about, live="200ms", placeholder=EXAMPLES[0], label_visibility="collapsed"
        )
        copy_link(key="copy_link")
    words = f"{count_of(tokenize(value_of('s')))} · try"
    examples(words, EXAMPLES, lambda index: choose("s", EXAMPLES[index]), key="examples")


def settings_of_page(page: str) -> None:
    """The settings at the side, as far as the page has them."""
    if page == "steps":
        widget("input", *STEP_BY_STEP["input"])
    if by_hand(page):
        shared_controls(("scale", "factor"))
    elif page == "heads":
        layer_controls()
    elif page == "cross":
        cross_controls()
    elif page == "compare":
        compare_controls()
    elif page in PAGES_WITH_SETTINGS:
        shared_controls(SHARED)


def shared_controls(
    names: Iterable[str],
    sequences: Callable[[], tuple[list[str], list[str]]] = own_sequence,
) -> None:
    """These of the settings that make a view, but the sentence, as widgets.

    sequences: gives the tokens of queries and keys, for the custom mask.
    """
    for name in names:
        default, about = SHARED[name]
        if name != "s" and applies(name):
            widget(name, default, about)
        if name == "variant":
            variant_controls()
        if name == "cells" and applies(name):
            custom_mask(sequences)


def variant_controls(name: str | None = None) -> None:
    """What the chosen variant, or the one of that name, is, and the settings only it has."""
    name = name or value_of("variant")
    variant = VARIANTS[name]
    st.markdown(
        f"**{variant.title}**\n\n"
        rf"$$\begin{{gathered}}{variant.formula}\end{{gathered}}$$"
        f"\n\n:small[:gray[{variant.source}. Published with scale {variant.published_scale}.]]"
    )
    for field, (default, about) in own_settings(name).items():
        widget(field, default, about)


def custom_mask(sequences: Callable[[], tuple[list[str], list[str]]], name: str = "cells") -> None:
    """Cells to click, for sentences short enough to hit one."""
    tokens, keys = sequences()
    if max(len(tokens), len(keys)) > MOST_CLICKABLE:
        st.caption(f"Cells can be clicked in sentences of up to {MOST_CLICKABLE} tokens.")
        return
    try:
        mask = masks.hidden(cells_of(name), len(tokens), len(keys))
    except ValueError:
        return
    st.caption("Click or drag to hide cells: queries down, keys across.")
    painted = functools.partial(paint, sequences=sequences, name=name)
    key = f"{name.removesuffix('cells')}mask_grid"
    mask_grid(tokens, mask, painted, key=key, keys=keys)


def layer_controls() -> None:
    """The settings of a page that looks at multi-head attention, whatever variant is chosen."""
    variant_controls(heads.LAYER)
    elsewhere = ("variant", "head", "seed")
    shared_controls(name for name in SHARED if name not in elsewhere)
    widget("seed", *SHARED["seed"])


def cross_controls() -> None:
    """The settings of the page of two sequences: in a batch the lengths are the mask."""
    masking = ("mask", "valid_len", "radius", "cells")
    if value_of("cross", CROSS) == "sentences":
        shared_controls(SHARED, two_sequences)
    elif value_of("batch_example", CROSS) == "toy":
        shared_controls(("scale", "factor"))
    else:
        shared_controls(name for name in SHARED if name not in masking)


def compare_controls() -> None:
    """The settings at the side of the page that compares: those of A."""
    if value_of("compare", COMPARE) == "settings":
        st.markdown("**Setting A** · B is on the page")
    shared_controls(SHARED)


def other_controls() -> None:
    """The settings of B, side by side as far as they fit."""
    with st.container(horizontal=True, gap="medium", key="other_settings"):
        for name, (default, about) in in_use(OTHER).items():
            chosen = about.choices()
            widget(name, default, about, width="content" if chosen else 190)
    if applies(f"{OTHER}cells", OTHER):
        custom_mask(own_sequence, f"{OTHER}cells")


def query_control(view: View) -> int:
    """The chosen query's position, by a number box that lives in the address."""
    last = len(view.tokens) - 1
    default, about = SELECTION["query"]
    widget("query", default, about, label="**Query token** · hover or click one")
    asked = int(value_of("query", SELECTION))
    if asked > last:
        say(f"There is no token {asked} in this sentence; showing the last, {last}.")
    return min(asked, last)


def stage_of(view: View, query: int, before: str = "") -> None:
    """One stage of the computation as a heatmap; before: what its caption begins with."""
    widget("stage", *SELECTION["stage"], label_visibility="collapsed")
    stage = value_of("stage", SELECTION)
    keys = view.keys if view.memory else None
    heatmap(view.trace, stage, view.tokens, query, key="weights_heatmap", keys=keys)
    st.caption(before + figures.stage_words(stage, len(view.keys)))


def choose_query(position: int) -> None:
    """Select a query token, within a callback."""
    choose("query", position)


def choose_head(head: int) -> None:
    """Select a head, within a callback."""
    choose("head", head)


def paint(
    cells: Iterable[tuple[int, int]],
    allowed: bool,
    sequences: Callable[[], tuple[list[str], list[str]]] = own_sequence,
    name: str = "cells",
) -> None:
    """Show or hide cells of the custom mask, within a callback."""
    mask = masks.hidden(cells_of(name), *map(len, sequences()))
    for query, key in cells:
        mask[query, key] = allowed
    choose(name, masks.hidden_cells(mask))


def swap_sides() -> None:
    """Exchange A and B, within a callback; what either does not use stays as it is."""
    names = dict.fromkeys([*in_use(), *(name.removeprefix(OTHER) for name in in_use(OTHER))])
    declared = SHARED | own_settings() | own_settings(value_of(f"{OTHER}variant", SIDES[OTHER]))
    for name in names:
        if name != "s":
            plain = value_of(name, declared)
            choose(name, value_of(OTHER + name, compare.other_side({name: declared[name]})))
            choose(OTHER + name, plain)
