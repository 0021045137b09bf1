"""Base of the tasks, and their registry `TASKS`: one class each, found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attention.core.registry import check_entry
from attention.training.run import Run
from attention.training.settings import (
    REGISTERED,
    SIZES,
    USUAL,
    Sizes,
    TrainingSettings,
    sizes,
)

ATTENTION = "attention"
BATCH, TESTED = 64, 256  # sequences of a step, and of a test
WARM_UP = 0.05  # of all steps: the learning rate rises
LEAST = 10  # steps from one time that is told to the next, in the mean
EXAMPLE_SEED, TEST_SEED = 1, 2  # apart from all of `TrainingSettings`, which are for training

TASKS: dict[str, type[Task]] = REGISTERED


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences with their answers.

    inputs: what a network is given, each (batch, …); answers: (batch, …), whole numbers where they
    are chosen among some; counted: bool of the same shape, the answers that count, None = all.
    """

    inputs: tuple[Tensor, ...]
    answers: Tensor
    counted: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Example:
    """The fixed example whose attention is shown.

    batch: of one sequence; tokens, keys: names of the queries and of the keys of its map; truth:
    the keys that each query of the last layer should look at, none where any may be.
    """

    batch: Batch
    tokens: Sequence[str]
    keys: Sequence[str]
    truth: Sequence[Collection[int]]


@dataclass(frozen=True)
class Target:
    """An accuracy that a finished run of the usual settings must reach."""

    curve: str
    least: float = 0.0


class Task(ABC):
    """A task that is learned live. Subclasses say what is given, and what is to be answered.

    title: its name on a page; before: a sentence on what to look for; bet, choices: a question to
    bet on before its run is told, and its answers, none: no bet, see `winning_bet`; usual: its
    sizes; handicaps: those that make it harder, the most telling first; curves: names of what
    `accuracy` tells, the most important first; measure: the one of `measures` that
    heads are told apart by, "" for none; targets: what its usual run reaches, which is packaged
    then: one without targets is learned on its page first; packaged: further settings whose runs
    come along, too; offered: settings of sizes that it has, others stay as usual; share_words:
    title of the plot of its shares; right: behind a share; becomes: name of the model that its
    usual network is written as; model, memory: the trained model that it begins from, and the
    bytes that must be free; effects: title of maps that are effects of heads, around 0, in place
    of weights; n_reports: how often its training is told after the state before the first step;
    report_warmup: by which power sooner at first; begun_steps: `learn_steps` of one that is begun
    on a page, where the usual ones take longer than somebody waits.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    before: ClassVar[str]
    bet: ClassVar[str] = ""
    choices: ClassVar[Sequence[str]] = ()
    source: ClassVar[str] = ""
    usual: ClassVar[Sizes]
    handicaps: ClassVar[Sequence[str]]
    curves: ClassVar[Sequence[str]]
    measure: ClassVar[str] = ""
    targets: ClassVar[Sequence[Target]] = ()
    packaged: ClassVar[Sequence[Mapping[str, Any]]] = ()
    offered: ClassVar[Sequence[str]] = SIZES
    share_words: ClassVar[str] = "Right answers"
    right: ClassVar[str] = "right"
    model: ClassVar[str] = ""
    becomes: ClassVar[str] = ""
    memory: ClassVar[int] = 0
    effects: ClassVar[str] = ""
    n_reports: ClassVar[int] = 40
    report_warmup: ClassVar[float] = 1.5
    begun_steps: ClassVar[str] = USUAL

    def __init__(self, settings: TrainingSettings) -> None:
        self.settings = settings
        self.sizes = sizes(settings, self.usual, self.offered)

    def rate(self, network: str) -> float:
        """Largest learning rate of a network: that of the sizes, unless each has its own."""
        return self.sizes.rate

    def report_index(self, step: int) -> int:
        """Number of reports until a step: more often at first, when most is learned."""
        steps = self.sizes.steps
        reports = min(self.n_reports, steps // LEAST)
        return int(reports * (step / steps) ** (1 / self.report_warmup) + 1e-9)

    def share(self, step: int) -> float:
        """Share of the largest learning rate: it rises, then falls along a line to 0."""
        steps = self.sizes.steps
        rising = max(1, round(WARM_UP * steps))
        return min(step / rising, (steps - step + 1) / max(1, steps - rising))

    @abstractmethod
    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        """The networks that learn, by name; the one with attention is `ATTENTION`."""

    @abstractmethod
    def batch(self, generator: torch.Generator, size: int) -> Batch:
        """Draw sequences to learn from."""

    @abstractmethod
    def tests(self) -> Mapping[str, Batch]:
        """Sequences that are not learned from, by name."""

    @abstractmethod
    def example(self) -> Example:
        """The sequence whose attention is shown, the same for every seed."""

    @abstractmethod
    def after(self, run: Run) -> str:
        """A sentence on what a finished run shows, with its numbers."""

    def winning_bet(self, run: Run) -> int:
        """Position among `choices` of the one that a finished run shows."""
        return 0

    def answer(self, network: nn.Module, batch: Batch, learning: bool = False) -> Tensor:
        """Scores of each possible answer. (batch, …, answers).

        learning: as in a step of the training.
        """
        more: dict[str, Any] = {"masked": False} if learning and not self.sizes.masked else {}
        logits: Tensor = network(*batch.inputs, **more)
        return logits

    def loss(self, network: nn.Module, batch: Batch) -> Tensor:
        """Cross-entropy of the answers that count, in nats."""
        logits, answers = self.answer(network, batch, learning=True), batch.answers
        if batch.counted is not None:
            logits, answers = logits[batch.counted], answers[batch.counted]
        return cross_entropy(logits.flatten(0, -2), answers.flatten())

    def score(self, network: nn.Module, batch: Batch) -> float:
        """Share of right answers among those that count."""
        right = self.answer(network, batch).argmax(-1) == batch.answers
        return float((right if batch.counted is None else right[batch.counted]).double().mean())

    def accuracy(self, learners: Mapping[str, nn.Module]) -> dict[str, float]:
        """Shares of right answers, by the names in `curves`."""
        tested = self.tests()
        several = len(learners) > 1 or len(tested) > 1
        return {
            f"{name}, {test}" if several else name: self.score(network, batch)
            for test, batch in tested.items()
            for name, network in learners.items()
        }

    def maps(self, learners: Mapping[str, nn.Module], example: Example) -> Tensor:
        """Weights over the fixed example. (layers, heads, queries, keys)."""
        return maps_of(learners[ATTENTION], example.batch)

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """Measures of each head at any step, by name. (layers, heads)."""
        return {}


def register(task: type[Task]) -> type[Task]:
    """Class decorator: put a task into `TASKS` under its name; each name once.

    Raises ValueError where it lacks a part.
    """
    check_entry("task", task, getattr(task, "name", ""), TASKS)
    TASKS[task.name] = task
    return task


def maps_of(network: nn.Module, batch: Batch) -> Tensor:
    """Weights of all heads over one sequence. (layers, heads, queries, keys)."""
    weights: list[Tensor] = []
    with torch.no_grad():
        network(*batch.inputs, seen=lambda trace: weights.append(trace.weights[0]))
    return torch.stack(weights)
