"""The window of a model as the figure of a chapter: on its sentence, with switches of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.app.state import session
from attention.app.state.pages import page_named
from attention.app.state.view import View, view_of
from attention.app.state.visit import Visit
from attention.figures.scene import Figure, note
from attention.hosting.jobs import Step
from attention.subjects.guide import chapter_page
from attention.subjects.guide.chapters import Chapter
from attention.subjects.model import choices, continuations, numbers, options, pair_numbers, window
from attention.subjects.model.figures import ModelWindow
from attention.trained.sources import NONE

KEPT = "window"  # all that is chosen in it, in the visit


def view_in(view: View, chapter: Chapter) -> View:
    """The view of A real model that a chapter's figure shows."""
    link = {**chapter.link, "s": [chapter_page.sentence_of(view, chapter)]}
    query = chapter_page.selection(view, chapter)["values"]["query"]
    chosen = {**chapter_page.kept(view, KEPT, {}), "query": query}
    opened = Visit().opening(page_named("model"), link, ()).choosing(**chosen)
    return numbers.on_its_head(view_of(page_named("model"), opened))


def steps(view: View, chapter: Chapter) -> Sequence[Step]:
    """Remaining steps until all heads of the window are tried."""
    there = view_in(view, chapter)
    try:
        if there["model"] == NONE:
            return []
        return pair_numbers.steps_to_changes(numbers.answer_query(there))
    except ValueError:
        return []


def is_worked_out(view: View, chapter: Chapter) -> bool:
    """True if nothing is left to be worked out for the window; else shows how far it is."""
    left = steps(view, chapter)
    return not left or works.done(choices.effects_of(view_in(view, chapter)))


def figures(view: View, chapter: Chapter) -> Sequence[Figure]:
    """The window through all its lenses, or why there is none."""
    there = view_in(view, chapter)
    if there["model"] == NONE:
        return []
    try:
        figure = window.figure_of(there, window.window_state(there), every_lens=True)
    except ValueError as problem:
        return [note(str(problem))]
    acts = [act for act in figure.said["acts"] if act[0] == window.ALL_ON]
    return [replace(figure, said={**figure.said, "acts": acts})]


def taken_from(view: View, chapter: Chapter, figure: ModelWindow) -> Mapping[str, Handler]:
    """For each event of the window what is asked of an answer, and what is done then."""
    shown = window.window_state(view_in(view, chapter))
    model = shown.model

    def keep(**chosen: Any) -> None:
        kept = chapter_page.kept(session.view(), KEPT, {})
        chapter_page.choose_in(KEPT, {**kept, **chosen})

    def choose(position: int) -> tuple[int, int]:
        layer, head = divmod(position, model.layers[0].attention.heads)
        keep(layer=layer, head=head, head_by=options.CHOSEN, key=-1)
        return layer, head

    def switch(switched: tuple[int, int]) -> None:
        head = choose(switched[0])
        off = numbers.off_of(view_in(session.view(), chapter))
        others = [each for each in off if each != head]
        keep(off=options.write_off([*others, head] if switched[1] else others, model))

    def link(pair: tuple[int, int]) -> None:
        query, key = sorted(pair, reverse=True) if model.layers[0].causal else pair
        chapter_page.select(session.view(), chapter, {"query": query})
        keep(key=key)

    def add(position: int) -> None:
        pieces = [piece for likeliest in window.drawn_bars(shown) for piece in likeliest]
        longer = continuations.text_with(model.about.name, shown.asked.text, pieces[position][2])
        chapter_page.give(longer or shown.asked.text)

    return {
        "head": (figure.has_head, choose),
        "switched": (figure.has_switch, switch),
        "lens": (figure.has_lens, lambda name: keep(lens=name, key=-1)),
        "pair": (figure.has_pair, link),
        "piece": (figure.has_piece, add),
        "act": (figure.has_act, lambda name: keep(off="", erased=-1)),
    }
