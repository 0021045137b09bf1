"""Training of the networks of a task, told step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator

import torch
from torch import Tensor, nn

from attention.training.run import Progress
from attention.training.settings import TrainingSettings, freed
from attention.training.tasks import ATTENTION, TASKS
from attention.training.tasks.base import BATCH, Batch

LARGEST_GRADIENT = 1.0


def fit(
    task: str,
    config: TrainingSettings | None = None,
    *,
    steps: int | None = None,
    rate: float | None = None,
    only: Collection[str] = (),
) -> Iterator[Progress]:
    """Train the networks of a task, and tell how far they are, some `Task.n_reports` times.

    task: one of `TASKS`; config: its settings, None = the usual ones; steps, rate: how many, and
    the largest learning rate, None = as the settings have them, which offer but some; only: names
    of the networks that are trained, none: all; of one alone all is as beside others. Adam with
    decoupled weight decay (Loshchilov & Hutter 2019); the rate rises over the first steps, and
    falls to 0. The same seed gives the same losses to the bit on one machine, with as many threads.
    Raises ValueError where there is no such task, the settings are of another one, or steps or rate
    are not above 0.
    """
    config = config or TrainingSettings(task)
    if config.task != task:
        raise ValueError(f"the settings must be of task {task!r}, got {config.task!r}")
    asked = TASKS[task](config)
    asked.sizes = freed(asked.sizes, steps, rate)
    steps = asked.sizes.steps
    generator = torch.Generator().manual_seed(100 + config.learn_seed)
    drawn = asked.learners(generator)
    learners = {name: drawn[name] for name in only or drawn}
    example = asked.example()
    optimisers = {
        name: torch.optim.AdamW(
            network.parameters(), asked.sizes.rate, betas=(0.9, 0.98), weight_decay=0.01
        )
        for name, network in learners.items()
    }
    seconds, losses = dict.fromkeys(learners, 0.0), dict.fromkeys(learners, 0.0)

    def progress(step: int, since: int) -> Progress:
        with torch.no_grad():
            return Progress(
                step,
                {name: loss / max(1, since) for name, loss in losses.items()},
                asked.accuracy(learners),
                dict(seconds),
                asked.maps(drawn, example),
                asked.measures(drawn[ATTENTION]),
                dict(learners),
            )

    with torch.no_grad():
        first = asked.batch(torch.Generator().manual_seed(config.learn_seed), BATCH)
        losses = {name: float(asked.loss(network, first)) for name, network in learners.items()}
    yield progress(0, 1)
    losses, last = dict.fromkeys(learners, 0.0), 0
    for step in range(1, steps + 1):
        batch = asked.batch(generator, BATCH)
        for name, network in learners.items():
            begun = time.process_time()
            largest = asked.rate(name) * asked.share(step)
            losses[name] += _step(asked.loss, network, optimisers[name], batch, largest)
            seconds[name] += time.process_time() - begun
        if asked.report_index(step) > asked.report_index(last) or step == steps:
            yield progress(step, step - last)
            losses, last = dict.fromkeys(learners, 0.0), step


def _step(
    loss_of: Callable[[nn.Module, Batch], Tensor],
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    rate: float,
) -> float:
    """One step of a network. Gives its loss before."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    loss = loss_of(network, batch)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)  # not kept while others have their turn
    return float(loss.detach())
