"""Step by step: one computation of attention, one stage at a time, each cell with its working."""

import streamlit as st

from attention import hand, state, steps, tables
from attention.components import matrices, number_grid
from attention.hand import HandSettings
from attention.params import settings_of
from attention.steps import Computation, Step, StepSettings

state.inside_frame("pages/steps.py")

SETTINGS = state.STEP_BY_STEP
HAND = settings_of(HandSettings)


@st.fragment
def step_by_step() -> None:
    """The chosen step of what the sentence, or the matrices by hand, come to."""
    settings = StepSettings(**{name: state.value_of(name, SETTINGS) for name in SETTINGS})
    done = by_hand(settings) if settings.input == "hand" else from_sentence(settings)
    name = choose_step()
    if done is None:
        return
    step = steps.step(name, done)
    words, formula = st.columns([7, 5], gap="large", vertical_alignment="center")
    with words:
        st.subheader(f"{steps.STEPS.index(name) + 1}. {step.title}")
        st.text(step.why)
    with formula:
        st.latex(step.formula)
    hidden = settings.predict == "on" and name != "x"
    guessed = st.session_state.get("guess") == step.identity
    row, column = within(step, settings)
    matrices(
        step.parts,
        key="matrices",
        chosen=None if hidden and not guessed else (row, column),
        on_choose=lambda row, column: choose_cell(row, column, step.identity),
        hidden=hidden and not guessed,
    )
    state.let_through()
    st.caption(step.shapes)
    controls(name)
    if hidden:
        judge(step, row, column, guessed)
    if guessed or not hidden:
        st.html(f"<div class='working'>{tables.working(step.working(row, column))}</div>")


def choose_step() -> str:
    """All steps to choose from, and one further or back, by button or key."""
    position = steps.STEPS.index(state.value_of("step", SETTINGS))
    with st.container(horizontal=True, vertical_alignment="center", key="stepper"):
        move("Back", -1, "B", position)
        state.widget("step", *SETTINGS["step"], label_visibility="collapsed")
        move("Next", 1, "N", position)
    return str(state.value_of("step", SETTINGS))


def move(label: str, by: int, shortcut: str, position: int) -> None:
    """A button to the step before or after, if there is one."""
    to = position + by
    exists = 0 <= to < len(steps.STEPS)
    st.button(
        label,
        shortcut=shortcut,
        disabled=not exists,
        on_click=state.choose,
        args=("step", steps.STEPS[to] if exists else ""),
    )


def from_sentence(settings: StepSettings) -> Computation | None:
    """The steps of what the shared settings come to; without a word, what to do about it."""
    view = state.current_view()
    if view is None:
        st.info("Type a sentence above, or take one of the examples.")
        return None
    state.say_what_is_missing(view)
    return steps.compute(
        view.variant,
        view.tokens,
        view.vectors,
        view.trace.mask,
        settings,
        positions=view.encoding,
        scale=view.scale,
        rotate=view.rotate,
        bias=view.trace.bias,
    )


def by_hand(settings: StepSettings) -> Computation | None:
    """The matrices to edit, and the steps they come to; None while they do not fit."""
    texts = {name: state.value_of(name, HAND) for name in HAND}
    read = hand.read_hand(HandSettings(**texts))
    wrong = read if isinstance(read, dict) else {}
    with st.container(horizontal=True, gap="medium", key="by_hand"):
        for name, (_, about) in HAND.items():
            number_grid(
                about.label,
                texts[name],
                lambda text, name=name: edit(name, text, texts["hand_mask"]),
                key=f"grid_{name}",
                wrong=wrong.get(name, ""),
                resizable=name != "hand_mask",
            )
    with st.expander("The same as text, and a way back"):
        for name, (default, about) in HAND.items():
            state.widget(name, default, about)
        st.button("Start over with the example", on_click=start_over)
    if isinstance(read, dict):
        state.say("The steps follow as soon as every matrix fits.")
        return None
    scale = state.current_settings().scale_factor
    return steps.compute(read.variant, read.names, read.x, read.mask, settings, scale=scale)


def edit(name: str, text: str, mask: str) -> None:
    """Take over an edited matrix, within a callback; the mask follows the rows of X."""
    state.choose(name, text)
    if name == "hand_x":
        state.choose("hand_mask", hand.resized_mask(mask, text))


def start_over() -> None:
    """Put the example back, within a callback."""
    for name, (default, _) in HAND.items():
        state.choose(name, default)


def within(step: Step, settings: StepSettings) -> tuple[int, int]:
    """The chosen cell, or the nearest there is: the matrices differ in size."""
    rows, columns = step.result.numbers.shape
    if settings.row >= rows or settings.column >= columns:
        state.say(f"There are {rows} rows and {columns} columns here; showing the nearest cell.")
    return min(settings.row, rows - 1), min(settings.column, columns - 1)


def choose_cell(row: int, column: int, identity: int) -> None:
    """Choose a cell, within a callback; while the result is hidden this is the guess."""
    state.choose("row", row)
    state.choose("column", column)
    st.session_state["guess"] = identity


def controls(name: str) -> None:
    """The chosen cell by number, guessing, and how much is dropped where that matters."""
    drops = ("dropout", "drop_seed") if name in ("dropout", "output") else ()
    with st.container(horizontal=True, vertical_alignment="bottom", key="step_controls"):
        for setting in ("row", "column", "predict", *drops):
            state.widget(setting, *SETTINGS[setting], width=190)


def judge(step: Step, row: int, column: int, guessed: bool) -> None:
    """Ask for a guess, or say how good it was."""
    if not guessed:
        st.info("Which cell will hold the greatest number? Click it, or go there and press Enter.")
        return
    state.say(steps.verdict(step, row, column))
    st.button("Hide and guess again", on_click=st.session_state.pop, args=("guess", None))


step_by_step()
