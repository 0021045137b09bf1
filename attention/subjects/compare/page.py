"""Compare: two settings on one sentence, one setting over its range, or two sentences."""

import functools
from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.analysis import sweeps
from attention.app.cached import runs
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import sections, widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.shell.heading import PageHeading
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.sides import OF_BOTH, OTHER
from attention.app.state.view import View
from attention.subjects.compare import numbers
from attention.subjects.compare import scene as scenes
from attention.subjects.compare.figures import SweptHeatmap
from attention.trained.sources import NONE

MAX_PIECES_UNASKED = 64  # up to which all heads of a layer are cut out unasked


def names(view: View) -> Sequence[str]:
    """The tokens of what is compared: of both sides where these have others."""
    apart = {"pair": True, "settings": view["special"] != view[f"{OTHER}special"], "sweep": False}
    now = numbers.both_sides(view) if apart[view["compare"]] else None
    return now[0].names if now else runs.tokens_shown(view)


def choices(view: View) -> None:
    """Choose what is compared; a way to swap."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        widgets.widget(view, "compare", width="content", label_visibility="collapsed")
        with st.container(horizontal=True, width="content"):  # on a phone in a row of their own
            buttons(view["compare"])


def buttons(kind: str) -> None:
    """Buttons for what can be exchanged and taken at a click, for what is compared."""
    if kind == "settings":
        st.button("Swap A and B", on_click=swap_sides)
        st.button("Copy A to B", on_click=copy_side, help="Give B every setting of A.")
    elif kind == "pair":
        st.button("Swap the sentences", on_click=swap_sentences)
        st.button(
            "Example: apple, two meanings", on_click=take_apples, help="One word, two meanings."
        )


def controls_of_b(view: View) -> None:
    """The settings of B, side by side as far as they fit."""
    with st.container(horizontal=True, gap="medium", key="other_settings"):
        for name in view.in_use(OTHER):
            if name in OF_BOTH:
                continue
            menu = OTHER + name
            more: dict[str, Any] = {}
            if name == "variant":
                args = menu, view[menu], OTHER
                more = {"on_change": widgets.propose_scale, "args": args}
            chosen = every_setting()[menu].choices
            widgets.widget(view, menu, width="content" if chosen else 190, **more)
    if view.applies("cells", OTHER):
        widgets.cell_grid(
            view, functools.partial(runs.sequence_tokens, side=OTHER), f"{OTHER}cells"
        )


def copy_side() -> None:
    """Give B every setting of A, within a callback."""
    for name, value in session.view().in_use().items():
        if name not in OF_BOTH:
            session.choose(OTHER + name, value)


def swap_sides() -> None:
    """Exchange A and B, within a callback; what neither uses stays as it is."""
    now = session.view()
    for name in dict.fromkeys([*now.in_use(), *now.in_use(OTHER)]):
        if name not in OF_BOTH:
            session.choose(name, now[OTHER + name])
            session.choose(OTHER + name, now[name])


def swap_sentences() -> None:
    """Exchange the two sentences, within a callback."""
    view = session.view()
    first, second = view["s"], view["s2"]
    session.choose("s", second)
    session.choose("s2", first)


def take_apples() -> None:
    """Take two sentences in which one word means two things, within a callback."""
    _, first, second = widgets.EXAMPLES
    session.choose("s", first)
    session.choose("s2", second)


def body(view: View) -> None:
    """Show what is compared now."""
    choices(view)
    result = runs.current_result(view)
    if result and sections.over_another(result):
        return
    {"settings": settings, "sweep": sweep, "pair": pair}[view["compare"]](view)


def settings(view: View) -> None:
    """Two settings, A and B, on the same sentence."""
    draw(scenes.of_both(view), key="both", selection=view.selection)
    with st.container(border=True, key="setting_b"):
        beside = "" if st.context.is_embedded else " · A is in the sidebar"
        st.markdown(f"**Setting B**{beside}")
        controls_of_b(view)
    rows(view)
    if view["model"] != NONE and numbers.both_sides(view) is not None:
        draw(scenes.output(view), key="output")
        which_heads_matter(view)


def pair(view: View) -> None:
    """One setting on two sentences, token by token."""
    widgets.widget(view, "s2", live="200ms")
    draw(scenes.of_both(view), key="both", selection=view.selection)
    rows(view)


@part
def rows(view: View) -> None:
    """The chosen row key by key."""
    tell_selection(view.selection, session.select)
    draw(scenes.rows(view), key="rows")


@part
def which_heads_matter(view: View) -> None:
    """Show how far each head moves what comes out; at once where that is quick, else on request."""
    tokens, _ = runs.sequence_tokens(view)
    if len(tokens) > MAX_PIECES_UNASKED and not st.button("Work it out", key="cut_each"):
        st.caption("The model runs once without each head, which takes a moment for so many.")
        return
    with st.spinner("Running the model without each head …"):
        draw(scenes.heads_that_matter(view), key="heads_that_matter")


def sweep(view: View) -> None:
    """One setting over its range, worked out in the browser as the slider moves."""
    result = runs.current_result(view)
    offered = sweeps.sweeps_of(result.trace) if result is not None else ()
    if not offered:
        draw(scenes.swept(view), key="swept")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget(view, "sweep", offered=offered, width="content")
        widgets.widget(view, "sweep_at", boxed=True, width=170, format="%0.3f")
    shown = scenes.swept(view)
    slider = shown["sweep_view"]
    assert isinstance(slider, SweptHeatmap)
    left_at = (slider.has, lambda value: session.choose("sweep_at", float(value)))
    draw(shown, key="swept", selection=view.selection, taken={"sweep_view": {"at": left_at}})
    of_chosen(view)


@part
def of_chosen(view: View) -> None:
    """Hear which query is chosen in the picture."""
    tell_selection(view.selection, session.select)


def sentences(view: View) -> list[tuple[str, str]]:
    """The sentences that are compared."""
    return [(name, view[name]) for name in ("s", "s2") if view.applies(name)]


def changed(view: View) -> list[str]:
    """Differences between A and B, in words."""
    if view["compare"] != "settings":
        return []
    return [f"A → B: {'; '.join(numbers.differences(view)) or 'the same'}"]


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    told = PageHeading(sentences=sentences, more=changed)
    frame.show(file, body, told, frame.Around(tokens=names))
