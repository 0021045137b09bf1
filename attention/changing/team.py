"""A team of heads that an answer of any model needs together, and two doubts on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attention.analysis.team import Found, costliest, greedily, other_teams
from attention.changing.answers import Answer, metric_of
from attention.changing.batches import changed_metrics, given_to, plain_run
from attention.changing.changer import change
from attention.changing.edits import edits
from attention.changing.effects import ends_together, means
from attention.core.arguments import must_be


@dataclass(frozen=True, eq=False)
class Team:
    """Heads in the order in which they were found, and the answer as each is off with those before.

    heads: (layer, head); before: the answer of the whole model; after: (heads,); elsewhere, error:
    by how many nats a token other texts cost more without the team, mean and standard error, None
    where none were given; chance: the answers without as many other heads of the same layers,
    (teams,), see `analysis.team.other_teams`.
    """

    heads: tuple[tuple[int, int], ...]
    before: float
    after: Tensor
    elsewhere: float | None
    error: float | None
    chance: Tensor


@torch.no_grad()
def team(
    model: nn.Module,
    inputs: Any,
    answer: Answer,
    *,
    most: int = 3,
    to: Any = "zero",
    elsewhere: Sequence[Any] = (),
    draws: int = 20,
    seed: int = 0,
    tokenizer: Any = None,
) -> Team:
    """The heads whose loss lowers an answer most, one after the other by greedy search.

    Each step tries every head beside those found, as one batch; it ends after `most`, or where none
    lowers the answer. inputs, answer, to: see `effects`; elsewhere: inputs of other texts, at least
    two, whose next tokens' loss is measured; draws: of other teams. Raises ValueError as `effects`.
    """
    must_be("most", most, int)
    must_be("draws", draws, int)
    must_be("model", model, nn.Module)
    if len(elsewhere) == 1:
        raise ValueError("elsewhere must be two inputs or more, for a standard error, got 1")
    metric, last = metric_of(answer, inputs, tokenizer), ends_together(inputs, answer)
    plain = plain_run(model, inputs, metric, last)
    to = means(model, [inputs]) if isinstance(to, str) and to == "mean" else to
    counts = {plain.numbers[name]: heads for name, heads in plain.heads.items()}
    every = [(layer, head) for layer, heads in sorted(counts.items()) for head in range(heads)]

    def without(teams: Sequence[Sequence[tuple[int, int]]]) -> Tensor:
        several = [edits(heads, to, "output", None, None) for heads in teams]
        return changed_metrics(model, inputs, metric, plain, several, last)

    def step(found: Sequence[Found]) -> Found | None:
        off = [one.head for one in found]
        tried = [head for head in every if head not in off]
        before = found[-1].metric if found else plain.before
        return costliest(tried, without([[*off, head] for head in tried]), before)

    found = [*greedily(min(most, len(every)), step)]
    off = [one.head for one in found]
    others = other_teams(off, counts, draws, seed) if off else []
    costs = torch.tensor([_cost(model, each, off, to) for each in elsewhere])
    return Team(
        tuple(off),
        plain.before,
        torch.tensor([one.metric for one in found]),
        float(costs.mean()) if len(costs) else None,
        float(costs.std() / len(costs) ** 0.5) if len(costs) else None,
        without(others).cpu() if others else torch.empty(0),
    )


def _cost(model: nn.Module, inputs: Any, off: Sequence[tuple[int, int]], to: Any) -> float:
    """By how many nats a token the loss of a text grows without some heads."""
    args, kwargs = given_to(model, inputs)
    before = _loss(model(*args, **kwargs), inputs)
    if not off:
        return 0.0
    with change(model, off=off, to=to):
        return _loss(model(*args, **kwargs), inputs) - before


def _loss(outputs: Any, inputs: Any) -> float:
    """The loss on the next tokens, without padding, in nats a token."""
    logits = getattr(outputs, "logits", None)
    ids = inputs.get("input_ids") if hasattr(inputs, "get") else None
    if not isinstance(logits, Tensor) or not isinstance(ids, Tensor) or ids.shape[1] < 2:
        raise ValueError("elsewhere must be inputs with input_ids of a model that gives logits")
    logs = logits[:, :-1].float().log_softmax(-1)
    nats = -logs.gather(-1, ids[:, 1:, None])[..., 0]
    mask = inputs.get("attention_mask")
    counted = torch.ones_like(nats) if mask is None else (mask[:, 1:] * mask[:, :-1]).to(nats)
    return float((nats * counted).sum() / counted.sum())
