"""Associations: how strongly words influence each other, by several methods side by side."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention.analysis.associations import METHODS, Method
from attention.analysis.associations.two_words import INTRODUCTION
from attention.analysis.dependencies import Truth, truths
from attention.app.cached import runs
from attention.app.components.pictures import chart, matrices, picture
from attention.app.controls import notes, widgets, works
from attention.app.controls.part import part
from attention.app.state import shared
from attention.app.state.view import View
from attention.core.functional import WeightsAlone
from attention.figures import tables
from attention.figures.arcs import arcs, curves_figure
from attention.figures.picture import Picture
from attention.pipeline import NoWords
from attention.subjects.model import association_numbers, association_words
from attention.subjects.model.association_words import Association
from attention.trained.models import Pieces

SIDES = ("method", "method_beside")


def draw_associations(view: View) -> None:
    """Two methods side by side, the strongest links, which to trust, and how each is computed."""
    try:
        pieces = runs.run_of(view.settings()).pieces
    except NoWords:
        return
    if len(pieces.ids) > association_words.MAX_PIECES:
        notes.note(
            f"Words are followed in sentences of up to {association_words.MAX_PIECES} pieces; "
            f"this one has {len(pieces.ids)}. Make it shorter."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "after", width=170)
        widgets.widget(view, "itself", width="content")
    methods, first = side_by_side(view, pieces)
    of_word(view, pieces, methods, first is not None)
    what_it_is(view, methods)


def side_by_side(view: View, pieces: Pieces) -> tuple[list[str], Association | None]:
    """Two methods, each with its menu: lines and a heatmap. Gives their names, and the first."""
    model = shared.load_model(view["model"])
    offered = association_words.titles_for(model)
    methods, shown, containers = [], [], []
    for at, (column, name) in enumerate(zip(st.columns(2, gap="large"), SIDES, strict=True)):
        with column:
            title = widgets.widget(view, name, offered=offered, narrow=True)
            method = association_words.method_of(title, model).name
            there = worked_out(view, pieces, [method], f"work_{at}")
            methods.append(method)
            shown.append(association_numbers.association(view, method) if there else None)
            containers.append(st.container())
    most = association_words.greatest(one for one in shown if one is not None)
    for at, (container, one) in enumerate(zip(containers, shown, strict=True)):
        if one is not None:
            with container:
                draw(view, one, at, most)
    return methods, shown[0]


def draw(view: View, shown: Association, at: int, most: float) -> None:
    """One association as lines and as a heatmap. most: the share of the last colour."""
    masks = {} if shown.seen is None else {"causal": shown.seen}
    picture(
        Picture(
            WeightsAlone(shown.shares, shown.seen),
            shown.tokens,
            [True] * len(shown.tokens),
            parts=("lines", "heatmap"),
            masks=masks,
            of=shown.method.title,
            words=shown.words,
            most=most,
        ),
        view.selection,
        key=f"association_{at}",
    )


def worked_out(
    view: View, pieces: Pieces, methods: Sequence[str], key: str, curves: Sequence[str] = ()
) -> bool:
    """True if methods have been worked out; else begins it, if it is quick or asked for.

    curves: those whose faithfulness is worked out too.
    """
    layers, length = association_numbers.followed_layers(view), len(pieces.ids)
    for words in (association_words.too_long(method, length, layers) for method in methods):
        if words:
            st.info(words)
            return False
    if not curves and not any(METHODS[name].slow for name in methods):
        return True
    quick = all(association_words.is_quick(name, length, layers) for name in methods)
    what = view["model"], view["s"], tuple(methods), tuple(curves), view["after"]
    steps = association_numbers.steps_to(view, methods, curves)
    return works.done(works.Task(what, steps, quick, unasked=quick, key=key))


@part
def of_word(view: View, pieces: Pieces, methods: Sequence[str], there: bool) -> None:
    """Show what follows from the chosen word: its links stand out, and the answer is on it.

    methods: the two that are shown; there: whether the first has been worked out.
    """
    if there:
        strongest(view, methods[0])
    whole_model(view, pieces, methods)


def strongest(view: View, method: str) -> None:
    """The strongest links as a graph over the sentence, and the strongest pairs as a table."""
    shown = association_numbers.association(view, method)
    query = min(view["query"], len(shown.tokens) - 1)
    linked = association_words.graph(shown, view["linked"])
    st.subheader("The strongest links")
    left, right = st.columns([7, 5], gap="large")
    with left:
        widgets.widget(view, "linked", width=360)
        links = [(pair.query, pair.key, pair.share) for pair in linked.links]
        words = f"Graph of the strongest links by {shown.method.title}."
        chart(arcs(shown.names, links, query), words, key="association_graph")
        st.caption(
            "An arc leads from a word to one before it (right) or after it (left); the wider, the "
            f"stronger. Orange: those of the chosen word. {linked.words}"
        )
    with right:
        names, columns = association_words.pairs_table(shown)
        st.markdown(f"**The strongest pairs** by {shown.method.title}")
        st.html(tables.table(f"pairs by {shown.method.title}", names, columns))
        st.caption(
            "Share: how much of its row the first word gives the second. Number: the one that the "
            "method gives."
        )


def whole_model(view: View, pieces: Pieces, methods: Sequence[str]) -> None:
    """Show what the whole model makes of all heads and layers, and how far each method says so."""
    st.subheader("What does the whole model make of all heads and layers?")
    st.markdown(association_words.QUESTION)
    layers = association_numbers.followed_layers(view)
    offered = association_words.methods_here(
        shared.load_model(view["model"]), len(pieces.ids), layers
    )
    drawn = [name for name in dict.fromkeys([*methods, "erasure"]) if name in offered]
    if "erasure" not in offered:
        st.info(association_words.too_long("erasure", len(pieces.ids), layers))
        return
    if not worked_out(view, pieces, offered, "work_all", drawn):
        return
    here = {
        name: association_numbers.agreement_with_erasure(view, name)
        for name in offered
        if name != "erasure"
    }
    erased = association_numbers.association(view, "erasure")
    notes.note_quietly(association_words.answer(erased, here, view["query"]))
    left, right = st.columns(2, gap="large")
    with left:
        agreement(view, here)
    with right:
        faithfulness(view, drawn)
    if known := truths(view["model"]):
        against_truth(known)


def agreement(view: View, here: dict[str, float]) -> None:
    """Show the agreement of each method with erasure in its ranking of words."""
    st.markdown("**Agreement with erasure** · Spearman’s ρ, the best first")
    names, columns = association_words.agreement_table(here, view["model"])
    with st.container(key="agreement"):
        st.html(tables.table("rank agreement with erasure", names, columns))
    st.caption(association_words.AGREEMENT)


def against_truth(known: Mapping[str, Truth]) -> None:
    """Show how often each method finds the token that the next word truly depends on."""
    st.markdown("**Against the truth** · how often a method ranks the true word first")
    names, columns = association_words.truth_table(known)
    with st.container(key="truth"):
        st.html(tables.table("agreement with the truth", names, columns))
    st.caption(association_words.TRUTH)


def faithfulness(view: View, drawn: Sequence[str]) -> None:
    """Show the fall of the target as the words that a method names first go, or alone stay."""
    st.markdown("**Faithfulness** · the words that a method names first are removed, or alone kept")
    found = {METHODS[name].title: association_numbers.curves_of(view, name) for name in drawn}
    removed = {title: one.comprehensiveness.tolist() for title, one in found.items()}
    kept = {title: one.sufficiency.tolist() for title, one in found.items()}
    chart(curves_figure(removed, kept), "Curves of faithfulness.", key="association_curves")
    names, columns = association_words.faithfulness_table(found)
    st.html(tables.table("faithfulness", names, columns))
    st.caption(association_words.faithfulness_words(shared.load_model(view["model"])))


def what_it_is(view: View, methods: Sequence[str]) -> None:
    """Explain an association, why weights alone mislead, and the shown methods by hand."""
    st.subheader("What is an association?")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(association_words.WHAT)
        weights_mislead()
    with right:
        st.markdown(association_words.TRUST)
        for words in association_words.trust(shared.load_model(view["model"])):
            st.markdown(words)
    st.subheader("By hand")
    st.caption(INTRODUCTION)
    for name in dict.fromkeys(methods):
        by_hand(METHODS[name])


@st.fragment
def weights_mislead() -> None:
    """An example of weights that mislead, with a question to answer first."""
    example = association_words.misleading()
    st.markdown(example.told)
    guess = st.pills(example.question, example.choices, key="misled")
    if guess is not None:
        verdict = "Yes" if guess == example.choices[example.answer] else "Not quite"
        st.markdown(f"**{verdict}.** {example.because}")


def by_hand(method: Method) -> None:
    """A method: who described it, its definition, and a small case."""
    st.markdown(f"**{method.title}** · {method.source}")
    st.text(method.definition)
    for at, step in enumerate(method.by_hand):
        st.caption(step.words)
        of = f"{method.title} by hand, step {at + 1}"
        matrices(step.parts, key=f"small_{method.name}_{at}", of=of)
