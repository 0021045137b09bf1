"""Scenes of A real model: the map of its heads, and what the tabs below it show."""

from __future__ import annotations

from attention.analysis import additions
from attention.analysis.glances import Glance
from attention.analysis.probes import Probe
from attention.analysis.questions import Answer, Question
from attention.app.cached import overviews, runs
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas.earned import names_of
from attention.core.printing import distinct_names, number
from attention.figures import result_pictures, result_words
from attention.figures.chart import Chart
from attention.figures.layer_words import piece_at
from attention.figures.matrices import Matrices
from attention.figures.matrix import Matrix
from attention.figures.picture import AttentionPicture
from attention.figures.scene import Column, Figure, Row, Scene, Table, Words, heading, note, scene
from attention.pipeline import Result
from attention.subjects.heads import words as heads_words
from attention.subjects.model import (
    continuations,
    effect_figures,
    effect_words,
    intervention_numbers,
    layer_words,
)
from attention.subjects.model import words as model_words
from attention.subjects.model.figures import LinesThroughLayers, ModelWindow, TeamFilm
from attention.subjects.model.window import Shown, passport_link
from attention.trained.models import Model, Transformer

MAX_TOKENS = 64  # whose weights in all layers can be told apart
NUMBERS_APART = (7, 5)  # shares of the width, of a chart and of the table beside it


def window(view: View, shown: Shown, figure: ModelWindow, film: TeamFilm | None = None) -> Scene:
    """The map of all heads, those that are off one after the other, what the answer of a model is
    that says no next word, and what could not be used as it was set."""
    result = runs.as_trained(view)
    answer = model_words.answer_words(shown.model)
    return scene(
        figure,
        film,
        Words(answer) if answer else None,
        Words("", link=link, key="to_passport")
        if (link := passport_link(view, shown.model))
        else None,
        *map(note, () if result is None else result.notes),
    )


def next_pieces(view: View) -> Scene:
    """The likeliest pieces to come next, of a model that was trained to go on."""
    pieces = continuations.next_pieces(view)
    assert pieces is not None
    return scene(
        Table("likeliest next pieces", *pieces.table(), shares=True),
        Words(
            "Probability of the likeliest pieces to come next, after each filter in turn; out: "
            "this filter, or one before it, took the piece out."
        ),
    )


# Layer by layer


def in_all_layers(view: View) -> Scene:
    """The chosen token through all layers: lines back to those it looks at."""
    result = runs.as_trained(view)
    if result is None or not result.of_sentence or len(result.tokens) > MAX_TOKENS:
        return scene()
    query = piece_at(result, view["query"])
    rows = overviews.rows_in_all_layers(view, query)
    lines = layer_words.layer_lines(rows, view["all_layers"], view["cover"])
    titles = [load_model(view["model"]).title_of(layer) for layer in range(len(rows))]
    name = distinct_names(result.tokens)[query]
    follow = f"Follow “{name}” through the layers: lines lead back to the tokens it looks at."
    return scene(
        heading("Where it looks, layer by layer"),
        Words(follow, "told"),
        LinesThroughLayers(lines, result.tokens, titles, query, key="layer_lines"),
        Words(lines.words),
    )


def rows_in_all_layers(view: View) -> Scene:
    """The weights of the chosen token in each layer, in numbers."""
    result = runs.as_trained(view)
    assert result is not None
    query = piece_at(result, view["query"])
    rows = overviews.rows_in_all_layers(view, query)
    parts = layer_words.layer_rows(rows, result.tokens, load_model(view["model"]).title_of)
    return scene(Matrices(parts, of=f"token {query}", key="layers"))


def layers_guess(asked: Question) -> Scene:
    """The rank of two words if the model stopped after so many layers."""
    guesses, model = intervention_numbers.guesses_of(asked), load_model(asked.model)
    assert isinstance(model, Transformer)
    assert guesses is not None
    assert asked.words is not None
    lines = effect_figures.guess_lines(
        guesses.names, guesses.ranks, guesses.shares, model.shown(asked.words), guesses.likeliest
    )
    return scene(
        heading("Each layer's guess of the next word"),
        Words("The rank of both words if the model stopped after so many layers.", "told"),
        Chart(lines, "The rank of both words, layer by layer.", key="guesses"),
        Words(
            "1 is the likeliest of all pieces. The vector that enters a layer goes through the "
            "last norm and the unembedding, as if no layer came after (logit lens, nostalgebraist "
            "2020)."
        ),
    )


