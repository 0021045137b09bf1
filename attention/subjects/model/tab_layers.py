"""The layers of a model one by one: where a word looks in each, and each one's guess."""

from __future__ import annotations

import streamlit as st

from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.subjects.model import scene as scenes
from attention.trained.models import goes_on


@part
def draw_layers(view: View) -> None:
    """The chosen word through all layers, and each layer's guess of the next word."""
    through_layers = scenes.in_all_layers(view)
    if through_layers.parts:
        draw(through_layers, key="in_all_layers", selection=view.selection)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            widgets.widget(view, "all_layers", width="content")
            widgets.widget(view, "cover", width=200)
        with st.expander("The same in numbers"):
            draw(scenes.rows_in_all_layers(view), key="rows_in_all_layers")
    if goes_on(load_model(view["model"])):
        draw(scenes.layers_guess(view), key="layers_guess")
        with st.expander("The likeliest word of each layer"):
            draw(scenes.likeliest_of_each_layer(view), key="likeliest_of_each_layer")
