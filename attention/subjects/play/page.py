"""Play: a sentence to read from afar, where its words look, and five folds in its columns."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.app.cached import long_texts, pictures
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.openings import AGAINST, HEADS, HOW, MAP, NUMBERS
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import files, layer_words
from attention.figures.result_files import offer_files
from attention.figures.scene import scene
from attention.pipeline import Result
from attention.subjects.model import long_text_page
from attention.subjects.play import opening_page
from attention.subjects.play import scene as scenes
from attention.subjects.play.against.page import draw_against
from attention.subjects.play.heads.page import draw_heads
from attention.subjects.play.how.page import (
    draw_how,
    draw_own,
    offer_again,
    offer_own,
    offer_projections,
)
from attention.subjects.play.how.rows import computation_of
from attention.subjects.play.how.step import StepSettings
from attention.subjects.play.program import program
from attention.subjects.play.word_map import MapSettings


def explore(view: View) -> None:
    """The sentence with its arcs, one line of controls, and the fold that is open."""
    if asked := long_texts.text_of(view):
        opening_page.controls(view, None)
        long_text_page.draw(view, asked)
        return
    if long_texts.is_missing(view):
        return
    if view["input"] == "matrices":
        offer_own(view)
        draw_own(view)
        return
    result = scenes.opening_result(view)
    if result is None:
        draw(scenes.attention(view), key="attention", selection=view.selection)
        _tell(view)
        return
    opening_page.draw_sentence(view, result)
    opening_page.controls(view, result)
    fold = opening_page.fold_of(view, result)
    query = min(int(view["query"]), len(scenes.typed_tokens(result)) - 1)
    if not layer_words.words_of(result):
        offer_files(result, query)
    files.offer_program(lambda: program(view, result, fold, query))
    if fold == MAP:
        draw(scenes.map_of_all(view, result), key="map_of_all", selection=view.selection)
        _tell(view)
    else:
        _fold(view, fold, _above(view))


def _above(view: View) -> object:
    """All that the sentence and its controls hang on."""
    return view.settings(), view["input"]


@part
def _tell(view: View) -> None:
    """Tells the server which word is chosen."""
    tell_selection(view.selection, session.select)


@part
def _fold(view: View, fold: str, above: object) -> None:
    """The fold that is open, of the chosen word or of all words.

    above: see `_above`; what is chosen here may change it too.
    """
    if above != _above(view):
        st.rerun()
    tell_selection(view.selection, session.select)
    result = scenes.opening_result(view)
    if result is None:
        return
    tokens = scenes.typed_tokens(result)
    query = min(int(view["query"]), len(tokens) - 1)
    if fold != NUMBERS:
        widgets.widget(view, "words", help=None, width="content", label_visibility="collapsed")
    drawn = {HOW: draw_how, HEADS: draw_heads, AGAINST: draw_against, NUMBERS: _numbers}
    drawn[fold](view, result, tokens, query)
    if fold == HOW:
        with st.container(horizontal=True):
            offer_projections(view)
            offer_again(view, computation_of(result, view.of(StepSettings)))
            offer_own(view)


def _numbers(view: View, result: Result, tokens: Sequence[str], query: int) -> None:
    """The sum term by term, the parts of the heads, the nearest words, where the word goes."""
    draw(scenes.numbers(view, result), key="sum_of_word", selection=view.selection)
    near = pictures.nearest_words(result, query)
    names = distinct_names(result.tokens)
    parts = scenes.parts_of_heads(result, query, names) if result.layer.heads > 1 else []
    draw(scene(*near, *parts), key="nearest")
    draw_word_map(view, result, query)


def draw_word_map(view: View, result: Result, query: int) -> None:
    """Move of the chosen word, on a map that is drawn when asked for."""
    if result.words is None or result.memory is not None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "map", width="content")
        if view.applies("probes"):
            widgets.widget(view, "probes", width=320, placeholder="fruit, computer")
    if view.of(MapSettings).map == "shown":
        draw(scenes.word_map(view, result, query), key="where_it_goes")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    around = frame.Around(has_title=opening_page.has_title, on_top=opening_page.ways_on)
    frame.show(file, explore, around=around)