def likeliest_of_each_layer(asked: Question) -> Scene:
    """The likeliest word of each layer."""
    guesses = intervention_numbers.guesses_of(asked)
    assert guesses is not None
    return scene(Table("each layer's guess", *guesses.table()))


# Heads in numbers


def effects(view: View, asked: Question, answer: Answer) -> Scene:
    """The effect of every head on the answer, and the strongest of them."""
    model, run = load_model(asked.model), runs.run_model(asked.model, asked.text)
    titles = [model.title_of(layer) for layer in range(len(model.layers))]
    layers, heads = answer.total.shape
    chosen = min(view["layer"], layers - 1), min(view["head"], heads - 1)
    squares = effect_figures.effect_map(answer.total, answer.direct, titles, chosen)
    words = effect_words.effect_words(model, asked, answer)
    strongest = effect_words.effect_table(model, answer)
    return scene(
        heading("The effect of each head on the answer"),
        Words(effect_words.answer_words(model, asked, run, answer), "told"),
        Row(
            [
                Chart(squares, f"The effect of each head: {words}", key="effects"),
                Table("the heads with the greatest effects", *strongest),
            ],
            NUMBERS_APART,
        ),
        Words(words),
    )


def votes(asked: Question) -> Scene:
    """The votes of each kind of part for the one word rather than the other."""
    model, run = load_model(asked.model), runs.run_model(asked.model, asked.text)
    assert isinstance(model, Transformer)
    assert asked.words is not None
    return scene(
        Table("votes of all parts", *effect_words.vote_table(model, run, asked.words)),
        Words(
            "The last vector is a sum of parts, so its score is a sum of votes: each part through "
            "the last norm and the unembedding (Elhage et al. 2021)."
        ),
    )


# Why it looks there


def reasons(view: View) -> Scene:
    """Lengths beside the weights of the chosen query, and the score with a key as a sum."""
    result = runs.whole_layer(view)
    if result is None:
        return scene()
    assert result.trained is not None
    layer, head = result.trained.position, result.head
    query = min(view["query"], len(result.tokens) - 1)
    rows, names, words = effect_words.length_rows(runs.run_of(result.settings), layer, head, query)
    key = view["key"] if 0 <= view["key"] < len(names) else int(rows[0].argmax())
    return scene(
        heading("A great weight may bring little"),
        Words(
            f"The first row: the weights w of “{distinct_names(result.tokens)[query]}”. The "
            "second: each token's share of the lengths that are added up.",
            "told",
            hint="Click a token.",
        ),
        Matrices(
            [Matrix("weights and lengths", rows, ("w", "‖w·v·W_o‖"), names, "share")],
            chosen=(0, key),
            pickable=True,
            of=f"layer {layer}, head {head}, token {query}",
            key="lengths",
        ),
        Words(
            "A weight counts for as much as the vector that it brings is long (Kobayashi et al. "
            f"2020). {words}"
        ),
        heading("Why it looks there"),
        *_score_as_sum(result, query, key, names[key]),
    )


def _score_as_sum(result: Result, query: int, key: int, key_name: str) -> list[Figure | Row]:
    """The score of a query and a key as a sum over all that came before."""
    assert result.trained is not None
    if not result.of_sentence:
        return [note("This layer is the decoder's, behind an encoder: its score is not split.")]
    settings, place = result.settings, (result.trained.position, result.head, query, key)
    try:
        parts = intervention_numbers.reasons_of(settings.model, settings.s, *place)
    except ValueError as problem:
        return [note(f"{problem}.")]
    told = (
        f"The score of “{distinct_names(result.tokens)[query]}” and “{key_name}”, "
        f"{number(parts.score)}, is a sum: each part that made the query meets each part "
        "that made the key."
    )
    bars = effect_figures.part_bars(parts.names, parts.terms.sum(1), parts.terms.sum(0))
    of_terms = Words(
        "Each row is a part in the query × a part in the key; the numbers are layers. The scale "
        f"comes after the sum: × {parts.scale:.6g}."
    )
    return [
        Words(told, "told"),
        Row(
            [
                Chart(bars, "The share of each part in the score, in query and key.", key="parts"),
                Column([Table("the score, term by term", *parts.table()), of_terms]),
            ],
            NUMBERS_APART,
        ),
    ]


