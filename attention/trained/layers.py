"""A layer of a trained model: its attention, and what stands around it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from attention.core import masks
from attention.core.functional import Some, Trace, linear, merge_heads
from attention.core.settings import Config
from attention.core.variants import DotScores, MultiHead

Activation = Callable[[Tensor], Tensor]

MAX_AT_ONCE = 1 << 18  # cells of some heads that are worked out at once


@dataclass(frozen=True)
class TrainedConfig(Config):
    """What a trained layer is built with; none of it can be set."""

    heads: int = 1


class TrainedAttention(DotScores):
    """Multi-head attention with the parameters a model has learned, biases included.

    parameters: W_q, W_k, W_v, W_o, each (d_in, d_out), and their biases b_q, b_k, b_v, b_o where
    there are any. They are buffers: memory they share with the model's file is not this layer's.
    """

    name = "trained"
    title = "Trained multi-head attention"
    formula = (
        r"s^h_{ij} = (x_i W_q^h + b_q^h) \cdot (x_j W_k^h + b_k^h)"
        r" \\ y_i = b_o + \sum_h \sum_j w^h_{ij}\, (x_j W_v^h + b_v^h)\, W_o^h"
    )
    source = MultiHead.source
    published_scale = MultiHead.published_scale
    projections: ClassVar[dict[str, str]] = MultiHead.projections
    origin = "learned"

    W_o: Tensor

    def __init__(self, heads: int, parameters: Mapping[str, Tensor]) -> None:
        super().__init__(TrainedConfig(d_model=parameters["W_q"].shape[0], heads=heads))
        for name, parameter in parameters.items():
            self.register_buffer(name, parameter)

    def without(self, heads: Iterable[int]) -> TrainedAttention:
        """The same layer where these heads add nothing: their rows of W_o are 0.

        That is what multiplying their output by 0 does (Michel et al. 2019, section 2.2).
        """
        changed = copy.copy(self)
        changed._buffers = dict(self._buffers)
        rows = self.W_o.clone().unflatten(0, (self.heads, -1))
        rows[[*heads]] = 0.0
        changed.W_o = rows.flatten(0, 1)
        return changed


@dataclass(frozen=True, eq=False)
class Norm:
    """Layer normalisation (Ba et al. 2016). weight, bias: (d_model,)."""

    weight: Tensor
    bias: Tensor | None
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        """(…, d_model) -> the same shape."""
        return layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True, eq=False)
class FeedForward:
    """`activation(x W_1 + b_1) W_2 + b_2` (Vaswani et al. 2017, eq. 2).

    W_1: (d_model, hidden); W_2: (hidden, d_model).
    """

    W_1: Tensor
    b_1: Tensor
    W_2: Tensor
    b_2: Tensor
    activation: Activation

    def __call__(self, x: Tensor) -> Tensor:
        """(…, d_model) -> the same shape."""
        return linear(self.activation(linear(x, self.W_1, self.b_1)), self.W_2, self.b_2)


@dataclass(frozen=True, eq=False)
class LayerRun:
    """What one layer makes of its input, each (…, tokens, d_model).

    x: the input, which is also the residual path; attended: what the attention adds;
    joined = x + attended; fed: what the feed-forward adds; output: the next layer's input.
    """

    x: Tensor
    attended: Tensor
    joined: Tensor
    fed: Tensor
    output: Tensor


@dataclass(frozen=True, eq=False)
class Layer:
    """Attention with a residual path, layer norm and feed-forward around it.

    norm_first: whether the norms stand before attention and feed-forward (Radford et al. 2019)
    rather than after each sum (Vaswani et al. 2017, section 3.1). causal: whether the layer was
    trained with a causal mask. crosses: whether keys and values come from another sequence.
    """

    attention: TrainedAttention
    attention_norm: Norm
    feed_forward: FeedForward
    output_norm: Norm
    norm_first: bool = False
    causal: bool = False
    crosses: bool = False

    def attention_input(self, x: Tensor) -> Tensor:
        """What queries, keys and values are made of. (…, tokens, d_model)."""
        return self.attention_norm(x) if self.norm_first else x

    def mask(self, n_queries: int, n_keys: int) -> Tensor | None:
        """The mask the layer was trained with, (queries, keys), None without one."""
        return masks.causal(n_queries, n_keys) if self.causal else None

    def trace(self, x: Tensor, memory: Tensor | None = None) -> Trace:
        """Every step of its attention over the layer's input, as it was trained.

        x (…, queries, d_model); memory: (…, keys, d_model), where keys and values come from.
        """
        n_keys = x.shape[-2] if memory is None else memory.shape[-2]
        mask = self.mask(x.shape[-2], n_keys)
        made: Trace = self.attention(self.attention_input(x), mask, memory=memory)
        return made

    def some(self, x: Tensor, memory: Tensor | None = None) -> Some:
        """What gives the same of some queries and heads."""
        n_keys = (x if memory is None else memory).shape[-2]
        return self.attention.some(
            self.attention_input(x),
            self.mask(x.shape[-2], n_keys),
            memory=memory,
            scale=None,
            rotate=False,
            bias=lambda rows, heads: None,
        )

    def traces(self, x: Tensor, memory: Tensor | None = None) -> Iterator[Trace]:
        """The same, of some heads after the others where all at once would be large: what stays
        small is worked out in memory that is at hand."""
        n_keys = (x if memory is None else memory).shape[-2]
        some = self.some(x, memory)
        at_once = max(1, MAX_AT_ONCE // (x.shape[:-1].numel() * n_keys))
        for first in range(0, self.attention.heads, at_once):
            yield some(slice(None), slice(first, first + at_once))

    def attended(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """What its attention adds to x, as it was trained. (…, queries, d_model)."""
        outputs = [trace.output for trace in self.traces(x, memory)]
        joined = merge_heads(torch.cat(outputs, -3))
        return linear(joined, *self.attention.projection("output"))

    def run(self, x: Tensor, attended: Tensor) -> LayerRun:
        """What the layer makes of x, given what its attention adds."""
        joined = x + attended
        if self.norm_first:
            fed = self.feed_forward(self.output_norm(joined))
            return LayerRun(x, attended, joined, fed, joined + fed)
        normed = self.attention_norm(joined)
        fed = self.feed_forward(normed)
        return LayerRun(x, attended, joined, fed, self.output_norm(normed + fed))


ACTIVATIONS: dict[str, Activation] = {
    "gelu": nn.functional.gelu,
    "gelu_new": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "relu": torch.relu,
    "swish": nn.functional.silu,
    "silu": nn.functional.silu,
}
