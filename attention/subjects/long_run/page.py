"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from functools import partial

import streamlit as st

from attention.analysis.glances import Glance
from attention.app.components.pictures import head_grid, picture
from attention.app.controls import notes, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.figures import tables
from attention.figures.picture import Picture
from attention.subjects.heads import words as heads_words
from attention.subjects.long_run import map_page
from attention.subjects.long_run import numbers as long_run_numbers
from attention.subjects.long_run import own_weights as long_run_own_weights
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.opened_run import OpenedRun
from attention.subjects.long_run.own_weights import OpenedWeights

RUN = """\
import attention

with attention.capture() as run:  # its own kernels run, flash attention too
    model(**inputs)
run.save("run.safetensors", tokens=tokens)"""
HOW = """\
import numpy

numpy.savez(
    "weights.npz",
    weights=weights,            # (layers, heads, queries, keys), each row summing to 1
    tokens=numpy.array(tokens), # one per query; and keys=… where the keys have others
)"""


def own_weights(view: View) -> None:
    """A file to open, and what is in it."""
    st.caption("The weights stay in this visit; a link does not carry them.")
    where = (
        st.expander("Open another file") if long_run_numbers.has_owners_run() else st.container()
    )
    label = f"A file of up to {long_run_own_weights.MAX_BYTES >> 20} MB"
    where.file_uploader(label, type=["npz", "safetensors"], key="own_file")
    try:
        own = long_run_numbers.own_file() or owners_run()
    except ValueError as error:
        notes.note(f"This file cannot be shown: {error}.")
        explain()
        return
    if own is None and st.toggle("Show an example", key="own_example"):
        own = long_run_numbers.example()
    if own is None:
        explain()
    else:
        show(view, own)


def owners_run() -> Opened | None:
    """The run of whoever serves this app, of a folder the one at the chosen step of training."""
    steps = long_run_numbers.owners_steps()
    if len(steps) < 2:
        return long_run_numbers.owners_run(steps[0]) if steps else None
    return long_run_numbers.owners_run(
        st.select_slider("Step of training", steps, steps[-1], key="own_step", width=480)
    )


def explain() -> None:
    """Explain how such a file is written, with one to start from."""
    st.markdown("**How to write such a file**")
    st.caption("A run of your model, whichever it is in PyTorch or transformers:")
    st.code(RUN, language="python", wrap_lines=True)
    st.caption("Or weights, as numbers:")
    st.code(HOW, language="python", wrap_lines=True)
    st.caption(
        "Or a .safetensors file with a tensor “weights”, and “tokens” as JSON in its metadata. In "
        'a notebook `attention.show(weights, tokens, layer="all")` shows the same.'
    )
    st.download_button(
        "The example as a file",
        long_run_numbers.example_weights,
        "example-weights.npz",
        on_click="ignore",
    )


def show(view: View, own: Opened) -> None:
    """All heads at a glance, the chosen one, and what each looks at."""
    read = own.weights
    layers, heads_of_each = read.shape[:2]
    layer = min(int(view["layer"]), layers - 1)
    head = min(int(view["head"]), heads_of_each - 1)
    named = f"{read.layer_titles[layer]}, head {read.head_numbers[head]}"
    for words in read.problems:
        notes.note(words)
    if isinstance(read, OpenedRun) and read.is_long:
        notes.titled(named.capitalize(), hint="drag to move, wheel or pinch to zoom")
        map_page.map_of(view, read, layer, head)
        every_head(own, layer * heads_of_each + head)
    else:
        left, right = st.columns(2, gap="large")
        with left:
            every_head(own, layer * heads_of_each + head)
        with right:
            weights_of(view, read, layer, head, named)
    glance = own.glance
    st.subheader("Where each head looks")
    widgets.widget(view, "sort", offered=("head", *glance.seen.measures), narrow=True, width=220)
    names = [f"{title} head {head}" for title in read.layer_titles for head in read.head_numbers]
    sorted_names, columns, even = heads_words.measure_table(glance.seen, view["sort"], names)
    st.html(
        tables.table(
            heads_words.MEASURED, sorted_names, columns, total=even, digits=heads_words.DIGITS
        )
    )
    st.caption(heads_words.measure_words(glance.seen))


def every_head(own: Opened, chosen: int) -> None:
    """All heads at a glance, one of which can be chosen, and of which queries that is."""
    glance = own.glance
    sample = heads_words.sample_words(glance.seen)
    more = f", of {sample}" if sample else ""
    notes.titled("Every head", f"· a row for each layer{more}", hint="click one")
    head_grid(
        glance.seen.dots,
        glance.seen.block,
        max(glance.shape),
        chosen,
        partial(choose, glance),
        key="glance",
        layer_names=own.weights.layer_titles,
    )


def weights_of(
    view: View, read: OpenedWeights | OpenedRun, layer: int, head: int, named: str
) -> None:
    """All weights of a head, whose queries and keys are few."""
    shown = Picture(
        read.trace(layer, head),
        read.tokens,
        [True] * len(read.tokens),
        parts=("heatmap",),
        memory=None if read.keys is None else (read.keys, [True] * len(read.keys)),
        caption=(f"{named.capitalize()}.", ""),
        of=named,
    )
    picture(shown, view.selection, key="picture")


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    layer, head = glance.layer_and_head(index)
    session.choose("layer", layer)
    session.choose("head", head)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, own_weights)
