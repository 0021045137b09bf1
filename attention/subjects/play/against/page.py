"""Against: the chosen word under two settings or in two sentences that differ in one thing."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.state import session
from attention.app.state.openings import ALL_WORDS, other_ending
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures.word_rows import WordRows
from attention.pipeline import Result
from attention.subjects.play.against import numbers
from attention.subjects.play.against import scene as scenes
from attention.subjects.play.against.words import (
    MAX_FACTOR,
    SAME_HEAD,
    AgainstSettings,
)

TYPED_BESIDE = "typed_beside"  # the sentences of A and B, as they were last


def draw_against(view: View, result: Result, tokens: Sequence[str], query: int) -> None:
    """Choose one difference; then two rows and their difference, or the maps of all words."""
    offered = numbers.differences(result)
    with st.container(horizontal=True, vertical_alignment="bottom", key="against_controls"):
        widgets.widget(view, "differs", offered=offered, width="content")
        differs = view["differs"] if view["differs"] in offered else "word"
        controls_of_b(view, result, differs)
    view = session.view()
    chosen = {name: view[name] for name in settings_of(AgainstSettings)}
    sides, factor = numbers.sides(result, chosen), float(view["b_factor"])
    if view["words"] == ALL_WORDS:
        draw(scenes.maps(sides, differs, factor), key="maps", selection=view.selection)
        return
    shown = scenes.rows(sides, differs, factor, tokens, query)
    figures = [figure for figure in shown if isinstance(figure, WordRows)]
    has = (lambda factor: 0 <= factor <= MAX_FACTOR, take_factor)
    taken = {figure.key: {"factor": has} for figure in figures if figure.slider}
    draw(shown, key="against", selection=view.selection, taken=taken)


def controls_of_b(view: View, result: Result, differs: str) -> None:
    """The one setting in which B differs; a scale has its slider in the figure where that can
    work out the weights."""
    if differs == "word":
        widgets.widget(begin_sentence(view), "s2", live="200ms", width="stretch")
    elif differs == "head":
        head = result.head if view["b_head"] == SAME_HEAD else view["b_head"]
        widgets.widget(view, "b_head", shown=head, width=150)
    elif differs == "variant":
        widgets.widget(view, "b_variant", narrow=True, width=190)
    elif differs == "scale" and not scenes.slides(result):
        widgets.widget(view, "b_factor", width=260)
    elif differs == "mask":
        widgets.widget(view, "b_mask", width="content")


def begin_sentence(view: View) -> View:
    """Have B begin with the sentence of A, in an opening with its other ending: at first, and again
    where A has another one than B was typed beside."""
    now = view["s"], view["s2"]
    before = st.session_state.get(TYPED_BESIDE, now)
    if not now[1] or (now[0] != before[0] and now[1] == before[1]):
        now = now[0], other_ending(now[0]) or now[0]
        session.choose("s2", now[1])
    st.session_state[TYPED_BESIDE] = now
    return session.view()


def take_factor(factor: float) -> None:
    """Keep the factor at which the slider was left, within a callback."""
    session.choose("b_factor", float(factor))
