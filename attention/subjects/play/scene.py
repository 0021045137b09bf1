"""Scenes of Play: the sentence, the map of all weights, the numbers, where a word goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attention.analysis import additions
from attention.app.cached import kept, long_texts, pictures, runs
from attention.app.state.openings import MAP_INSTEAD, OPENINGS, Opening, other_ending
from attention.app.state.view import View, once_a_run
from attention.core.functional import WeightsAlone
from attention.core.printing import percent
from attention.figures import layer_words, maps, result_words
from attention.figures.captions import parameters_words
from attention.figures.chart import Chart
from attention.figures.picture import CALM_PARTS, AttentionPicture, Picture, Said
from attention.figures.scene import Column, Figure, Row, Scene, Table, Words, note, scene, titled
from attention.figures.states import states_of, states_words
from attention.inputs.text import plain
from attention.pipeline import Result
from attention.subjects.play import numbers as explore_numbers
from attention.subjects.play import pronoun_words
from attention.subjects.play.heads import words as heads_words
from attention.subjects.play.word_map import MapSettings, Where, why_nowhere
from attention.trained import sources

CONTENT_BYTES = 4 << 20  # of an ordinary sentence 0.02 MB


def attention(view: View) -> Scene:
    """Words on why no sentence is shown, or the weights of a layer that looks at another one."""
    result = runs.current_result(view)
    if result is None:
        return scene(Words(result_words.EMPTY, "info"))
    return pictures.attention_of(view, result)


def state(result: Result) -> list[Figure]:
    """The state after each token beside what a softmax keeps, [] for a layer without a state."""
    shown = states_of(result)
    if shown is None:
        return []
    words = states_words(shown, result.tokens, sums=result.shares)
    return [titled("The state", "· a new one with each token", "click one"), shown, Words(words)]


# Where the chosen word goes


def word_map(view: View, result: Result, query: int) -> Scene:
    """The map of where the chosen word goes, beside its cosines before and after."""
    assert result.words is not None
    probes = view.of(MapSettings).words
    strange = (word for word in probes if word not in result.words.stoi)
    where = explore_numbers.where_it_goes(result.settings, query, probes)
    unknown = result_words.unknown_words(strange, "they are not on the map")
    if where is None:
        return scene(*unknown, map_of(where, result, query))
    names, columns = where.table
    cosines = Table("cosines before and after attention", names, columns)
    words = Words(
        "Cosine of the word's vector with these words, before attention and after. The map is "
        "the plane on which the named words differ most; it keeps "
        f"{percent(where.kept)} of their spread. All vectors are drawn at length 1."
    )
    return scene(*unknown, Row([map_of(where, result, query), Column([cosines, words])], (7, 5)))


def map_of(where: Where | None, result: Result, query: int) -> Chart | Words:
    """The map of where a token goes, or words on why there is none."""
    if where is None:
        return note(why_nowhere(result, query))
    drawn = maps.word_map(where.token, where.spots, where.start, where.end, where.reach)
    label = f"Map of words: where “{where.token}” stands alone, and where it stands here."
    return Chart(drawn, label, key="word_map")


# The opening


def opening_of(view: View) -> Opening | None:
    """The opening whose sentence a view has, with either of its endings."""
    return next((one for one in OPENINGS.values() if view["s"] in one.sentences), None)


@once_a_run
def opening_result(view: View) -> Result | None:
    """Result that is drawn with arcs; None where there are no words, or too many, or a layer looks
    at others."""
    result = None if long_texts.text_of(view) else runs.current_result(view)
    return None if result is None or not result.of_sentence else result


def sentence(view: View, result: Result) -> Scene:
    """The sentence with its arcs, and words on what reads it."""
    picture = _arcs(view, result)
    notes = [
        *result_words.unknown_words(result.unknown),
        *map(note, result.notes),
        *map(note, pronoun_words.to_expect(result, plain(view["s"]))),
    ]
    above = Row([Column(notes)]) if notes else None
    return scene(picture, above)


def _arcs(view: View, result: Result) -> AttentionPicture:
    begun = opening_of(view)
    other = runs.result_of(replace(view.settings(), s=other_ending(view["s"]))) if begun else None
    return AttentionPicture(
        _picture(result),
        _content_of(result, other),
        drawn=("arcs",),
        margins=True,
        endings=begun.endings if begun else (),
        other=_content_of(other, result) if other else b"",
        key="picture",
    )


def map_of_all(view: View, result: Result) -> Scene:
    """The heatmap of all words, the new vector of the chosen one, and words on what reads them."""
    picture = replace(_arcs(view, result), drawn=None, endings=(), other=b"", key="map_picture")
    apart = ("arcs", "mixture") if view["figure"] == "heatmap" else ("arcs",)
    parts = [part for part in picture.shown.parts if part not in apart]
    reader = Words(" ".join(_reader(result)))
    instead = MAP_INSTEAD.get(view["fold"])
    return scene(
        note(instead) if instead else None, replace(picture, drawn=parts), reader, *state(result)
    )


def mixture(view: View, result: Result) -> Figure:
    """The new vector of the chosen word, as one line and one bar."""
    picture = replace(_arcs(view, result), endings=(), other=b"", key="mixture")
    return replace(picture, drawn=("mixture",))


def numbers(view: View, result: Result) -> Scene:
    """The new vector of the chosen word as a sum, term by term, and how it comes about."""
    whole = pictures.whole_picture(view, result)
    return scene(replace(whole, drawn=("sum", "diagram"), key="sum_picture"))


def parts_of_heads(result: Result, query: int, names: Sequence[str]) -> Sequence[Figure]:
    """Parts that the heads add to the chosen word's output, through W_o."""
    added = additions.additions(result.layer, result.layer_trace, query)
    rows, columns, total = heads_words.additions_table(added)
    return [
        titled("The part of each head"),
        Words(heads_words.sum_words(added, names[query]), "told"),
        Table(f"what each head adds to token {query}", rows, columns, total, digits=2),
    ]


