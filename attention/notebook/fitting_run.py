"""The attentions of a run that fit some tokens."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attention.analysis.token_texts import Texts
from attention.capture import Attention, Recording


@dataclass(frozen=True, eq=False)
class FittingRun:
    """Attentions of a run that have as many queries and keys, and the same heads.

    run: the recording; shown: those of its attentions; texts: one for each query; key_texts: one
    for each key, None where they are those of the queries.
    """

    run: Recording
    shown: tuple[Attention, ...]
    texts: list[str]
    key_texts: list[str] | None

    @functools.cached_property
    def sides(self) -> tuple[Texts, ...]:
        """Texts of the queries, and of the keys where they are others."""
        return tuple(Texts(one) for one in (self.texts, self.key_texts) if one is not None)

    @property
    def head_numbers(self) -> tuple[int, ...]:
        """The number that the model has for each head that is kept, in rising order."""
        return tuple(sorted(self.shown[0].heads))


def _own_keys_are_first(kept: Attention, tokens: int) -> bool:
    """True if of more keys than queries the first are of the queries, each seen from there on."""
    mask, device = kept.rules.mask, kept.keys.device
    if kept.kind == "cross" or kept.shape[2] != tokens or mask is None:
        return False
    every = torch.arange(tokens, device=device)
    allowed = mask.allowed(0, 0, every, every)
    return bool(allowed.diagonal().all() and not allowed.triu(1).any())


def fitting_run(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    layer: int | str | None,
    query: int,
) -> FittingRun:
    """The attentions of a run that fit the tokens and have the same heads, that layer first.

    layer: a number or a module's name, None = any. Keys behind those of the tokens, which a model
    makes of several tokens (DeepSeek V4), have their positions as texts. Raises ValueError where
    there is none.
    """
    tokens, keys = tokens or run.tokens, keys or run.keys
    if tokens is None:
        raise ValueError("there must be a token for each query, as `show(run, tokens)`")
    asked = [one for one in run.attentions if layer in (None, "all", one.number, one.name)]
    if keys is None and not any(one.shape[2:] == 2 * (len(tokens),) for one in asked):
        further = (one.shape[3] for one in asked if _own_keys_are_first(one, len(tokens)))
        names = range(len(tokens), next(further, len(tokens)))
        keys = [*tokens, *(f"key {at}" for at in names)] if names else None
    expected = len(tokens), len(tokens if keys is None else keys)
    fitting = [kept for kept in run.attentions if kept.shape[2:] == expected]
    chosen = [kept for kept in fitting if kept in asked]
    if not chosen or not 0 <= query < len(tokens):
        there = ", ".join(
            f"{one.number} ({one.shape[2]}, {one.shape[3]})" for one in run.attentions
        )
        raise ValueError(
            f"tokens and keys must be as many as queries and keys of a layer, {there}, and query "
            f"one of them, got {expected[0]}, {expected[1]} and {query}"
        )
    first = chosen[0]
    others = [kept for kept in fitting if kept is not first and kept.heads == first.heads]
    return FittingRun(run, (first, *others), list(tokens), None if keys is None else list(keys))
