"""Own run: a run of any model from a file, or any weights, in the same pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attention.analysis.glances import Glance
from attention.analysis.opened_run import OpenedRun
from attention.app.components.scene import Taken, draw
from attention.app.controls import notes, widgets, works
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.figures import files, measure_words
from attention.figures.scene import Words, scene
from attention.subjects.long_run import example, map_page
from attention.subjects.long_run import numbers as long_run_numbers
from attention.subjects.long_run import own_weights as long_run_own_weights
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.map_page import Mapped
from attention.subjects.long_run.numbers import LinksAsked, Opened
from attention.subjects.long_run.settings import MEAN, OTHER, mark_of, parts_of_mark

if TYPE_CHECKING:
    from pandas import DataFrame

AROUND = 40  # rows and columns of the map around a link

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
        on_change=take_other,
    )
    try:
        own = long_run_numbers.own_file() or owners_run(view)
    except ValueError as error:
        notes.note(f"This file cannot be shown: {error}.")
        explain(expanded=True)
        return
    asked = asked_file(view, own)
    view = on_telling_head(view, own)
    if asked:
        notes.note(asked)
    if own is None and asked:
        return
    if own is None:
        draw(scene(Words(example.WORDS, "told")), key="about_example")
    show(view, own or long_run_numbers.example_run())
    if own is None:
        explain(expanded=False)


def asked_file(view: View, own: Opened | None) -> str:
    """Ask for the file that a link names, where that is not open; "" where it is, or none is named.

    The link of a file that is open names that.
    """
    visit = session.visit()
    named = (visit.asked_file if own else "") or view["run"]
    mark = "" if own is None else own.mark
    parts = parts_of_mark(named)
    is_open = parts is None or named.rpartition(" ")[2] == mark.rpartition(" ")[2]
    session.change(asked_file="" if is_open else named)
    if mark and mark != view["run"]:
        session.choose("run", mark)
    widgets.widget(view, "run")  # never seen: it keeps the mark
    if is_open or parts is None:
        return ""
    name, digest = parts
    file = f"“{name}”, whose SHA-256 begins with {digest}"
    if own is None:
        return f"This link shows a file that it does not carry: {file}. Open it above."
    return f"The link shows another file than this: {file}."


def take_other() -> None:
    """Have the link name the file that is opened, or the one that was asked for; leave the head of
    another file, or that of the example, within a callback."""
    asked = session.visit().asked_file
    session.choose("run", asked)
    if not asked:
        opens = {} if st.session_state["own_file"] else example.OPENS
        choose_head(opens.get("layer", 0), opens.get("head", 0))
        session.choose_query(opens.get("query", 0))


def on_telling_head(view: View, own: Opened | None) -> View:
    """The view on the most telling head of a file, where neither a link nor a visitor has named
    the file or a head."""
    if own is None or view["run"] or view["layer"] or view["head"]:
        return view
    layer, head, query = own.telling
    choose_head(layer, head)
    session.choose_query(query)
    return replace(view, values_={**view, "layer": layer, "head": head, "query": query})


def owners_run(view: View) -> Opened | None:
    """The run of whoever serves this app, of a folder the one at the chosen step of training: at
    first that of the link, else the last."""
    files = long_run_numbers.owners_files()
    if not files:
        return None
    named = (at for at in files if view["run"].startswith(mark_of(files[at].name, "")))
    step = next(named, max(files))
    if len(files) > 1:
        step = st.select_slider(
            "Step of training",
            [*files],
            step,
            key="own_step",
            width=480,
            on_change=lambda: session.choose(
                "run", mark_of(files[st.session_state["own_step"]].name, "")
            ),
        )
    return long_run_numbers.owners_run(files[step])


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
    if not read.has(layer, head):
        head = next(at for at in range(heads_of_each) if read.has(layer, at))
    if isinstance(read, OpenedRun) and read.is_long:
        task = long_run_numbers.measuring(own)
        works.pause(task)  # before the map is read on
        maps(view, own, read, layer, head)
        if not works.done(task):
            return
        draw(scenes.every_head(own, layer, head), key="own_heads", taken=_taken(own))
        links_of_all(view, own, read)
    else:
        shown = scenes.of_weights(own, layer, head)
        draw(shown, key="own_weights", selection=view.selection, taken=_taken(own))
    st.subheader(measure_words.measures_heading(own.glance.seen))
    offered = ("head", *own.glance.seen.measures)
    widgets.widget(view, "sort", offered=offered, narrow=True, width=220)
    draw(scenes.measured(own, view["sort"]), key="own_measures")
    if isinstance(read, OpenedRun):
        files.offer_frame("measures of all heads", own.table)


def maps(view: View, own: Opened, read: OpenedRun, layer: int, head: int) -> None:
    """The map of the chosen head, and beside it the mean of its layer, or another head."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget(view, "beside", width="content")
        if view["beside"] == OTHER:
            widgets.widget(view, "beside_layer", width=130)
            widgets.widget(view, "beside_head", width=130)
    shown = [Mapped(layer, head, scenes.named_head(own, layer, head))]
    if view["beside"] == MEAN:
        shown.append(Mapped(layer, None, f"{read.layer_titles[layer]}, mean of its heads"))
    if view["beside"] == OTHER:
        layer = min(view["beside_layer"], read.shape[0] - 1)
        head = min(view["beside_head"], read.shape[1] - 1)
        if not read.has(layer, head):
            head = next(at for at in range(read.shape[1]) if read.has(layer, at))
        shown.append(Mapped(layer, head, scenes.named_head(own, layer, head)))
    map_page.maps_of(view, read, shown, read.problems)


def links_of_all(view: View, own: Opened, read: OpenedRun) -> None:
    """The strongest links of all heads: far ones, or those from or to a word."""
    st.subheader("Links of all heads")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget(view, "find", width=180, placeholder="any")
        widgets.widget(view, "ends", width="content")
        widgets.widget(view, "apart", width=170)
    asked = LinksAsked(view["apart"], view["find"], view["ends"])
    if asked.places(read) == []:
        notes.note(f"“{view['find']}” is not in this run.")
        return
    if not works.done(long_run_numbers.looking(own, asked)):
        return
    found = own.links(asked)
    assert found is not None
    there = range(len(found)).__contains__
    taken = {"links": {"line": (there, partial(_lead_to, own, read, found))}}
    draw(scenes.links(own, found), key="own_links", taken=taken)
    files.offer_frame(scenes.LINKS, lambda: found)


def _lead_to(own: Opened, read: OpenedRun, found: DataFrame, line: int) -> None:
    """Lead to a link: its head, and its cell in the middle of the map, within a callback."""
    link = found.iloc[line]
    numbers = [kept.number for kept in read.shown]
    choose_head(numbers.index(link["layer"]), read.head_numbers.index(link["head"]))
    query, key = int(link["query"]), int(link["key"])
    first = (max(0, at - AROUND // 2) for at in (query, key))
    session.choose("seen", ",".join(map(str, (query, key, *first, AROUND, AROUND))))


def _taken(own: Opened) -> Taken:
    """The choice of a head in the picture of all."""
    there = {*range(len(own.glance.seen.dots))} - {*own.weights.absent}
    return {"glance": {"head": (there.__contains__, partial(choose, own.glance))}}


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
