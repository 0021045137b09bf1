"""Heads at a glance: of a layer, and of a whole model."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attention.analysis import glances
from attention.analysis.glances import Glance
from attention.analysis.heads import Overview
from attention.app.cached import kept
from attention.app.cached.runs import result_of, run_model, sentence_of
from attention.app.state.view import View
from attention.figures import layer_words
from attention.pipeline import Settings


@kept(8, key=sentence_of)  # 0.2 MB each for 72 heads, up to 3 for 1,200
def glances_of(view: View) -> list[Glance]:
    """All heads of all layers of the chosen trained model at a glance."""
    name, text, aside = sentence_of(view)
    return glances.glances(run_model(name, text), aside)


@kept(64, key=sentence_of)
def rows_in_all_layers(view: View, query: int) -> Tensor:
    """The weights of a piece of the sentence in each layer, (layers, heads, keys)."""
    name, text, aside = sentence_of(view)
    return glances.rows_of(run_model(name, text), query, aside)


@kept(64, key=lambda settings: replace(settings, head=0))
def overview_of(settings: Settings) -> Overview:
    """All heads of the layer at a glance, the same whichever of them is looked at."""
    return layer_words.overview(result_of(settings))