def typed_tokens(result: Result) -> Sequence[str]:
    """The tokens of a result, as they were typed."""
    return _picture(result).tokens


def arcs(view: View) -> Scene:
    """The sentence with its arcs and its new vector alone, in which its last word is exchanged."""
    result = opening_result(view)
    assert result is not None
    picture = replace(_arcs(view, result), drawn=("arcs", "mixture"))
    return scene(picture, Words(" ".join(_reader(result))))


def _picture(result: Result) -> Picture:
    """Picture that the opening draws of a result, but for what is said of it."""
    tokens, _, trace = layer_words.shown(result)
    joined = isinstance(trace, WeightsAlone)
    return Picture(
        trace,
        tokens if joined else pronoun_words.as_typed(plain(result.settings.s), tokens),
        [True] * len(tokens) if joined else result.known,
        parts=[part for part in CALM_PARTS if not joined or part != "mixture"],
        masks={} if joined else result.masks,
        head=result.head if result.layer.heads > 1 else None,
        stage="weights",
        of=result_words.head_words(result),
        most=None if trace.weighing.signed else 1.0,
        calm=True,
    )


@kept(
    nbytes=CONTENT_BYTES,
    key=lambda result, other: (result.settings, other and other.settings),
    together=True,
)
def _content_of(result: Result, other: Result | None) -> bytes:
    """Content of the picture of a result, the same for all who see it.

    other: the result with another last word, of which it says what that would change.
    """
    shown = _picture(result)
    second = None if other is None else layer_words.shown(other)
    lines = pronoun_words.lines_of(
        shown.trace,
        shown.tokens,
        second and (second[0][-1], second[2]),
        on_vectors=result.trained is None,
    )
    said = [Said(question=question, line=line) for question, line in lines]
    return replace(shown, said=said).content()


def _reader(result: Result) -> Sequence[str]:
    """Name the reader of the sentence, and what is not as it was trained, in sentences."""
    if result.trained is None:
        does = result.layer.does and f": {result.layer.does}"
        first = f"{result.layer.title} on word vectors{does}."
        return [*filter(None, (first, parameters_words(result.layer.origin)))]
    title = sources.about(result.settings.model).title
    said = [f"{title}, {result_words.head_words(result)}."]
    changed = "; ".join(result.changes)
    return [*said, f"Not as it was trained: {changed}."] if changed else said
