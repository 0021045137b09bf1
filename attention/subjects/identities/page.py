"""Identities: claims about attention, both sides computed and compared."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures.scene import Words, scene
from attention.subjects.identities import questions
from attention.subjects.identities import scene as scenes
from attention.subjects.identities.claim import ClaimResult, Codes
from attention.subjects.identities.identities import (
    ALL,
    ClaimSettings,
    check_claim,
)
from attention.subjects.identities.numbers import case_for
from attention.subjects.identities.questions import QUESTIONS


def identities(view: View) -> None:
    """All claims as cards, or one: what it says, its sides, how far apart, and why."""
    settings = view.of(ClaimSettings)
    widgets.widget(view, "claim", label_visibility="collapsed")
    if settings.claim == ALL:
        cards(view)
        return
    controls(view)
    case, problems = case_for(view)
    if case is None:
        draw(scene(Words(scenes.EMPTY, "info")), key="empty")
    else:
        show(check_claim(settings.claim, case), problems)


def cards(view: View) -> None:
    """A card for each statement: true or false, guessed before its numbers show."""
    guesses = view["guesses"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(questions.tally(guesses), width="content")
        everything = questions.all_shown(guesses)
        label, new = ("Start over", "") if everything == guesses else ("Show all", everything)
        st.button(label, key="all_cards", type="tertiary", on_click=guess_all, args=(new,))
    with st.container(key="claim_cards"):
        in_pairs(questions.FIRST, guesses)
        with st.expander("More claims"):
            in_pairs(questions.FURTHER, guesses)


def in_pairs(shown: Sequence[int], guesses: str) -> None:
    """Cards of some statements, two side by side."""
    for start in range(0, len(shown), 2):
        for column, at in zip(st.columns(2), shown[start : start + 2], strict=False):
            with column.container(border=True, height="stretch"):
                card(at, questions.guess_of(guesses, at))


def card(at: int, guess: str) -> None:
    """One statement to be guessed; then its formula, its picture and the verdict."""
    question, key = QUESTIONS[at], f"matrices_{at}"
    if not guess:
        st.markdown(f"**{question.statement}**")
        st.pills(
            question.statement,
            [*questions.TITLES],
            format_func=questions.TITLES.__getitem__,
            label_visibility="collapsed",
            **session.bound(f"guess_{at}", None, partial(take_guess, at)),
        )
        return
    checked = question.checked()
    st.markdown(f"**{question.statement}**\n\n$$\n{checked.formula}\n$$")
    draw(scenes.card(question, guess, checked, key), key=f"card_{key}")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Look closer", key=f"closer_{key}", on_click=choose, args=(question.settings,))


def take_guess(at: int, guess: str | None) -> None:
    """Hold a guess, within a callback."""
    if guess is not None:
        guess_all(questions.with_guess(session.view()["guesses"], at, guess))


def guess_all(guesses: str) -> None:
    """Set the guesses on all statements, within a callback."""
    session.choose("guesses", guesses)


def choose(settings: ClaimSettings) -> None:
    """Choose the claim of a card, within a callback."""
    for name in ("claim", "mistake"):
        session.choose(name, getattr(settings, name))


def controls(view: View) -> None:
    """A row of what a claim is checked on."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="claim_controls"):
        for name in settings_of(ClaimSettings):
            if name not in ("claim", "guesses") and view.applies(name):
                about = every_setting()[name]
                number = isinstance(about.default, int)
                width: widgets.Width = 130 if number else "content" if about.choices else 190
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
