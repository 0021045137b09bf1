"""Explore: which words each word looks at, and its new vector."""

import streamlit as st

from attention.app.cached import long_texts, pictures, runs
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.figures import layer_words
from attention.figures.result_files import offer_files
from attention.figures.scene import scene
from attention.pipeline import Result
from attention.subjects.explore import opening_page
from attention.subjects.explore import scene as scenes
from attention.subjects.explore.word_map import MapSettings
from attention.subjects.long_run import text_page


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if asked := long_texts.text_of(view):
        text_page.draw(view, asked)
        return
    if long_texts.is_missing(view) or (view.calm and opening_page.draw(view)):
        return
    draw(scenes.attention(view), key="attention", selection=view.selection)
    result = runs.current_result(view)
    if result and not layer_words.words_of(result):
        of_token(view)


@part
def of_token(view: View) -> None:
    """Words near the chosen token's vectors, where it goes, and files of all."""
    result = runs.current_result(view)
    if result is None:
        return
    tell_selection(view.selection, session.select)
    query = min(view["query"], len(result.tokens) - 1)
    near = pictures.nearest_words(result, query)
    draw(scene(*scenes.state(result), *near), key="nearest")
    draw_word_map(view, result, query)
    offer_files(result, query)


def draw_word_map(view: View, result: Result, query: int) -> None:
    """Where the chosen word goes, on a map that is drawn when asked for."""
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
