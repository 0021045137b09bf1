"""Compare: two settings on one sentence, one setting over its range, or two sentences."""

import html

import streamlit as st

from attention import compare, state, tables
from attention.compare import Comparison
from attention.components import comparison
from attention.components import sweep as sweep_view

state.inside_frame("pages/compare.py")

SETTINGS = state.COMPARE


def choices() -> None:
    """What is compared, and a way to swap; not in the fragment, since the sidebar follows them."""
    kind = state.value_of("compare", SETTINGS)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.title("Compare", width="content")
        default, about = SETTINGS["compare"]
        state.widget("compare", default, about, width="content", label_visibility="collapsed")
        if kind == "settings":
            st.button("Swap A and B", on_click=state.swap_sides)
        elif kind == "pair":
            st.button("Swap the sentences", on_click=swap_sentences)


def swap_sentences() -> None:
    """Exchange the two sentences, within a callback."""
    first, second = state.value_of("s"), state.value_of("s2", SETTINGS)
    state.choose("s", second)
    state.choose("s2", first)


@st.fragment
def body() -> None:
    """What is compared, as it stands."""
    {"settings": settings, "sweep": sweep, "pair": pair}[state.value_of("compare", SETTINGS)]()


def settings() -> None:
    """Two settings, A and B, on the same sentence."""
    expected = state.other_settings()
    views = state.compared_views()
    said, figure, other = st.container(), st.container(), st.container(border=True)
    if views is None:
        say_that_it_is_empty()
    else:
        a, b = views
        compared = compare.of_settings(a.tokens, a.trace, b.trace)
        with figure:
            query = pictures(compared, ["A", "B", "B − A"])
        with said:
            say_what_differs(state.differences())
        state.let_through()
    with other:
        st.markdown("**Setting B** · A is at the side")
        state.other_controls()
    if state.other_settings() != expected:
        st.rerun()
    if views is not None:
        state.say_what_is_missing_from(views)
        rows(compared, query)


def say_that_it_is_empty() -> None:
    """A word where there is no sentence yet."""
    st.info("Type a sentence above, or take one of the examples.")


def say_what_differs(changed: list[str]) -> None:
    """A compact line on what differs between A and B."""
    if not changed:
        state.say("A and B are the same setting, so nothing differs. Change B below, or A.")
        return
    lines = "".join(f"<span><bdi>{html.escape(line)}</bdi></span>" for line in changed)
    st.html(f"<p class='differs'>A → B {lines}</p>")


def pictures(compared: Comparison, titles: list[str]) -> int:
    """Both matrices of weights and their difference; gives the chosen row."""
    last = len(compared.names) - 1
    asked = int(state.value_of("query", state.SELECTION))
    query = min(asked, last)
    comparison(compared, titles, query, state.choose_query, key="comparison")
    if asked > last:
        state.say(f"There is no token {asked} here; showing the last, {last}.")
    return query


def rows(compared: Comparison, query: int) -> None:
    """The chosen row key by key, and all rows."""
    left, right = st.columns(2, gap="large")
    with left:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown("**Who gained, who lost** · the chosen query")
            default, about = state.SELECTION["query"]
            state.widget("query", default, about, label_visibility="collapsed", width=130)
        st.text(compared.row_words(query))
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
    view = state.current_view()
    if view is None:
        say_that_it_is_empty()
        return
    kind = state.value_of("sweep", SETTINGS)
    asked = float(state.value_of("sweep_at", SETTINGS))
    query = min(state.value_of("query", state.SELECTION), len(view.tokens) - 1)
    swept = state.sweep_of(view.settings, kind, asked)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.widget("sweep", *SETTINGS["sweep"], width="content")
        state.widget("sweep_at", *SETTINGS["sweep_at"], boxed=True, width=170, format="%0.3f")
        state.widget("query", *state.SELECTION["query"], width=150)
    sweep_view(
        swept,
        compare.named(view.tokens),
        query,
        lambda value: state.choose("sweep_at", value),
        state.choose_query,
        key="sweep_view",
    )
    st.caption(compare.sweep_words(swept, asked))
    state.say_what_is_missing(view)


def pair() -> None:
    """One setting on two sentences, token by token."""
    state.widget("s2", *SETTINGS["s2"], live="200ms")
    said, figure = st.container(), st.container()
    views = state.paired_views()
    if views is None:
        st.info("Both sentences need a word: one stands on top, the other just above.")
        return
    first, second = views
    compared = compare.of_sentences(first.tokens, first.trace, second.tokens, second.trace)
    with figure:
        query = pictures(compared, ["A · first", "B · second", "B − A"])
    with said:
        state.say(compare.alignment_words(compared))
    state.let_through()
    state.say_what_is_missing_from(views)
    rows(compared, query)


choices()
body()
