"""Map of where the chosen word goes, drawn when asked for."""

from __future__ import annotations

import streamlit as st

from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.state.view import View
from attention.pipeline import Result
from attention.subjects.explore import scene as scenes
from attention.subjects.explore.word_map import MapSettings


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
