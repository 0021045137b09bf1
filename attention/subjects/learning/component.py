"""A training as it goes, or step by step once it is over."""

from __future__ import annotations

from typing import TypedDict

import torch

from attention.app.components.base import Component
from attention.figures import files
from attention.training import TASKS, Run, tasks


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


_learning = Component("learning", LearningHeader)


def learning(
    run: Run, *, key: str, live: bool = False, plays: bool = False, brief: bool = False
) -> None:
    """Draws curves of loss and accuracy, and beside them the attention of each head at one step.

    live: there is more to come, and the latest step is shown; else a slider and a button go through
    all steps, in the browser. plays: it plays by itself when it is first seen; brief: without the
    curves.
    """
    task, moments = TASKS[run.settings.task](run.settings), run.progress
    example = task.example()
    layers, heads = run.last.maps.shape[:2]

    def curve(name: str, values: list[float], test: int = 0) -> Curve:
        network = name.partition(",")[0]
        seconds = [each.seconds[network] for each in moments]
        return {"name": name, "values": values, "seconds": seconds, "test": test}

    networks = dict.fromkeys(name.partition(",")[0] for name in task.curves)
    losses = [curve(name, [each.loss[name] for each in moments]) for name in networks]
    shares = [
        curve(name, [each.accuracy[name] for each in moments], at // len(losses))
        for at, name in enumerate(task.curves)
    ]
    named = {f"loss, {each['name']}": each["values"] for each in losses}
    columns = named | {f"right, {each['name']}": each["values"] for each in shares}
    files.offer_table("curves of learning", [f"step {each.step}" for each in moments], columns)
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
        "losses": losses,
        "shares": shares,
        "titles": [task.loss_words, task.share_words],
        "right": task.right,
        "measure": task.measure,
        "telling": task.telling,
        "measured": [each.measures[task.measure].flatten().tolist() for each in moments]
        if task.measure
        else [],
        "live": live,
        "plays": plays,
        "brief": brief,
    }
    maps = [each.maps for each in (moments[-1:] if live else moments)]
    _learning.draw(header, torch.stack(maps).float(), key=key)


def _points(drawn: tasks.Points) -> Points:
    return {
        "places": [*drawn.places],
        "true": [*drawn.true],
        "x": [*drawn.x],
        "y": [*drawn.y],
    }
