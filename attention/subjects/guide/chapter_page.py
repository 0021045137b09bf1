"""The chapter that is open: its settings, what is chosen in it, and what it comes to.

All of it follows from the chapter's own link and the visitor's sentence. What the visitor has set
on other pages neither shows here nor is changed.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import torch

from attention.analysis.spread import Spread, spread_of_scores
from attention.app.cached.runs import result_of
from attention.app.controls import widgets
from attention.app.state import session
from attention.app.state.links import every_setting, settings_of_link, value_in
from attention.app.state.openings import OPENINGS
from attention.app.state.pages import Values
from attention.app.state.session import change, choose, keep, visit
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.app.state.visit import SELECTED, legal_selection
from attention.core.masks import format_cells
from attention.core.printing import distinct_names
from attention.core.settings import settings_of
from attention.figures import layer_words
from attention.figures.scene_message import Selection
from attention.inputs.text import plain
from attention.pipeline import NoWords, Result, Settings
from attention.subjects.guide import carried, yours
from attention.subjects.guide.chapters import WORDLESS, Chapter
from attention.subjects.guide.chosen_lesson import lesson
from attention.subjects.guide.classes import Question, Room
from attention.subjects.guide.lesson_words import ENGLISH, LessonWords, words_in
from attention.subjects.guide.votes import Ballot
from attention.subjects.play.against import numbers as against
from attention.subjects.play.against.numbers import Sides
from attention.subjects.play.against.words import AgainstSettings
from attention.trained import sources
from attention.training import TrainingSettings

LOOKING = ("picture", "against", "heads", "map")  # figures of weights


def words_of(view: Values) -> LessonWords:
    """Words around the chapters, in the language of the page."""
    return words_in(view["lang"])[1]


def position(view: Values) -> int | None:
    """Position of the open chapter, from 0; None where the lesson has none of the chosen name."""
    return lesson(view).position(view["chapter"])


def knows_heads(view: View) -> bool:
    """True if heads may be named in the open chapter: not before the one that introduces them."""
    figures = [each.figure for each in lesson(view).chapters]
    return "heads" in figures[: (position(view) or 0) + 1] or "heads" not in figures


def opened(view: View) -> Chapter | None:
    """The open chapter as it is shown; None where a lesson has none that can be read."""
    there = lesson(view).chapters
    return shown(view, there[position(view) or 0]) if there else None


def shown(view: View, chapter: Chapter) -> Chapter:
    """A chapter with the models that are here, and with its answer in the figure once that is
    asked for."""
    here = chapter.where(sources.names())
    return here.revealed if is_revealed(view, chapter) else here


def is_revealed(view: View, chapter: Chapter) -> bool:
    """True if the figure shows the answer: never before one is given, nor once a sentence is."""
    revealed = bool(chapter.reveal) and kept(view, "revealed", None) == view["s"]
    return revealed and is_answered(view, chapter)


def is_answered(view: View, chapter: Chapter) -> bool:
    """True if one of the choices of the open chapter is guessed."""
    return view["guess"] in range(len(chapter.choices))


def reveal(revealed: bool) -> None:
    """Show the answer in the figure, or the figure as it was, within a callback."""
    keep(replace(visit(), in_chapter={"revealed": session.view()["s"]} if revealed else {}))


def learner(view: View) -> dict[str, int]:
    """First choices of this visit in the chapters of the lesson, by their names."""
    of = _open(view)[0]
    return {name: guess for (lesson, name), guess in view.visit.guesses.items() if lesson == of}


def question(view: View, chapter: Chapter) -> Question:
    """The name of a chapter's question in a class."""
    return view["lesson"], view["carried"], chapter.name


def ballots(view: View, room: Room) -> list[Ballot]:
    """The votes of a class on the question of each chapter."""
    return [room.ballot(question(view, each)) for each in lesson(view).chapters]


def note_guess(view: View, chapter: Chapter, guess: int) -> None:
    """Note what is chosen in a chapter, if it is the first choice there, within a callback."""
    named = (_open(view)[0], chapter.name)
    if named not in view.visit.guesses:
        change(guesses={**view.visit.guesses, named: guess})
        choose("answered", result_code(replace(view, visit=visit()))[0])


