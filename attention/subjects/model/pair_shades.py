"""Shades of the tiles of a model beside another one, and the weights of its heads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attention.app.state.view import View
from attention.core.printing import fixed, percent
from attention.subjects.model import numbers, pair_numbers, pair_sentences
from attention.subjects.model.numbers import AnswerQuery
from attention.subjects.model.options import ELSEWHERE, WEIGHTS
from attention.subjects.model.pair_sentences import MATRICES
from attention.subjects.model.shades import Shade, Shaded, menu_of

LEAST_DARKEST = 0.0001  # bits, or of a relative change


def shaded(asked: AnswerQuery, looks: Sequence[Sequence[str]], name: str) -> Shaded:
    """The change of the map of each head, and of its weights.

    looks: see `numbers.attention_sentences`; name: of the matrix whose change is shown.
    """
    pair = pair_numbers.pair_of(asked)
    maps, weights = pair_numbers.maps_moved(pair, asked.text), pair_numbers.weights_moved(pair)
    moved = _shade("its map", maps, "bits")
    of_each = weights or [torch.full_like(maps, torch.nan)] * len(MATRICES)
    matrices = [_shade(*each, "%") for each in zip(MATRICES, of_each, strict=True)]
    shown = next((each for each in matrices if each.name == name), matrices[0])
    heads = [divmod(at, maps.shape[1]) for at in range(maps.numel())]

    def of_maps() -> list[str]:
        return [pair_sentences.map_words(maps, head, looks[head[0]][head[1]]) for head in heads]

    def of_weights() -> list[str]:
        return [pair_sentences.weight_words(weights, head) for head in heads]

    told = {ELSEWHERE: of_maps, WEIGHTS: of_weights}
    return Shaded({ELSEWHERE: moved, WEIGHTS: shown}, told, menu_of(WEIGHTS, matrices, shown))


def _shade(name: str, changes: Tensor, unit: str) -> Shade:
    darkest = max(LEAST_DARKEST, float(changes.nan_to_num(0.0).max()))
    most = f"{fixed(darkest, 3)} bits" if unit == "bits" else percent(darkest, 2)
    legend = f"blue: {name} moved by the tuning; full colour: {most}"
    return Shade(name, "", changes, darkest, False, 1, legend, str)


def rows_of(view: View, asked: AnswerQuery, queries: Sequence[int]) -> list[Tensor]:
    """The weights of the chosen query in the other model, see `numbers.rows_of`."""
    there = replace(view, values_={**view, "model": asked.other})
    return numbers.rows_of(there, queries)
