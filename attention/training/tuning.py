"""Tuning of a known model by changes of a low rank, LoRA (Hu et al. 2022).

`tune` learns to answer some sentences; `Tuned` is a model after some steps, and its adapter a file
that PEFT reads too, see `trained.adapters`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attention.changing.answers import piece_id
from attention.core.arguments import must_be
from attention.trained.adapters import Adapter
from attention.trained.models import Padded, Transformer

MODULES = ("q_proj", "k_proj", "v_proj")  # W_q, W_k, W_v of Llama and what was made after it
RANK = 4


class LowRank(nn.Module):
    """Changes B A of matrices, which learn; at first they change nothing, as B is 0.

    shapes: of the matrices, (d_out, d_in), by their names in a checkpoint; across: if they are
    stored the other way; A (rank, d_in) is drawn
    between ±1/√d_in by the generator, as PEFT does.
    """

    def __init__(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        rank: int,
        generator: torch.Generator,
        across: bool = False,
    ) -> None:
        super().__init__()
        self.names, self.across, A, B = [*shapes], across, [], []
        for d_out, d_in in shapes.values():
            A.append((2 * torch.rand(rank, d_in, generator=generator) - 1) / d_in**0.5)
            B.append(torch.zeros(d_out, rank))
        self.A, self.B = nn.ParameterList(A), nn.ParameterList(B)

    def adapter(self) -> Adapter:
        """The changes as they are, with gradients where these are on."""
        factors = dict(zip(self.names, zip(self.A, self.B, strict=True), strict=True))
        return Adapter(factors, 1.0, self.across)


@dataclass(frozen=True, eq=False)
class Tuned:
    """A model after some steps of a tuning.

    loss: cross-entropy of the answers, in nats, the mean over all sentences; model: the base with
    the adapter upon it.
    """

    step: int
    loss: float
    adapter: Adapter
    model: Transformer


def tune(
    base: Transformer,
    sentences: Sequence[tuple[str, str]],
    *,
    steps: int = 12,
    rate: float = 0.001,
    rank: int = RANK,
    layers: Collection[int] | None = None,
    modules: Collection[str] = MODULES,
    seed: int = 0,
) -> Iterator[Tuned]:
    """Tune a model to answer sentences, and give its state before the first step and after each.

    sentences: each with the word that is to follow, with its blank: a text that the model has as
    one piece; layers: those that change, None = all; modules: the matrices of each, by the last
    part of their names. Each step is over all sentences, by AdamW (Loshchilov & Hutter 2019) with
    one rate and no decay.
    Raises ValueError where there is no such matrix, an answer is not one piece, or the model was
    not trained to go on.
    """
    must_be("base", base, Transformer)
    shapes = matrices(base, layers, modules)
    generator = torch.Generator().manual_seed(seed)
    network = LowRank(shapes, rank, generator, base.stored.across)
    optimiser = torch.optim.AdamW(network.parameters(), rate, weight_decay=0.0)
    batch = Padded.of([base.pieces(text) for text, _ in sentences])
    answers = torch.tensor([piece_id(base, word) for _, word in sentences])
    for step in range(steps + 1):
        with torch.enable_grad():
            loss = cross_entropy(last_scores(network.adapter().upon(base), batch), answers)
        with torch.no_grad():
            factors = network.adapter().factors.items()
            copied = {name: (A.clone(), B.clone()) for name, (A, B) in factors}
            adapter = Adapter(copied, 1.0, network.across)
            model = adapter.upon(base)
        yield Tuned(step, float(loss.detach()), adapter, model)
        if step < steps:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def matrices(
    base: Transformer, layers: Collection[int] | None, modules: Collection[str]
) -> dict[str, tuple[int, ...]]:
    """Shapes (d_out, d_in) of the matrices of these modules in layers, None = all, by their names.

    Raises ValueError where there are none.
    """
    shapes = {
        name: tuple(reversed(tensor.shape)) if base.stored.across else tuple(tensor.shape)
        for name, tensor in base.stored.tensors.items()
        if tensor.dim() == 2 and name.removesuffix(".weight").rpartition(".")[2] in modules
        if layers is None or any(part == str(layer) for part in name.split(".") for layer in layers)
    }
    if not shapes:
        raise ValueError(f"modules must name matrices of {base.about.title}, got {[*modules]}")
    return shapes


def last_scores(model: Transformer, batch: Padded) -> Tensor:
    """Scores of the piece that follows each sentence. (sentences, vocabulary)."""
    states = model.hidden(batch)
    assert batch.mask is not None
    return model.scores(states[torch.arange(len(states)), batch.mask.sum(-1) - 1])