def recall(view: View, code: str) -> View:
    """The view with the first choices of a code, if it is one of the lesson."""
    shown = lesson(view)
    try:
        guesses = carried.result_of(code, shown).guesses
    except ValueError:
        return view
    of, names = _open(view)[0], (each.name for each in shown.chapters)
    told = {
        (of, name): guess for name, guess in zip(names, guesses, strict=True) if guess is not None
    }
    change(guesses={**view.visit.guesses, **told})
    return replace(view, visit=visit())


def result_code(view: View) -> tuple[str, int]:
    """Code of what this visit has chosen first in the lesson, and the number of right choices."""
    shown, guesses = lesson(view), learner(view)
    result = carried.Result(tuple(guesses.get(each.name) for each in shown.chapters))
    return carried.code_of(result, shown), result.right(shown)


def answered(view: View) -> list[bool]:
    """True for each chapter of the lesson that this visit has answered."""
    chosen = learner(view)
    return [each.name in chosen for each in lesson(view).chapters]


def minutes_left(view: View) -> int:
    """Minutes that the chapters from the open one on take, but for those answered; 0 at the end."""
    at, there = position(view) or 0, lesson(view).chapters
    left = zip(there[at:], answered(view)[at:], strict=True)
    return math.ceil(sum(each.minutes for each, done in left if not done))


def turn_to(chapter: Chapter) -> None:
    """Open a chapter, nothing guessed yet, on the visitor's sentence where that teaches well there,
    else on its own, within a callback."""
    choose("chapter", chapter.name)
    choose("guess", -1)
    choose("figure_head", -1)
    session.swap_sentence(session.page())


def view_of(view: View, chapter: Chapter) -> View:
    """The view of a chapter as it opens, nothing chosen or guessed in it: on the visitor's sentence
    where that teaches well there, else on its own."""
    values = {**view, "chapter": chapter.name, "guess": -1, "figure_head": -1}
    mine = given(view) or view.visit.aside
    own = not mine or keeps_its_own(values, mine)
    values["s"] = every_setting()["s"].default if own else mine
    visit = replace(view.visit, chapter=(), in_chapter={}, aside="")
    return replace(view, values_=values, visit=visit)


def keeps_its_own(values: Values, given: str) -> bool:
    """True if the open chapter shows its own sentence in place of one that was given before."""
    there = lesson(values).chapters
    return not there or _is_prepared(given) or not takes(there[position(values) or 0], given)


def _is_prepared(sentence: str) -> bool:
    """True for a sentence of an opening, which nobody has typed."""
    return any(sentence in one.sentences for one in OPENINGS.values())


def takes(chapter: Chapter, given: str) -> bool:
    """True if a chapter as the lesson has it has words on a given sentence, which fits it."""
    return bool(chapter.yours) and not why_not_yours(chapter, given)


def why_not_yours(chapter: Chapter, given: str, language: str = ENGLISH) -> str:
    """Why a chapter keeps its own sentence in place of a given one; "" where nothing is said."""
    if not chapter.yours:
        return chapter.own
    result = _result_on(chapter.where(sources.names()), given)
    return yours.problem(chapter, result, words_in(language)[1])


def _result_on(chapter: Chapter, sentence: str) -> Result | None:
    """Result of a chapter's settings on a sentence; None where that has no words."""
    try:
        return result_of(settings_of_link(chapter.link, sentence))
    except NoWords:
        return None


def on_yours(view: View, chapter: Chapter) -> Chapter:
    """A chapter as the lesson has it, with words on the visitor's sentence where that is shown."""
    if not speaks_of_yours(view, chapter):
        return chapter
    result = _result_on(chapter.where(sources.names()), sentence_of(view, chapter))
    assert result is not None
    return yours.on_yours(chapter, result)


def speaks_of_yours(view: View, chapter: Chapter) -> bool:
    """True if the words of a chapter are about the sentence of the visitor that it shows."""
    return is_visitors(view, chapter) and takes(chapter, sentence_of(view, chapter))


