"""The parts that stand around attention: norms, feed-forward, what recurs in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from attention.core.functional import linear

Activation = Callable[[Tensor], Tensor]


class Norm(Protocol):
    """A norm of vectors, (…, d_model) -> the same shape."""

    def __call__(self, x: Tensor) -> Tensor: ...

    def split(self, parts: Tensor, total: Tensor) -> Tensor:
        """Pass each part of a sum through the norm, all divided by the spread of the sum.

        parts (…, d_model) add up to total (…, d_model). What it makes of them adds up to the norm
        of total, less its bias (Kobayashi et al. 2021).
        """
        ...


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """Layer normalisation (Ba et al. 2016). weight, bias: (d_model,)."""

    weight: Tensor
    bias: Tensor | None
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)

    def split(self, parts: Tensor, total: Tensor) -> Tensor:
        spread = (total.var(-1, correction=0, keepdim=True) + self.eps).sqrt()
        return (parts - parts.mean(-1, keepdim=True)) / spread * self.weight


@dataclass(frozen=True, eq=False)
class Norms:
    """Places of norms around attention or feed-forward f: `after(x + f(before(x)))`.

    before: Radford et al. 2019; after: Vaswani et al. 2017, section 3.1. None: there is none.
    """

    before: Norm | None = None
    after: Norm | None = None


def through(norm: Norm | None, x: Tensor) -> Tensor:
    """x after a norm, x itself where there is none. (…, d_model)."""
    return x if norm is None else norm(x)


@dataclass(frozen=True, eq=False)
class FeedForward:
    """`activation(x W_1 + b_1) W_2 + b_2` (Vaswani et al. 2017, eq. 2).

    W_1: (d_model, hidden); W_2: (hidden, d_model).
    """

    W_1: Tensor
    b_1: Tensor | None
    W_2: Tensor
    b_2: Tensor | None
    activation: Activation

    def __call__(self, x: Tensor) -> Tensor:
        """(…, d_model) -> the same shape."""
        return linear(self.activation(linear(x, self.W_1, self.b_1)), self.W_2, self.b_2)


@dataclass(frozen=True, eq=False)
class GatedFeedForward:
    """`(activation(x W_gate + b_gate) · (x W_1 + b_1)) W_2 + b_2` (Shazeer 2020, eq. 6, which has
    no biases).

    W_gate, W_1: (d_model, hidden); W_2: (hidden, d_model).
    """

    W_gate: Tensor
    W_1: Tensor
    W_2: Tensor
    activation: Activation
    b_gate: Tensor | None = None
    b_1: Tensor | None = None
    b_2: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """(…, d_model) -> the same shape."""
        gate = self.activation(linear(x, self.W_gate, self.b_gate))
        return linear(gate * linear(x, self.W_1, self.b_1), self.W_2, self.b_2)


@dataclass(frozen=True, eq=False)
class Recurrence:
    """The simpler simple recurrent unit, SSRU, in place of self-attention (Kim et al. 2019).

    f = sigmoid(x W_f + b_f), c = f · c before + (1 - f) · (x W), output = norm(x + relu(c)).
    W, W_f: (d_model, d_model).
    """

    W: Tensor
    W_f: Tensor
    b_f: Tensor
    norm: Norm

    def __call__(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (…, tokens, d_model) -> the same shape, and the c after the last token, (…, d_model).

        state: the c before the first token, None: zeros.
        """
        forget = linear(x, self.W_f, self.b_f).sigmoid()
        added = (1 - forget) * linear(x, self.W)
        state = torch.zeros_like(x[..., 0, :]) if state is None else state
        states = []
        for kept, new in zip(forget.unbind(-2), added.unbind(-2), strict=True):
            state = kept * state + new
            states.append(state)
        return self.norm(x + torch.stack(states, -2).relu()), state


ACTIVATIONS: dict[str, Activation] = {
    "gelu": nn.functional.gelu,
    "gelu_new": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "relu": torch.relu,
    "swish": nn.functional.silu,
    "silu": nn.functional.silu,
}
