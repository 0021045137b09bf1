"""Compare: two settings on one sentence, one setting over its range, or two sentences."""

import functools
import html
from collections.abc import Sequence

import streamlit as st

from attention.analysis import effects, sweeps
from attention.app.cached import overviews, runs
from attention.app.components.pictures import sweep as sweep_view
from attention.app.components.pictures import tell_selection
from attention.app.controls import notes, sections, widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.sides import OF_BOTH, OTHER
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, tables
from attention.subjects.compare import numbers as compare_numbers
from attention.subjects.compare import words as compare_words
from attention.subjects.compare.component import comparison
from attention.trained.sources import NONE


def names(view: View) -> Sequence[str]:
    """The tokens of what is compared: of both sides where these have others."""
    apart = {"pair": True, "settings": view["special"] != view[f"{OTHER}special"], "sweep": False}
    now = compare_numbers.compared(view) if apart[view["compare"]] else None
    return now[0].names if now else runs.tokens_shown(view)


def choices(view: View) -> None:
    """Choose what is compared; a way to swap."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        widgets.widget(view, "compare", width="content", label_visibility="collapsed")
        with st.container(horizontal=True, width="content"):  # on a phone in a row of their own
            buttons(view["compare"])


def buttons(kind: str) -> None:
    """Buttons for what can be exchanged and taken at a click, for what is compared."""
    if kind == "settings":
        st.button("Swap A and B", on_click=swap_sides)
        st.button("Copy A to B", on_click=copy_side, help="Give B every setting of A.")
    elif kind == "pair":
        st.button("Swap the sentences", on_click=swap_sentences)
        st.button(
            "Example: apple, two meanings", on_click=take_apples, help="One word, two meanings."
        )


def controls_of_b(view: View) -> None:
    """The settings of B, side by side as far as they fit."""
    with st.container(horizontal=True, gap="medium", key="other_settings"):
        for name in view.in_use(OTHER):
            if name in OF_BOTH:
                continue
            chosen = every_setting()[OTHER + name].choices
            widgets.widget(view, OTHER + name, width="content" if chosen else 190)
    if view.applies("cells", OTHER):
        widgets.cell_grid(
            view, functools.partial(runs.sequence_tokens, side=OTHER), f"{OTHER}cells"
        )


def copy_side() -> None:
    """Give B every setting of A, within a callback."""
    for name, value in session.view().in_use().items():
        if name not in OF_BOTH:
            session.choose(OTHER + name, value)


def swap_sides() -> None:
    """Exchange A and B, within a callback; what neither uses stays as it is."""
    now = session.view()
    for name in dict.fromkeys([*now.in_use(), *now.in_use(OTHER)]):
        if name not in OF_BOTH:
            session.choose(name, now[OTHER + name])
            session.choose(OTHER + name, now[name])


def swap_sentences() -> None:
    """Exchange the two sentences, within a callback."""
    view = session.view()
    first, second = view["s"], view["s2"]
    session.choose("s", second)
    session.choose("s2", first)


def take_apples() -> None:
    """Take two sentences in which one word means two things, within a callback."""
    _, first, second = widgets.EXAMPLES
    session.choose("s", first)
    session.choose("s2", second)


def body(view: View) -> None:
    """Show what is compared now."""
    choices(view)
    result = runs.current_result(view)
    if result and sections.over_another(result):
        return
    {"settings": settings, "sweep": sweep, "pair": pair}[view["compare"]](view)


def settings(view: View) -> None:
    """Two settings, A and B, on the same sentence."""
    now = compare_numbers.compared(view)
    said, figure, other = st.container(), st.container(), st.container(border=True)
    if now is None:
        explain_what_is_empty()
    else:
        compared, both = now
        with figure:
            comparison(compared, ["A", "B", "B − A"], view.selection, key="comparison")
        with said:
            show_differences(compare_numbers.differences(view))
    with other:
        st.markdown(
            "**Setting B**" if st.context.is_embedded else "**Setting B** · A is in the sidebar"
        )
        controls_of_b(view)
    if now is not None:
        notes.note_problems_of_both(both)
        rows(view)
        if view["model"] != NONE:
            what_comes_out(view)


def what_comes_out(view: View) -> None:
    """Show how far A and B move a trained model's output, and which of its heads matter."""
    states = compare_numbers.changed_states(view)
    if states and (following := compare_numbers.following(view, states)):
        st.markdown("**Which piece comes next** · after the sentence")
        st.text(layer_words.following_words(*following))
        st.html(tables.shares("likeliest next pieces with A and B", *following))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**The output of the model** · against all as it was trained")
        if not states:
            st.caption("A and B leave the layer as it was trained. Change one of them.")
        else:
            tokens, cosines = compare_numbers.moved(view, states)
            names, columns, means = layer_words.moved_table(distinct_names(tokens), cosines)
            st.html(tables.table("cosines of what comes out", names, columns, total=means))
            st.caption(
                "How close each last hidden state stays to that of the model as trained, by "
                "cosine: 1 where nothing moved."
            )
    with right:
        st.markdown("**Which heads matter** · each of this layer cut out alone")
        which_heads_matter(view)