def why_not_brought(view: View, chapter: Chapter) -> str:
    """Why a chapter does not show the sentence that the visitor has brought, "" without one."""
    brought = view.visit.aside
    if not brought or _is_prepared(brought) or given(view) or chapter.figure in WORDLESS:
        return ""
    return why_not_yours(chapter, brought, view["lang"])


def sentences(view: View) -> list[tuple[str, str]]:
    """The sentence that the open chapter shows, with the name of its setting."""
    chapter = opened(view)
    if chapter is None or chapter.figure in WORDLESS:
        return []
    return [("s", sentence_of(view, chapter))]


def sentence_of(view: View, chapter: Chapter) -> str:
    """The visitor's sentence, or the chapter's own while none has been given in it."""
    if chapter.sentence is not None and (chapter.settled or not given(view)):
        return chapter.sentence
    return given(view) or view.visit.aside or str(view["s"])


def given(view: View) -> str:
    """The sentence that the visitor, or a link, gives the open chapter, "" for none."""
    return "" if view["s"] == every_setting()["s"].default else str(view["s"])


def is_visitors(view: View, chapter: Chapter) -> bool:
    """True if the figure shows a sentence of the visitor's in place of the chapter's own."""
    return chapter.sentence not in (None, sentence_of(view, chapter)) and takes_sentence(chapter)


def takes_sentence(chapter: Chapter) -> bool:
    """True if the figure of a chapter can show another sentence than its own."""
    return chapter.figure not in WORDLESS and not chapter.settled


def offers_box(view: View, chapter: Chapter) -> bool:
    """True if the visitor may type a sentence: after the answer, and where the chapter is about it.

    Until then text and figure speak of the same sentence.
    """
    if chapter.figure in WORDLESS or "s" in view.hidden:
        return False
    about_it = chapter.figure == "finale" or chapter.sentence is None
    return about_it or bool(given(view)) or is_answered(view, chapter)


def give(sentence: str) -> None:
    """Show a sentence in the open chapter, its own for a blank one, within a callback.

    A space behind keeps the default apart from none given, in the link as well.
    """
    default = every_setting()["s"].default
    choose(
        "s", (f"{default} " if sentence == default else sentence) if sentence.strip() else default
    )


def looks_most(view: View, chapter: Chapter) -> str:
    """Sentence on the key that the chosen word of one's own sentence looks at most, or ""."""
    if not is_visitors(view, chapter) or chapter.figure not in LOOKING:
        return ""
    whole = result(view, chapter)
    if whole is None:
        return ""
    tokens, keys, trace = layer_words.shown(without_those_away(view, whole))
    query = min(selection(view, chapter)["values"]["query"], len(tokens) - 1)
    row = trace.weights[query]
    key = int(row.argmax())
    word, most = distinct_names(tokens)[query], distinct_names(keys)[key]
    share = f"{100 * float(row[key]):.0f}"
    return words_of(view)["looks"].format(word=word, key=most, share=share)


def settings_for(view: View, chapter: Chapter) -> Settings:
    """The settings of a chapter's figure, with the head that is chosen in it."""
    head = view["figure_head"]
    return settings_of_link(chapter.link, sentence_of(view, chapter), None if head < 0 else head)


def missing_model(chapter: Chapter) -> str:
    """The trained model that a chapter speaks of and that is not here, "" where none is missing."""
    return "" if chapter.model in ("", *sources.names()) else chapter.model


# What is chosen in the figure of a chapter is kept for as long as that chapter is open.


def _open(view: View) -> tuple[object, ...]:
    return (view["lesson"], view["carried"]), view["chapter"]


def enter(view: View) -> View:
    """The view of a chapter that is opened; nothing is chosen yet in one that was not open, but
    what a link says."""
    if view.visit.chapter == _open(view):
        return view
    change(chapter=_open(view), in_chapter={} if view.visit.chapter else view.visit.in_chapter)
    return recall(replace(view, visit=visit()), view["answered"])


def kept(view: View, name: str, otherwise: Any) -> Any:
    """Value that has been chosen in the figure of the open chapter."""
    return view.visit.in_chapter.get(name, otherwise)


