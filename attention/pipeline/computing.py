"""Settings -> result."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.core import masks
from attention.core.functional import LongTrace, Trace
from attention.inputs.vectors import named_vectors
from attention.pipeline.preparing import Prepared, into_trained_layer, into_variant
from attention.pipeline.result import Result
from attention.pipeline.settings import Settings
from attention.trained import sources
from attention.trained.models import Run
from attention.trained.sources import NONE

MAX_KEPT = 1 << 18  # cells of all heads, up to which all steps of a run are kept
MAX_AT_ONCE = 1 << 17  # cells of all heads that are worked out at once where they are not


def compute(
    settings: Settings,
    load_vectors: Callable[[str], Vectors] = named_vectors,
    memory: str | None = None,
    run_model: Callable[[str, str], Run] = lambda name, text: sources.load(name).run(text),
) -> Result:
    """Everything the settings ask for, computed once. Raises NoWords on an empty sentence.

    load_vectors: a name of `vector_names()` other than "random" -> torchtext's `Vectors`;
    memory: the sentence that keys and values come from, None = the settings' own;
    run_model: the name of a trained model and a text -> the model's run over it.
    """
    if settings.model != NONE:
        prepared = into_trained_layer(settings, run_model)
    else:
        prepared = into_variant(settings, load_vectors, memory)
    return computed(settings, prepared, memory)


def computed(
    settings: Settings, prepared: Prepared, memory: str | None = None, keeps: int | None = None
) -> Result:
    """Result of the settings for what enters the layer.

    memory: see `compute`; keeps: cells of all heads, up to which all steps are kept, None = as many
    as usual.
    """
    sentence, other, layer = prepared.sentence, prepared.memory, prepared.layer
    keys, x = other or sentence, sentence.x
    n_queries, n_keys = len(sentence.tokens), len(keys.tokens)

    own = prepared.own_masks(n_queries, n_keys) if settings.trained_mask == "kept" else {}
    chosen, mask_problem = make_masks(settings, n_queries, n_keys, own)
    mask = masks.combine(chosen.values())

    with torch.no_grad():
        sliced = layer.sliced(
            layer.projected(x, None if other is None else other.x),
            mask,
            scale=prepared.scale(settings),
            rotate=settings.rotate,
            bias=functools.partial(settings.bias, layer, n_queries, n_keys),
        )
        trace: Trace | LongTrace
        if layer.heads * n_queries * n_keys <= (MAX_KEPT if keeps is None else keeps):
            trace = sliced(slice(None), slice(None))
        else:
            at_once = max(1, MAX_AT_ONCE // (layer.heads * n_keys))
            trace = LongTrace(
                sliced,
                n_queries,
                at_once,
                layer.heads_independent,
                None if mask is None else mask[None],
            )
    problems = [*prepared.problems, *([mask_problem] if mask_problem else [])]
    return Result(
        **vars(sentence),
        settings=settings,
        layer=layer,
        layer_trace=trace,
        masks=chosen,
        words=prepared.words,
        problems=tuple(problems),
        memory=other,
        memory_text=memory,
        trained=prepared.trained,
    )


def make_masks(
    settings: Settings, n_queries: int, n_keys: int, own: Mapping[str, Tensor] | None = None
) -> tuple[dict[str, Tensor], str]:
    """The masks in force by name, (queries, keys) each, and why one of them could not be made.

    own: those a layer was trained with, which then are among them.
    """
    makers: dict[str, Callable[[], Tensor]] = {
        "causal": lambda: masks.causal(n_queries, n_keys),
        "length": lambda: masks.lengths(torch.tensor([settings.valid_len]), n_keys)[0].expand(
            n_queries, n_keys
        ),
        "window": lambda: masks.window(n_queries, n_keys, settings.radius),
        "cells": lambda: masks.parse_cells(settings.cells, n_queries, n_keys),
    }
    made, problem = dict(own or {}), ""
    for name in settings.mask:
        try:
            mask = makers[name]()
        except ValueError as error:
            problem = f"No single cells are hidden: {error}."
        else:
            made[name] = mask & made[name] if name in made else mask
    return made, problem
