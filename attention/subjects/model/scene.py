"""Scenes of A real model: the map of its heads, and what the tabs below it show."""

from __future__ import annotations

from attention.app.cached import overviews, runs
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas.deciding import failed
from attention.atlas.exhibits import Exhibit, exhibits
from attention.atlas.sentences import apart, name_of, quoted, word_of
from attention.core.printing import distinct_names, number
from attention.figures.card import card_words
from attention.figures.chart import Chart
from attention.figures.layer_words import piece_at
from attention.figures.matrices import Matrices
from attention.figures.matrix import Matrix
from attention.figures.scene import Figure, Row, Scene, Table, Words, heading, note, scene
from attention.pipeline import Result
from attention.subjects.model import continuations, head_sentences, known_heads, numbers, pair_scene
from attention.subjects.model.figures import (
    HeadCard,
    HeadCards,
    LayerLines,
    LinesThroughLayers,
    ModelWindow,
    TeamFilm,
)
from attention.subjects.model.reasons import guess_lines, length_rows, part_bars
from attention.subjects.model.window import WindowState, explore_link

MAX_TOKENS = 64  # whose weights in all layers can be told apart
SURVIVAL_APART = (5, 7)
NUMBERS_APART = (7, 5)  # shares of the width, of a chart and of the table beside it


def window(
    view: View, shown: WindowState, figure: ModelWindow, film: TeamFilm | None = None
) -> Scene:
    """The map of all heads, those that are off one after the other, what the answer of a model is
    that says no next word, and what could not be used as it was set."""
    result = runs.as_trained(view)
    answer = head_sentences.answer_words(shown.model)
    return scene(
        figure,
        *survival(shown, figure),
        film,
        Words(answer) if answer else None,
        *map(note, () if result is None else result.notes),
    )


def survival(shown: WindowState, figure: ModelWindow) -> list[Figure | Row]:
    """The answer without the head on screen, by each way to set it, where it is one that is found
    and was tested so."""
    found, now = numbers.deciding_of(shown.asked), shown.answered
    head = divmod(figure.said["chosen"], figure.effects.shape[1])
    if found is None or head not in dict(found.tests):
        return []
    after = numbers.tested_of(shown.asked, head)
    answers = {head_sentences.WITH: now.before}
    answers |= {words: after[way] for way, words in head_sentences.WAYS.items() if way in after}
    column = {f"{quoted(now.word)}, head {name_of(head)} set to": [*answers.values()]}
    told = Words(head_sentences.survival_words(now, head, failed(now.before, after)))
    table = Table("does it survive", [*answers], column, digits=3, shares=True, key="survival")
    return [heading(head_sentences.SURVIVES), Row([table, told], SURVIVAL_APART)]


def to_play(view: View) -> Scene:
    """The link that leads to the chosen head on Play."""
    link = explore_link(view, load_model(view["model"]))
    return scene(None if link is None else Words("", link=link, key="to_explore"))


def cards(view: View) -> Scene:
    """A card for each sentence that is prepared for the model; none for most models."""
    several = [one for one in exhibits() if one.model == view["model"]]
    texts = [one.text for one in several]
    first = pair_scene.opening_cards(view["model"])
    shown = len(first) + texts.index(view["s"]) if view["s"] in texts else -1
    every = [*first, *map(card_of, several)]
    return scene(HeadCards(every, shown, key="head_cards") if several else None)


def card_of(one: Exhibit) -> HeadCard:
    """The card of one sentence."""
    before, after = apart(one.before, one.after)
    return {
        "title": known_heads.title_of(one),
        "words": card_words(one.pieces),
        "weights": one.weights,
        "answer": word_of(one.word),
        "before": before,
        "after": after,
        "shares": (one.before, one.after),
    }


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
    lines = LayerLines.of(rows, view["all_layers"], view["cover"])
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
    titles = [load_model(view["model"]).title_of(layer) for layer in range(len(rows))]
    mean, most = (
        Matrix(f"{which} of the heads", numbers, titles, distinct_names(result.tokens), "share")
        for which, numbers in (("mean", rows.mean(1)), ("greatest", rows.amax(1)))
    )
    return scene(Matrices([mean, "", most], of=f"token {query}", key="layers"))


def layers_guess(view: View) -> Scene:
    """The rank of two words if the model stopped after so many layers."""
    guesses = numbers.guesses_of(view["model"], view["s"])
    lines = guess_lines(guesses)
    return scene(
        heading("Each layer's guess of the next word"),
        Words(
            "The rank of both words if the model stopped after so many layers (logit lens, "
            "nostalgebraist 2020).",
            "told",
        ),
        Chart(lines, "The rank of both words, layer by layer.", key="guesses"),
    )


def likeliest_of_each_layer(view: View) -> Scene:
    """The likeliest word of each layer."""
    guesses = numbers.guesses_of(view["model"], view["s"])
    return scene(Table("each layer's guess", *guesses.table()))


# Why it looks there


def reasons(view: View) -> Scene:
    """Lengths beside the weights of the chosen query, and the score with a key as a sum."""
    result = runs.whole_layer(view)
    if result is None or not numbers.is_on_a_head(view):
        return scene()
    assert result.trained is not None
    layer, head = result.trained.position, result.head
    run, aside = runs.run_of(result.settings), view["special"] == "ignored"
    one = run.inputs[layer]
    queries, keys = (each.kept(aside) for each in (one.pieces, one.memory_pieces or one.pieces))
    query = queries[min(view["query"], len(queries) - 1)]
    rows, names, words = length_rows(run, layer, head, query)
    rows, names = rows[:, keys], [names[key] for key in keys]
    key = view["key"] if 0 <= view["key"] < len(names) else int(rows[0].argmax())
    return scene(
        heading("A great weight may bring little (Kobayashi et al. 2020)"),
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
        Words(words),
        heading("Why it looks there"),
        *_score_as_sum(result, query, keys[key], names[key]),
    )


def _score_as_sum(result: Result, query: int, key: int, key_name: str) -> list[Figure | Row]:
    """The score of a query and a key as a sum over all that came before."""
    assert result.trained is not None
    if not result.of_sentence:
        return [note("This layer is the decoder's, behind an encoder: its score is not split.")]
    settings, place = result.settings, (result.trained.position, result.head, query, key)
    try:
        parts = numbers.reasons_of(settings.model, settings.s, *place)
    except ValueError as problem:
        return [note(f"{problem}.")]
    told = (
        f"The score of “{distinct_names(result.tokens)[query]}” and “{key_name}”, "
        f"{number(parts.score)}, is a sum: each part that made the query meets each part "
        "that made the key."
    )
    bars = part_bars(parts)
    return [
        Words(told, "told"),
        Row(
            [
                Chart(bars, "The share of each part in the score, in query and key.", key="parts"),
                Table("the score, term by term", *parts.table()),
            ],
            NUMBERS_APART,
        ),
    ]
