"""Residual patching: what enters each block at each position, put back as in a clean run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attention.changing.answers import Answer, metric_of
from attention.changing.batches import (
    ends_together,
    given_to,
    must_be_at_rest,
    read,
    repeated,
    told_of_blocks,
)
from attention.changing.change import Change
from attention.changing.experiment import experiment
from attention.changing.known import MAX_PIECES_AT_ONCE, run_of
from attention.core.arguments import must_be
from attention.trained.models import Model


@torch.no_grad()
def patch_path(
    model: nn.Module | Model, corrupted: Any, clean: Any, answer: Answer, **options: Any
) -> Tensor:
    """The answer of a corrupted run, with what enters one layer at one position as in a clean one.

    Where it comes back, the residual path carries it there (causal tracing, Meng et al. 2022). Of a
    decoder of transformers or an own module: inputs of as many tokens, one entry each; answer,
    tokenizer=…: see `effects`; layers are the blocks that stand in a list. Of this project's
    models: two texts or runs. Returns (layers, positions).
    Raises ValueError where lengths differ, or there are no blocks with one tensor each.
    """
    if isinstance(model, Model):
        here, there = run_of(model, corrupted), run_of(model, clean)
        layers, count = range(len(model.layers)), len(here.pieces.ids)
        several = [
            [Change(layer, "x", there, positions=[at])] for layer in layers for at in range(count)
        ]
        return experiment(model, here, answer).after(several).reshape(len(layers), count)
    must_be("model", model, nn.Module, Model)
    must_be_at_rest(model)
    return _of_blocks(model, corrupted, clean, answer, **options)


def _of_blocks(
    model: nn.Module, corrupted: Any, clean: Any, answer: Any, tokenizer: Any = None
) -> Tensor:
    corrupted, clean = (read(model, each, tokenizer) for each in (corrupted, clean))
    metric, last = metric_of(answer, corrupted, tokenizer), ends_together(corrupted, answer)
    there, here = (_entered(model, inputs, last) for inputs in (clean, corrupted))
    if not there:
        raise ValueError(f"{type(model).__name__} must have a list of blocks, got none that ran")
    if there[0][1].shape != here[0][1].shape or len(there[0][1]) != 1:
        shapes = tuple(there[0][1].shape[:2]), tuple(here[0][1].shape[:2])
        raise ValueError(f"both inputs must be (1, tokens) of the same length, got {shapes}")
    if len({id(block) for block, _ in there}) < len(there):
        raise ValueError(f"each block of {type(model).__name__} must run once, one runs again")
    count = there[0][1].shape[1]
    at_once = max(1, MAX_PIECES_AT_ONCE // count)
    found = []
    for block, stream in there:
        for begin in range(0, count, at_once):
            places = range(begin, min(begin + at_once, count))
            given = given_to(model, repeated(corrupted, len(places)), last)
            with told_of_blocks(model, partial(_put, block, stream, places)):
                found.append(metric(model(*given[0], **given[1])))
    return torch.cat(found).reshape(len(there), count)


def _entered(model: nn.Module, inputs: Any, last: bool) -> list[tuple[nn.Module, Tensor]]:
    """Each block with what enters it, in the order in which they run."""
    found: list[tuple[nn.Module, Tensor]] = []

    def reads(block: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        found.append((block, _stream(block, args, kwargs)))
        return forward(*args, **kwargs)

    args, kwargs = given_to(model, inputs, last)
    with told_of_blocks(model, reads):
        model(*args, **kwargs)
    return found


def _put(
    patched: nn.Module,
    stream: Tensor,
    places: Sequence[int],
    block: nn.Module,
    forward: Any,
    args: Any,
    kwargs: Any,
) -> Any:
    """Runs a block; the one that is patched with another place of `stream` in each entry."""
    if block is not patched:
        return forward(*args, **kwargs)
    x = _stream(block, args, kwargs).clone()
    x[range(len(places)), places] = stream[0, places]
    return forward(x, *args[1:], **kwargs) if args else forward(**{**kwargs, "hidden_states": x})


def _stream(block: nn.Module, args: Any, kwargs: Any) -> Tensor:
    """The residual path as it enters a block, (entries, tokens, d_model)."""
    x = args[0] if args else kwargs.get("hidden_states")
    if not (isinstance(x, Tensor) and x.dim() == 3):
        raise ValueError(
            f"{type(block).__name__} must take (entries, tokens, d_model) first, got "
            f"{tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__}"
        )
    return x
