"""Figures of scenes, as tests look at them."""

from __future__ import annotations

from typing import TypeVar

from attention.figures.scene import Figure, Scene, Table, Words

Kind = TypeVar("Kind", bound=Figure)


def part(scene: Scene, key: str, kind: type[Kind]) -> Kind:
    """The figure of that key, which is of that kind."""
    figure = scene[key]
    assert isinstance(figure, kind)
    return figure


def tables(scene: Scene) -> list[Table]:
    """The tables of a scene, from top to bottom."""
    return [figure for figure in scene if isinstance(figure, Table)]


def words(scene: Scene) -> list[str]:
    """The words of a scene, from top to bottom."""
    return ["".join(figure.parts) for figure in scene if isinstance(figure, Words)]
