"""Two sequences: queries from one sentence, keys and values from another, or from a batch."""

import streamlit as st

from attention import cross, state, tables
from attention.components import copy_link, examples, matrices, token_view
from attention.cross import Batch

state.inside_frame("pages/cross.py")

SETTINGS = state.CROSS
PAIRS = (
    ("bonjour le monde", "hello world"),
    ("who sat by the river", "she sat by the river bank"),
    ("which animal walks", "the cat walks on the street"),
)
PLACE = {"element": "sequence", "row": "row", "dimension": "dimension"}


def choices() -> None:
    """Which part is shown, and its texts; not in the fragment, since the sidebar follows them."""
    st.title("Two sequences")
    st.caption(
        "Queries come from one sentence, keys and values from another, the memory: so a "
        "translation looks back at what it translates. In the formulas i counts the queries, j the "
        "keys of the memory."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="cross_choices"):
        state.widget("cross", *SETTINGS["cross"], width="content")
        batch = state.value_of("cross", SETTINGS) == "batch"
        if batch:
            state.widget("batch_example", *SETTINGS["batch_example"], width="content")
        copy_link(key="copy_link")
    if not batch:
        two_boxes()
    elif state.value_of("batch_example", SETTINGS) == "sentences":
        text_boxes(asking=260, batch="stretch", batch_lens=260)
        lengths_to_try("batch_lens")
    else:
        text_boxes(toy_queries=260, toy_lens=260)
        lengths_to_try("toy_lens")


def text_boxes(**widths: str | int) -> None:
    """Texts that update as one types."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_texts"):
        for name, width in widths.items():
            state.widget(name, *SETTINGS[name], live="200ms", width=width)


def two_boxes() -> None:
    """Both sentences, a way to swap them, and pairs to start from."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence"):
        state.widget("asking", *SETTINGS["asking"], live="200ms")
        st.button("Swap", on_click=swap, help="Let the other sentence ask.")
        state.widget("memory", *SETTINGS["memory"], live="200ms")
    asking, memory = state.two_sequences()
    examples(
        f"asking: {state.count_of(asking)} · answering: {state.count_of(memory)} · try",
        [" / ".join(pair) for pair in PAIRS],
        lambda index: take(*PAIRS[index]),
        key="examples",
    )


def take(asking: str, memory: str) -> None:
    """Put two sentences into the boxes, within a callback."""
    state.choose("asking", asking)
    state.choose("memory", memory)


def swap() -> None:
    """Exchange the two sentences, within a callback."""
    take(state.value_of("memory", SETTINGS), state.value_of("asking", SETTINGS))


def lengths_to_try(name: str) -> None:
    """Valid lengths to start from, the batch's own first."""
    made = state.cross_batch()
    tries = (SETTINGS[name][0], *(cross.lengths_to_try(made) if made else ()))
    examples(
        "valid lengths to try",
        [text or "counted from the sentences" for text in tries],
        lambda index: state.choose(name, tries[index]),
        key="examples",
    )


@st.fragment
def sentences() -> None:
    """What the first sentence makes of the second."""
    view = state.cross_view()
    if view is None:
        say_what_is_empty()
        return
    state.say_what_is_missing(view)
    left, right = st.columns([5, 7], gap="large")
    with left:
        query = state.query_control(view)
    with right:
        matrix(query)
    state.let_through()
    with left:
        token_view(
            view.tokens,
            view.known,
            view.trace.weights,
            view.trace.mask,
            query,
            state.choose_query,
            key="cross_tokens",
            memory=(view.memory.tokens, view.memory.known),
        )
        if words := cross.empty_words(view.trace, query):
            state.say(words)
    state.weighted_sum_of(view, query)
    state.downloads(view, query)


def say_what_is_empty() -> None:
    """Which of the sentences has no words, and what that means."""
    asking, _ = state.two_sequences()
    if asking:
        st.info("The memory is empty: there are no keys and values yet. Type a second sentence.")
    else:
        st.info("No one asks: the first sentence has no words yet, so there are no queries.")


@st.fragment
def matrix(query: int) -> None:
    """One stage of the computation as a heatmap, queries down, keys of the memory across."""
    if view := state.cross_view():
        state.stage_of(view, query)
        st.caption(cross.mask_words(view.settings.mask, view.settings.positions))


@st.fragment
def batch() -> None:
    """Every sequence of the batch, and how a chosen number of the output comes about."""
    made = state.cross_batch()
    if made is None:
        st.info("A batch needs a sentence that asks and at least one memory with a word in it.")
        return
    for words in made.notes:
        state.say(words)
    state.say_unknown(made.unknown)
    place = chosen(made)
    for element in range(len(made.titles)):
        st.text(cross.heading(made, element))
        matrices(
            cross.overview(made, element),
            key=f"element_{element}",
            chosen=place[1:] if element == place[0] else None,
            on_choose=lambda row, dimension, element=element: choose(element, row, dimension),
            written=10,
        )
    st.caption(
        "Hatched cells are padding, or beyond the valid length: no query may attend there. "
        + made.lesson
    )
    state.let_through()
    explain(made, *place)


def chosen(made: Batch) -> tuple[int, int, int]:
    """The chosen number of the output, or the nearest there is: batches differ in size."""
    place = []
    for (name, word), size in zip(PLACE.items(), made.trace.output.shape, strict=True):
        asked = int(state.value_of(name, SETTINGS | state.STEP_BY_STEP))
        if asked >= size:
            state.say(f"There is no {word} {asked} in this batch; showing the last, {size - 1}.")
        place.append(min(asked, size - 1))
    element, row, dimension = place
    return element, row, dimension


def choose(element: int, row: int, dimension: int) -> None:
    """Choose a number of the output, within a callback."""
    for name, position in zip(PLACE, (element, row, dimension), strict=True):
        state.choose(name, position)


def explain(made: Batch, element: int, row: int, dimension: int) -> None:
    """Where the scores come from, what the weights take, and one number worked out."""
    st.subheader(f"How sequence {element} gets there")
    with st.container(horizontal=True, vertical_alignment="bottom", key="cell_controls"):
        for name in PLACE:
            state.widget(name, *(SETTINGS | state.STEP_BY_STEP)[name], width=150)
    work = cross.working(made, element, row, dimension)
    st.html(f"<div class='working'>{tables.working(work)}</div>")
    st.caption("Where the scores come from: every query meets every key.")
    matrices(cross.origin(made, element), key="origin", written=10)
    st.caption("Where the output comes from: the values, each as strong as its weight.")
    matrices(cross.sources(made, element), key="sources", chosen=(row, dimension), written=10)


choices()
if state.value_of("cross", SETTINGS) == "batch":
    batch()
else:
    sentences()
