"""Settings -> widgets, which show what is in force and take what a visitor sets.

Nothing here knows a variant or a page by name: menus and fields follow from what is declared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from attention.app.cached.runs import pieces_of, sequence_tokens
from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.controls.notes import count_of, note_quietly
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View, own_settings
from attention.core import masks
from attention.core.settings import Value, divisors, settings_of
from attention.core.variants import VARIANTS
from attention.figures.captions import parameters_words
from attention.figures.mask_grid import MaskGrid, Paint
from attention.figures.scene import Words, scene
from attention.inputs.text import tokenize
from attention.trained import sources
from attention.trained.models import Pieces
from attention.trained.sources import NONE

EXAMPLES = (
    "the cat walks on the street",
    "apple sells computers and software",
    "she ate an apple and a pear with sugar",
)
BOX = ".st-key-s input"
MAX_CLICKABLE = 32
MOST_LETTERS = 15  # of choices that stand in one row of the side
INSTEAD = "variant_instead"
AS_TRAINED = "as trained"
GROUPS = ("needed", "words", "folded")
# On a calm page these stand in one row; the others open behind a button.
CALM = ("head", "scale", "factor", "mask", "valid_len", "radius")
# At the side of a page all others are folded away, but for a variant's own.
NEEDED = (
    *("input", "model", "layer", "head", "variant"),
    *("scale", "factor", "mask", "valid_len", "radius", "cells"),
)

Width = int | Literal["stretch", "content"]
Sequences = Callable[[View], tuple[Sequence[str], Sequence[str]]]

choose_head = functools.partial(session.choose, "head")


def widget(
    view: View,
    name: str,
    *,
    shown: Value | None = None,
    then: Callable[[], object] = lambda: None,
    offered: Sequence[str] | None = None,
    boxed: bool = False,
    narrow: bool = False,
    listed: bool = False,
    width: Width = "stretch",
    **more: Any,
) -> Any:
    """The widget of one setting, in a container of the setting's name; gives what is in force.

    One that the link hides is not drawn. shown: what is in force, None = as the view has it; then:
    called once a visitor has set it; offered: those of its choices that mean something here, None =
    all; boxed: a box to write the number into, also where it is not whole; narrow: choices that do
    not fit into one row of the side are a list to open; listed: so are choices of several.
    """
    about, now = every_setting()[name], view[name] if shown is None else shown
    if name in view.hidden:
        return now
    choices = offered or about.choices
    if isinstance(now, str) and choices and now not in choices:
        now = about.default if about.default in choices else choices[0]

    def take(value: Any) -> None:
        session.choose(name, about.parse_all(value) if isinstance(value, list) else value)
        then()

    value: Any = list(now) if isinstance(now, tuple) else now
    shared = {"label": about.label, "help": about.help or None, "width": width, **more}
    with st.container(horizontal=True, key=name, width=width):
        shared |= session.bound(name, value, take)
        if choices:
            _choices(value, choices, narrow, listed, shared)
        elif isinstance(value, str):
            st.text_input(value=value, max_chars=int(about.maximum or 0) or None, **shared)
        elif about.divides:
            numbers = divisors(view.divided(name), int(about.maximum or 1))
            st.select_slider(options=numbers, value=value, **shared)
        else:
            slides = isinstance(value, float) and not boxed and not about.exact
            draw: Callable[..., Any] = st.slider if slides else st.number_input
            bounds = {"min_value": about.minimum, "max_value": about.maximum, "step": about.step}
            all_digits = {"format": "%g"} if about.exact else {}  # in a browser, unlike in C
            draw(value=value, **bounds, **all_digits, **shared)
    if (text := view.visit.late.get(name)) is not None:
        note_quietly(text)
        st.button("Take what you typed", on_click=session.choose, args=(name, text))
    return now


def _choices(
    value: Any, choices: Sequence[str], narrow: bool, listed: bool, shared: dict[str, Any]
) -> None:
    """The widget of a choice, or of several; of those in a row one is always chosen."""
    if isinstance(value, list):
        if listed:
            st.multiselect(options=choices, default=value, placeholder="none", **shared)
        else:
            st.segmented_control(options=choices, default=value, selection_mode="multi", **shared)
    elif narrow and sum(map(len, choices)) > MOST_LETTERS:
        st.selectbox(options=choices, index=choices.index(value), **shared)
    else:
        st.segmented_control(options=choices, default=value, required=True, **shared)


def sentence_box(view: View, typed: Callable[[], object] = lambda: None) -> None:
    """The sentence, which updates as one types. typed: to be called then, within a callback."""
    if "s" not in view.hidden:
        widget(
            view,
            "s",
            live="200ms",
            placeholder=EXAMPLES[0],
            label_visibility="collapsed",
            then=typed,
        )


def examples_row(view: View, all_pieces: Pieces | None = None) -> None:
    """Show the length of the sentence, and examples to start from.

    all_pieces: those of a text of which more is read than `pieces_of` gives.
    """
    if "s" not in view.hidden:
        words = f"{_count(view, all_pieces)}. Try:"
        examples(words, EXAMPLES, lambda at: session.choose("s", EXAMPLES[at]), key="examples")


def _count(view: View, all_pieces: Pieces | None) -> str:
    """Count the tokens, or pieces of the chosen model, that the sentence has."""
    if view["model"] == NONE:
        return count_of(tokenize(view["s"]))
    pieces = all_pieces or pieces_of(view, view["s"])
    words = f"{len(pieces.ids):,} tokens" if all_pieces else count_of(pieces.texts)
    more = f", the last {pieces.left_out} left out" if pieces.left_out else ""
    special = sum(pieces.special)
    return f"{words}{more}, {special} of them special" if special else words + more


@dataclass(frozen=True)
class Part:
    """Something at the side of a page.

    name: the setting that it belongs to; given: what it is drawn from, but for the value that its
    own widget has; draw: draws it; group: among the settings that a page needs, the words about
    them, or those folded away.
    """

    name: str
    draw: Callable[[], object] = field(compare=False)
    given: object = None
    group: Literal["needed", "words", "folded"] = "needed"


def parts_beside(view: View) -> list[Part]:
    """Parts at the side of a page, or behind a button: the settings that have any effect now."""
    page = view.page
    parts: list[Part] = []
    there = CALM if view.calm else ()

    def add(name: str, offered: tuple[str, ...] | None = None, needed: bool = False) -> None:
        if name not in view.hidden and name not in there:
            draw = functools.partial(widget, view, name, offered=offered, narrow=True)
            group: Literal["needed", "folded"] = "needed" if needed else "folded"
            parts.append(Part(name, draw, (offered, view.divided(name)), group))

    beside = page.beside(view)
    for name in sorted(beside, key=lambda name: (*NEEDED, name).index(name)):
        if name == "variant":
            if view["model"] == NONE:
                if not view.calm:
                    menu = functools.partial(variant_menu, view)
                    parts.append(Part(name, menu, view[name]))
                about = about_parameters(view, view[name])
                words = functools.partial(variant_words, view, about)
                parts.append(Part(name, words, (view[name], about), "words"))
                for own in own_settings(view[name]):
                    add(own, needed=True)
            elif name not in view.hidden and not view.calm:
                parts.append(Part(name, functools.partial(variant_instead, view)))
        elif name not in view.hidden and view.applies(name):
            needed = (name, page.models) == ("model", "needed")
            usual = page.models == "needed" or name in {*NEEDED, *page.declared}
            add(name, sources.names()[1:] if needed else None, usual)
            if name == "model":
                words = functools.partial(model_words, view)
                parts.append(Part(name, words, view[name], "words"))
            if name == "cells" and not view.calm:
                sequences = two_sequences if page.attention == "cross" else sequence_tokens
                grid = functools.partial(cell_grid, view, sequences)
                parts.append(Part(name, grid, (tuple(map(tuple, sequences(view))), view[name])))
    return parts


def two_sequences(view: View) -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of queries and keys where they are two sentences."""
    return view.two_sequences


