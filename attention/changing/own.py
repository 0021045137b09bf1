"""This project's own models, asked as any other: their runs, and answers as numbers of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attention.analysis import causes, interventions
from attention.analysis.causes import Effects, Metric
from attention.changing.answers import words_of
from attention.core.arguments import must_be
from attention.trained.models import Model, Run, Transformer


def run_of(model: Model, inputs: Any) -> Run:
    """A run of a model, or that of a text."""
    must_be("inputs", inputs, str, Run, how="a text, or model.run(text)")
    return model.run(inputs) if isinstance(inputs, str) else inputs


def metric_of_own(model: Model, answer: Any) -> Metric:
    """A number of the last hidden states: the probability of a word at the last piece, the
    difference of two words' logits there, or a metric itself. Raises ValueError for what is none.
    """
    if callable(answer):
        metric: Metric = answer
        return metric
    must_be("model", model, Transformer, how="of others answer must be a metric, as movement(run)")
    assert isinstance(model, Transformer)
    words = words_of(answer)
    if len(words) == 2:
        return causes.logit_difference(model, *words)
    piece = causes.piece_id(model, words[0])
    return lambda states: model.scores(states[..., -1, :]).softmax(-1)[..., piece]


def effects_of_own(
    model: Model,
    inputs: Any,
    answer: Any,
    *,
    to: Any = "zero",
    part: str = "output",
    positions: interventions.Chosen = None,
    layers: Sequence[int] | None = None,
) -> Effects:
    """The effect of every head, see `effects`; to: "zero", means of each layer, or another run."""
    run, metric = run_of(model, inputs), metric_of_own(model, answer)
    if isinstance(to, Run):
        found = causes.patch_heads(model, run, to, metric, part, positions=positions)
    elif isinstance(to, str) and to == "zero":
        found = causes.ablate_heads(model, run, metric, part, positions=positions)
    else:
        must_be("to", to, Sequence, Run, how='or "zero"; attention.means gives a list of means')
        found = causes.ablate_heads(model, run, metric, part, to=to, positions=positions)
    if layers is None:
        return found
    if missing := [layer for layer in layers if layer not in range(len(model.layers))]:
        raise ValueError(f"layers must be among {len(model.layers)}, got {missing}")
    return Effects(found.before, found.after[[*layers]])


@torch.no_grad()
def path_of_own(model: Model, corrupted: Any, clean: Any, answer: Any) -> Tensor:
    """The answer with what enters one layer at one position as in a clean run, see `patch_path`."""
    here, there = run_of(model, corrupted), run_of(model, clean)
    layers, positions = range(len(model.layers)), range(len(here.pieces.ids))
    several = [
        [interventions.exchanged(here, there, layer, "x", positions=[at])]
        for layer in layers
        for at in positions
    ]
    found = interventions.hidden(model, here, several, metric=metric_of_own(model, answer))
    return found.reshape(len(layers), -1)
