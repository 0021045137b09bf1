"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from functools import partial

import streamlit as st

from attention.analysis.glances import Glance
from attention.app.components.scene import Taken, draw
from attention.app.controls import notes, widgets, works
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.scene import Words, scene
from attention.subjects.long_run import example, map_page
from attention.subjects.long_run import numbers as long_run_numbers
from attention.subjects.long_run import own_weights as long_run_own_weights
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.opened_run import OpenedRun

HOW = """\
A run of your model, whichever it is in PyTorch or transformers:

```python
import attention

with attention.capture() as run:  # its own kernels run, flash attention too
    model(**inputs)
run.save("run.safetensors", tokens=tokens)
```

Or weights, as numbers:

```python
import numpy

numpy.savez(
    "weights.npz",
    weights=weights,            # (layers, heads, queries, keys), each row summing to 1
    tokens=numpy.array(tokens), # one per query; and keys=… where the keys have others
)
```

Or a .safetensors file with a tensor “weights”, and “tokens” as JSON in its metadata. In a notebook
`attention.show(weights, tokens, layer="all")` shows the same."""


def own_weights(view: View) -> None:
    """A file to open, and what is in it; without one the example."""
    where = st.container()
    label = f"A file of up to {long_run_own_weights.MAX_BYTES >> 20} MB"
    if long_run_numbers.has_owners_run():
        where = st.expander("Open another file")
    where.file_uploader(
        f"{label}. It stays in this visit: your file is not put in the link.",
        type=["npz", "safetensors"],
        key="own_file",
        on_change=leave_example,
    )
    try:
        own = long_run_numbers.own_file() or owners_run()
    except ValueError as error:
        notes.note(f"This file cannot be shown: {error}.")
        explain(expanded=True)
        return
    if own is None:
        draw(scene(Words(example.WORDS, "told")), key="about_example")
    show(view, own or long_run_numbers.example_run())
    if own is None:
        explain(expanded=False)


def leave_example() -> None:
    """Show the first head of a file where that of the example was shown, within a callback."""
    now = session.view()
    if all(now[name] == value for name, value in example.OPENS.items()):
        choose_head(0, 0)
        session.choose_query(0)


def owners_run() -> Opened | None:
    """The run of whoever serves this app, of a folder the one at the chosen step of training."""
    steps = long_run_numbers.owners_steps()
    if len(steps) < 2:
        return long_run_numbers.owners_run(steps[0]) if steps else None
    return long_run_numbers.owners_run(
        st.select_slider("Step of training", steps, steps[-1], key="own_step", width=480)
    )


def explain(expanded: bool) -> None:
    """Explain how such a file is written, with one to start from."""
    with st.expander("How to write such a file", expanded):
        st.markdown(HOW)
        st.download_button(
            "The example as a file",
            example.FILE.read_bytes,
            "example-run.safetensors",
            on_click="ignore",
        )


def show(view: View, own: Opened) -> None:
    """All heads at a glance, the chosen one, and what each looks at."""
    read = own.weights
    layers, heads_of_each = read.shape[:2]
    layer = min(int(view["layer"]), layers - 1)
    head = min(int(view["head"]), heads_of_each - 1)
    if isinstance(read, OpenedRun) and read.is_long:
        task = long_run_numbers.measuring(own)
        works.pause(task)  # before the map is read on
        title = scenes.named_head(own, layer, head)
        map_page.map_of(view, read, layer, head, title, read.problems)
        if not works.done(task):
            return
        draw(scenes.every_head(own, layer, head), key="own_heads", taken=_taken(own))
    else:
        shown = scenes.of_weights(own, layer, head)
        draw(shown, key="own_weights", selection=view.selection, taken=_taken(own))
    st.subheader("Where each head looks")
    offered = ("head", *own.glance.seen.measures)
    widgets.widget(view, "sort", offered=offered, narrow=True, width=220)
    draw(scenes.measured(own, view["sort"]), key="own_measures")


def _taken(own: Opened) -> Taken:
    """The choice of a head in the picture of all."""
    count = len(own.glance.seen.dots)
    return {"glance": {"head": (range(count).__contains__, partial(choose, own.glance))}}


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    choose_head(*glance.layer_and_head(index))


def choose_head(layer: int, head: int) -> None:
    """Choose a head of a layer, within a callback."""
    session.choose("layer", layer)
    session.choose("head", head)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, own_weights)