def settings_beside(view: View) -> None:
    """Draws what stands at the side of a page."""
    parts = parts_beside(view)
    session.change(beside=tuple((part.name, part.given) for part in parts))
    draw_parts(view, parts)


def draw_parts(view: View, parts: Sequence[Part]) -> None:
    """Draws settings, those that are needed most first."""
    if not parts:
        return
    grouped = {group: [part for part in parts if part.group == group] for group in GROUPS}
    with st.container(key="beside"):
        for row in _rows(grouped["needed"]):
            if len(row) > 1:
                with st.container(horizontal=True, key="layer_and_head"):
                    for part in row:
                        part.draw()
            else:
                row[0].draw()
    for part in grouped["words"]:
        part.draw()
    if folded := grouped["folded"]:
        set_here = len({part.name for part in folded} & view.changed().keys())
        more = f"More settings, {set_here} set" if set_here else "More settings"
        with st.expander(more, key="more_settings"):
            for part in folded:
                part.draw()


def _rows(parts: Sequence[Part]) -> list[list[Part]]:
    """Parts one below the other; the number of a layer and of its head share a row."""
    rows: list[list[Part]] = []
    for part in parts:
        if part.name == "head" and rows and rows[-1][-1].name == "layer":
            rows[-1].append(part)
        else:
            rows.append([part])
    return rows


