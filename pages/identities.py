"""Identities: claims about attention, both sides computed and compared."""

from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention import state, tables
from attention.components import matrices
from attention.findings import Case, Codes, Finding, Row, Table, joined
from attention.identities import MOST_TOKENS, ClaimSettings, case_of, find, random_case
from attention.params import settings_of
from attention.text import tokenize
from attention.vectors import look_up

SCHEMA = settings_of(ClaimSettings)

state.inside_frame("pages/identities.py")


@st.fragment
def identities() -> None:
    """One claim: what it says and why, its two sides, which are sent first, how far apart."""
    asked = {name: state.value_of(name, SCHEMA) for name in SCHEMA if applies(name)}
    settings = ClaimSettings(**asked)
    case, notes = case_for(settings)
    finding = find(settings.claim, case) if case else None
    above, below = st.container(), st.container()
    with below:
        for words in notes:
            state.say(words)
        if finding is None:
            st.info("Type a sentence above, or take random numbers.")
        else:
            show(finding)
    with above:
        st.title("Identities")
        st.caption("Claims about attention to check: both sides are computed, then compared.")
        controls()


def applies(name: str) -> bool:
    """Whether a setting means anything, given the others."""
    when = SCHEMA[name][1].when
    return when is None or (state.value_of(when[0], SCHEMA) == when[1] and applies(when[0]))


def controls() -> None:
    """The claim on top, and in a row below it what it is checked on."""
    first, *others = SCHEMA
    state.widget(first, *SCHEMA[first], label_visibility="collapsed")
    with st.container(horizontal=True, vertical_alignment="bottom", key="claim_controls"):
        for name in others:
            if applies(name):
                default, about = SCHEMA[name]
                number = isinstance(default, int)
                width = 130 if number else "content" if about.choices() else 190
                state.widget(name, default, about, width=width)


def case_for(settings: ClaimSettings) -> tuple[Case | None, list[str]]:
    """What the claim is checked on, None while there are no words; and what was left out."""
    if settings.source == "random":
        return random_case(settings), []
    everything = tokenize(state.value_of("s"))
    tokens = everything[:MOST_TOKENS]
    if not tokens:
        return None, []
    notes = []
    if len(everything) > MOST_TOKENS:
        notes.append(f"The first {MOST_TOKENS} of {len(everything)} tokens are used on this page.")
    embedded = look_up(state.load_vectors("glove"), tokens)
    if missing := embedded.known.count(False):
        notes.append(f"{missing} of {len(tokens)} tokens have no vector and count as zeros.")
    return case_of(settings, embedded.x, tokens), notes


def show(finding: Finding) -> None:
    """The claim, the checks, and what they compare: its matrices are sent first."""
    said, shown = st.container(), st.container()
    keys = (f"matrices_{index}" for index in count())
    with shown:
        places = [(item, st.container()) for item in finding.shown]
        for item, place in places:
            if isinstance(item, Row):
                matrices_of(item, place, next(keys))
        state.let_through()
        for item, place in places:
            if not isinstance(item, Row):
                words_of(item, place)
        with st.expander("The matrices all of this is made from"):
            matrices(joined(finding.given, ""), key=next(keys))
    with said:
        st.latex(finding.formula)
        st.markdown(finding.why)
        if finding.checks:
            st.html(tables.table([check.label for check in finding.checks], verdicts(finding)))
        if not all(check.holds for check in finding.checks):
            state.say("Here a difference does not show: try more tokens, or other words.")


def matrices_of(row: Row, place: DeltaGenerator, key: str) -> None:
    """A row of matrices that are compared."""
    with place:
        st.caption(row.caption)
        matrices(row.parts, key=key)


def words_of(item: Table | Codes, place: DeltaGenerator) -> None:
    """Numbers, or pieces of code, side by side."""
    with place:
        match item:
            case Table():
                st.caption(item.caption)
                st.html(tables.table(item.names, item.columns))
            case Codes():
                columns = st.columns(len(item.pieces))
                for column, (title, code) in zip(columns, item.pieces.items(), strict=True):
                    column.markdown(f"**{title}**")
                    column.code(code)


def verdicts(finding: Finding) -> dict[str, list[float | str | None]]:
    """How far the two sides of each check are apart, and what that makes them."""
    return {
        "greatest difference": [check.residual for check in finding.checks],
        "rounding allows": [check.allowed for check in finding.checks],
        "so they are": ["the same" if check.same else "different" for check in finding.checks],
    }


identities()
