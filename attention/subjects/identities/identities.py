"""Claims about attention that one can check: each computes both of its sides and compares them.

`CLAIMS` is the registry; the menu, the page and the tests follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.core import functional, masks
from attention.core.positions import sinusoidal
from attention.core.settings import choice, decimal, seed_setting, text, whole
from attention.figures.matrix import Matrix
from attention.inputs.vectors import random_vectors
from attention.subjects.identities import influence, mistakes
from attention.subjects.identities.claim import (
    EPSILON,
    Case,
    Check,
    ClaimResult,
    Row,
    Table,
    compared,
    output_rounding,
    rounding,
    self_attention,
    separated,
)

MAX_TOKENS = 24
ALL = "all"


def claim_names() -> tuple[str, ...]:
    """Names in the menu of claims: all as cards, then each."""
    return (ALL, *CLAIMS)


def claim_titles() -> dict[str, str]:
    """Titles of claims in a search."""
    return {name: f"{name.capitalize()}; identity, proof" for name in CLAIMS}


@dataclass(frozen=True)
class ClaimSettings:
    """Settings of the page "Identities", besides the sentence."""

    claim: str = choice(ALL, "Claim", claim_names, names=claim_titles)
    source: str = choice(
        "random",
        "X from",
        ("random", "sentence"),
        help="random: a few random numbers, all in sight. sentence: its word vectors.",
    )
    tokens: int = whole(3, "Tokens", 1, MAX_TOKENS, when=("source", "random"))
    width: int = whole(5, "d_model", 1, 64, when=("source", "random"))
    claim_d_k: int = whole(2, "d_k", 1, 32, help="Width of queries, keys and values.")
    claim_seed: int = seed_setting()
    mistake: str = choice(
        "values",
        "Mistake",
        tuple(mistakes.MISTAKES),
        when=("claim", "mistakes"),
        help="values: averages x. fill: masks with 0, or another number. count: scales by all "
        "numbers. tanh: leaves it out.",
    )
    pads: int = whole(1, "Padding", 0, MAX_TOKENS - 1, when=("mistake", "fill"))
    fill: float = decimal(
        0.0,
        "Filled with",
        -1e10,
        1e10,
        1.0,
        exact=True,
        when=("mistake", "fill"),
        help="The score that padding gets by mistake.",
    )
    guesses: str = text("", "Guesses", 32, when=("claim", ALL))


def random_case(settings: ClaimSettings) -> Case:
    """The case of random vectors, one name per row."""
    names = numbered("x", settings.tokens)
    return case_of(settings, random_vectors(names, settings.width, settings.claim_seed).x, names)


def case_of(settings: ClaimSettings, x: Tensor, names: Sequence[str]) -> Case:
    """The case of these vectors (n, d_model). Raises ValueError when x is empty or misnamed."""
    return Case(
        x=x,
        names=names,
        d_k=settings.claim_d_k,
        seed=settings.claim_seed,
        mistake=settings.mistake,
        pads=settings.pads,
        fill=settings.fill,
    )


def numbered(letter: str, count: int) -> list[str]:
    """Names for what has no words: x₀, x₁, …"""
    return [letter + "".join(chr(ord("₀") + int(d)) for d in str(i)) for i in range(count)]


def other_input(case: Case) -> Matrix:
    """Another input of the same shape, of random numbers."""
    names = numbered("x′", len(case.x))
    return Matrix("X′", random_vectors(names, case.x.shape[1], case.seed).x, names)


# Scaling


def scalings(queries: Tensor, keys: Tensor) -> dict[str, Tensor]:
    """Four ways to scaled scores (n, n). queries, keys: (n, d_k)."""
    d_k = queries.shape[-1]
    root, fourth = math.sqrt(d_k), d_k**0.25
    return {
        "q·k / √d_k": queries @ keys.T / root,
        "(q / √d_k)·k": (queries / root) @ keys.T,
        "q·(k / √d_k)": queries @ (keys / root).T,
        "(q / d_k^¼)·(k / d_k^¼)": (queries / fourth) @ (keys / fourth).T,
    }


def _scale(case: Case) -> ClaimResult:
    W_q, W_k, _ = case.parameters()
    queries, keys = case.x @ W_q, case.x @ W_k
    ways = [
        case.matrix(name, scores, square=True) for name, scores in scalings(queries, keys).items()
    ]
    allowed = 2 * rounding(queries, keys.T) / math.sqrt(case.d_k)  # the scale is a product too
    return ClaimResult(
        "It does not matter where you scale.",
        r"\frac{q \cdot k}{\sqrt{d_k}} = \frac{q}{\sqrt{d_k}} \cdot k = q \cdot "
        r"\frac{k}{\sqrt{d_k}} = \frac{q}{\sqrt[4]{d_k}} \cdot \frac{k}{\sqrt[4]{d_k}}",
        "In a product, a factor may stand anywhere.",
        [Row("Four ways to the same scores.", separated(ways, "="))],
        [Check(f"{way.name} and {ways[0].name}", way, ways[0], allowed) for way in ways[1:]],
        [
            *case.given(W_q=W_q, W_k=W_k),
            case.matrix("Q", queries),
            case.matrix("K", keys),
        ],
    )


# One matrix for two


def merged(W_q: Tensor, W_k: Tensor) -> tuple[Tensor, int]:
    """`W_q W_kᵀ` (d_model, d_model), and how many of its singular values are not rounding.

    W_q, W_k: (d_model, d_k).
    """
    both = (W_q.double() @ W_k.double().T).float()
    rank = torch.linalg.matrix_rank(both.double(), rtol=len(both) * EPSILON)
    return both, int(rank)


def _merge(case: Case) -> ClaimResult:
    x, names = case.x, case.names
    W_q, W_k, _ = case.parameters()
    both, rank = merged(W_q, W_k)
    other = other_input(case)
    scores = functional.dot_scores(x @ W_q, x @ W_k)
    again = functional.dot_scores(other.numbers @ W_q, other.numbers @ W_k)
    solved = torch.linalg.lstsq(x.double(), scores.double(), driver="gelsd").solution.float()

    def of_other(name: str, numbers: Tensor) -> Matrix:
        return Matrix(name, numbers, other.row_names, other.row_names)

    here = case.matrix("(X W_q)(X W_k)ᵀ", scores, square=True)
    there = of_other("(X′ W_q)(X′ W_k)ᵀ", again)
    here_merged = case.matrix("X M Xᵀ", x @ both @ x.T, square=True)
    there_merged = of_other("X′ M X′ᵀ", other.numbers @ both @ other.numbers.T)
    here_solved = case.matrix("X Z", x @ solved, square=True)
    there_solved = Matrix("X′ Z", other.numbers @ solved, other.row_names, other.row_names)
    allowed = rounding(x, W_q, W_k.T, x.T)
    allowed_there = rounding(other.numbers, W_q, W_k.T, other.numbers.T)
    solving = rounding(x, solved) + allowed
    d_model = len(both)
    return ClaimResult(
        "One matrix can do the work of two.",
        r"(X W_q)(X W_k)^\top = X\,\underbrace{W_q W_k^\top}_{M}\,X^\top, \qquad "
        r"\operatorname{rank} M \le d_k",
        "Only parameters stand between X and Xᵀ, so they merge into one matrix M for every input. "
        "A matrix Z that solves X Z = scores serves this input only: X itself is part of it.",
        [
            compared("Two matrices or one, the same scores.", here, here_merged),
            Row(
                f"M is {d_model} × {d_model} and of rank {rank}; d_k is {case.d_k}.",
                [Matrix("W_q", W_q), "×", Matrix("W_kᵀ", W_k.T), "=", Matrix("M", both)],
            ),
            compared("Z solves X Z = scores for this X.", here, here_solved),
            compared("For another input X′ the same Z is of no use.", there, there_solved),
            compared("M carries over.", there, there_merged),
        ],
        [
            Check("with M, for X", here, here_merged, allowed),
            Check("with Z, for X", here, here_solved, solving),
            Check("with Z, for X′", there, there_solved, solving + allowed_there, equal=False),
            Check("with M, for X′", there, there_merged, allowed_there),
        ],
        [
            Matrix("X", x, names),
            other,
            Matrix("W_q", W_q),
            Matrix("W_k", W_k),
            Matrix("Z", solved, (), names),
        ],
    )


# Order


def permutation(n: int, seed: int) -> list[int]:
    """A random order of n rows, and not the one they are in, unless there is but one."""
    order: list[int] = random_vectors(["order"], n, seed).x[0].argsort().tolist()
    return order if order != list(range(n)) else order[1:] + order[:1]


def _permute(case: Case) -> ClaimResult:
    x, n = case.x, len(case.x)
    W_q, W_k, W_v = case.parameters()
    order = permutation(n, case.seed)
    names = [case.names[i] for i in order]
    mask, positions = masks.causal(n, n), sinusoidal(*x.shape)

    rows, checks = [], []
    for caption, label, added, hiding, equal in (
        ("Attention alone: order makes no difference.", "attention alone", None, None, True),
        (
            "A causal mask breaks it: the first word sees only itself.",
            *("with a causal mask", None, mask, False),
        ),
        (
            "Positions break it: a word elsewhere is another vector.",
            *("with positions", positions, None, False),
        ),
    ):
        before, after = (x, x[order]) if added is None else (x + added, x[order] + added)
        left = Matrix("attention(P X)", self_attention(after, W_q, W_k, W_v, hiding), names)
        right = Matrix(
            "P attention(X)", self_attention(before, W_q, W_k, W_v, hiding)[order], names
        )
        allowed = output_rounding(before, W_q, W_k, W_v)
        rows.append(compared(caption, left, right))
        checks.append(Check(label, left, right, allowed, equal))
    moves = Table(
        "P takes the rows in another order.",
        names,
        {"row now": [str(i) for i in range(n)], "row before": [str(i) for i in order]},
    )
    return ClaimResult(
        "Shuffled words give the same outputs, shuffled.",
        r"\operatorname{attention}(P X) = P \operatorname{attention}(X)",
        "Each query adds up what it finds, and a sum has no order. So attention alone sees a bag "
        "of words: something else has to tell it their order.",
        [*rows, moves],
        checks,
        [
            *case.given(W_q=W_q, W_k=W_k, W_v=W_v),
            case.matrix("positions", positions),
        ],
    )


# Shapes


def _leading(case: Case) -> ClaimResult:
    parameters = case.parameters()
    roles = queries, keys, values = [case.x @ W for W in parameters]
    other = other_input(case).numbers
    pairs = [
        torch.stack([other @ W, role]) for W, role in zip(parameters, roles, strict=True)
    ]  # (2, n, d_k)
    stacks: dict[str, tuple[list[Tensor], tuple[int, ...]]] = {
        "2-D": (roles, ()),
        "3-D": ([role[None] for role in roles], (0,)),
        "4-D": ([role[None, None] for role in roles], (0, 0)),
        "4-D, among others": ([torch.stack([2 * two, two, -two]) for two in pairs], (1, 1)),
    }
    shown: list[Matrix] = []
    columns: dict[str, list[str]] = {"queries": [], "scores": [], "output": []}
    for name, (some, index) in stacks.items():
        trace = functional.attend(*some)
        shown.append(case.matrix(f"{name} {list(index) or ''}".strip(), trace.output[index]))
        shapes = (trace.queries.shape, trace.scores.shape, trace.output.shape)
        for column, shape in zip(columns.values(), shapes, strict=True):
            column.append(" × ".join(map(str, shape)))
    weights = 2 * rounding(queries, keys.T) / math.sqrt(case.d_k) + 8 * EPSILON
    allowed = [0.0, 0.0, weights * float(values.abs().max())]
    return ClaimResult(
        "Heads never meet, nor do the sentences of a batch.",
        r"\operatorname{attention}(Q, K, V)_{b,h} = "
        r"\operatorname{attention}(Q_{b,h},\, K_{b,h},\, V_{b,h})",
        "Attention works on the last two dimensions; batch and heads stand before them.",
        [
            Row("The output for the same queries, keys and values.", separated(shown, "=")),
            Table("Shapes: what is before the last two stays as it is.", list(stacks), columns),
        ],
        [
            Check(f"{some.name} and {shown[0].name}", some, shown[0], most)
            for some, most in zip(shown[1:], allowed, strict=True)
        ],
        [
            case.matrix("X", case.x),
            *(case.matrix(name, role) for name, role in zip("QKV", roles, strict=True)),
        ],
    )


CLAIMS: dict[str, Callable[[Case], ClaimResult]] = {
    "scale": _scale,
    "merge": _merge,
    "permute": _permute,
    "leading": _leading,
    "influence": influence.influence,
    "mistakes": mistakes.mistake,
}


def check_claim(claim: str, case: Case) -> ClaimResult:
    """Check the claim of that name. Raises ValueError when there is none."""
    if claim not in CLAIMS:
        raise ValueError(f"claim must be one of {', '.join(CLAIMS)}, got {claim!r}")
    return CLAIMS[claim](case)
