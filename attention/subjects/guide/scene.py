"""Scenes of the guide: the figure of a chapter, and the figures that follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from attention.app.cached import overviews
from attention.app.controls import sections
from attention.app.state.links import value_in
from attention.app.state.openings import ALL_WORDS
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, maps, result_words
from attention.figures.card import card_words
from attention.figures.chart import Chart
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.matrices import Matrices
from attention.figures.matrix import Matrix
from attention.figures.picture import AttentionPicture, Said
from attention.figures.scene import Figure, Scene, Table, Words, note, scene, titled
from attention.pipeline import Result
from attention.subjects.guide import chapter_page, finale, fitting, model_window
from attention.subjects.guide.chapters import WORDLESS, Chapter
from attention.subjects.guide.figures import Card, NextPieces
from attention.subjects.guide.lesson_words import ENGLISH, sentence_in, words_in
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as learning_scenes
from attention.subjects.play import numbers as explore_numbers
from attention.subjects.play.against import scene as against
from attention.subjects.play.how import StepSettings
from attention.subjects.play.how import scene as stages
from attention.subjects.play.how.rows import computation_of
from attention.subjects.play.word_map import why_nowhere
from attention.trained import sources

TALL = 560  # pixels of a heatmap that stands alone beside the text
UNTRAINED = "The figure shows a layer that has learned nothing. "
FOLLOWING = ("map", "how", "against", "window")  # figures that are others for each token chosen

Make = Callable[[View, Chapter, Result], Sequence[Figure]]


def of_chapter(view: View, chapter: Chapter) -> Scene:
    """The figure of a chapter, computed for the sentence; no token that is chosen changes it.

    chapter: as the lesson has it.
    """
    missing = chapter_page.missing_model(chapter)
    words = note(
        f"This chapter speaks of the trained model “{missing}”, which is not installed here. "
        f"{'' if chapter.figure == 'window' else UNTRAINED}Whoever runs this app adds the "
        f"model with: {sources.installing()}"
    )
    figures = [] if chapter.figure in FOLLOWING else figures_of(view, chapter)
    return in_language(view, words if missing else None, *figures)


def of_token(view: View, chapter: Chapter) -> Scene:
    """The part of a chapter's figure that another chosen token changes."""
    if chapter.figure in FOLLOWING:
        return in_language(view, *figures_of(view, chapter))
    words = chapter_page.looks_most(view, chapter_page.shown(view, chapter))
    return scene(Words(words, "told") if words else None)


def whole(view: View, chapter: Chapter) -> Scene:
    """All figures of a chapter in one scene; of a training the network before its first
    step. chapter: as the lesson has it."""
    shown = chapter_page.shown(view, chapter)
    drawn = [of_chapter(view, chapter)]
    if shown.figure == "learning":
        settings = learning_controls.held(chapter_page.training_of(shown))
        drawn.append(learning_scenes.unfinished(learning_controls.untrained(settings), brief=True))
    elif shown.figure not in WORDLESS:
        drawn += [of_token(view, chapter), behind(view, chapter)]
    return scene(*(part for each in drawn for part in each.parts))


def figures_of(view: View, chapter: Chapter) -> Sequence[Figure]:
    """The figure of a chapter, and words on what of it could not be used as it was set."""
    chapter = chapter_page.shown(view, chapter)
    if chapter.figure in WORDLESS:
        return spread() if chapter.figure == "spread" else []
    result = chapter_page.result(view, chapter)
    if result is None:
        return [Words(chapter_page.words_of(view)["wordless"], "info")]
    figures = FIGURES[chapter.figure](view, chapter, result)
    if chapter.figure in ("finale", "window"):
        return figures
    return [*figures, *result_words.reader(result, chapter_page.knows_heads(view))]


def behind(view: View, chapter: Chapter) -> Scene:
    """Figures that follow that of a chapter; on a phone they come below the question."""
    shown = chapter_page.shown(view, chapter)
    result = chapter_page.result(view, shown) if shown.figure in BEHIND else None
    figures = [] if result is None else BEHIND[shown.figure](view, shown, result)
    return in_language(view, *figures)


def in_language(view: View, *figures: Figure | None) -> Scene:
    """A scene of these, its sentences in the language of the page where that has them."""

    def said(words: Words) -> Words:
        text = "*".join(words.parts)
        hint, other = (sentence_in(view["lang"], each) for each in (words.hint, text))
        return replace(words, text=words.text if other == text else other.split("*"), hint=hint)

    return scene(*(said(each) if isinstance(each, Words) else each for each in figures))


def _looks(view: View, result: Result) -> list[Said]:
    """Sentences on where each query looks most, in another language than the browser's English."""
    code, words = words_in(view["lang"])
    trace = result.trace
    if code == ENGLISH or not trace.weights_are_a_distribution:
        return []
    names, keys = distinct_names(result.tokens), distinct_names(result.key_tokens)
    most = [(row.argmax(), float(row.max())) for row in trace.weights]
    lines = [
        words["most"].format(word=word, key=keys[key], share=f"{100 * share:.0f}") if share else ""
        for word, (key, share) in zip(names, most, strict=True)
    ]
    return [Said(question="", line=[line]) for line in lines]


# The figures, by the names that chapters give them