def beside_is_old(view: View) -> bool:
    """True if something else should stand at the side of a page than was drawn there, if any."""
    drawn = view.visit.beside
    return drawn is not None and list(drawn) != [
        (part.name, part.given) for part in parts_beside(view)
    ]


def model_words(view: View) -> None:
    """Describe the chosen trained model."""
    if (name := view["model"]) != NONE:
        about = sources.about(name)
        st.markdown(f"**{about.title}**\n\n:small[:gray[{about.source}. {about.words}]]")


def about_parameters(view: View, variant: str) -> str:
    """Describe the parameters of a variant as they are set; "" where it has none."""
    has_parameters = "parameters" in settings_of(VARIANTS[variant].Config)
    return parameters_words(str(view["parameters"])) if has_parameters else ""


def variant_menu(view: View) -> None:
    """The menu of variants."""
    if "variant" not in view.hidden:
        propose = functools.partial(propose_scale, view["variant"])
        widget(view, "variant", narrow=True, then=propose)


def variant_instead(view: View) -> None:
    """The menu of variants where a trained model stands for one: to choose one in its place."""
    about = every_setting()["variant"]
    its = session.bound(INSTEAD, None, take_variant)
    st.selectbox(about.label, about.choices, index=None, placeholder=AS_TRAINED, **its)


def take_variant(chosen: str | None) -> None:
    """Show a variant on word vectors in place of a trained model, within a callback."""
    if chosen:
        session.choose("model", NONE)
        session.choose("variant", chosen)


def variant_words(view: View, about: str) -> None:
    """Describe the chosen variant. about: see `about_parameters`."""
    if "variant" in view.hidden:
        return
    variant = VARIANTS[view["variant"]]
    title = variant.title.replace("self-attention", f"{view.page.attention}-attention")
    st.markdown(
        f"**{title}**\n\n"
        rf"$$\begin{{gathered}}{variant.formula}\end{{gathered}}$$"
        f"\n\n:small[:gray[{variant.published()}"
        f"{f' {about}' if about else ''}]]"
    )


def propose_scale(before: str) -> None:
    """Take the usual scale of a variant that has been chosen, within a callback.

    A scale that was not the usual one before either was chosen on purpose, and stays.
    """
    now, usual = session.view(), VARIANTS[before].usual_scale
    if all(now[name] == value for name, value in usual.items()):
        back = {name: every_setting()[name].default for name in usual if name != "scale"}
        for name, value in (back | dict(VARIANTS[now["variant"]].usual_scale)).items():
            session.choose(name, value)


def cell_grid(view: View, sequences: Sequences, name: str = "cells") -> None:
    """Cells to click, for sentences short enough to hit one.

    sequences: gives the tokens of queries and keys.
    """
    tokens, keys = sequences(view)
    if max(len(tokens), len(keys)) > MAX_CLICKABLE:
        st.caption(f"Cells can be clicked in sentences of up to {MAX_CLICKABLE} tokens.")
        return
    try:
        mask = masks.parse_cells(view[name], len(tokens), len(keys))
    except ValueError:
        return
    key = f"{name.removesuffix('cells')}mask_grid"
    grid = MaskGrid(tokens, keys, mask.int().tolist(), key=key)
    then = functools.partial(paint, sequences=sequences, name=name)
    words = Words("Queries down, keys across.", hint="Click or drag to hide cells.")
    draw(scene(words, grid), key=f"{key}_shown", taken={key: {"paint": (grid.has, then)}})


def paint(painted: Paint, sequences: Sequences = sequence_tokens, name: str = "cells") -> None:
    """Show or hide cells of the mask, within a callback."""
    now = session.view()
    mask = masks.parse_cells(now[name], *map(len, sequences(now)))
    for query, key in painted["cells"]:
        mask[query, key] = painted["allowed"]
    session.choose(name, masks.format_cells(mask))
