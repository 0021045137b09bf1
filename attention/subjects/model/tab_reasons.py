"""Why a head looks where it looks: lengths beside weights, and a score as a sum of parts."""

from __future__ import annotations

import streamlit as st

from attention.app.cached import runs
from attention.app.components.pictures import chart, matrices
from attention.app.controls import notes
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import tables
from attention.figures.matrix import Matrix
from attention.pipeline import Result
from attention.subjects.model import effect_figures, effect_words, intervention_numbers


@part
def draw_reasons(view: View) -> None:
    """For the chosen query: how long what it takes is, and why it looks at a key."""
    result = runs.whole_layer(view)
    if result is None:
        return
    assert result.trained is not None
    layer, head = result.trained.position, result.head
    query = min(view["query"], len(result.tokens) - 1)
    rows, names, words = effect_words.length_rows(runs.run_of(result.settings), layer, head, query)
    key = view["key"] if 0 <= view["key"] < len(names) else int(rows[0].argmax())
    st.subheader("A great weight may bring little")
    notes.note_quietly(
        f"The first row: the weights w of “{distinct_names(result.tokens)[query]}”. The second: "
        "each token's share of the lengths that are added up.",
        hint="Click a token.",
    )
    matrices(
        [
            Matrix("weights and lengths", rows, ("w", "‖w·v·W_o‖"), names, "share"),
        ],
        key="lengths",
        chosen=(0, key),
        on_choose=lambda row, column: session.choose("key", column),
        of=f"layer {layer}, head {head}, token {query}",
    )
    st.caption(
        "A weight counts for as much as the vector that it brings is long (Kobayashi et al. "
        f"2020). {words}"
    )
    why(view, result, (query, key), names)


def why(view: View, result: Result, pair: tuple[int, int], names: list[str]) -> None:
    """The score of a query and a key as a sum over all that came before."""
    assert result.trained is not None
    st.subheader("Why it looks there")
    query, key = pair
    if not result.of_sentence:
        notes.note("This layer is the decoder's, behind an encoder: its score is not split.")
        return
    try:
        found = intervention_numbers.reasons_of(
            *(result.settings.model, result.settings.s),
            *(result.trained.position, result.head, query, key),
        )
    except ValueError as problem:
        notes.note(f"{problem}.")
        return
    st.text(
        f"The score of “{distinct_names(result.tokens)[query]}” and “{names[key]}”, "
        f"{tables.number(found.score)}, is a sum: each part that made the query meets each part "
        "that made the key."
    )
    left, right = st.columns([7, 5], gap="large")
    with left:
        bars = effect_figures.part_bars(found.names, found.terms.sum(1), found.terms.sum(0))
        chart(bars, "The share of each part in the score, in query and key.", key="parts")
    with right:
        titles, columns, total = found.table()
        st.html(tables.table("the score, term by term", titles, columns, total=total))
        st.caption(
            "Each row is a part in the query × a part in the key; the numbers are layers. "
            f"The scale comes after the sum: × {found.scale:.6g}."
        )
