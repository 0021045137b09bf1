"""Identities: claims about attention, both sides computed and compared."""

from collections.abc import Sequence
from itertools import count

import streamlit as st

from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures.scene import Words, scene
from attention.subjects.identities import scene as scenes
from attention.subjects.identities.claim import ClaimResult, Codes
from attention.subjects.identities.identities import (
    ALL,
    OVERVIEW,
    ClaimSettings,
    check_claim,
    random_case,
)
from attention.subjects.identities.numbers import case_for


def identities(view: View) -> None:
    """All claims as cards, or one: what it says, its sides, how far apart, and why."""
    settings = view.of(ClaimSettings)
    widgets.widget(view, "claim", label_visibility="collapsed")
    if settings.claim == ALL:
        cards()
        return
    controls(view)
    case, problems = case_for(view)
    if case is None:
        draw(scene(Words(scenes.EMPTY, "info")), key="empty")
    else:
        show(check_claim(settings.claim, case), problems)


def cards() -> None:
    """A card for each claim, and for each common mistake, on a few random numbers."""
    keys = (f"matrices_{index}" for index in count())
    with st.container(key="claim_cards"):
        for title, chosen in OVERVIEW.items():
            st.subheader(title)
            for start in range(0, len(chosen), 2):
                pair = chosen[start : start + 2]
                for column, settings in zip(st.columns(2), pair, strict=False):
                    with column.container(border=True, height="stretch"):
                        card(settings, next(keys))


def card(settings: ClaimSettings, key: str) -> None:
    """One claim: formula, picture, verdict."""
    checked = check_claim(settings.claim, random_case(settings))
    st.markdown(f"**{checked.says}**\n\n$$\n{checked.formula}\n$$")
    draw(scenes.card(checked, key), key=f"card_{key}")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Look closer", key=f"closer_{key}", on_click=choose, args=(settings,))


def choose(settings: ClaimSettings) -> None:
    """Choose the claim of a card, within a callback."""
    for name in ("claim", "mistake"):
        session.choose(name, getattr(settings, name))


def controls(view: View) -> None:
    """A row of what a claim is checked on."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="claim_controls"):
        for name in settings_of(ClaimSettings):
            if name != "claim" and view.applies(name):
                about = every_setting()[name]
                number = isinstance(about.default, int)
                width = 130 if number else "content" if about.choices else 190
                widgets.widget(view, name, width=width)


def show(checked: ClaimResult, problems: Sequence[str]) -> None:
    """A claim with its picture and verdicts, then what else there is to see.

    The pieces of code have their own container, so that what stands below stays as other claims
    show more.
    """
    st.subheader(checked.says)
    st.latex(checked.formula)
    draw(scenes.sides(checked, problems), key="sides")
    st.markdown(checked.why)
    with st.container():
        for item in checked.shown:
            if isinstance(item, Codes):
                columns = st.columns(len(item.pieces))
                for column, (title, code) in zip(columns, item.pieces.items(), strict=True):
                    column.markdown(f"**{title}**")
                    column.code(code, wrap_lines=True)
    draw(scenes.others(checked), key="others")
    with st.expander("The matrices all of this is made from"):
        draw(scenes.origin(checked), key="origin")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, identities)
