"""Settings -> widgets that live in the address.

Streamlit itself restores, checks and writes the bound settings (`bind="query-params"`). Nothing
here knows a variant or a page by name: menus and fields follow from what is declared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from attention.app.links import every_setting
from attention.app.notes import count_of
from attention.app.pages import VARIANT_MENUS, Page
from attention.app.results import pieces_of, sequence_tokens
from attention.app.session import (
    all_heard,
    applies,
    choose,
    forget,
    hidden,
    in_use,
    keep_choice,
    menu_of,
    own_settings,
    remembering,
    tell_choices,
    two_sequences,
    value_of,
    width_of,
)
from attention.components.inputs import examples, mask_grid
from attention.core import masks
from attention.core.settings import divisors, settings_of, with_divisors
from attention.core.variants import VARIANTS
from attention.display.captions import parameters_words
from attention.inputs.text import tokenize
from attention.lessons.compare import OF_BOTH, OTHER
from attention.trained import sources
from attention.trained.sources import NONE

EXAMPLES = (
    "the cat walks on the street",
    "apple sells computers and software",
    "she ate an apple and a pear with sugar",
)
PAGE = "page"  # the part of the screen that runs again by itself
MAX_CLICKABLE = 32
MAX_CHOICES = 1 << 40  # by code, in one visit
Sequences = Callable[[], tuple[Sequence[str], Sequence[str]]]

choose_head = functools.partial(choose, "head")


def widget(
    name: str, *, offered: Sequence[str] | None = None, boxed: bool = False, **more: Any
) -> Any:
    """The widget of one setting, bound to the address under the setting's name.

    One that the link hides is not drawn, see `session.hidden`. offered: those of its choices that
    mean something here, None = all; boxed: a box to write the number into, also where it is not
    whole.
    """
    if name in hidden():
        return value_of(name)
    st.session_state.setdefault("drawn", set()).add(name)
    keep_choice(name)
    try:
        return _drawn(name, offered, boxed, more)
    finally:
        forget(name)


def _drawn(name: str, offered: Sequence[str] | None, boxed: bool, more: dict[str, Any]) -> Any:
    about = every_setting()[name]
    default = about.default
    shared: dict[str, Any] = {
        "label": about.label,
        "key": name,
        "help": about.help or None,
        "bind": "query-params",
        "persist_state": "session",
    } | more
    if choices := offered or about.choices:
        shared.setdefault("width", "stretch")
        if isinstance(default, tuple):
            return st.segmented_control(
                options=choices, default=list(default), selection_mode="multi", **shared
            )
        first = default if default in choices else None
        if st.session_state.get(name, first) not in choices:
            chosen = value_of(name) if value_of(name) in choices else choices[0]
            st.session_state[name] = st.query_params[name] = chosen
        return st.segmented_control(options=choices, default=first, required=True, **shared)
    if isinstance(default, str):
        return st.text_input(value=default, max_chars=int(about.maximum or 0) or None, **shared)
    if about.divides:
        return _divisor(name, shared)
    slides = isinstance(default, float) and not boxed and not about.exact
    draw: Callable[..., Any] = st.slider if slides else st.number_input
    bounds = {"min_value": about.minimum, "max_value": about.maximum, "step": about.step}
    all_digits = {"format": "%g"} if about.exact else {}  # in a browser, unlike in C
    return draw(value=default, **bounds, **all_digits, **shared)


def fit_divisors(names: Iterable[str]) -> None:
    """Of some settings those that no longer divide what they must take the next lower divisor.

    To be called before a page is drawn: where a run follows another at once, a browser may miss
    what was set in the first.
    """
    for name in names:
        if every_setting()[name].divides:
            _offered(name)


def _divisor(name: str, shared: dict[str, Any]) -> Any:
    """A slider over the numbers that divide what the setting must divide."""
    offered = _offered(name)
    default = _below(every_setting()[name].default, offered)
    return st.select_slider(options=offered, value=default, **shared)


def _offered(name: str) -> list[int]:
    """The divisors a setting has to choose from; it has one of them then."""
    offered = divisors(_divided(name), int(every_setting()[name].maximum or 1))
    if st.session_state.get(name, 1) not in offered:
        st.session_state[name] = _below(st.session_state[name], offered)
        forget(name)
    return offered


def _divided(name: str) -> int:
    """The number that a setting must divide, 0 where it need not divide any."""
    side = OTHER if name.startswith(OTHER) else ""
    divides = every_setting()[name].divides
    return int(_fitting(side)[divides.removeprefix(side)]) if divides else 0


def _below(largest: Any, offered: Iterable[int]) -> int:
    return max(number for number in offered if number <= largest)


def _fitting(side: str) -> dict[str, Any]:
    """The settings of one side as they are used, each dividing what it must, with d_model."""
    vectors = value_of(f"{side}vectors")
    width = value_of(f"{side}d_model") if vectors == "random" else width_of(vectors)
    declared = {
        name: about
        for name, about in every_setting().items()
        if about.divides and not name.startswith(OTHER)
    }
    values = {name: value_of(side + name) for name in declared}
    return with_divisors(declared, values | {"d_model": width})


def acknowledgement() -> None:
    """A widget that nobody sees: a browser that has heard of the last choice says its number."""
    tell_choices()
    # A slider, since Streamlit reads all of a session's state to draw a number box.
    st.slider("heard", 0, MAX_CHOICES, 0, key="heard", persist_state="session")


def sentence_box(own: str = "") -> None:
    """The sentence, which updates as one types, and examples to start from.

    own: the sentence that the page shows as long as that in the box is the first example, which
    stands there before anything is typed. Who clicks it gets it with a space behind it.
    """
    if "s" in hidden():
        return
    widget("s", live="200ms", placeholder=EXAMPLES[0], label_visibility="collapsed")
    taken = (f"{EXAMPLES[0]} ", *EXAMPLES[1:]) if own else EXAMPLES
    words = f"{_count(own)} · try"
    examples(words, EXAMPLES, lambda index: choose("s", taken[index]), key="examples")


def _count(own: str) -> str:
    """How many tokens, or pieces of the chosen model, the sentence has."""
    if own:
        return f"{count_of(tokenize(own))} in the chapter's own sentence"
    if value_of("model") == NONE:
        return count_of(tokenize(value_of("s")))
    pieces = pieces_of(value_of("s"))
    words = count_of(pieces.texts, "piece")
    more = f", the last {pieces.left_out} left out" if pieces.left_out else ""
    special = sum(pieces.special)
    return f"{words}{more}, {special} of them special" if special else words + more


@dataclass(frozen=True)
class Part:
    """Something at the side of a page.

    name: the setting that it belongs to; given: what it is drawn from, but for the value that its
    own widget has; draw: draws it.
    """

    name: str
    draw: Callable[[], object] = field(compare=False)
    given: object = None


def parts_beside(page: Page) -> list[Part]:
    """What stands at the side of a page: the settings, as far as they have any effect now."""
    variant = str(value_of(menu_of(page) or "variant"))
    undrawn = hidden()
    parts: list[Part] = []

    def add(name: str, offered: Sequence[str] | None = None) -> None:
        draw = functools.partial(
            widget, name, offered=offered, on_change=run_page_alone, args=(page,)
        )
        parts.append(Part(name, draw, (offered, _divided(name))))

    for name in page.beside(value_of):
        if name in VARIANT_MENUS:
            if value_of("model") == NONE:
                kind = "cross" if page.name == "cross" else "self"
                about = about_parameters(variant)
                menu = functools.partial(variant_menu, name, kind, about)
                parts.append(Part(name, menu, (variant, about)))
                for own in own_settings(variant):
                    add(own)
        elif name not in undrawn and applies(name, variant=variant):
            add(name, sources.names()[1:] if (name, page.models) == ("model", "needed") else None)
            if name == "model":
                parts.append(Part(name, model_words, value_of(name)))
            if name == "cells":
                sequences = two_sequences if page.name == "cross" else sequence_tokens
                grid = functools.partial(cell_grid, sequences)
                parts.append(Part(name, grid, (sequences(), value_of(name))))
    return parts


def settings_beside(page: Page) -> None:
    """Draws what stands at the side of a page."""
    st.session_state["parts_beside"] = parts = parts_beside(page)
    for part in parts:
        part.draw()


def beside_is_old(page: Page) -> bool:
    """Whether something else should stand at the side of a page than was drawn there, if any."""
    drawn = st.session_state.get("parts_beside")
    return drawn is not None and drawn != parts_beside(page)


def run_page_alone(page: Page) -> None:
    """Within a callback: the page runs again, what stands at its side only where it changes."""
    with remembering():
        alone = all_heard() and not beside_is_old(page)
    if alone:
        st.rerun(PAGE)


def model_words() -> None:
    """What the chosen trained model is."""
    if (name := value_of("model")) != NONE:
        about = sources.about(name)
        st.markdown(f"**{about.title}**\n\n:small[:gray[{about.source}. {about.words}]]")


def about_parameters(variant: str) -> str:
    """What the parameters of a variant are as they are set; "" where it has none."""
    has_parameters = "parameters" in settings_of(VARIANTS[variant].Config)
    return parameters_words(str(value_of("parameters"))) if has_parameters else ""


def variant_menu(menu: str, kind: str, about: str) -> None:
    """The menu of variants, and what the chosen one is.

    kind: "self" or "cross", as a page shows attention within one sequence or between two; about:
    as `about_parameters` says it.
    """
    if menu in hidden():
        return
    name = value_of(menu)
    variant = VARIANTS[name]
    title = variant.title.replace("self-attention", f"{kind}-attention")
    widget(menu, on_change=propose_scale, args=(menu, name))
    st.markdown(
        f"**{title}**\n\n"
        rf"$$\begin{{gathered}}{variant.formula}\end{{gathered}}$$"
        f"\n\n:small[:gray[{variant.source}. Published with scale {variant.published_scale}."
        f"{f' {about}' if about else ''}]]"
    )


def propose_scale(menu: str, before: str) -> None:
    """Take the usual scale of a variant that has been chosen, within a callback.

    A scale that was not the usual one before either was chosen on purpose, and stays.
    """
    usual = VARIANTS[before].usual_scale
    if all(value_of(name) == value for name, value in usual.items()):
        for name, value in VARIANTS[value_of(menu)].usual_scale.items():
            choose(name, value)


def cell_grid(sequences: Sequences, name: str = "cells") -> None:
    """Cells to click, for sentences short enough to hit one.

    sequences: gives the tokens of queries and keys.
    """
    tokens, keys = sequences()
    if max(len(tokens), len(keys)) > MAX_CLICKABLE:
        st.caption(f"Cells can be clicked in sentences of up to {MAX_CLICKABLE} tokens.")
        return
    try:
        mask = masks.parse_cells(value_of(name), len(tokens), len(keys))
    except ValueError:
        return
    st.caption("Click or drag to hide cells: queries down, keys across.")
    painted = functools.partial(paint, sequences=sequences, name=name)
    key = f"{name.removesuffix('cells')}mask_grid"
    mask_grid(tokens, mask, painted, key=key, keys=keys)


def other_controls() -> None:
    """The settings of B, side by side as far as they fit."""
    with st.container(horizontal=True, gap="medium", key="other_settings"):
        for name in in_use(OTHER):
            if name in OF_BOTH:
                continue
            chosen = every_setting()[OTHER + name].choices
            widget(OTHER + name, width="content" if chosen else 190)
    if applies("cells", OTHER):
        cell_grid(functools.partial(sequence_tokens, OTHER), f"{OTHER}cells")


def paint(
    cells: Iterable[tuple[int, int]],
    allowed: bool,
    sequences: Sequences = sequence_tokens,
    name: str = "cells",
) -> None:
    """Show or hide cells of the mask, within a callback."""
    mask = masks.parse_cells(value_of(name), *map(len, sequences()))
    for query, key in cells:
        mask[query, key] = allowed
    choose(name, masks.format_cells(mask))


def copy_side() -> None:
    """Give B every setting of A, within a callback."""
    for name, value in in_use().items():
        if name not in OF_BOTH:
            choose(OTHER + name, value)


def swap_sides() -> None:
    """Exchange A and B, within a callback; what neither uses stays as it is."""
    for name in dict.fromkeys([*in_use(), *in_use(OTHER)]):
        if name in OF_BOTH:
            continue
        ours, theirs = value_of(name), value_of(OTHER + name)
        choose(name, theirs)
        choose(OTHER + name, ours)
