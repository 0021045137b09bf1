"""Attention over a batch whose queries, keys and values are given as numbers."""

from __future__ import annotations

import torch

from attention.core.functional import Projected, drop
from attention.core.masks import lengths
from attention.core.settings import Config
from attention.core.variants import DotProduct
from attention.figures.matrix import MatrixError
from attention.figures.stacks import read_numbers
from attention.pipeline import Settings
from attention.subjects.two_sequences.words import (
    MAX_SENTENCES,
    Batch,
    CrossSettings,
    usable_lens,
)


def given_batch(settings: Settings, cross: CrossSettings) -> Batch:
    """The batch that the texts of queries (batch, queries, d_k), keys (batch, keys, d_k) and values
    (batch, keys, d_v) write, after dropout.

    A variant that would make them by matrices of its own gives way to dot products, with a note.
    Raises MatrixError where they do not fit together.
    """
    queries = read_numbers("queries", cross.given_q)
    keys = read_numbers("keys", cross.given_k)
    values = read_numbers("values", cross.given_v)
    batch, n_queries, d_k = queries.shape
    if batch > MAX_SENTENCES:
        raise MatrixError(f"a batch has at most {MAX_SENTENCES} sequences here, got {batch}")
    if (len(keys), keys.shape[2]) != (batch, d_k):
        raise MatrixError(f"keys must be ({batch}, keys, {d_k}), got {tuple(keys.shape)}")
    n_keys = keys.shape[1]
    if values.shape[:2] != keys.shape[:2]:
        raise MatrixError(f"values must be ({batch}, {n_keys}, d_v), got {tuple(values.shape)}")
    notes: list[str] = []
    layer = settings.variant_layer(d_k)
    if layer.projections:
        notes.append(
            f"{layer.title} makes queries, keys and values by matrices. These are given, so that "
            "their dot products are the scores."
        )
        layer = DotProduct(Config(d_k))
    every = torch.full((batch,), n_keys)
    lens = usable_lens(cross.given_lens, every, n_queries, n_keys, notes)
    projected = Projected(queries[:, None], keys[:, None], values[:, None])
    with torch.no_grad():
        run = layer.sliced(projected, lengths(lens, n_keys), scale=settings.scale_factor)
        trace = run(slice(None), slice(None)).head(0)
    generator = torch.Generator().manual_seed(cross.dropout_seed)
    return Batch(
        titles=("",) * batch,
        queries=tuple(f"q{row}" for row in range(n_queries)),
        keys=(tuple(f"k{row}" for row in range(n_keys)),) * batch,
        own=every,
        valid_lens=lens,
        trace=drop(trace, cross.dropout, generator),
        notes=tuple(notes),
    )
