"""Figures drawn one by one, each as a scene of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from torch import Tensor

from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.figures.chart import Chart
from attention.figures.lines import HeadLines
from attention.figures.matrices import Matrices
from attention.figures.matrix import Matrix
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.scene import Figure, scene
from attention.figures.scene_message import Selection


def draw_alone(figure: Figure, selection: Selection | None = None, **taken: Handler) -> None:
    """Draw one figure. taken: for each of its events what is asked of an answer, and done then."""
    key = f"scene_of_{figure.key}"
    draw(scene(figure), key=key, selection=selection, taken={figure.key: taken})


@dataclass(frozen=True)
class Switch:
    """Two last words of a sentence, to be exchanged.

    other: the content of the picture with the word that is not shown: it is drawn at once;
    on_choose: gets the position of the word that is chosen then.
    """

    words: Sequence[str]
    other: bytes
    on_choose: Callable[[int], None]


def picture(
    shown: Picture,
    selection: Selection,
    *,
    key: str,
    content: bytes | None = None,
    drawn: Sequence[str] | None = None,
    switch: Switch | None = None,
) -> None:
    """Draw a picture, see `AttentionPicture`."""
    if switch is None:
        draw_alone(AttentionPicture(shown, content, drawn, key=key), selection)
        return
    figure = AttentionPicture(shown, content, drawn, switch.words, switch.other, key=key)
    taken = (range(len(switch.words)).__contains__, switch.on_choose)
    draw_alone(figure, selection, word=taken)


def matrices(
    parts: Sequence[Matrix | str],
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    hidden: bool = False,
    asked: tuple[int, int | None] | None = None,
    in_full: bool = False,
    written: int | None = None,
    of: str = "",
) -> None:
    """Draw matrices in a row, see `Matrices`; with on_choose cells of the last can be chosen."""
    pickable = on_choose is not None
    figure = Matrices(parts, chosen, pickable, hidden, asked, in_full, written, of, key=key)
    draw_alone(figure, cell=(figure.has, lambda cell: on_choose and on_choose(*cell)))


def chart(
    figure: go.Figure,
    label: str,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    points: int = 0,
) -> None:
    """Draw a figure of Plotly, see `Chart`; on_choose gets one of so many points."""
    chosen = (range(points).__contains__, lambda point: on_choose and on_choose(point))
    draw_alone(Chart(figure, label, key=key), point=chosen)


def head_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    active: Sequence[int],
    query: int,
    selection: Selection,
    on_active: Callable[[list[int]], None],
    *,
    key: str,
) -> None:
    """Draw lines of several heads, see `HeadLines`."""
    figure = HeadLines(tokens, known, weights, active, query, key=key)
    draw_alone(figure, selection, active=(figure.has, on_active))
