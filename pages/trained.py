"""Trained: layers that have learned, all heads at a glance and what they add to each token."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.analysis import additions
from attention.analysis.glances import Glance
from attention.analysis.heads import MEASURES
from attention.analysis.names import Named, names_of
from attention.analysis.probes import best_heads
from attention.app import frame, notes, results, sections, session, shared, widgets
from attention.app.parts import part
from attention.app.view import View
from attention.app.visit import Writing
from attention.components.inputs import examples, next_pieces
from attention.components.pictures import head_grid, matrices, tell_selection
from attention.components.tokens import layer_lines
from attention.core.settings import settings_of
from attention.display import tables
from attention.display.captions import distinct_names
from attention.display.matrix import Matrix
from attention.lessons import heads, trained
from attention.lessons.known_heads import KnownHead, known_heads
from attention.lessons.trained import SamplingSettings
from attention.pipeline import Result
from attention.trained.models import Model, Transformer
from attention.trained.sources import NONE

GO_ON = (("Add the likeliest", True), ("Draw one", False))
MAX_TOKENS = 64  # whose weights in all layers can be told apart
PAUSE = 0.05  # seconds between one go at writing and the next


def trained_layers(view: View) -> None:
    """A whole model at a glance, its chosen head in detail, and what all heads add to a token."""
    name = view["model"]
    if name == NONE:
        notes.explain_missing_models()
        return
    model, result = shared.load_model(name), results.as_trained(view)
    if result is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    goes_on = isinstance(model, Transformer) and model.unembedding is not None
    examples_of_heads(view)
    translation(view)
    left, right = st.columns([8, 4] if goes_on else [6, 6], gap="large")
    with left:
        chosen_head(view, model, result)
    with right:
        if goes_on:
            what_comes_next(view)
        else:
            at_a_glance(view, model, result)
    if goes_on:
        at_a_glance(view, model, result)
    named_heads(model)
    if goes_on:
        found_heads(view, model)
    notes.note_problems(result)
    of_token(view)


def examples_of_heads(view: View) -> None:
    """Sentences on which a head of the model does one thing."""
    known = known_heads(view["model"])
    if known and not view.hidden & {"s", "layer", "head"}:
        titles = [one.title for one in known]
        examples("Heads at work", titles, lambda at: show_known(known[at]), key="known_heads")


def show_known(known: KnownHead) -> None:
    """Show such a head on its sentence, within a callback."""
    for name, value in known.settings.items():
        session.choose(name, value)
    session.choose("special", "shown")
    session.choose_query(known.query)


def at_a_glance(view: View, model: Model, result: Result) -> None:
    """Every head of every layer, one to be clicked."""
    assert result.trained is not None
    notes.titled(f"Every head of {model.about.title}", "on this sentence", hint="click one")
    for index, glance in enumerate(results.glances_of(view)):
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
            earned=trained.earned_names(names_of(model.about.name), glance),
        )
        if words := trained.sink_words(glance.seen):
            st.caption(words)


def is_here(glance: Glance, result: Result) -> bool:
    """Whether the layer that is shown is one of these."""
    return result.trained is not None and result.trained.position in glance.layers


def choose(glance: Glance, index: int) -> None:
    """Choose one of all heads, within a callback."""
    show_head(*glance.layer_and_head(index))


def chosen_head(view: View, model: Model, result: Result) -> None:
    """The weights of the chosen head."""
    assert result.trained is not None
    layer = model.title_of(result.trained.position)
    caption = f"{layer.capitalize()}, head {result.head}."
    sections.weights_of(view, result, caption, ("lines", "heatmap"))
    names = names_of(model.about.name)
    if words := trained.name_words(names, result, view["query"]):
        st.caption(words)


def translation(view: View) -> None:
    """How a translator finds one piece after the other, and what it draws each from."""
    made = results.translation(view)
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
        view,
        aligned,
        "alignment",
        "Each row is a piece of the translation; its weights say which words it is made from. "
        "This is head 0 of the last layer, which training guided to align words (Bahdanau et al. "
        "2015).",
    )


def what_comes_next(view: View) -> None:
    """Which piece a model would write next, and ways to let it go on."""
    found = results.next_pieces(view)
    if found is None:
        return
    st.subheader("The next piece")
    writing = view.visit.writing
    if writing is not None and (writing.model, writing.text) == asked_of(view):
        st.fragment(writes, run_every=PAUSE)()
        return
    next_pieces(
        found.texts, found.shares, found.trained, partial(add, found.ids), key="next_pieces"
    )
    notes.caption("A dot is a space.", hint="Click a piece to add it.")
    with st.container(horizontal=True, vertical_alignment="center", key="go_on"):
        for label, likeliest in GO_ON:
            st.button(label, on_click=go_on, args=(likeliest,))
        st.button("Write on", icon=":material/edit:", on_click=write)
    with st.expander("Temperature, top k and top p"):
        with st.container(horizontal=True, vertical_alignment="bottom", key="sampling"):
            for name in settings_of(SamplingSettings):
                widgets.widget(view, name, width=170)
        names, columns = found.table()
        st.html(tables.shares("likeliest next pieces", names, columns))
        st.caption(
            "Probability of the likeliest pieces to come next, after each filter in turn; out: "
            "this filter, or one before it, took the piece out."
        )
    with st.container():  # what comes and goes leaves the place of the rest as it is
        asked, why = view.visit.not_added
        if why and asked == asked_of(view):
            notes.note(why)


def asked_of(view: View) -> tuple[str, str]:
    """Which model goes on with which sentence."""
    return view["model"], view["s"]


def go_on(likeliest: bool) -> None:
    """Let the sentence grow by a piece, within a callback."""
    now = session.view()
    take(now, results.longer_sentence(now, likeliest))


def write() -> None:
    """Let the model write on until it is stopped, within a callback."""
    session.change(writing=Writing(*asked_of(session.view())))


def writes() -> None:
    """Shows the text while the model writes it, some pieces more each time."""
    now = session.view()
    if now.visit.writing is None:
        return
    with session.turn(now.page):
        writing, room = results.write_on(now, now.visit.writing)
    session.change(writing=writing)
    if not room:
        stop()
        st.rerun()
    with st.container(key="written"):
        st.text(results.text_written(writing))
    st.button("Stop", icon=":material/stop:", on_click=stop)


def stop() -> None:
    """Take over what was written so far, as far as it fits, within a callback."""
    now = session.view()
    if now.visit.writing is not None:
        session.change(writing=None)
        take(now, results.text_written(now.visit.writing))


def add(ids: Sequence[int], index: int) -> None:
    """Let the sentence grow by one of the likeliest pieces, within a callback."""
    now = session.view()
    take(now, results.sentence_with(now, ids[index]))


def take(now: View, longer: str | None) -> None:
    """Go on with a longer sentence, its last piece chosen, or say why not, within a callback."""
    why = results.why_nothing_added(now, longer)
    session.change(not_added=(asked_of(now), why))
    if longer is not None and not why:
        session.choose("s", longer)
        session.choose_query(len(results.pieces_of(now, longer).ids) - 1)


@part
def of_token(view: View) -> None:
    """What all heads add to the chosen token, and what each head of the model looks at."""
    result = results.as_trained(view)
    if result is None:
        return
    tell_selection(view.selection, session.select, key="selection")
    query = trained.piece_at(result, view["query"])
    seen, model = results.glances_of(view), shared.load_model(result.settings.model)
    in_all_layers(view, model, result, query)
    linking_heads(view, model, result, query)
    token_sum(result, query)
    st.subheader("Where each head looks")
    widgets.widget(view, "sort", offered=("head", *seen[0].seen.measures), narrow=True, width=220)
    for number, glance in enumerate(seen):
        names, columns, even = heads.measure_table(
            glance.seen, view["sort"], glance.names(model.title_of)
        )
        crossing = " across two sentences" if number else ""
        st.html(
            tables.table(heads.MEASURED + crossing, names, columns, total=even, digits=heads.DIGITS)
        )
    st.caption(heads.measure_words(*(glance.seen for glance in seen)))


def in_all_layers(view: View, model: Model, result: Result, query: int) -> None:
    """The weights of the chosen token in each layer."""
    if result.memory is not None or len(result.tokens) > MAX_TOKENS:
        return
    st.subheader("Where it looks, layer by layer")
    rows = results.rows_in_all_layers(view, query)
    name = distinct_names(result.tokens)[query]
    st.text(f"Follow “{name}” through the layers: lines lead back to the tokens it looks at.")
    lines = trained.layer_lines(rows, view["all_layers"], view["cover"])
    titles = [model.title_of(layer) for layer in range(len(rows))]
    layer_lines(lines, result.tokens, titles, query, view.selection, key="layer_lines")
    st.caption(lines.words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "all_layers", width="content")
        widgets.widget(view, "cover", width=200)
    with st.expander("The same in numbers"):
        parts = trained.layer_rows(rows, result.tokens, model.title_of)
        matrices(parts, key="layers", of=f"token {query}")


def named_heads(model: Model) -> None:
    """The heads that have earned a name over the packaged sentences, each a click away."""
    found = names_of(model.about.name)
    if not found:
        return
    st.subheader("Heads with a name")
    best, (names, columns) = trained.best_named(found), trained.named_table(found, model)
    st.html(tables.table("heads with a name", names, columns))
    examples("Show", names, lambda at: show_named(best[at]), key="named_heads")
    st.caption(trained.NAMED_WORDS)


def show_named(named: Named) -> None:
    """Show a head that has earned a name, on its best sentence, within a callback."""
    for name, value in {"layer": named.layer, "head": named.head, "s": named.best}.items():
        session.choose(name, value)


def linking_heads(view: View, model: Model, result: Result, query: int) -> None:
    """The heads of all layers that look from the chosen token at another one."""
    if result.memory is not None or len(result.tokens) > MAX_TOKENS:
        return
    rows, names = results.rows_in_all_layers(view, query), distinct_names(result.tokens)
    greatest = rows.amax((0, 1))
    key = view["key"]
    if key not in range(len(names)):
        key = trained.most_linked(rows, query, result.special)
    st.subheader("Heads that link two words")
    notes.note_quietly(f"From “{names[query]}” to “{names[key]}”.", hint="Click another word.")
    matrices(
        [Matrix("greatest weight of any head", greatest[None], [names[query]], names, "share")],
        key="links",
        chosen=(0, key),
        on_choose=lambda row, column: session.choose("key", column),
        of=f"token {query}",
    )
    found = trained.linking_heads(rows, key)
    titles = [f"{model.title_of(layer)} head {head}" for layer, head in found]
    weights = [float(rows[layer, head, key]) for layer, head in found]
    st.html(tables.table("heads that link two words", titles, {"weight": weights}))
    examples("Show", titles, lambda at: show_head(*found[at]), key="linking_heads")


def show_head(layer: int, head: int) -> None:
    """Choose a head, within a callback."""
    session.choose("layer", layer)
    session.choose("head", head)


def found_heads(view: View, model: Model) -> None:
    """The heads that do one thing on the standard probe, each a click away."""
    probed, (seen, *_) = results.probe_of(view), results.glances_of(view)
    if probed is None:
        return
    st.subheader("Heads that do one thing")
    found = [*best_heads(probed).items()]
    names, columns = trained.probe_table(probed, seen, model)
    st.html(tables.table("heads that do one thing", names, columns))
    examples(
        "Show",
        [f"{name}: {columns['head'][row]}" for row, name in enumerate(names)],
        lambda at: show_found(probed.glance, found[at][0], found[at][1][0]),
        key="found_heads",
    )
    st.caption(trained.probe_words(probed))


def show_found(glance: Glance, measure: str, index: int) -> None:
    """Show a head that was found, on a sentence that shows its work, within a callback."""
    choose(glance, index)
    if sentence := MEASURES[measure].example:
        session.choose("s", sentence)


def token_sum(result: Result, query: int) -> None:
    """The sum of what the residual path, all heads and the bias add to the chosen token."""
    assert result.trained is not None
    layer_input = results.run_of(result.settings).inputs[result.trained.position]
    kept = layer_input.pieces.kept(result.settings.special == "ignored")
    added = additions.layer_additions(layer_input, kept[query])
    names, columns, total = heads.additions_table(added)
    st.subheader("The sum in this layer")
    token = distinct_names(result.tokens)[query]
    st.text(f"The new vector of “{token}” is its input plus one part from each head.")
    most = added.most
    pictures, numbers = st.columns([8, 5], gap="large")
    with pictures:
        matrices(
            [
                Matrix("the parts", added.parts, names, lights="column", most=most),
                "Σ =",
                Matrix("the sum", added.output[None], ["Σ"], most=most),
            ],
            key="added",
            of=f"layer {result.trained.position}, token {query}",
        )
    with numbers:
        title = f"what is added to token {query} in layer {result.trained.position}"
        st.html(tables.table(title, names, columns, total=total))
    st.caption(trained.added_words(layer_input, added))


frame.show(__file__, trained_layers)