def choose_in(name: str, value: Any) -> None:
    """Choose something in the figure of the open chapter, within a callback."""
    keep(visit().in_its_chapter(**{name: value}))


def selection(view: View, chapter: Chapter) -> Selection:
    """Query and stage that the chapter's pictures show: see `View.selection`."""
    own: Any = {name: value_in(chapter.link, name) for name in SELECTED}
    if speaks_of_yours(view, chapter) and chapter.figure != "finale":
        result = _result_on(chapter, sentence_of(view, chapter))
        assert result is not None
        own["query"] = yours.query_in(chapter, result)
    elif chapter.figure == "window" and "query" not in chapter.link and chapter.model:
        pieces = load_model(chapter.model).pieces(plain(sentence_of(view, chapter)))
        own["query"] = max(0, len(pieces.ids) - 1)
    return {
        "values": own | kept(view, "selection", {}),
        "defaults": own,
    }


def select(view: View, chapter: Chapter, chosen: dict[str, Any]) -> None:
    """Take over what has been chosen in the browser, within a callback; on this page alone."""
    values = selection(view, chapter)["values"] | legal_selection(chosen)
    keep(visit().in_its_chapter(selection=values))


def result(view: View, chapter: Chapter) -> Result | None:
    """Result of the chapter's settings; None while the sentence has no words."""
    memory = chapter.link.get("memory", [None])[-1]
    try:
        return result_of(settings_for(view, chapter), memory)
    except NoWords:
        return None


def away(view: View, whole: Result) -> frozenset[int]:
    """The positions of the keys that the visitor has taken away from the chapter's figure."""
    keys, gone = kept(view, "away", ((), frozenset()))
    return gone if keys == whole.key_tokens else frozenset()


def other_end(view: View, chapter: Chapter) -> str:
    """The sentence with which a button moves the arrow of a map, or from which it has moved it;
    "" where there is none, or the figure shows a sentence of the visitor's."""
    there = lesson(view).chapters[position(view) or 0]
    both = [there.sentence, there.revealed.sentence]
    other = [text for text in both if text != sentence_of(view, chapter)]
    return str(other[0]) if there.reveal and len(other) == 1 and other[0] else ""


def can_take_away(whole: Result) -> bool:
    """True if keys can be taken away from a figure, one by one."""
    longest = max(len(whole.tokens), len(whole.key_tokens))
    return not layer_words.words_of(whole) and longest <= widgets.MAX_CLICKABLE


def take_or_bring_back(view: View, whole: Result, key: int) -> None:
    """Take a key away, or bring it back, within a callback."""
    choose_in("away", (whole.key_tokens, away(view, whole) ^ {key}))


def without_those_away(view: View, whole: Result) -> Result:
    """Result where no query may attend to the keys that have been taken away."""
    gone = away(view, whole)
    if not gone:
        return whole
    shape = len(whole.tokens), len(whole.key_tokens)
    mask = whole.masks.get("cells", torch.ones(shape, dtype=torch.bool)).clone()
    mask[:, sorted(gone)] = False
    chosen = dict.fromkeys((*whole.settings.mask, "cells"))
    settings = replace(whole.settings, mask=tuple(chosen), cells=format_cells(mask))
    return result_of(settings, whole.memory_text)


def sides(view: View, chapter: Chapter, ours: Result) -> Sides:
    """A beside B, as the chapter's link and its slider have them. ours: the result of A."""
    chosen = {name: value_in(chapter.link, name) for name in settings_of(AgainstSettings)}
    return against.sides(ours, chosen | {"b_factor": factor(view, chapter)})


def factor(view: View, chapter: Chapter) -> float:
    """The factor at which the slider of a chapter stands."""
    return float(kept(view, "factor", value_in(chapter.link, "b_factor")))


def training_of(chapter: Chapter) -> TrainingSettings:
    """The training that the figure of a chapter is about."""
    names = settings_of(TrainingSettings)
    values: dict[str, Any] = {name: value_in(chapter.link, name) for name in names}
    return TrainingSettings(**values)


@functools.cache
def spread() -> Spread:
    """Spread of random scores as d_k grows."""
    return spread_of_scores()