# As it is computed


def computed(view: View) -> Scene:
    """The weights of the chosen head, and of a translation each piece it was drawn from. The window
    above says what could not be used as it was set."""
    result = runs.as_trained(view)
    if result is None:
        return scene()
    assert result.trained is not None
    layer = load_model(view["model"]).title_of(result.trained.position)
    caption = f"{layer.capitalize()}, head {result.head}."
    return scene(
        result_pictures.weights_of(result, caption, ("lines", "heatmap")),
        *result_words.trained(result),
        *_translation(view),
    )


def _translation(view: View) -> list[Figure]:
    """The pieces of an encoder-decoder's output, one after the other, and their weights."""
    translated = runs.translation(view)
    if translated is None:
        return []
    made, aligned = translated
    decoder = load_model(view["model"]).parts.decoder
    assert decoder is not None
    title = "translation" if decoder.aligns is not None else "output"
    rows = f"Each row is a piece of the {title}; {layer_words.made_from(decoder)}"
    weights = result_pictures.weights_alone(aligned, ("lines", "heatmap"), rows)
    return [
        heading(f"The {title}"),
        Words(made.text, "told"),
        Table(title, *layer_words.translation_table(made)),
        Words(layer_words.decoding_words(made, decoder)),
        AttentionPicture(weights, key="alignment"),
    ]


def token_sum(view: View) -> Scene:
    """The sum of what the residual path, all heads and the bias add to the chosen token."""
    result = runs.as_trained(view)
    if result is None:
        return scene()
    assert result.trained is not None
    position, query = result.trained.position, piece_at(result, view["query"])
    layer_input = runs.run_of(result.settings).inputs[position]
    kept = layer_input.pieces.kept(result.settings.special == "ignored")
    added = additions.layer_additions(layer_input, kept[query])
    names, most = added.names, added.most
    token = distinct_names(result.tokens)[query]
    title = f"what is added to token {query} in layer {position}"
    parts = Matrices(
        [
            Matrix("the parts", added.parts, names, lights="column", most=most),
            "Σ =",
            Matrix("the sum", added.output[None], ["Σ"], most=most),
        ],
        of=f"layer {position}, token {query}",
        key="added",
    )
    return scene(
        heading("The sum in this layer"),
        Words(f"The new vector of “{token}” is its input plus one part from each head.", "told"),
        Row([parts, Table(title, *heads_words.additions_table(added))], (8, 5)),
        Words(layer_words.added_words(layer_input, added)),
    )


# Names of heads


def named_heads(model: Model) -> Scene:
    """The heads for which a name holds, as passports have it; empty where there is none."""
    named = names_of(model.about.name)
    if not named:
        return scene()
    return scene(
        heading("Heads with a name"),
        Table("heads with a name", *layer_words.named_table(named, model)),
        Words(layer_words.NAMED_WORDS),
    )


def found_heads(probed: Probe, seen: Glance, model: Model) -> Scene:
    """The heads that do one thing on the standard probe. seen: all heads on the sentence."""
    return scene(
        heading("Heads that do one thing"),
        Table("heads that do one thing", *layer_words.probe_table(probed, seen, model)),
        Words(layer_words.probe_words(probed)),
    )


def measured_heads(view: View, model: Model) -> Scene:
    """Where each head looks in the sentence, in numbers."""
    glances = overviews.glances_of(view)
    parts: list[Figure] = []
    for place, glance in enumerate(glances):
        crossing = " across two sentences" if place else ""
        titles = glance.names(model.title_of)
        table = heads_words.measure_table(glance.seen, view["sort"], titles)
        digits = heads_words.DIGITS
        parts.append(Table(heads_words.MEASURED + crossing, *table, digits=digits))
        if words := layer_words.sink_words(glance.seen):
            parts.append(Words(words))
    return scene(*parts, Words(heads_words.measure_words(*(glance.seen for glance in glances))))
