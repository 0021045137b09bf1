"""A figure of Plotly as one of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import plotly.graph_objects as go

from attention.figures.scene import Figure


class ChartHeader(TypedDict):
    """Traces and layout for Plotly, and a label in words."""

    label: str
    height: float
    data: list[Any]  # for plotly, as is the layout
    layout: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Chart(Figure, kind="chart", header=ChartHeader, light=True, point=int):
    """A figure of Plotly, drawn when all around it has been; label: what it shows, in words.

    It answers `point`, the number of a point that is clicked, the first of its customdata;
    whatever is chosen so must have another way for the keyboard.
    """

    figure: go.Figure
    label: str

    def content(self) -> bytes:
        drawn = self.figure.to_plotly_json()
        return self.sent(height=self.figure.layout.height, **drawn)

    @property
    def plots(self) -> bool:
        return True
