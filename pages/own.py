"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.analysis.glances import Glance
from attention.app import frame, notes, opened, results, session, widgets
from attention.app.view import View
from attention.components.pictures import Picture, head_grid, picture
from attention.display import showing, tables
from attention.display.opened_run import MAX_SEEN, OpenedRun
from attention.display.showing import OpenedWeights
from attention.lessons import heads

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
    st.file_uploader(
        f"A file of up to {showing.MAX_BYTES >> 20} MB", type=["npz", "safetensors"], key="own_file"
    )
    try:
        own = opened.own_file() or opened.owners_run()
    except ValueError as error:
        notes.note(f"This file cannot be shown: {error}.")
        explain()
        return
    if own is None and st.toggle("Show an example", key="own_example"):
        own = opened.example()
    if own is None:
        explain()
    else:
        show(view, own.weights, own.glance)


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
        "The example as a file", results.example_weights, "example-weights.npz", on_click="ignore"
    )


def show(view: View, read: OpenedWeights | OpenedRun, glance: Glance) -> None:
    """All heads at a glance, the chosen one, and what each looks at."""
    layers, heads_of_each = read.shape[:2]
    layer = min(int(view["layer"]), layers - 1)
    head = min(int(view["head"]), heads_of_each - 1)
    named = f"{read.layer_titles[layer]}, head {read.head_numbers[head]}"
    for words in read.problems:
        notes.note(words)
    left, right = st.columns(2, gap="large")
    with left:
        is_long = isinstance(read, OpenedRun) and read.is_long
        of_first = f", its first {MAX_SEEN} tokens" if is_long else ""
        notes.titled("Every head", f"· a row for each layer{of_first}", hint="click one")
        head_grid(
            glance.seen.dots,
            glance.seen.block,
            max(glance.shape),
            layer * heads_of_each + head,
            partial(choose, glance),
            key="glance",
            layer_names=read.layer_titles,
        )
    with right:
        if isinstance(read, OpenedRun):
            read = part_of(read)
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
    st.subheader("Where each head looks")
    widgets.widget(view, "sort", offered=("head", *glance.seen.measures), narrow=True, width=220)
    names = [f"{title} head {head}" for title in read.layer_titles for head in read.head_numbers]
    sorted_names, columns, even = heads.measure_table(glance.seen, view["sort"], names)
    st.html(tables.table(heads.MEASURED, sorted_names, columns, total=even, digits=heads.DIGITS))
    st.caption(heads.measure_words(glance.seen))


def part_of(run: OpenedRun) -> OpenedRun:
    """The tokens of a run that are shown large, of a long one those that are asked for."""
    if not run.is_long:
        return run
    count = len(run.texts)
    begin = st.number_input(
        f"Show {MAX_SEEN} of {count:,} tokens, from token",
        *(0, count - MAX_SEEN),
        step=MAX_SEEN // 2,
        key="own_from",
    )
    if begin:
        st.caption("The rest of each row is at keys before these.")
    return replace(run, begin=int(begin))


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    layer, head = glance.layer_and_head(index)
    session.choose("layer", layer)
    session.choose("head", head)


frame.show(__file__, own_weights)
