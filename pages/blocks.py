"""Building blocks: the operations attention is made of, each beside torch's own answer."""

import streamlit as st

from attention import blocks, state, tables
from attention.blocks import BLOCKS, BlockSettings, Made, Refused, Worked
from attention.blocks.settings import CHANGES, fits_a_grid, parts_of, resized, with_part
from attention.components import copy_link, examples, matrices, number_grid
from attention.params import complaint, settings_of

SCHEMA = settings_of(BlockSettings)

state.inside_frame("pages/blocks.py")


@st.fragment
def building_blocks() -> None:
    """One block: what it is for, numbers to change, and what comes of them, which is sent first."""
    settings = BlockSettings(**{name: state.value_of(name, SCHEMA) for name in SCHEMA})
    block, made = BLOCKS[settings.block], blocks.prepare(settings)
    above, below = st.container(), st.container()
    with below:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.text("" if isinstance(made, Refused) else made.shapes, width="content")
            numbers_to_try(block)
        if isinstance(made, Refused):
            refused(made)
        else:
            answer(made, settings)
        with st.expander("The same as text"):
            for name in filter(applies, block.inputs):
                if name in CHANGES:
                    state.widget(name, *SCHEMA[name])
    with above:
        introduction(block)
        inputs(settings)


def introduction(block: blocks.Block) -> None:
    """The choice of blocks, and what the chosen one is for."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Building blocks")
        copy_link(key="copy_link")
    state.widget("block", *SCHEMA["block"], label_visibility="collapsed")
    words, formula = st.columns([7, 5], gap="large", vertical_alignment="center")
    words.text(block.why)
    formula.latex(block.formula)


def applies(name: str) -> bool:
    """Whether an input means anything, given the others."""
    when = SCHEMA[name][1].when
    return when is None or state.value_of(when[0], SCHEMA) == when[1]


def inputs(settings: BlockSettings) -> None:
    """The numbers of the block, as grids to edit, and its other settings."""
    with st.container(horizontal=True, gap="large", key="inputs"):
        for name in filter(applies, BLOCKS[settings.block].inputs):
            default, about = SCHEMA[name]
            if name in CHANGES:
                grids(name, about.label, getattr(settings, name))
            else:
                state.widget(name, default, about, width="content" if about.choices() else 240)
    if words := st.session_state.pop("too_long", ""):
        state.say(words)


def grids(name: str, label: str, text: str) -> None:
    """A grid of number boxes for each matrix of a stack, and buttons that resize them all."""
    parts = parts_of(text)
    with st.container(width="content", gap="small"):
        with st.container(horizontal=True, gap="medium"):
            for index, part in enumerate(parts):
                if not fits_a_grid(part):
                    st.caption("Too many cells for a grid: the text below holds them.")
                    continue
                number_grid(
                    f"{label}[{index}]" if len(parts) > 1 else label,
                    part,
                    lambda new, index=index: edit(name, with_part(text, index, new)),
                    key=f"grid_{name}_{index}",
                    resizable=False,
                )
        with st.container(horizontal=True, gap="small"):
            for change in CHANGES[name]:
                new = resized(text, change)
                st.button(
                    change,
                    key=f"{change} {name}",
                    help=f"{change} of {label}",
                    type="tertiary",
                    disabled=new is None,
                    on_click=edit,
                    args=(name, new),
                )


def numbers_to_try(block: blocks.Block) -> None:
    """Numbers worth a look, a click away."""
    tries = {"the first example": {}, **block.examples}
    values = list(tries.values())
    examples("try", list(tries), lambda index: take(values[index], block), key="examples")


def edit(name: str, text: str) -> None:
    """Take over an edited input, within a callback, unless it is too long for a link."""
    if wrong := complaint(name, *SCHEMA[name], text):
        st.session_state["too_long"] = wrong
    else:
        state.choose(name, text)


def take(values: dict[str, str], block: blocks.Block) -> None:
    """Put an example's numbers in, within a callback."""
    for name in block.inputs:
        if name in CHANGES:
            state.choose(name, values.get(name, SCHEMA[name][0]))


def refused(made: Refused) -> None:
    """Why there is no answer, and torch's own words where it was asked."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        for words in made.words:
            state.say(words)
        st.caption("The answer follows as soon as the numbers fit.")
        if made.worked is not None:
            explain(made.worked)
    if made.torch_says:
        with right:
            st.markdown("**Torch refuses too**")
            st.code(made.call)
            state.say(made.torch_says)


def answer(made: Made, settings: BlockSettings) -> None:
    """The result, the working of what is chosen in it, and torch's own answer."""
    for words in made.notes:
        state.say(words)
    picture, row, column = blocks.clamped(made, settings)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        for index, parts in enumerate(made.pictures):
            matrices(
                parts,
                key=f"picture_{index}",
                chosen=(row, column) if index == picture else None,
                on_choose=lambda row, column, index=index: choose(index, row, column),
            )
        st.caption(made.hint)
    state.let_through()
    with right:
        explain(made.working(picture, row, column))
        place(made)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("**Torch’s own answer**")
        st.code(made.call, wrap_lines=True)
    with right:
        matrices(made.answer, key="torchs")
        st.text(made.compared)


def place(made: Made) -> None:
    """The chosen cell by number, as far as there is a choice."""
    with st.container(horizontal=True, key="place"):
        names = ("block_batch", "block_row", "block_column")
        for name, size in zip(names, made.sizes, strict=True):
            if size > 1:
                state.widget(name, *SCHEMA[name], width=110)


def explain(worked: Worked) -> None:
    """A working: its sentence and its table."""
    words = tables.working(tables.Working(worked.words, ()))
    table = tables.table(worked.names, worked.columns, total=worked.total)
    st.html(f"<div class='working'>{words}{table}</div>")


def choose(picture: int, row: int, column: int) -> None:
    """Choose a cell, within a callback."""
    for name, value in (("block_batch", picture), ("block_row", row), ("block_column", column)):
        state.choose(name, value)


building_blocks()
