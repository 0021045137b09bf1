"""Transplants: heads of one model in another of the same shape, as a base and what was tuned of it.

A transplanted head puts out, at all positions, what it puts out in the other model over the same
input; all that follows is worked out anew (activation patching across models, Vig et al. 2020;
Prakash et al. 2024, arXiv 2402.14811). It is the output before the output projection.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.capture.capturing import capture
from attention.capture.recording import Recording
from attention.changing.answers import Answer
from attention.changing.batches import given_to, read
from attention.changing.change import Head, changes
from attention.changing.experiment import Experiment, experiment
from attention.changing.head_matrices import Matrices, matrices_of_heads
from attention.changing.known import Progress, run_of
from attention.core.analysis import divergence_bits
from attention.core.arguments import must_be
from attention.trained.models import Model, Run


class Side(NamedTuple):
    """One of two models with an input and an answer, and the run of the other over that input."""

    asked: Experiment
    own: Run | Recording
    other: Run | Recording

    def after(self, teams: Sequence[Collection[Head]], progress: Progress | None = None) -> Tensor:
        """The answer with each of some teams of heads as in the other model. (teams, …)."""
        return self.asked.after([changes(team, self.other) for team in teams], progress)

    def beside(self, heads: Collection[Head]) -> Side:
        """This side with these heads as in the other model in all runs."""
        return self._replace(asked=self.asked.beside(changes(heads, self.other)))

    @property
    def heads(self) -> list[Head]:
        """All heads, layer by layer."""
        counts = self.asked.counts
        return [(layer, head) for layer in sorted(counts) for head in range(counts[layer])]


class Pair(NamedTuple):
    """Two models of one shape over one input."""

    base: Side
    tuned: Side


@torch.no_grad()
def pair(
    base: nn.Module | Model,
    tuned: nn.Module | Model,
    inputs: Any,
    answer: Answer,
    tokenizer: Any = None,
) -> Pair:
    """Two models over one input, each with the run of the other.

    inputs, answer: see `effects.effects`; of this project's models a text. Raises ValueError where
    the models differ in their kind, their layers or heads, or in how they read the text.
    """
    models = base, tuned
    kinds = [Model if isinstance(one, Model) else nn.Module for one in models]
    for name, model in zip(("base", "tuned"), models, strict=True):
        must_be(name, model, nn.Module, Model)
    if kinds[0] is not kinds[1]:
        raise ValueError(
            "base and tuned must both be models of this project, or both of PyTorch, got "
            f"{type(base).__name__} and {type(tuned).__name__}"
        )
    inputs = read(tuned, inputs, tokenizer)
    runs = [_run_of(model, inputs) for model in models]
    asked = [
        experiment(model, run if isinstance(run, Run) else inputs, answer, tokenizer)
        for model, run in zip(models, runs, strict=True)
    ]
    _check_same_shape([*map(_shape_of, runs)])
    return Pair(Side(asked[0], *runs), Side(asked[1], *reversed(runs)))


def _run_of(model: nn.Module | Model, inputs: Any) -> Run | Recording:
    if isinstance(model, Model):
        return run_of(model, inputs)
    args, kwargs = given_to(model, inputs)
    with capture(values=True) as run:
        model(*args, **kwargs)
    return run.one()


class _Shape(NamedTuple):
    heads: list[int]  # of each layer
    pieces: list[Any]


def _shape_of(run: Run | Recording) -> _Shape:
    if isinstance(run, Run):
        heads = [layer_input.layer.attention.heads for layer_input in run.inputs]
        return _Shape(heads, run.pieces.ids.tolist())
    kept = run.attentions
    return _Shape([one.shape[1] for one in kept], [[*one.shape[2:]] for one in kept])


def _check_same_shape(shapes: Sequence[_Shape]) -> None:
    """Raise ValueError where two models have no transplants, or not all heads have one."""
    (first, pieces), (second, others) = shapes
    if first != second or len({*first}) > 1:
        raise ValueError(
            "base and tuned must have the same layers, all of as many heads, got layers of "
            f"{first} heads and of {second}"
        )
    if pieces != others:
        raise ValueError(
            f"base and tuned must read a text as the same pieces, got {pieces} and {others}"
        )


@dataclass(frozen=True, eq=False)
class Transplants:
    """Answers of a base and of what was tuned of it, and by how much each transplant moves them.

    base, tuned: the answers as they are, (…); put_back: by how much the tuned model's answer moves
    with each head as in the base, put_in: the base's with each head as in the tuned model,
    (layers, heads, …); all_put_back: the tuned model's answer with all heads as in the base, (…).
    """

    base: Tensor
    tuned: Tensor
    put_back: Tensor
    put_in: Tensor
    all_put_back: Tensor


@torch.no_grad()
def transplants(
    base: nn.Module | Model,
    tuned: nn.Module | Model,
    inputs: Any,
    answer: Answer,
    *,
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> Transplants:
    """The transplant of every head, both ways, see `Transplants`.

    inputs, answer: see `effects.effects`, of this project's models a text; progress: is told how
    many of all transplants are done; an exception that it raises stops the work. Raises ValueError
    as `pair` does.
    """
    return transplants_of(pair(base, tuned, inputs, answer, tokenizer), progress)


@torch.no_grad()
def transplants_of(sides: Pair, progress: Progress | None = None) -> Transplants:
    """The transplant of every head of two models over one input, see `transplants`."""
    heads = sides.tuned.heads
    n_layers, moved = len(sides.tuned.asked.counts), []
    for before, side in zip((0, len(heads)), sides, strict=True):

        def report(done: int, of: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, 2 * of)

        after = side.after([[head] for head in heads], report)
        moved.append((after - side.asked.before).unflatten(0, (n_layers, -1)))
    base, tuned = (side.asked.before for side in sides)
    (all_put_back,) = sides.tuned.after([heads])
    return Transplants(base, tuned, moved[1], moved[0], all_put_back)


class WeightChanges(NamedTuple):
    """Relative changes of the matrices of each head, (layers, heads), float64; nan where they are
    not known.

    qk: of W_QK = W_Q W_Kᵀ, by which it looks; ov: of W_OV = W_V W_O, by which it moves what it sees
    (Elhage et al. 2021).
    """

    qk: Tensor
    ov: Tensor


@torch.no_grad()
def weight_changes(base: nn.Module | Model, tuned: nn.Module | Model) -> WeightChanges:
    """Changes of W_QK and W_OV of each head: ‖tuned − base‖ / ‖base‖, by Frobenius norms.

    Norms before the attention, rotations and biases are left out, see `matrices_of_heads`. Raises
    ValueError where the models have other layers or heads.
    """
    for name, model in (("base", base), ("tuned", tuned)):
        must_be(name, model, nn.Module, Model)
    of_both = [matrices_of_heads(model) for model in (base, tuned)]
    _check_same_shape([_Shape([*map(_count, each)], []) for each in of_both])
    pairs = [*zip(of_both[0], of_both[1], strict=True)]
    qk, ov = (
        torch.stack([_change_of(one, other, left, right) for one, other in pairs])
        if pairs
        else torch.empty(0, 0)
        for left, right in (("queries", "keys"), ("values", "output"))
    )
    return WeightChanges(qk, ov)


def _count(matrices: Matrices) -> int:
    """The number of heads, 0 where no matrix is known."""
    return max((len(each) for each in matrices.values()), default=0)


def _change_of(base: Matrices, tuned: Matrices, left: str, right: str) -> Tensor:
    """Relative change of the product of two matrices of each head. (heads,)."""
    if not all({left, right} <= {*each} for each in (base, tuned)):
        return torch.full((_count(base),), torch.nan, dtype=torch.float64)
    moved = tuned[left] - base[left], tuned[right] - base[right]
    # the difference is [moved, base] [tuned, moved]ᵀ of both sides: nothing cancels
    difference = _norm(
        torch.cat([moved[0], base[left]], -1), torch.cat([tuned[right], moved[1]], -1)
    )
    return difference / _norm(base[left], base[right])


def _norm(left: Tensor, right: Tensor) -> Tensor:
    """Frobenius norm of `left rightᵀ`, by products of a head's width alone. (heads,).

    left, right: (heads, d_model, width)."""
    squares: Tensor = ((left.mT @ left) * (right.mT @ right)).sum((-2, -1))
    return squares.clamp_min(0).sqrt()


@torch.no_grad()
def map_changes(base: Run | Recording, tuned: Run | Recording) -> Tensor:
    """Changes of the map of each head between two runs over the same input: Jensen–Shannon
    divergence in bits, the mean over rows, and over entries. (layers, heads), float64.

    Rows that are no distribution, or of padding, are left out; nan where all are. Raises ValueError
    where the runs are not of one shape.
    """
    for name, run in (("base", base), ("tuned", tuned)):
        must_be(name, run, Run, Recording, how="model.run(text), or of capture()")
    _check_same_shape([_shape_of(base), _shape_of(tuned)])
    pairs = zip(_maps(base), _maps(tuned), strict=True)
    return torch.stack([divergence_bits(*both).nanmean((0, -1)) for both in pairs])


def _maps(run: Run | Recording) -> list[Tensor]:
    """Weights of each layer, (entries, heads, queries, keys)."""
    if isinstance(run, Run):
        return [layer_input.trace().weights[None] for layer_input in run.inputs]
    return [
        _without_padding(
            torch.stack(
                [
                    torch.stack([run.weights(one.number, head, entry=entry) for head in one.heads])
                    for entry in range(one.shape[0])
                ]
            )
        )
        for one in run.attentions
    ]


def _without_padding(weights: Tensor) -> Tensor:
    """Weights (entries, heads, queries, keys) with nan in the rows of tokens that no query may see,
    but those which may see no key: such a row is 0, or the same for all keys."""
    if weights.shape[-1] != weights.shape[-2] or weights.shape[-1] == 1:
        return weights
    sees = (weights.amax(-1) > weights.amin(-1)).any(1)  # (entries, queries)
    seen = ((weights > 0).any(1) & sees[..., None]).any(1)  # (entries, keys)
    return weights.masked_fill(~seen[:, None, :, None], torch.nan)
