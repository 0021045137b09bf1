"""Mixing of tokens by layers: attention beside a linear layer and a recurrent network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attention.figures.matrix import Matrix
from attention.inputs.vectors import random_vectors
from attention.subjects.identities.claim import (
    Case,
    Check,
    ClaimResult,
    Row,
    Table,
    compared,
    self_attention,
    separated,
    weight_rounding,
    weights_of,
)

FORMULA = (
    r"\begin{gathered} \left\lVert \frac{\partial y_i}{\partial x_j} \right\rVert_F "
    r"\quad\text{for}\quad \underbrace{y = \operatorname{softmax}(\cdot)\, X W_v}"
    r"_{\text{attention}} \\ \underbrace{y = B\, X W_v}_{\text{linear layer}} \quad "
    r"\underbrace{y_i = \tanh(x_i W_v + y_{i-1} U)}_{\text{RNN}} \end{gathered}"
)


def measured(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Measure how strongly each output depends on each input: `‖∂y_i/∂x_j‖_F`, by autograd.

    layer: (n, d) -> (n, d_out); x: (n, d). Returns (n outputs, n inputs).
    """
    x = x.detach().requires_grad_()
    y = layer(x)
    each = torch.eye(y.numel()).view(-1, *y.shape)
    (jacobian,) = torch.autograd.grad(y, x, each, is_grads_batched=True)
    return jacobian.view(*y.shape, *x.shape).square().sum((1, 3)).sqrt()


def recurrent(x: Tensor, W: Tensor, U: Tensor) -> Tensor:
    """`h_i = tanh(x_i W + h_{i-1} U)`, from h = 0 (Elman 1990). x: (n, d); returns (n, d_h)."""
    states = []
    state = x.new_zeros(U.shape[0])
    for step in x @ W:
        state = (step + state @ U).tanh()
        states.append(state)
    return torch.stack(states)


def path_lengths(n: int) -> dict[str, list[float | str | None]]:
    """Through how many steps each layer passes from one token's x to another's y.

    Attention and the linear layer read every x in one step. The network takes x in by one step
    and hands it on by one a token, never back (Vaswani et al. 2017, table 1).
    """
    last = n - 1
    return {
        "first to last": ["1", "1", str(1 + last)],
        "last to first": ["1", "1", "no way" if last else "1"],
    }


def swap(x: Tensor) -> list[int]:
    """The order of rows with the first changed for the last one that differs from it."""
    order = list(range(len(x)))
    other = next((i for i in reversed(order) if not torch.equal(x[i], x[0])), 0)
    order[0], order[other] = order[other], order[0]
    return order


def influence(case: Case) -> ClaimResult:
    """The influences measured, and the mixing weights before and after two words are swapped."""
    x, names, n = case.x, case.names, len(case.x)
    W_q, W_k, W_v, U = case.parameters((case.d_k, case.d_k))
    mixing = random_vectors([f"position {i}" for i in range(n)], n, case.seed).x.softmax(-1)
    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "attention": lambda x: self_attention(x, W_q, W_k, W_v),
        "linear layer": lambda x: mixing @ (x @ W_v),
        "RNN": lambda x: recurrent(x, W_v, U),
    }
    influences = [
        Matrix(name, measured(layer, x), names, names, kind="share")
        for name, layer in layers.items()
    ]

    order = swap(x)
    swapped = [names[i] for i in order]
    before = Matrix("A", weights_of(x, W_q, W_k), names, names, kind="share")
    after = Matrix("A, swapped", weights_of(x[order], W_q, W_k), swapped, swapped, kind="share")
    fixed = Matrix("B", mixing, names, names, kind="share")
    still = Matrix("B, swapped", mixing, swapped, swapped, kind="share")

    def undone(of: Matrix) -> Matrix:
        """Rows and columns back in the order of the sentence; swapping twice changes nothing."""
        numbers = of.numbers[order][:, order]
        return Matrix(f"{of.name}, undone", numbers, names, names, kind="share")

    back, still_back = undone(after), undone(still)
    return ClaimResult(
        "Attention’s weights go with the words.",
        FORMULA,
        "In attention and in a linear layer every token reaches every other in one step; only "
        "attention looks at the words first. A recurrent network reads from left to right.",
        [
            Row(
                "How strongly each new vector (row) depends on each input vector (column), "
                "measured.",
                separated(influences, ""),
            ),
            Table("Steps on the way from one token to another.", list(layers), path_lengths(n)),
            Row(
                "Attention’s weights before and after two words change places.",
                [before, "→", after],
            ),
            compared(
                "With rows and columns put back, they are the same.",
                before,
                back,
            ),
            Row("The linear layer’s weights, for the same two sentences.", [fixed, "→", still]),
            compared(
                "Put back in the same way, they differ: these weights stayed at their positions.",
                fixed,
                still_back,
            ),
        ],
        [
            Check(
                "attention’s weights, the exchange undone",
                before,
                back,
                weight_rounding(x, W_q, W_k),
            ),
            Check(
                "the linear layer’s weights, the exchange undone",
                fixed,
                still_back,
                0.0,
                equal=False,
            ),
        ],
        case.given(W_q=W_q, W_k=W_k, W_v=W_v, U=U),
    )
