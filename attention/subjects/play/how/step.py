"""Steps of a computation: what there is to step through, and what one step is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Generator, Tensor

from attention.core.functional import LongTrace, Trace, drop
from attention.core.settings import choice, same_as, whole
from attention.core.variants import Variant
from attention.figures.matrix import Matrix
from attention.figures.stacks import MAX_MATRICES
from attention.figures.working import Working
from attention.subjects.two_sequences.words import CrossSettings
from attention.trained.sources import NONE

ROLES = ("queries", "keys", "values")
NORMED, ROTATED = "normed", "rotated"
SYMBOLS = {"queries": "Q", "keys": "K", "values": "V"}
LETTERS = {"queries": "q", "keys": "k", "values": "v"}
# what queries and keys may go through before they meet
REFINED = tuple(f"{how} {role}" for how in (NORMED, ROTATED) for role in ROLES[:2])
WEIGHTS = ("weights", "mixed weights", "dropout")
STEPS = (
    *("x", *ROLES, *REFINED, "scores", "scaled", "mixed scores"),
    *("masked", "erased", "weights", "mixed weights", "dropout", "output", "joined"),
)
# under which a search finds them, the title first
SEARCHED = {
    "x": "Input x; word vectors, embeddings",
    "queries": "Queries; Q, W_q",
    "keys": "Keys; K, W_k",
    "values": "Values; V, W_v",
    "scores": "Scores; raw weights, QKᵀ, logits",
    "scaled": "Scaled scores; 1/√d_k",
    "masked": "Masked scores; −∞",
    "weights": "Weights; softmax, attention weights",
    "dropout": "Dropout of weights",
    "output": "Output; y, weighted sum, context vector",
    "joined": "Joined heads; W_o, concatenate, output projection",
}


@dataclass(frozen=True)
class StepSettings:
    """Settings of the stages of a computation; the row is that of the chosen word."""

    input: str = choice(
        "sentence",
        "Numbers",
        ("sentence", "matrices"),
        help="sentence: its word vectors. matrices: small ones of your own, to edit.",
    )
    step: str = choice("scores", "Step", STEPS)
    column: int = whole(-1, "Column", -1, 511, help="Of the number that is worked out; −1: none.")
    times: int = whole(
        1,
        "Times",
        1,
        6,
        when=("model", NONE),
        help="How often the block is applied. From the second time on its output goes in as x; "
        "the stages are those of the last time.",
    )
    own_item: int = whole(0, "Matrix of X", 0, MAX_MATRICES - 1, when=("input", "matrices"))
    dropout: float = same_as(CrossSettings, "dropout")
    dropout_seed: int = same_as(CrossSettings, "dropout_seed")


@dataclass(frozen=True, eq=False)
class Computation:
    """One run of a layer, to be stepped through at one of its heads.

    run: the trace of all heads; names: one word per row; vectors (tokens, d_model), positions
    (tokens, d_model) or None: x is their sum; settings: with the dropout, drawn from a seed of its
    own; head: the one that is shown; masks: those in force by name; numbered: whether rows have
    numbers for names, so that those of Q are q0, q1, ….
    """

    layer: Variant
    run: Trace | LongTrace
    names: Sequence[str]
    vectors: Tensor
    settings: StepSettings
    head: int = 0
    positions: Tensor | None = None
    masks: Mapping[str, Tensor] = field(default_factory=dict)
    numbered: bool = False

    def rows(self, letter: str) -> Sequence[str]:
        """Names of the rows of x, q, k, v or y."""
        if not self.numbered:
            return self.names
        return [f"{letter}{row}" for row in range(len(self.names))]

    @property
    def dropout(self) -> float:
        """The share of weights that is dropped."""
        return self.settings.dropout

    @cached_property
    def layer_trace(self) -> Trace | LongTrace:
        """The run after dropout, all heads."""
        generator = Generator().manual_seed(self.settings.dropout_seed)
        if isinstance(self.run, Trace):
            return drop(self.run, self.dropout, generator)
        return self.run.drop(self.dropout, generator)

    @cached_property
    def trace(self) -> Trace:
        """The head that is shown, after dropout."""
        return self.layer_trace.head(self.head)

    @property
    def x(self) -> Tensor:
        """Input of the layer. (tokens, d_model)."""
        return self.vectors if self.positions is None else self.vectors + self.positions

    def head_of(self, role: str) -> int:
        """Index of the head of queries, or of keys and values, that the head that is shown has."""
        own = role == "queries"
        return self.head if own else self.head * self.layer.groups // self.layer.heads

    def forms(self, role: str) -> dict[str, Tensor]:
        """The queries, keys or values of the head by the steps that give them, as they are used
        last. Each (tokens, width)."""
        last: Tensor = getattr(self.trace, role)
        made = {role: last}
        if self.trace.unrotated is not None and role != "values":
            made = {role: self.trace.unrotated[role == "keys"], f"{ROTATED} {role}": last}
        if self.layer.norm(role) is not None:
            linear = self.linear(role)[self.head_of(role)]
            made = {role: linear, f"{NORMED} {role}": made.pop(role), **made}
        return made

    @torch.no_grad()
    def linear(self, role: str) -> Tensor:
        """Queries, keys or values of all heads or groups, before any norm. (heads, tokens, d_k)."""
        return self.layer.projection_steps(self.x, role)["linear"]

    @property
    def alike(self) -> dict[str, str]:
        """Steps that show the same as an earlier one does, with that one.

        Without any matrix the vectors serve as queries, keys and values alike.
        """
        projected = [self.layer.projection(role)[0] is not None for role in ROLES]
        if any(projected) or self.trace.unrotated is not None:
            return {}
        return dict.fromkeys(ROLES[1:], ROLES[0])

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps this computation has, those that are `alike` once."""
        there = {form for role in ROLES for form in self.forms(role)}
        missing = {
            **{form: form not in there for form in REFINED},
            "mixed scores": self.trace.mixed_scores is None,
            "erased": self.trace.erased is None,
            "mixed weights": self.trace.mixed_weights is None,
            "joined": self.layer.projection("output")[0] is None,
        }
        return tuple(step for step in STEPS if not missing.get(step) and step not in self.alike)


@dataclass(frozen=True, eq=False)
class Step:
    """One step: its LaTeX formula, why it is there, its matrices; the last one is its result.

    working: (row, column) of the result -> how that cell came about.
    """

    formula: str
    why: str
    parts: Sequence[Matrix | str]
    working: Callable[[int, int], Working]

    @property
    def result(self) -> Matrix:
        last = self.parts[-1]
        assert isinstance(last, Matrix)
        return last


def with_bias(
    names: list[str], columns: dict[str, list[float | str]], bias: Tensor | None, column: int
) -> None:
    """Add the bias of a column, if there is one, as a last row to the terms of a product."""
    if bias is not None:
        names.append("bias")
        last: tuple[float | str, ...] = ("", "", float(bias[column]))
        for cells, cell in zip(columns.values(), last, strict=True):
            cells.append(cell)


def symbol_of(form: str) -> str:
    """The name of a matrix of queries, keys or values, see `Computation.forms`: "Q, rotated"."""
    *how, role = form.split()
    return ", ".join([SYMBOLS[role], *how])


def dimension_names(count: int) -> list[str]:
    return [str(dimension) for dimension in range(count)]
