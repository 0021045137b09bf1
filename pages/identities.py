"""Identities: claims about attention, both sides computed and compared."""

from collections.abc import Iterator
from itertools import count

import streamlit as st

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
    above, below = st.container(), st.container()
    with below:
        case = case_for(settings)
        if case is None:
            st.info("Type a sentence above, or take random numbers.")
        else:
            show(find(settings.claim, case))
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


def case_for(settings: ClaimSettings) -> Case | None:
    """What the claim is checked on; None while the sentence has no words."""
    if settings.source == "random":
        return random_case(settings)
    everything = tokenize(state.value_of("s"))
    tokens = everything[:MOST_TOKENS]
    if not tokens:
        return None
    if len(everything) > MOST_TOKENS:
        state.say(f"The first {MOST_TOKENS} of {len(everything)} tokens are used on this page.")
    embedded = look_up(state.load_vectors("glove"), tokens)
    if missing := embedded.known.count(False):
        state.say(f"{missing} of {len(tokens)} tokens have no vector and count as zeros.")
    return case_of(settings, embedded.x, tokens)


def show(finding: Finding) -> None:
    """The claim, the checks, and what they compare, which is sent first."""
    said, shown = st.container(), st.container()
    keys = (f"matrices_{index}" for index in count())
    with shown:
        for item in finding.shown:
            show_item(item, keys)
        state.let_through()
        with st.expander("The matrices all of this is made from"):
            matrices(joined(finding.given, ""), key=next(keys))
    with said:
        st.latex(finding.formula)
        st.markdown(finding.why)
        if finding.checks:
            st.html(tables.table([check.label for check in finding.checks], verdicts(finding)))
        if not all(check.holds for check in finding.checks):
            state.say("Here a difference does not show: try more tokens, or other words.")


def show_item(item: Row | Table | Codes, keys: Iterator[str]) -> None:
    """One of the things a finding compares; keys: for its matrices."""
    match item:
        case Row():
            st.caption(item.caption)
            matrices(item.parts, key=next(keys))
        case Table():
            st.caption(item.caption)
            st.html(tables.table(item.names, item.columns))
        case Codes():
            for column, (title, code) in zip(
                st.columns(len(item.pieces)), item.pieces.items(), strict=True
            ):
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
