"""Heads in numbers: a part of each head changed in turn, and what becomes of the answer."""

from __future__ import annotations

import streamlit as st

from attention.analysis import questions
from attention.analysis.questions import EXCHANGED, Question
from attention.app.cached import runs
from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.controls import widgets, works
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.figures.scene import note, scene
from attention.pipeline import NoWords
from attention.subjects.model import intervention_numbers
from attention.subjects.model import scene as scenes
from attention.subjects.model.choices import choose_head
from attention.subjects.model.known_heads import KNOWN_CAUSES, KnownHead, known_of
from attention.subjects.model.words import name_of
from attention.trained.models import goes_on


def draw_parts(view: View) -> None:
    """The effect of each head, or of a part of it, on the difference of two words."""
    known = known_of(KNOWN_CAUSES, view["model"])
    if known and not view.hidden & {"s", "layer", "head", "second"}:
        titles = [each.title for each in known]
        examples("Examples", titles, lambda place: show_known(known[place]), key="known_causes")
    choices(view)
    asked = asked_of(view)
    if asked is not None:
        all_heads(view, asked)


def show_known(known: KnownHead) -> None:
    """Show two sentences and the head that tells them apart, within a callback."""
    for name, value in known.settings.items():
        session.choose(name, value)
    session.choose("intervention", EXCHANGED)
    for name in ("word", "other_word"):
        session.choose(name, "")
    session.choose("changed_part", "output")
    session.choose_query(known.query)


def choices(view: View) -> None:
    """Choose what is done to the heads, and which words are told apart."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "intervention", width="content")
        if goes_on(load_model(view["model"])):
            for name in ("word", "other_word"):
                widgets.widget(view, name, width=170, placeholder="the likeliest")
    if view["intervention"] == EXCHANGED:
        widgets.widget(view, "second", live="200ms", placeholder="as many pieces as the first")
    with st.expander("Change only a part of each head"):
        widgets.widget(view, "changed_part", width="content")


def asked_of(view: View) -> Question | None:
    """Question asked of each head; says why not where it cannot be answered."""
    with st.container():  # what comes and goes leaves the place of the rest as it is
        try:
            return intervention_numbers.question_of(view)
        except NoWords:
            why = "Type the second sentence, with a word changed and as many pieces."
        except ValueError as problem:
            why = str(problem)
        draw(scene(note(why)), key="no_question")
    return None


def all_heads(view: View, asked: Question) -> None:
    """The effect of every head, or how far it is worked out."""
    model, run = load_model(asked.model), runs.run_model(asked.model, asked.text)
    quick, steps = questions.is_quick(model, run), intervention_numbers.steps_to_effects(asked)
    if not works.done(works.Task(asked, steps, quick, unasked=True, key="parts_work")):
        return
    answer = intervention_numbers.effects_of(asked)
    heads, strongest = answer.total.shape[1], answer.strongest
    points = range(answer.total.numel())
    point = points.__contains__, lambda point: choose_head(divmod(point, heads))
    draw(scenes.effects(view, asked, answer), key="parts", taken={"effects": {"point": point}})
    names = [name_of(head) for head in strongest]
    examples("Show", names, lambda place: choose_head(strongest[place]), key="strongest")
    if asked.words is not None and model.adds_up:
        with st.expander("The votes of all parts for the one word rather than the other"):
            draw(scenes.votes(asked), key="votes")
