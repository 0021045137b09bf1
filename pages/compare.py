"""Compare: two settings on one sentence, one setting over its range, or two sentences."""

import html

import streamlit as st

from attention.app import frame, notes, results, session, widgets
from attention.components.pictures import comparison
from attention.components.pictures import sweep as sweep_view
from attention.display import tables
from attention.display.captions import distinct_names
from attention.lessons import compare
from attention.lessons.compare import Comparison
from attention.pipeline import Result

frame.inside(__file__)


def choices() -> None:
    """What is compared, and a way to swap; not in the fragment, since the sidebar follows them."""
    kind = session.value_of("compare")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.title("Compare", width="content")
        widgets.widget("compare", width="content", label_visibility="collapsed")
        if kind == "settings":
            st.button("Swap A and B", on_click=widgets.swap_sides)
        elif kind == "pair":
            st.button("Swap the sentences", on_click=swap_sentences)


def swap_sentences() -> None:
    """Exchange the two sentences, within a callback."""
    first, second = session.value_of("s"), session.value_of("s2")
    session.choose("s", second)
    session.choose("s2", first)


@st.fragment
def body() -> None:
    """What is compared now."""
    {"settings": settings, "sweep": sweep, "pair": pair}[session.value_of("compare")]()


def settings() -> None:
    """Two settings, A and B, on the same sentence."""
    expected = session.current_settings(compare.OTHER)
    both = results.compared_results()
    said, figure, other = st.container(), st.container(), st.container(border=True)
    if both is None:
        explain_what_is_empty()
    else:
        a, b = both
        compared = compare.of_settings(a.tokens, a.trace, b.trace)
        with figure:
            query = pictures(compared, ["A", "B", "B − A"])
        with said:
            show_differences(results.differences())
    with other:
        st.markdown("**Setting B** · A is at the side")
        widgets.other_controls()
    if session.current_settings(compare.OTHER) != expected:
        st.rerun()
    if both is not None:
        notes.note_problems_of_both(both)
        rows(compared, both, query)


def explain_what_is_empty() -> None:
    """A word where there is no sentence yet."""
    st.info("Type a sentence above, or take one of the examples.")


def show_differences(changed: list[str]) -> None:
    """A compact line on what differs between A and B."""
    if not changed:
        notes.note("A and B are the same setting, so nothing differs. Change B below, or A.")
        return
    lines = "".join(f"<span><bdi>{html.escape(line)}</bdi></span>" for line in changed)
    st.html(f"<p class='differs'>A → B {lines}</p>")


def pictures(compared: Comparison, titles: list[str]) -> int:
    """Both matrices of weights and their difference; gives the chosen row."""
    last = len(compared.names) - 1
    wanted = int(session.value_of("query"))
    query = min(wanted, last)
    comparison(compared, titles, query, widgets.choose_query, key="comparison")
    if wanted > last:
        notes.note(f"There is no token {wanted} here; showing the last, {last}.")
    return query


def rows(compared: Comparison, both: tuple[Result, Result], query: int) -> None:
    """The chosen row key by key, what masks hide of it, and all rows."""
    left, right = st.columns(2, gap="large")
    with left:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown("**Who gained, who lost** · the chosen query")
            widgets.widget("query", label_visibility="collapsed", width=130)
        st.text(compared.row_words(query))
        for side, result, position in zip("AB", both, compared.positions(query), strict=True):
            if position is not None:
                notes.note_masks(result, position, side)
        names, columns, total = compared.row_table(query)
        st.html(tables.table(names, columns, total=total))
    with right:
        st.markdown("**All rows** · those that changed most first")
        names, columns, total = compared.rows_table()
        st.html(tables.table(names, columns, total=total))
        st.caption(
            "Jensen–Shannon divergence, in bits: 0 where two rows are equal, 1 where they share "
            "no key. A row that may attend to nothing has neither divergence nor entropy, “—”; "
            "means are over the rows that have the number."
        )


def sweep() -> None:
    """One setting over its range, worked out in the browser as the slider moves."""
    result = results.current_result()
    if result is None:
        explain_what_is_empty()
        return
    kinds = compare.sweeps_of(result.trace)
    kind = session.value_of("sweep")
    if kind not in kinds:
        notes.note(f"This variant mixes its scores across heads: no {kind} can be swept here.")
        kind = kinds[0]
    wanted = float(session.value_of("sweep_at"))
    query = min(session.value_of("query"), len(result.tokens) - 1)
    swept = results.sweep_of(result, kind, wanted)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget("sweep", offered=kinds, width="content")
        widgets.widget("sweep_at", boxed=True, width=170, format="%0.3f")
        widgets.widget("query", width=150)
    sweep_view(
        swept,
        distinct_names(result.tokens),
        query,
        lambda value: session.choose("sweep_at", value),
        widgets.choose_query,
        key="sweep_view",
    )
    st.caption(compare.sweep_words(swept, wanted))
    notes.note_masks(result, query)
    notes.note_problems(result)


def pair() -> None:
    """One setting on two sentences, token by token."""
    widgets.widget("s2", live="200ms")
    said, figure = st.container(), st.container()
    both = results.paired_results()
    if both is None:
        st.info("Both sentences need a word: one stands on top, the other just above.")
        return
    first, second = both
    compared = compare.of_sentences(first.tokens, first.trace, second.tokens, second.trace)
    with figure:
        query = pictures(compared, ["A · first", "B · second", "B − A"])
    with said:
        notes.note(compare.alignment_words(compared))
    notes.note_problems_of_both(both)
    rows(compared, both, query)


choices()
body()
