"""Figures of scenes, as tests look at them."""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor

from attention.figures.scene import Figure, Scene, Words
from tests.running import App

Kind = TypeVar("Kind", bound=Figure)


def part(scene: Scene, key: str, kind: type[Kind]) -> Kind:
    """The figure of that key, which is of that kind."""
    figure = scene[key]
    assert isinstance(figure, kind)
    return figure


def words(scene: Scene) -> list[str]:
    """The words of a scene, from top to bottom."""
    return ["".join(figure.parts) for figure in scene if isinstance(figure, Words)]


def effects_of(app: App) -> Tensor:
    """The effect of each head as the window is sent it, NaN for those not worked out. (heads,)."""
    sent = app.sent["model_window"]
    count, columns = len(sent.header["layers"]) * sent.header["heads"], sent.header["columns"]
    rows = (2 if sent.header["other"] else 1) * columns
    return sent.numbers[count * rows : count * (rows + 1)]
