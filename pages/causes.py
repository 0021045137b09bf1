"""Causes: what a model's answer owes to each of its heads, and why a head looks where it looks."""

import streamlit as st

from attention.app import frame, notes, results, sections, session, shared, widgets, works
from attention.app.parts import part
from attention.app.view import View
from attention.components.inputs import examples
from attention.components.pictures import chart, matrices, tell_selection
from attention.display import effects, tables
from attention.display.captions import distinct_names
from attention.display.matrix import Matrix
from attention.lessons import causes
from attention.lessons.causes import EXCHANGED, Answer, KnownCause, Question
from attention.pipeline import NoWords, Result
from attention.trained.models import Model, Run, Transformer
from attention.trained.sources import NONE


def causes_of(view: View) -> None:
    """The effect of each head, then the chosen head: where it looks, and why."""
    if view["model"] == NONE:
        notes.explain_missing_models()
        return
    known = causes.known_causes(view["model"])
    if known and not view.hidden & {"s", "layer", "head", "second"}:
        titles = [one.title for one in known]
        examples("Examples", titles, lambda at: show_known(known[at]), key="known_causes")
    choices(view)
    result = results.whole_layer(view)
    if result is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    asked = asked_of(view)
    if asked is not None:
        all_heads(view, asked)
    st.subheader("The chosen head")
    chosen_head(view, result)
    of_token(view)
    if asked is not None and asked.words is not None:
        layers_guess(asked)


def show_known(known: KnownCause) -> None:
    """Show two sentences and the head that tells them apart, within a callback."""
    for name, value in known.settings.items():
        session.choose(name, value)
    for name in ("word", "other_word"):
        session.choose(name, "")
    session.choose("changed_part", "output")
    session.choose_query(known.query)


