"""A training as it goes, or step by step once it is over."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure
from attention.training import TASKS, Progress, Run
from attention.training.settings import NONE
from attention.training.tasks import ATTENTION, Task


class Curve(TypedDict):
    """A curve: its name, shares or nats, and the seconds of the processor until each.

    test: which of those that its network has.
    """

    name: str
    values: list[float]
    seconds: list[float]
    test: int


class Other(TypedDict):
    """Another training: its steps and curves, drawn thin; the names of both; maps: which of its
    moments stands beside each of the other's, none: no map does."""

    steps: list[int]
    losses: list[Curve]
    shares: list[Curve]
    names: list[str]
    maps: list[int]


class Effects(TypedDict):
    """Maps of effects of heads in place of weights: their title, and the number of the darkest."""

    title: str
    most: float


class LearningHeader(TypedDict):
    tokens: list[str]
    keys: list[str]
    truth: list[list[int]]
    layers: int
    heads: int
    steps: list[int]
    last: int
    losses: list[Curve]
    shares: list[Curve]
    share_words: str
    right: str
    measure: str
    measured: list[list[float]]
    live: bool
    plays: bool
    brief: bool
    other: Other | None
    effects: Effects | None


@dataclass(frozen=True, eq=False)
class StepsOfTraining(Figure, kind="learning", header=LearningHeader):
    """Curves of loss and accuracy, and beside them the attention of each head at one step.

    live: there is more to come, and the latest step is shown; else a slider and a button go through
    all steps, in the browser. plays: it plays by itself when it is first seen; brief: without the
    curves. other: a training whose curves are drawn thin, and its map beside the only one of this
    where something is taken away from it.
    """

    run: Run
    live: bool = False
    plays: bool = False
    brief: bool = False
    other: Run | None = None

    @property
    def task(self) -> Task:
        """The task that is learned."""
        return TASKS[self.run.settings.task](self.run.settings)

    @property
    def losses(self) -> list[Curve]:
        """The loss of each network."""
        return self._losses(self.run)

    def _losses(self, run: Run) -> list[Curve]:
        networks = dict.fromkeys(map(_network, self.task.curves))
        measured = [each for each in run.progress if each.loss]
        return [_curve(measured, name, [each.loss[name] for each in measured]) for name in networks]

    @property
    def shares(self) -> list[Curve]:
        """Right answers of each network in each of its tests."""
        return self._shares(self.run)

    def _shares(self, run: Run) -> list[Curve]:
        measured, networks = [each for each in run.progress if each.accuracy], len(self.losses)
        return [
            _curve(measured, name, [each.accuracy[name] for each in measured], place // networks)
            for place, name in enumerate(self.task.curves)
        ]

    def _told_other(self, moments: Sequence[Progress]) -> Other | None:
        """The other training, of its networks that with attention alone."""
        if self.other is None:
            return None
        steps = [each.step for each in self.other.progress]
        told = [bisect_right(steps, each.step) - 1 for each in moments]
        taken = self.run.settings.handicap
        pair = taken != NONE and self.run.last.maps.shape[:2].numel() == 1
        return {
            "steps": steps,
            "losses": self._losses(self.other)[:1],
            "shares": self._shares(self.other)[:1],
            "names": [
                "this run" if taken == NONE else taken.replace("no ", "without the "),
                taken.replace("no ", "with the ") if taken.startswith("no ") else "usual run",
            ],
            "maps": told if pair else [],
        }

    def _effects(self) -> Effects | None:
        """Title and scale of maps of effects, one for all that is shown; None: they are weights."""
        if not self.task.effects:
            return None
        runs = [run for run in (self.run, self.other) if run is not None]
        most = max(float(each.maps.abs().max()) for run in runs for each in run.progress)
        most = max(most, 0.01)
        scale = f"blue: gains; darkest: {100 * most:.0f}"
        return {"title": f"{self.task.effects} ({scale})", "most": most}

    def content(self) -> bytes:
        task, moments = self.task, self.run.progress
        shown = moments[-1:] if self.live else moments
        example, other = task.example(), self._told_other(shown)
        alone = other is not None and bool(other["maps"])  # attention beside attention
        losses = self.losses[:1] if alone else self.losses
        shares = [each for each in self.shares if not alone or _network(each["name"]) == ATTENTION]
        layers, heads = self.run.last.maps.shape[:2]
        header: LearningHeader = {
            "tokens": list(example.tokens),
            "keys": list(example.keys),
            "truth": [[*keys] for keys in example.truth],
            "layers": layers,
            "heads": heads,
            "steps": [each.step for each in moments],
            "last": task.sizes.steps,
            "losses": losses,
            "shares": shares,
            "share_words": task.share_words,
            "right": task.right,
            "measure": task.measure,
            "measured": [each.measures[task.measure].flatten().tolist() for each in moments]
            if task.measure and moments[0].measures
            else [],
            "live": self.live,
            "plays": self.plays,
            "brief": self.brief,
            "other": other,
            "effects": self._effects(),
        }
        maps = [each.maps for each in shown]
        if self.other is not None and other is not None:
            maps += [self.other.progress[at].maps for at in other["maps"]]
        return message(header, torch.stack(maps).float())

    def offer(self) -> None:
        if not self.run.last.loss:
            return
        columns = {f"loss, {curve['name']}": curve["values"] for curve in self.losses}
        columns |= {f"right, {curve['name']}": curve["values"] for curve in self.shares}
        steps = [f"step {each.step}" for each in self.run.progress]
        files.offer_table("curves of learning", steps, columns)


def _network(curve: str) -> str:
    return curve.partition(",")[0]


def _curve(measured: Sequence[Progress], name: str, values: list[float], test: int = 0) -> Curve:
    seconds = [each.seconds[_network(name)] for each in measured]
    return {"name": name, "values": values, "seconds": seconds, "test": test}
