"""Mixing of tokens by layers: attention beside other layers, and attention on top of attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from attention.core.functional import attend
from attention.core.papers import ARXIV
from attention.core.printing import percent
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

SMALL = 0.01
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
        "In attention and in a linear layer every token reaches every other in one step. Only "
        "attention looks at the words first, then decides how much. A recurrent network reads from "
        "left to right: nothing comes back, and a far word passes through all words between.",
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
                "With rows and columns put back, they are the same: the weights went with the "
                "words.",
                before,
                back,
            ),
            Row("The linear layer’s weights, for the same two sentences.", [fixed, "→", still]),
            compared(
                "Put back in the same way, they differ: the weights stayed at their positions, "
                "whatever word stands there.",
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


def cosines(x: Tensor) -> Tensor:
    """The cosine between any two rows of x (n, d); 0 for rows of zeros. Returns (n, n)."""
    directions = normalize(x.double(), dim=-1)
    return (directions @ directions.T).float()


def mean_cosine(x: Tensor) -> float | None:
    """The mean cosine of two different rows of x (n, d); None where there is but one row."""
    n = len(x)
    above = cosines(x).double()[torch.ones(n, n).triu(1).bool()]
    return float(above.mean()) if n > 1 else None


def singular_values(x: Tensor) -> Tensor:
    """Singular values of x (n, d) in float64, greatest first; 0 where rounding is all there is."""
    singular: Tensor = torch.linalg.svdvals(x.double())
    noise = max(x.shape) * torch.finfo(torch.float64).eps * singular[0]
    return singular * (singular > noise)


def stack(case: Case) -> ClaimResult:
    """Attention applied to its own output, again and again."""
    W_q, W_k, _ = case.parameters()
    layers = [case.x]
    for _ in range(case.repeats):
        x = layers[-1]
        layers.append(attend(x @ W_q, x @ W_k, x).output)
    singular = [singular_values(x) for x in layers]
    columns: dict[str, list[float | str | None]] = {
        "mean cosine of two rows": [mean_cosine(x) for x in layers],
        "σ₂ / σ₁": [float(s[1] / s[0]) if len(s) > 1 and s[0] else None for s in singular],
        "rank": [str(int((s > SMALL * s[0]).sum())) for s in singular],
        "rows apart at most": [float((x.amax(0) - x.amin(0)).max()) for x in layers],
    }
    first, last = (case.matrix("cosines", cosines(x), square=True) for x in (layers[0], layers[-1]))
    after = case.matrix(f"X after {case.repeats} ×", layers[-1])
    times = "time" if case.repeats == 1 else "times"
    return ClaimResult(
        "Attention on attention makes all words alike.",
        r"X^{(t+1)} = \operatorname{softmax}\!\Bigl(\tfrac{X^{(t)} W_q (X^{(t)} W_k)^\top}"
        r"{\sqrt{d_k}}\Bigr) X^{(t)}",
        "Each output is an average of the rows, so all rows move towards each other. In the end "
        f"every token has the same vector ([Dong et al. 2021]({ARXIV}2103.03404)). Residual paths "
        "and other layers keep real models from it.",
        [
            Row(
                f"The cosines between rows, before and after attention is applied {case.repeats} "
                f"{times}.",
                [first, "→", last],
            ),
            Row("The rows themselves.", [case.matrix("X", case.x), "→", after]),
            Table(
                "How alike the rows are. The rank counts singular values above "
                f"{percent(SMALL)} of the greatest.",
                [f"{t} ×" for t in range(len(layers))],
                columns,
            ),
        ],
        [],
        case.given(W_q=W_q, W_k=W_k),
    )