def choices(view: View) -> None:
    """What is done to the heads, and which words are told apart."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "intervention", width="content")
        if causes.goes_on(shared.load_model(view["model"])):
            for name in ("word", "other_word"):
                widgets.widget(view, name, width=170, placeholder="the likeliest")
    if view["intervention"] == EXCHANGED:
        widgets.widget(view, "second", live="200ms", placeholder="as many pieces as the first")
    with st.expander("Change only a part of each head"):
        widgets.widget(view, "changed_part", width="content")


def asked_of(view: View) -> Question | None:
    """What is asked of each head; says why not where it cannot be answered."""
    with st.container():  # what comes and goes leaves the place of the rest as it is
        try:
            return results.question_of(view)
        except NoWords:
            notes.note("Type the second sentence, with a word changed and as many pieces.")
        except ValueError as problem:
            notes.note(str(problem))
    return None


def all_heads(view: View, asked: Question) -> None:
    """The effect of every head, or how far it is worked out."""
    model, run = shared.load_model(asked.model), results.run_model(asked.model, asked.text)
    quick, steps = causes.is_quick(model, run), results.steps_to_effects(asked)
    if not works.done(works.Task(asked, steps, quick, unasked=True, key="effects_work")):
        return
    found = results.effects_of(asked)
    st.subheader("The effect of each head on the answer")
    st.text(causes.answer_words(model, asked, run, found))
    show_effects(view, asked, model, found)
    st.caption(causes.effect_words(model, asked, found))
    if asked.words is not None:
        votes(asked, model, run)


def show_effects(view: View, asked: Question, model: Model, found: Answer) -> None:
    """The picture of all heads, and the strongest of them."""
    left, right = st.columns([7, 5], gap="large")
    with left:
        names = [model.title_of(layer) for layer in range(len(model.layers))]
        n_heads = found.total.shape[1]
        chart(
            effects.effect_map(found.total, found.direct, names, chosen(view, found)),
            "The effect of each head: " + causes.effect_words(model, asked, found),
            key="effects",
            on_choose=lambda point: choose(*divmod(point, n_heads)),
            points=found.total.numel(),
        )
    with right:
        titles, columns = causes.effect_table(model, found)
        st.html(tables.table("the heads with the greatest effects", titles, columns))
        examples(
            "Show",
            [f"{layer}.{head}" for layer, head in found.strongest],
            lambda at: choose(*found.strongest[at]),
            key="strongest",
        )


def chosen(view: View, found: Answer) -> tuple[int, int]:
    """The chosen layer and head, as far as there are such."""
    layers, heads = found.total.shape
    return min(view["layer"], layers - 1), min(view["head"], heads - 1)


def choose(layer: int, head: int) -> None:
    """Choose a head, within a callback."""
    session.choose("layer", layer)
    session.choose("head", head)


def votes(asked: Question, model: Model, run: Run) -> None:
    """What each kind of part says for the one word rather than the other."""
    assert isinstance(model, Transformer)
    assert asked.words is not None
    with st.expander("The votes of all parts for the one word rather than the other"):
        names, columns, total = causes.vote_table(model, run, asked.words)
        st.html(tables.table("votes of all parts", names, columns, total=total))
        st.caption(
            "The last vector is a sum of parts, so its score is a sum of votes: each part through "
            "the last norm and the unembedding (Elhage et al. 2021)."
        )


def chosen_head(view: View, result: Result) -> None:
    """Where the chosen head looks."""
    model = shared.load_model(view["model"])
    assert result.trained is not None
    title = model.title_of(result.trained.position)
    sections.weights_of(view, result, f"{title.capitalize()}, head {result.head}.", ("lines",))


@part
def of_token(view: View) -> None:
    """For the chosen query: how long what it takes is, and why it looks at a key."""
    result = results.whole_layer(view)
    if result is None:
        return
    assert result.trained is not None
    tell_selection(view.selection, session.select, key="selection")
    layer, head = result.trained.position, result.head
    query = min(view["query"], len(result.tokens) - 1)
    rows, names, words = causes.length_rows(results.run_of(result.settings), layer, head, query)
    key = view["key"] if 0 <= view["key"] < len(names) else int(rows[0].argmax())
    st.subheader("A great weight may bring little")
    notes.note_quietly(
        f"The first row: the weights w of “{distinct_names(result.tokens)[query]}”. The second: "
        "each token's share of the lengths that are added up.",
        hint="Click a token.",
    )
    matrices(
        [
            Matrix("weights and lengths", rows, ("w", "‖w·v·W_o‖"), names, "share"),
        ],
        key="lengths",
        chosen=(0, key),
        on_choose=lambda row, column: session.choose("key", column),
        of=f"layer {layer}, head {head}, token {query}",
    )
    st.caption(
        "A weight counts for as much as the vector that it brings is long (Kobayashi et al. "
        f"2020). {words}"
    )
    why(view, result, (query, key), names)


def why(view: View, result: Result, pair: tuple[int, int], names: list[str]) -> None:
    """The score of a query and a key as a sum over all that came before."""
    assert result.trained is not None
    st.subheader("Why it looks there")
    query, key = pair
    if result.memory is not None:
        notes.note("The keys of this layer come from another sequence: its score is not split.")
        return
    try:
        found = results.reasons_of(
            *(result.settings.model, result.settings.s),
            *(result.trained.position, result.head, query, key),
        )
    except ValueError as problem:
        notes.note(f"{problem}.")
        return
    st.text(
        f"The score of “{distinct_names(result.tokens)[query]}” and “{names[key]}”, "
        f"{tables.number(found.score)}, is a sum: each part that made the query meets each part "
        "that made the key."
    )
    left, right = st.columns([7, 5], gap="large")
    with left:
        bars = effects.part_bars(found.names, found.terms.sum(1), found.terms.sum(0))
        chart(bars, "The share of each part in the score, in query and key.", key="parts")
    with right:
        titles, columns, total = found.table()
        st.html(tables.table("the score, term by term", titles, columns, total=total))
        st.caption(
            "Each row is a part in the query × a part in the key; the numbers are layers. "
            f"The scale comes after the sum: × {found.scale:.6g}."
        )


def layers_guess(asked: Question) -> None:
    """What each layer would say comes next."""
    found = results.guesses_of(asked)
    if found is None:
        return
    model = shared.load_model(asked.model)
    assert isinstance(model, Transformer)
    assert asked.words is not None
    st.subheader("Each layer's guess of the next word")
    drawn = effects.guess_lines(
        found.names, found.ranks, found.shares, model.shown(asked.words), found.likeliest
    )
    st.text("The rank of both words if the model stopped after so many layers.")
    chart(drawn, "The rank of both words, layer by layer.", key="guesses")
    st.caption(
        "1 is the likeliest of all pieces. The vector that enters a layer goes through the last "
        "norm and the unembedding, as if no layer came after (logit lens, nostalgebraist 2020)."
    )
    with st.expander("The likeliest word of each layer"):
        names, columns = found.table()
        st.html(tables.table("each layer's guess", names, columns))


frame.show(__file__, causes_of)
