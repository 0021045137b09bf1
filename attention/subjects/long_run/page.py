"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from functools import partial

import streamlit as st

from attention.analysis.glances import Glance
from attention.app.components.scene import draw
from attention.app.controls import notes, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.subjects.long_run import map_page
from attention.subjects.long_run import numbers as long_run_numbers
from attention.subjects.long_run import own_weights as long_run_own_weights
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.opened_run import OpenedRun

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
    st.caption("The weights stay in this visit; your file is not put in the link.")
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
    read, glance = own.weights, own.glance
    layers, heads_of_each = read.shape[:2]
    layer = min(int(view["layer"]), layers - 1)
    head = min(int(view["head"]), heads_of_each - 1)
    count = layers * heads_of_each
    taken = {"glance": {"head": (range(count).__contains__, partial(choose, glance))}}
    if isinstance(read, OpenedRun) and read.is_long:
        title = scenes.named_head(own, layer, head)
        map_page.map_of(view, read, layer, head, title, read.problems)
        draw(scenes.every_head(own, layer, head), key="own_heads", taken=taken)
    else:
        shown = scenes.of_weights(own, layer, head)
        draw(shown, key="own_weights", selection=view.selection, taken=taken)
    st.subheader("Where each head looks")
    widgets.widget(view, "sort", offered=("head", *glance.seen.measures), narrow=True, width=220)
    draw(scenes.measured(own, view["sort"]), key="own_measures")


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    layer, head = glance.layer_and_head(index)
    session.choose("layer", layer)
    session.choose("head", head)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, own_weights)
