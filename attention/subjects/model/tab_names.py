"""Names of heads: those earned over many sentences, those found on a probe, and measures here."""

from __future__ import annotations

import streamlit as st

from attention.analysis.glances import Glance
from attention.analysis.heads import MEASURES
from attention.analysis.names import Named, names_of
from attention.analysis.probes import best_heads
from attention.app.cached import overviews, runs
from attention.app.components.inputs import examples
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.state import session, shared
from attention.app.state.view import View
from attention.figures import layer_words, tables
from attention.subjects.heads import words as heads_words
from attention.trained.models import Model


@part
def draw_names(view: View) -> None:
    """Heads with a name, heads that do one thing, and where each head looks here."""
    result = runs.as_trained(view)
    if result is None:
        return
    model = shared.load_model(result.settings.model)
    named_heads(model)
    found_heads(view, model)
    measured_heads(view, model)


def named_heads(model: Model) -> None:
    """The heads that have earned a name over the packaged sentences, each a click away."""
    found = names_of(model.about.name)
    if not found:
        return
    st.subheader("Heads with a name")
    best, (names, columns) = layer_words.best_named(found), layer_words.named_table(found, model)
    st.html(tables.table("heads with a name", names, columns))
    examples("Show", names, lambda at: show_named(best[at]), key="named_heads")
    st.caption(layer_words.NAMED_WORDS)


def show_named(named: Named) -> None:
    """Show a head that has earned a name, on its best sentence, within a callback."""
    for name, value in {"layer": named.layer, "head": named.head, "s": named.best}.items():
        session.choose(name, value)


def found_heads(view: View, model: Model) -> None:
    """The heads that do one thing on the standard probe, each a click away."""
    probed, (seen, *_) = overviews.probe_of(view), overviews.glances_of(view)
    if probed is None:
        return
    st.subheader("Heads that do one thing")
    found = [*best_heads(probed).items()]
    names, columns = layer_words.probe_table(probed, seen, model)
    st.html(tables.table("heads that do one thing", names, columns))
    examples(
        "Show",
        [f"{name}: {columns['head'][row]}" for row, name in enumerate(names)],
        lambda at: show_found(probed.glance, found[at][0], found[at][1][0]),
        key="found_heads",
    )
    st.caption(layer_words.probe_words(probed))


def show_found(glance: Glance, measure: str, index: int) -> None:
    """Show a head that was found, on a sentence that shows its work, within a callback."""
    layer, head = glance.layer_and_head(index)
    session.choose("layer", layer)
    session.choose("head", head)
    if sentence := MEASURES[measure].example:
        session.choose("s", sentence)


def measured_heads(view: View, model: Model) -> None:
    """Where each head looks in this sentence, in numbers."""
    seen = overviews.glances_of(view)
    st.subheader("Where each head looks")
    widgets.widget(view, "sort", offered=("head", *seen[0].seen.measures), narrow=True, width=220)
    for number, glance in enumerate(seen):
        names, columns, even = heads_words.measure_table(
            glance.seen, view["sort"], glance.names(model.title_of)
        )
        crossing = " across two sentences" if number else ""
        st.html(
            tables.table(
                heads_words.MEASURED + crossing,
                names,
                columns,
                total=even,
                digits=heads_words.DIGITS,
            )
        )
        if words := layer_words.sink_words(glance.seen):
            st.caption(words)
    st.caption(heads_words.measure_words(*(glance.seen for glance in seen)))