def picture(
    view: View, chapter: Chapter, result: Result, parts: Sequence[str] = ()
) -> Sequence[Figure]:
    """Picture attention and the weighted sum. parts: none given means those of the chapter."""
    parts = parts or [part for part in chapter.parts if part != "away"]
    if layer_words.words_of(result):
        return [AttentionPicture(sections.weights_alone(result, parts), key="picture")]
    stage = chapter_page.selection(view, chapter)["values"]["stage"]
    rest = chapter_page.without_those_away(view, result)
    whole = sections.picture_of(rest, parts, stage=stage)
    height = TALL if [*parts] == ["heatmap"] else 0
    shown = replace(whole, height=height, said=_looks(view, rest))
    return [AttentionPicture(shown, key="picture")]


def word_vectors(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """The row of numbers of each word, and the products of each two."""
    names = distinct_names(result.tokens)
    vectors = Matrix("one row of numbers for each word", result.x, names)
    return [Matrices([vectors], key="vectors"), *picture(view, chapter, result, ("heatmap",))]


def how(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """Stages of the chosen word, in rows."""
    settings = StepSettings(step=str(value_in(chapter.link, "step")))
    tokens, query = result.tokens, _query(view, chapter, result)
    shown = stages.rows(computation_of(result, settings), tokens, query, settings.step, -1)
    return [*shown]


def side_by_side(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """A beside B, which differs in one thing: the rows of the chosen word, or all words."""
    if result.memory is not None:
        return [Words("This layer looks from one sentence at another.", "info")]
    sides = chapter_page.sides(view, chapter, result)
    differs, factor = str(value_in(chapter.link, "differs")), chapter_page.factor(view, chapter)
    if value_in(chapter.link, "words") == ALL_WORDS:
        return [*against.maps(sides, differs, factor)]
    query = _query(view, chapter, result)
    return [*against.rows(sides, differs, factor, result.tokens, query)]


def _query(view: View, chapter: Chapter, result: Result) -> int:
    wanted = chapter_page.selection(view, chapter)["values"]["query"]
    return min(int(wanted), len(result.tokens) - 1)


def heads(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """All heads of a layer, one of which can be chosen."""
    overview = overviews.overview_of(result.settings)
    longest = max(len(result.tokens), len(result.key_tokens))
    grid = HeadGrid(
        overview.dots,
        overview.block,
        longest,
        result.head,
        said=looks(overview),
        sizes=overview.of_sizes,
        key="head_grid",
    )
    return [titled("Every head of the layer", hint="click one"), grid]


def lines_of_yours(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """Lines in which to choose another word of the visitor's sentence, where a map shows that."""
    mine = chapter_page.is_visitors(view, chapter)
    return picture(view, chapter, result, ("lines",)) if mine else []


def word_map(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """Move of the chosen word, who pulls it, and how near it then is to others."""
    query = _query(view, chapter, result)
    other = chapter_page.other_end(view, chapter)
    where = explore_numbers.where_it_goes(result.settings, query, chapter.probes, other)
    if where is None:
        return [note(why_nowhere(result, query))]
    drawn = maps.word_map(where.token, where.spots, where.start, where.end, where.reach)
    label = f"Map of words: where “{where.token}” stands alone, and where it stands here."
    words = [Words(where.words, "told")] if where.words else []
    return [Chart(drawn, label, key="word_map"), *words]


def last_card(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """The sentence, and the head that fits it best, as a card once that is found."""
    made = fitting.found_ending(result.settings.s)
    if made is None:
        return []
    ending, of_head = made
    pieces, told = card_words(of_head.tokens), finale.told(ending, of_head)
    weights = of_head.trace.weights[ending.query].tolist()
    return [Card(pieces, weights, ending.query, ending.said, told, key="card")]


def next_words(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """The next words, and once that is answered the part of the head in the first of them."""
    made = fitting.found_ending(result.settings.s)
    if made is None or not made[0].following:
        return []
    ending, _ = made
    texts, shares = zip(*ending.following, strict=True)
    cut = Table(f"probability of “{ending.said}”", *finale.cut_table(ending))
    return [
        titled("The next word", hint="click one to go on"),
        NextPieces(texts, shares, key="next_pieces"),
        *([cut] if chapter_page.is_answered(view, chapter) else []),
    ]


def of_model(view: View, chapter: Chapter, result: Result) -> Sequence[Figure]:
    """All heads of a model with a switch on each."""
    return model_window.figures(view, chapter)


def spread() -> Sequence[Figure]:
    """The spread of random scores as d_k grows."""
    scores = chapter_page.spread()
    drawn = maps.spread_figure(scores.widths, scores.spread, scores.greatest)
    label = "How the spread of the scores and the greatest share grow with d_k."
    return [Chart(drawn, label, key="spread"), Words(scores.words)]


FIGURES: Mapping[str, Make] = {
    "picture": picture,
    "how": how,
    "against": side_by_side,
    "heads": heads,
    "map": word_map,
    "vectors": word_vectors,
    "window": of_model,
    "finale": last_card,
}
BEHIND: Mapping[str, Make] = {
    "map": lines_of_yours,
    "heads": partial(picture, parts=("lines",)),
    "finale": next_words,
}
