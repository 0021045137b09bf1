"""Stages of the chosen word: the way from scores to its new vector, with its working."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.app.controls import grids, widgets
from attention.app.state import session
from attention.app.state.openings import ALL_WORDS
from attention.app.state.view import View
from attention.core.settings import Value, settings_of
from attention.core.variants import VARIANTS
from attention.figures.matrices import Matrices
from attention.figures.matrix import MAX_CELLS, MatrixError
from attention.figures.scene import Words, note, scene
from attention.figures.stacks import resized
from attention.figures.word_rows import WordRows
from attention.pipeline import Result
from attention.subjects.play.how import Computation, StepSettings, again, own_matrices
from attention.subjects.play.how import scene as scenes
from attention.subjects.play.how.own_matrices import OwnMatrixSettings
from attention.subjects.play.how.rows import computation_of, stage_names
from attention.subjects.play.scene import mixture

OWN = settings_of(OwnMatrixSettings)
LARGE = "The numbers grow too large to go on."
NARROW = "The output is not as wide as x, or the text is too long: the block runs once."
RUNS = "Query, key and value attention: q = x W_q, k = x W_k, v = x W_v, without a bias."


def draw_how(view: View, result: Result, tokens: Sequence[str], query: int) -> None:
    """Stages of the chosen word in rows; with all words one of them in matrices."""
    first = computation_of(result, view.of(StepSettings))
    done = draw_again(view, first, again.run_of(result), tokens, query)
    if view["words"] == ALL_WORDS:
        draw_matrices(view, done, query)
        return
    total = mixture(view, result) if done is first else None
    shown = scenes.rows(done, tokens, query, view["step"], view["column"], total)
    figure = shown["rows"]
    assert isinstance(figure, WordRows)
    names = stage_names(done)
    taken: dict[str, Handler] = {
        "row": (figure.has, lambda row: choose_number(names[row], -1)),
        "cell": (figure.has_cell, lambda cell: choose_number(names[cell[0]], cell[1])),
    }
    draw(shown, key="stages", selection=view.selection, taken={"rows": taken})


def draw_again(
    view: View, first: Computation, run: again.Run, tokens: Sequence[str], query: int
) -> Computation:
    """The block as often as it is set, in rows; gives the last one."""
    made = again.blocks(first, run)
    if first.settings.times > 1:
        widgets.widget(view, "times", width=150)
    if len(made) > 1:
        shown = again.rows(made, tokens, query)
        choose = range(len(made)).__contains__, lambda row: session.choose("times", row + 1)
        draw(shown, key="again", selection=view.selection, taken={"rows_again": {"row": choose}})
    if len(made) < first.settings.times:
        draw(scene(note(LARGE if again.fits(first) else NARROW)), key="again_ends")
    return made[-1]


def offer_again(view: View, first: Computation) -> None:
    """A way to the block once more, on its own output."""
    offered = view.applies("times") and "times" not in view.hidden
    if offered and first.settings.times == 1 and again.fits(first):
        choose = partial(session.choose, "times", 2)
        st.button("The block again, on its output", type="tertiary", on_click=choose)


def choose_number(name: str, column: int) -> None:
    """Choose a stage, and the key of the number to work out, within a callback."""
    session.choose("step", name)
    session.choose("column", column)


def draw_matrices(view: View, done: Computation, query: int) -> None:
    """The chosen step with its matrices, and the working of a cell."""
    wanted = view["step"]
    name, made = scenes.chosen_step(done, wanted)
    cell = scenes.nearest(made, (query, view["column"]))
    draw(scene(*scenes.absent(done, wanted, name)), key="absent_stage")
    if name != wanted:
        session.choose("step", name)
    with st.container(horizontal=True, vertical_alignment="bottom", key="step_controls"):
        widgets.widget(view, "step", offered=done.steps, narrow=True, width=170)
        if name in ("dropout", "output", "joined"):
            for drawn in ("dropout", "dropout_seed"):
                widgets.widget(view, drawn, width=170)
    pickable = not view.hidden & {"query", "column"}  # of which a link may keep hold
    shown = scenes.matrices(made, cell, pickable)
    figure = shown["matrices"]
    assert isinstance(figure, Matrices)
    taken = {"matrices": {"cell": (figure.has, partial(choose_cell, view))}} if pickable else {}
    draw(shown, key="step_matrices", taken=taken)
    st.latex(made.formula)
    draw(scene(replace(made.working(*cell), folded=True)), key="working")


def choose_cell(view: View, cell: tuple[int, int]) -> None:
    """Choose a word and the key of the number to work out, within a callback."""
    session.select({**view.selection["values"], "query": cell[0]})
    session.choose("column", cell[1])


def draw_own(view: View) -> None:
    """The matrices to edit, and their steps as soon as they fit.

    Each part has its own container, so that the text stays open while what is typed there does not
    fit.
    """
    own_settings = view.of(OwnMatrixSettings)
    read = own_matrices.read_own_matrices(own_settings)
    batch = 1 if isinstance(read, dict) else len(read.x)
    item = min(view["own_item"], batch - 1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in filter(view.applies, view.page.beside(view)):
            widgets.widget(view, name, narrow=True, width=170)
        if batch > 1:
            widgets.widget(view, "own_item", shown=item, width=170)
    if not view.hidden & OWN.keys():
        titles = ["Illustrated example", *own_matrices.PRESETS]
        examples("Try:", titles, lambda at: take_preset(titles[at]), key="examples")
    with st.container():
        problems = read if isinstance(read, dict) else {}
        shown = scenes.own_matrices(own_settings, problems, view.hidden)
        taken = grids.taken(shown, edit, resize, most=MAX_CELLS)
        draw(shown, key="own_matrices", taken=taken)
    with st.container():
        if not isinstance(read, dict):
            scale, x = view.settings().scale_factor, read.x[item]
            run = partial(own_matrices.attend_over, read, item=item, scale=scale)
            settings, query = view.of(StepSettings), min(view["query"], len(read.names) - 1)
            first = Computation(read.layer, run(x), read.names, x, settings, numbered=True)
            one = f" X has {batch} matrices. Each attends within itself; X[{item}] is shown."
            draw(scene(Words(RUNS + one * (batch > 1))), key="own_runs")
            draw_matrices(view, draw_again(view, first, run, read.names, query), query)
            offer_again(view, first)
    if not view.hidden & OWN.keys():
        with st.expander("The matrices as text"):
            for name in OWN:
                widgets.widget(view, name)


def edit(name: str, text: str) -> None:
    """Take over an edited matrix, within a callback; the mask follows the rows of X."""
    session.choose(name, text)
    if name == "own_x":
        mask = session.view()["own_mask"]
        session.choose("own_mask", own_matrices.resized_mask(mask, text))


def resize(name: str, change: str) -> None:
    """Resize a matrix, within a callback."""
    text = resized(session.view()[name], change, MAX_CELLS)
    if text is not None:
        edit(name, text)


def take_preset(title: str) -> None:
    """Take the matrices of a preset, the example's where it has no such name, within a callback."""
    texts: dict[str, Value] = {name: about.default for name, about in OWN.items()}
    if title in own_matrices.PRESETS:
        with contextlib.suppress(MatrixError):  # of an X that cannot be read the example stays
            texts |= own_matrices.preset(title, session.view()["own_x"])
    for name, text in texts.items():
        session.choose(name, text)


def offer_own(view: View) -> None:
    """A way to matrices of one's own in place of the sentence, or back."""
    if "input" not in view.hidden:
        own = view["input"] == "matrices"
        other = "sentence" if own else "matrices"
        label = "Back to the sentence" if own else "Matrices of your own"
        st.button(label, type="tertiary", on_click=session.choose, args=("input", other))


def offer_projections(view: View) -> None:
    """A variant in which queries, keys and values differ, where in the chosen one they do not."""
    chosen = view["model"] != "none" or "variant" in view.hidden
    if chosen or len(VARIANTS[view["variant"]].projections) > 1:
        return
    name = next(name for name, variant in VARIANTS.items() if len(variant.projections) > 1)
    choose = partial(session.choose, "variant", name)
    st.button("Here q = k = v. See them differ", type="tertiary", on_click=choose)
