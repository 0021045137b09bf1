"""Step by step: one computation of attention, one stage at a time, each cell with its working."""

from functools import partial

import streamlit as st

from attention.app.cached import runs
from attention.app.components.scene import draw
from attention.app.controls import grids, sections, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.figures import result_words
from attention.figures.matrices import Matrices
from attention.figures.scene import Words, scene
from attention.figures.stacks import resized
from attention.subjects import steps
from attention.subjects.steps import Computation, Step, StepSettings, own_matrices, predicting_page
from attention.subjects.steps import scene as scenes
from attention.subjects.steps.figures import StepGraph
from attention.subjects.steps.own_matrices import OwnMatrixSettings

OWN = settings_of(OwnMatrixSettings)


def step_by_step(view: View) -> None:
    """The chosen step of the sentence, or of one's own matrices.

    Each part has its own container, so that the text stays open while what is typed there does not
    fit.
    """
    settings = view.of(StepSettings)
    own = settings.input == "matrices"
    with st.container():
        done = from_own_matrices(view, settings) if own else from_sentence(view, settings)
    with st.container(key="steps_kept"):
        widgets.widget(view, "step", offered=steps.STEPS)
    with st.container():
        if done is not None:
            show(view, done, settings)
        if not own and done is not None and (result := runs.current_result(view)):
            draw(scene(*result_words.problems(result)), key="problems")
    if own and not view.hidden & OWN.keys():
        as_text(view)


def show(view: View, done: Computation, settings: StepSettings) -> None:
    """The chosen step of a computation, with its matrices and the working of a cell."""
    name, step = choose_step(view, done)
    wanted = settings.row, settings.column
    cell = scenes.nearest(step, wanted)
    predicts = settings.predict == "on" and name != "x"
    asked = predicting_page.ask(view, step, settings.question, cell) if predicts else ""
    choose = predicting_page.chooser(view, step.identity, asked, cell)
    shown = scenes.matrices(step, wanted, asked, choose is not None)
    figure = shown["matrices"]
    assert isinstance(figure, Matrices)
    taken = {} if choose is None else {"matrices": {"cell": (figure.has, choose)}}
    draw(shown, key="step_matrices", taken=taken)
    st.latex(step.formula)
    if done.alike and "variant" not in view.hidden and name in ("x", *done.alike.values()):
        offer_matrices()
    controls(view, name)
    if not asked:
        draw(scene(step.working(*cell)), key="working")


def choose_step(view: View, done: Computation) -> tuple[str, Step]:
    """The steps there are to choose from, and one further or back, by button or key."""
    moves = "step" not in view.hidden
    overview = scenes.steps(done, view["step"], moves)
    taken = {}
    if moves:
        figure = overview["step_graph"]
        assert isinstance(figure, StepGraph)
        taken = {"step_graph": {"step": (figure.has, partial(session.choose, "step"))}}
    draw(overview, key="steps_shown", taken=taken)
    name, there = scenes.name_of_step(done, view["step"]), done.steps
    position, step = there.index(name), steps.step(name, done)
    with st.container(horizontal=True, vertical_alignment="center", key="stepper"):
        st.subheader(f"{position + 1}. {step.title}", width="stretch")
        if moves:
            move("Back", "B", there, position - 1)
            move("Next", "N", there, position + 1)
    return name, step


def offer_matrices() -> None:
    """A variant in which queries, keys and values differ, since in the chosen one they do not."""
    name = next(name for name, variant in VARIANTS.items() if len(variant.projections) > 1)
    st.button(
        f"Here q = k = v = x. See them differ: {VARIANTS[name].title}",
        type="tertiary",
        icon=":material/arrow_forward:",
        on_click=session.choose,
        args=("variant", name),
    )


def move(label: str, shortcut: str, there: tuple[str, ...], to: int) -> None:
    """A button to another step, if it is there."""
    exists = 0 <= to < len(there)
    st.button(
        label,
        shortcut=shortcut,
        disabled=not exists,
        on_click=session.choose,
        args=("step", there[to] if exists else ""),
    )


def from_sentence(view: View, settings: StepSettings) -> Computation | None:
    """The steps of the current result; without a word in the sentence, what to do about it."""
    result = runs.current_result(view)
    if result is None:
        draw(scene(Words(scenes.EMPTY, "info")), key="empty")
        return None
    if sections.over_another(result):
        return None
    return steps.Computation(
        result.layer,
        result.layer_trace,
        result.tokens,
        result.vectors,
        settings,
        head=result.head,
        positions=result.encoding,
        masks=result.masks,
    )


def from_own_matrices(view: View, settings: StepSettings) -> Computation | None:
    """The matrices to edit, and their steps; None while they do not fit."""
    own_settings = view.of(OwnMatrixSettings)
    read = own_matrices.read_own_matrices(own_settings)
    problems = read if isinstance(read, dict) else {}
    shown = scenes.own_matrices(own_settings, problems, view.hidden)
    draw(shown, key="own_matrices", taken=grids.taken(shown, edit, resize, alone=True))
    if isinstance(read, dict):
        return None
    trace = own_matrices.attend_over(read, view.settings().scale_factor)
    return steps.Computation(read.layer, trace, read.names, read.x, settings, numbered=True)


def as_text(view: View) -> None:
    """The matrices as text, and a way back to the example."""
    with st.expander("The matrices as text, and a way back"):
        for name in OWN:
            widgets.widget(view, name)
        st.button("Start over with the example", on_click=start_over)


def edit(name: str, text: str) -> None:
    """Take over an edited matrix, within a callback; the mask follows the rows of X."""
    session.choose(name, text)
    if name == "own_x":
        mask = session.view()["own_mask"]
        session.choose("own_mask", own_matrices.resized_mask(mask, text))


def resize(name: str, change: str) -> None:
    """Resize a matrix, within a callback."""
    text = resized(session.view()[name], change, alone=True)
    if text is not None:
        edit(name, text)


def start_over() -> None:
    """Put the example back, within a callback."""
    for name, about in OWN.items():
        session.choose(name, about.default)


def controls(view: View, name: str) -> None:
    """The chosen cell by number, guessing, and how much is dropped where that matters."""
    drops = ("dropout", "dropout_seed") if name in ("dropout", "output", "joined") else ()
    with st.container(horizontal=True, vertical_alignment="bottom", key="step_controls"):
        for setting in ("row", "column", "predict", *drops):
            widgets.widget(view, setting, width=190)
        if view.applies("question"):
            widgets.widget(view, "question", width="content")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, step_by_step)
