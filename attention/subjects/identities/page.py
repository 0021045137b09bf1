"""Identities: claims about attention, both sides computed and compared."""

from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.app.components.pictures import matrices
from attention.app.controls import notes, widgets
from attention.app.shell import frame
from attention.app.state import session, shared
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures import tables
from attention.figures.files import first_words
from attention.inputs.text import tokenize
from attention.inputs.vectors import look_up
from attention.subjects.identities.claim import Case, ClaimResult, Codes, Row, Table, separated
from attention.subjects.identities.identities import (
    ALL,
    MAX_TOKENS,
    OVERVIEW,
    ClaimSettings,
    case_of,
    check_claim,
    random_case,
)


def identities(view: View) -> None:
    """All claims as cards, or one: what it says, its sides, how far apart, and why."""
    settings = view.of(ClaimSettings)
    widgets.widget(view, "claim", label_visibility="collapsed")
    if settings.claim == ALL:
        cards()
        return
    controls(view)
    case, problems = case_for(view, settings)
    for words in problems:
        notes.note(words)
    if case is None:
        st.info("Type a sentence above, or take random numbers.")
    else:
        show(check_claim(settings.claim, case))


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
    st.markdown(f"**{checked.says}**")
    st.latex(checked.formula)
    matrices(checked.picture, key=key, of=first_words(checked.says))
    with st.container(horizontal=True, vertical_alignment="center"):
        if checked.checks:
            st.caption(checked.checks[0].verdict)
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


def case_for(view: View, settings: ClaimSettings) -> tuple[Case | None, list[str]]:
    """Case that the claim is checked on, None while there are no words; and what was left out."""
    if settings.source == "random":
        return random_case(settings), []
    everything = tokenize(view["s"])
    tokens = everything[:MAX_TOKENS]
    if not tokens:
        return None, []
    problems = []
    if len(everything) > MAX_TOKENS:
        problems.append(
            f"The first {MAX_TOKENS} of {len(everything)} tokens are used on this page."
        )
    embedded = look_up(shared.load_vectors("glove"), tokens)
    if missing := embedded.known.count(False):
        problems.append(f"{missing} of {len(tokens)} tokens have no vector and count as zeros.")
    return case_of(settings, embedded.x, tokens), problems


def show(checked: ClaimResult) -> None:
    """A claim with its picture and verdicts, then what else there is to see.

    Its matrices are sent first. What they are made from has its own container, so that it stays as
    other claims show more.
    """
    said, pictured, verdict, shown, origin = (st.container() for _ in range(5))
    keys = (f"matrices_{index}" for index in count())
    first = next(item for item in checked.shown if isinstance(item, Row))
    matrices_of(first, pictured, next(keys))
    with shown:
        others = [(item, st.container()) for item in checked.shown if item is not first]
        for item, container in others:
            if isinstance(item, Row):
                matrices_of(item, container, next(keys))
        for item, container in others:
            if not isinstance(item, Row):
                words_of(item, container)
    with origin, st.expander("The matrices all of this is made from"):
        matrices(separated(checked.given, ""), key="matrices_origin", of="given")
    with said:
        st.subheader(checked.says)
        st.latex(checked.formula)
    with verdict:
        if checked.checks:
            names = [check.label for check in checked.checks]
            st.html(tables.table("differences of the checks", names, verdicts(checked)))
        st.markdown(checked.why)
        if not all(check.holds for check in checked.checks):
            notes.note(
                "Here a difference does not show: try more tokens, other words or other numbers."
            )


def matrices_of(row: Row, container: DeltaGenerator, key: str) -> None:
    """A row of matrices that are compared."""
    with container:
        st.caption(row.caption)
        matrices(row.parts, key=key, of=first_words(row.caption))


def words_of(item: Table | Codes, container: DeltaGenerator) -> None:
    """Numbers, or pieces of code, side by side."""
    with container:
        match item:
            case Table():
                st.caption(item.caption)
                st.html(tables.table(first_words(item.caption), item.names, item.columns))
            case Codes():
                columns = st.columns(len(item.pieces))
                for column, (title, code) in zip(columns, item.pieces.items(), strict=True):
                    column.markdown(f"**{title}**")
                    column.code(code, wrap_lines=True)


def verdicts(checked: ClaimResult) -> dict[str, list[float | str | None]]:
    """Differences of the two sides of each check, and what that makes them."""
    return {
        "greatest difference": [check.difference for check in checked.checks],
        "rounding allows": [check.allowed for check in checked.checks],
        "so they are": ["the same" if check.same else "different" for check in checked.checks],
    }


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, identities)
