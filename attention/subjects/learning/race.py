"""A race of networks over their memory, as it goes or step by step once it is over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import torch
from torch import Tensor

from attention.core.settings import choice
from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure
from attention.training import TASKS, Run
from attention.training.finished import packaged
from attention.training.tasks import race as task

LISTS = tuple(map(str, task.SHOWN))


@dataclass(frozen=True)
class RaceSettings:
    """The part of a race that is looked at."""

    learn_pairs: str = choice(LISTS[-1], "Pairs in a list of the memory race", LISTS)


class Runner(TypedDict):
    """A network that races: its name, numbers that it keeps of a list, by sizes and lists, and its
    parameters by sizes, 0 where it is not trained.

    map: whether it has one; shares: whether each row of that sums to 1, nothing below 0.
    """

    name: str
    keeps: list[list[int]]
    parameters: list[int]
    map: bool
    shares: bool


class RaceHeader(TypedDict):
    """Networks; pairs of the tested lists, and of those whose maps are shown; widths of vectors.

    Behind it stand the mean, the least and the greatest share over the seeds, each (sizes, moments,
    runners, counts), not a number where nothing is measured yet; then maps (sizes, moments,
    variants, cells).
    """

    runners: list[Runner]
    counts: list[int]
    lists: list[int]
    widths: list[int]
    width: int
    pairs: int
    seeds: int
    steps: list[int]
    last: int
    live: bool
    plays: bool
    brief: bool


@dataclass(frozen=True, eq=False)
class RaceOfMemory(Figure, kind="race", header=RaceHeader, width=int, pairs=int):
    """Right answers by the number of pairs, a curve for each network, and the map of each.

    It answers `width` and `pairs`, which a slider is left at. live, plays: see `StepsOfTraining`;
    brief: nothing that it is left at stands in the link.
    """

    run: Run
    pairs: int = task.SHOWN[-1]
    live: bool = False
    plays: bool = False
    brief: bool = False

    @property
    def sizes(self) -> dict[int, Run]:
        """By width the runs that can be shown: those packaged, or this alone."""
        runs = [self.run]
        if packaged(self.run.settings) is self.run:
            every = (replace(self.run.settings, learn_width=width) for width in task.WIDTHS)
            runs = [run for run in map(packaged, every) if run is not None]
        widths = {TASKS[run.settings.task](run.settings).sizes.width: run for run in runs}
        return dict(sorted(widths.items()))

    def content(self) -> bytes:
        sizes, asked = self.sizes, TASKS[self.run.settings.task](self.run.settings)
        moments = self.run.progress[-1:] if self.live else self.run.progress
        header: RaceHeader = {
            "runners": [_runner(name, [*sizes]) for name in task.networks()],
            "counts": [*task.COUNTS],
            "lists": [*task.SHOWN],
            "widths": [*sizes],
            "width": asked.sizes.width,
            "pairs": self.pairs,
            "seeds": len(task.alike(self.run)),
            "steps": [each.step for each in moments],
            "last": asked.sizes.steps,
            "live": self.live,
            "plays": self.plays,
            "brief": self.brief,
        }
        shares = torch.stack([_shares(run, len(moments)) for run in sizes.values()], 1)
        maps = [each.maps for run in sizes.values() for each in run.progress[-len(moments) :]]
        return message(header, shares.float(), torch.stack(maps).float())

    def offer(self) -> None:
        if not self.run.last.accuracy:
            return
        told = _shares(self.run, 1)[0, 0]
        columns = dict(zip(task.networks(), told.tolist(), strict=True))
        columns = {name: column for name, column in columns.items() if not math.isnan(column[0])}
        rows = [f"{pairs} pairs" for pairs in task.COUNTS]
        files.offer_table("right answers of the memory race", rows, columns)

    def width_of(self, width: int) -> str:
        """Setting that a width of those shown stands for."""
        return self.sizes[width].settings.learn_width


def _shares(run: Run, moments: int) -> Tensor:
    """Mean, least and greatest share over the seeds. (3, moments, networks, counts)."""
    shape = 3, moments, len(task.networks()), len(task.COUNTS)
    if not run.last.accuracy:
        return torch.full(shape, torch.nan)
    runs: Sequence[Run] = task.alike(run)
    found = [
        task.shares(runs, name, pairs, at)
        for at in range(-moments, 0)
        for name in task.networks()
        for pairs in task.COUNTS
    ]
    return torch.tensor(found, dtype=torch.float64).T.reshape(shape)


def _runner(name: str, widths: Sequence[int]) -> Runner:
    variant = task.racing().get(name)
    return {
        "name": name,
        "keeps": [[task.kept(name, width, pairs) for pairs in task.SHOWN] for width in widths],
        "parameters": [task.parameters(width).get(name, 0) for width in widths],
        "map": variant is not None,
        "shares": variant is not None and variant.weighing.shares,
    }
