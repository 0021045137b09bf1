"""A model with an input and an answer: the one way to ask what changes with its heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor, nn

from attention.changing.answers import Answer, metric_of_states
from attention.changing.batches import Hooked
from attention.changing.change import Change
from attention.changing.known import Known, Progress, run_of
from attention.core.arguments import must_be
from attention.trained.models import Model


class Experiment(Protocol):
    """A model with an input and an answer."""

    @property
    def counts(self) -> Mapping[int, int]:
        """The number of heads of each layer, by its number."""

    @property
    def before(self) -> Tensor:
        """The answer as it is. (…)."""

    def after(
        self, several: Sequence[Sequence[Change]], progress: Progress | None = None
    ) -> Tensor:
        """The answer of each of some changed runs. (several, …).

        progress: is told how many of how many are done; an exception that it raises stops the work.
        Raises ValueError where a change does not fit.
        """

    def beside(self, some: Sequence[Change]) -> Experiment:
        """This experiment with these changes in all runs."""


def experiment(
    model: nn.Module | Model, inputs: Any, answer: Answer, tokenizer: Any = None
) -> Experiment:
    """A model of this project with a text or a run, or one of PyTorch with what it takes.

    answer: see `answers.metric_of` and `answers.metric_of_states`. Raises ValueError for what is
    none of these.
    """
    if isinstance(model, Model):
        return Known(model, run_of(model, inputs), metric_of_states(model, answer))
    must_be("model", model, nn.Module, Model)
    return Hooked(model, inputs, answer, tokenizer)