@part
def which_heads_matter(view: View) -> None:
    """Show how far each head moves what comes out; at once where that is quick, else on request."""
    tokens, _ = runs.sequence_tokens(view)
    if len(tokens) > effects.MAX_PIECES_UNASKED and not st.button("Work it out", key="cut_each"):
        st.caption("The model runs once without each head, which takes a moment for so many.")
        return
    with st.spinner("Running the model without each head …"):
        names, columns = layer_words.importance_table(overviews.without_each(view))
    st.html(tables.table("which heads matter", names, columns))
    st.caption(
        "How close the last hidden states stay to those of the whole model, by cosine. The head "
        "that matters most for this sentence comes first."
    )


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


@part
def rows(view: View) -> None:
    """The chosen row key by key, what masks hide of it, and all rows."""
    now = compare_numbers.compared(view)
    if now is None:
        return
    compared, both = now
    tell_selection(view.selection, session.select)
    last = len(compared.names) - 1
    wanted = int(view["query"])
    query = min(wanted, last)
    if wanted > last:
        notes.note("That word is gone; the last one is selected.")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Who gained, who lost** · the chosen query")
        st.text(compared.row_words(query))
        for side, result, position in zip("AB", both, compared.positions(query), strict=True):
            if position is not None:
                notes.note_masks(result, position, side)
        names, columns, total = compared.row_table(query)
        st.html(tables.table(f"weights of row {query} in A and B", names, columns, total=total))
    with right:
        st.markdown("**All rows** · those that changed most first")
        names, columns, total = compared.rows_table()
        st.html(tables.table("divergence and entropy of all rows", names, columns, total=total))
        st.caption(compared.rows_words)


def sweep(view: View) -> None:
    """One setting over its range, worked out in the browser as the slider moves."""
    result = runs.current_result(view)
    if result is None:
        explain_what_is_empty()
        return
    if layer_words.words_of(result):
        notes.note("Only pieces have scores to sweep: pieces are not joined here.")
    kinds = sweeps.sweeps_of(result.trace)
    kind = view["sweep"]
    if kind not in kinds:
        made = "mixes its scores across heads" if result.trace.cap is None else "caps its scores"
        notes.note(f"This attention {made}: no {kind} can be swept here.")
        kind = kinds[0]
    wanted = float(view["sweep_at"])
    swept = compare_numbers.sweep_of(result, kind, wanted)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget(view, "sweep", offered=kinds, width="content")
        widgets.widget(view, "sweep_at", boxed=True, width=170, format="%0.3f")
    sweep_view(
        swept,
        distinct_names(result.tokens),
        view.selection,
        lambda value: session.choose("sweep_at", value),
        key="sweep_view",
    )
    st.caption(compare_words.sweep_words(swept, wanted))
    notes.note_problems(result)
    hidden_from_chosen(view)


@part
def hidden_from_chosen(view: View) -> None:
    """Note what each mask hides from the chosen query."""
    if result := runs.current_result(view):
        tell_selection(view.selection, session.select)
        notes.note_masks(result, min(view["query"], len(result.tokens) - 1))


def pair(view: View) -> None:
    """One setting on two sentences, token by token."""
    widgets.widget(view, "s2", live="200ms")
    said, figure = st.container(), st.container()
    now = compare_numbers.compared(view)
    if now is None:
        st.info("Both sentences need a word: one stands on top, the other just above.")
        return
    compared, both = now
    with figure:
        titles = ["A · first", "B · second", "B − A"]
        comparison(compared, titles, view.selection, key="comparison")
    with said:
        notes.note(compare_words.alignment_words(compared))
    notes.note_problems_of_both(both)
    rows(view)


def sentences(view: View) -> list[tuple[str, str]]:
    """The sentences that are compared."""
    return [(name, view[name]) for name in ("s", "s2") if view.applies(name)]


def changed(view: View) -> list[str]:
    """Differences between A and B, in words."""
    if view["compare"] != "settings":
        return []
    return [f"A → B: {'; '.join(compare_numbers.differences(view)) or 'the same'}"]


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, body, sentences=sentences, more=changed, tokens=names)
