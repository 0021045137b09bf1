"""Heads in numbers: a part of each head changed in turn, and what becomes of the answer."""

from __future__ import annotations

import streamlit as st

from attention.analysis import questions
from attention.analysis.questions import EXCHANGED, Answer, Question
from attention.app.cached import runs
from attention.app.components.inputs import examples
from attention.app.components.pictures import chart
from attention.app.controls import notes, widgets, works
from attention.app.state import session, shared
from attention.app.state.view import View
from attention.figures import tables
from attention.pipeline import NoWords
from attention.subjects.model import effect_figures, effect_words, intervention_numbers
from attention.subjects.model.known_heads import KNOWN_CAUSES, KnownHead, known_of
from attention.trained.models import Model, Run, Transformer, goes_on


def draw_parts(view: View) -> None:
    """The effect of each head, or of a part of it, on the difference of two words."""
    known = known_of(KNOWN_CAUSES, view["model"])
    if known and not view.hidden & {"s", "layer", "head", "second"}:
        titles = [one.title for one in known]
        examples("Examples", titles, lambda at: show_known(known[at]), key="known_causes")
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
        if goes_on(shared.load_model(view["model"])):
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
            notes.note("Type the second sentence, with a word changed and as many pieces.")
        except ValueError as problem:
            notes.note(str(problem))
    return None


def all_heads(view: View, asked: Question) -> None:
    """The effect of every head, or how far it is worked out."""
    model, run = shared.load_model(asked.model), runs.run_model(asked.model, asked.text)
    quick, steps = questions.is_quick(model, run), intervention_numbers.steps_to_effects(asked)
    if not works.done(works.Task(asked, steps, quick, unasked=True, key="parts_work")):
        return
    found = intervention_numbers.effects_of(asked)
    st.subheader("The effect of each head on the answer")
    st.text(effect_words.answer_words(model, asked, run, found))
    show_effects(view, asked, model, found)
    st.caption(effect_words.effect_words(model, asked, found))
    if asked.words is not None:
        votes(asked, model, run)


def show_effects(view: View, asked: Question, model: Model, found: Answer) -> None:
    """The picture of all heads, and the strongest of them."""
    left, right = st.columns([7, 5], gap="large")
    with left:
        names = [model.title_of(layer) for layer in range(len(model.layers))]
        n_heads = found.total.shape[1]
        chart(
            effect_figures.effect_map(found.total, found.direct, names, chosen(view, found)),
            "The effect of each head: " + effect_words.effect_words(model, asked, found),
            key="effects",
            on_choose=lambda point: choose(*divmod(point, n_heads)),
            points=found.total.numel(),
        )
    with right:
        titles, columns = effect_words.effect_table(model, found)
        st.html(tables.table("the heads with the greatest effects", titles, columns))
        examples(
            "Show",
            [f"{layer}.{head}" for layer, head in found.strongest],
            lambda at: choose(*found.strongest[at]),
            key="strongest",
        )


def chosen(view: View, found: Answer) -> tuple[int, int]:
    """The chosen layer and head, as far as there are such."""
    layers, heads = found.total.shape
    return min(view["layer"], layers - 1), min(view["head"], heads - 1)


def choose(layer: int, head: int) -> None:
    """Choose a head, within a callback."""
    session.choose("layer", layer)
    session.choose("head", head)


def votes(asked: Question, model: Model, run: Run) -> None:
    """Show the votes of each kind of part for the one word rather than the other."""
    assert isinstance(model, Transformer)
    assert asked.words is not None
    with st.expander("The votes of all parts for the one word rather than the other"):
        names, columns, total = effect_words.vote_table(model, run, asked.words)
        st.html(tables.table("votes of all parts", names, columns, total=total))
        st.caption(
            "The last vector is a sum of parts, so its score is a sum of votes: each part through "
            "the last norm and the unembedding (Elhage et al. 2021)."
        )
