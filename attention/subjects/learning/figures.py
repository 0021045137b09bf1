"""A training as it goes, or step by step once it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure
from attention.training import TASKS, Run
from attention.training.tasks import Points as DrawnPoints
from attention.training.tasks import Task


class Curve(TypedDict):
    """A curve: its name, shares or nats, and the seconds of the processor until each.

    test: which of those that its network has.
    """

    name: str
    values: list[float]
    seconds: list[float]
    test: int


class Points(TypedDict):
    """Points and the true curve between them: what is told there is the weighted sum of y."""

    places: list[float]
    true: list[float]
    x: list[float]
    y: list[float]


class LearningHeader(TypedDict):
    tokens: list[str]
    keys: list[str]
    truth: list[int]
    ringed: int
    beside: bool
    points: Points | None
    layers: int
    heads: int
    steps: list[int]
    last: int
    losses: list[Curve]
    shares: list[Curve]
    titles: list[str]
    right: str
    measure: str
    telling: float
    measured: list[list[float]]
    live: bool
    plays: bool
    brief: bool


@dataclass(frozen=True, eq=False)
class StepsOfTraining(Figure, kind="learning", header=LearningHeader):
    """Curves of loss and accuracy, and beside them the attention of each head at one step.

    live: there is more to come, and the latest step is shown; else a slider and a button go through
    all steps, in the browser. plays: it plays by itself when it is first seen; brief: without the
    curves.
    """

    run: Run
    live: bool = False
    plays: bool = False
    brief: bool = False

    @property
    def task(self) -> Task:
        """The task that is learned."""
        return TASKS[self.run.settings.task](self.run.settings)

    @property
    def losses(self) -> list[Curve]:
        """The loss of each network."""
        networks = dict.fromkeys(name.partition(",")[0] for name in self.task.curves)
        moments = self.run.progress
        return [self._curve(name, [each.loss[name] for each in moments]) for name in networks]

    @property
    def shares(self) -> list[Curve]:
        """Right answers of each network in each of its tests."""
        moments, networks = self.run.progress, len(self.losses)
        return [
            self._curve(name, [each.accuracy[name] for each in moments], place // networks)
            for place, name in enumerate(self.task.curves)
        ]

    def _curve(self, name: str, values: list[float], test: int = 0) -> Curve:
        network = name.partition(",")[0]
        seconds = [each.seconds[network] for each in self.run.progress]
        return {"name": name, "values": values, "seconds": seconds, "test": test}

    def content(self) -> bytes:
        task, moments = self.task, self.run.progress
        example = task.example()
        layers, heads = self.run.last.maps.shape[:2]
        header: LearningHeader = {
            "tokens": list(example.tokens),
            "keys": list(example.keys),
            "truth": list(example.truth),
            "ringed": example.layer % layers,
            "beside": example.beside,
            "points": None if example.points is None else _points(example.points),
            "layers": layers,
            "heads": heads,
            "steps": [each.step for each in moments],
            "last": task.sizes.steps,
            "losses": self.losses,
            "shares": self.shares,
            "titles": [task.loss_words, task.share_words],
            "right": task.right,
            "measure": task.measure,
            "telling": task.telling,
            "measured": [each.measures[task.measure].flatten().tolist() for each in moments]
            if task.measure
            else [],
            "live": self.live,
            "plays": self.plays,
            "brief": self.brief,
        }
        maps = [each.maps for each in (moments[-1:] if self.live else moments)]
        return message(header, torch.stack(maps).float())

    def offer(self) -> None:
        columns = {f"loss, {curve['name']}": curve["values"] for curve in self.losses}
        columns |= {f"right, {curve['name']}": curve["values"] for curve in self.shares}
        steps = [f"step {each.step}" for each in self.run.progress]
        files.offer_table("curves of learning", steps, columns)


def _points(drawn: DrawnPoints) -> Points:
    return {
        "places": [*drawn.places],
        "true": [*drawn.true],
        "x": [*drawn.x],
        "y": [*drawn.y],
    }
