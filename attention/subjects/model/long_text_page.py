"""The map of a long text, with the chosen token's new vector."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.cached.long_texts import LongText
from attention.app.components.scene import draw as draw_scene
from attention.app.controls import widgets, works
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.figures import result_words
from attention.pipeline import Result, Settings
from attention.subjects.model import long_text_map, long_text_runs
from attention.subjects.model import long_text_scene as scenes
from attention.subjects.model.long_text_runs import LayerRun
from attention.trained import sources
from attention.trained.models import Model, goes_on

LIKELIEST = 3


def draw(view: View, asked: LongText) -> None:
    """The map of the chosen head over a text, and the chosen token's new vector."""
    if works.done(_task(view, asked)):
        settings = replace(view.settings(), s="")
        _layer(view, *long_text_runs.layer_of(asked, settings))


def draw_model(view: View, asked: LongText) -> None:
    """The next words after a text, and the map of the chosen head, as it was trained."""
    left, right = st.columns(2, gap="large")
    with left, st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "model", offered=sources.names()[1:], narrow=True, width=250)
        for name in ("layer", "head"):
            widgets.widget(view, name, width=110)
    model = load_model(asked.model)
    writes = goes_on(model)
    if not works.done(_task(view, asked, len(model.layers) if writes else 0)):
        return
    if writes:
        with right:
            draw_scene(
                scenes.next_words(*long_text_runs.next_words(asked, LIKELIEST)), key="next_words"
            )
    settings = Settings("", asked.model, view["layer"], head=view["head"])
    _layer(view, *long_text_runs.layer_of(asked, settings))


def heading(model: Model) -> tuple[str, str]:
    """Title over the map of a text in the window of a model, and what one finds there."""
    heads = sum(layer.attention.heads for layer in model.layers)
    return (
        f"{heads} heads read a long text",
        f"{model.about.title} reads it whole. Choose a layer and a head, and see where each token "
        "looks.",
    )


def _task(view: View, asked: LongText, more: int = 0) -> works.Task:
    """The work until a text has run up to the chosen layer. more: another one, 0 = none."""
    last = len(load_model(asked.model).layers) - 1
    return long_text_runs.task_of(asked, {min(view["layer"], last), more})


def _layer(view: View, result: Result, read: LayerRun) -> None:
    """The map of the chosen head, all heads of its layer, and what cannot be shown."""
    title, below = result_words.head_words(result), partial(scenes.new_vector, result)
    long_text_map.draw_map(view, read, result.head, title, below)
    choose = (range(result.layer.heads).__contains__, partial(session.choose, "head"))
    heads = scenes.layer_of_text(result, read.overview)
    draw_scene(heads, key="layer_heads", taken={"glance": {"head": choose}})
