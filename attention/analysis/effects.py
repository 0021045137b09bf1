"""Effects on a model's output when one of its layers is changed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis.interventions import Change, hidden
from attention.trained.models import Model, Run

MAX_PIECES_UNASKED = 64  # up to which all heads of a layer are cut out unasked


@torch.no_grad()
def changed_output(
    model: Model, run: Run, position: int, output: Tensor, kept: Tensor | slice = slice(None)
) -> Tensor:
    """Output of the model if the heads of a layer put out something else. (pieces, d_model).

    The heads of the layer at `position` put out `output` (heads, kept pieces, d_v) at the pieces
    `kept`; at all others they put out what they were trained to.
    """
    pieces: Sequence[int] = torch.arange(len(run.inputs[position].x))[kept].tolist()
    return hidden(model, run, [[Change(position, "output", output, positions=pieces)]])[0]


def cosines_to_trained(run: Run, states: Tensor) -> Tensor:
    """Of each last hidden state the cosine between another one and the trained one. (pieces,)."""
    return cosine_similarity(states, run.hidden, dim=-1)


@torch.no_grad()
def without_each(model: Model, run: Run, position: int) -> Tensor:
    """Cosines of the last hidden states with and without each head of a layer. (heads, pieces).

    A head is cut out by leaving out what it adds (Michel et al. 2019, section 2.3).
    """
    heads = range(model.layers[position].attention.heads)
    found = hidden(model, run, [[Change(position, heads=[head])] for head in heads])
    return cosine_similarity(found, run.hidden, dim=-1)
