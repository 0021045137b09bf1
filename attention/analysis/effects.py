"""What becomes of a model's output where one of its layers is changed."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.core.functional import Trace
from attention.trained.models import Model, Run

MAX_PIECES_AT_ONCE = 64  # up to which all heads are cut out in one go, then fewer


@torch.no_grad()
def moved(
    model: Model, run: Run, position: int, output: Tensor, kept: Tensor | slice = slice(None)
) -> Tensor:
    """How far the changed heads of a layer move what comes out of the model. (pieces,).

    Of each last hidden state the cosine between the trained one and the one that comes out if the
    heads of the layer at `position` put out `output` (heads, kept pieces, d_v) at the pieces
    `kept`; at all others they put out what they were trained to.
    """

    def edit(layer: int, trace: Trace) -> Trace:
        changed = trace.output.clone()
        changed[:, kept] = output
        return replace(trace, output=changed)

    hidden = model.hidden(run.batch, edit=edit, layers=(position,), start=run.start(position))
    return cosine_similarity(hidden, run.hidden, dim=-1)


@torch.no_grad()
def without_each(model: Model, run: Run, position: int) -> Tensor:
    """Cosines of the last hidden states with and without each head of a layer. (heads, pieces).

    A head is cut out by leaving out what it adds (Michel et al. 2019, section 2.3).
    """
    start = run.start(position)
    others = ~torch.eye(run.inputs[position].layer.attention.heads, dtype=torch.bool)

    def hidden(kept: Tensor) -> Tensor:
        def edit(layer: int, trace: Trace) -> Trace:
            return replace(trace, output=trace.output * kept[..., None, None])

        return model.hidden(run.batch, edit=edit, layers=(position,), start=start)

    at_once = max(1, len(others) * MAX_PIECES_AT_ONCE // len(start.x))
    found = torch.cat([hidden(kept) for kept in others.split(at_once)])
    return cosine_similarity(found, run.hidden, dim=-1)
