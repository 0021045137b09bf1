"""A scene of figures as one file of HTML, drawn by the modules that draw it on a page."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attention.figures.chart import Chart
from attention.figures.scene import Figure, Row, Scene
from attention.figures.worked_out import Done, page_of_scene

USUAL, AROUND = 720, 32  # pixels: of a scene, and around a chart
FRAME = (
    '<iframe title="Figure" srcdoc="{page}" '
    'style="border: 0; width: 100%; height: {height}px"></iframe>'
)


def save_scene(
    scene: Scene | Figure,
    path: str | Path,
    title: str = "Attention",
    *,
    query: int = 0,
    answers: Mapping[Done, Scene] | None = None,
    keeps: bool = False,
    opens: Mapping[str, Done] | None = None,
) -> None:
    """Write a scene, or one figure, as a file of HTML that opens without a network.

    title: that of the file; query: the token that its figures show first; answers: the scene that
    the app would draw after an event, by the key of its figure, its name and what that carries:
    what is done in the file is answered by these; keeps: each changes only what the scenes of its
    event have otherwise than the first, so that all else stays as it is; opens: names that may
    stand behind a # in the file's address, each with the event that it opens with. A file with a
    heatmap to zoom into or a chart holds plotly.js, which is 5 MB; any other is as large as its
    numbers and 0.3 MB of modules. Raises ValueError for an event that no figure has.
    """
    text = page_of_scene(scene, title, query, answers, keeps, opens)
    Path(path).write_text(text, "utf-8")


@dataclass(frozen=True, eq=False, repr=False)
class ShownScene:
    """A scene in a notebook, in a frame of its own.

    height: pixels of the frame, None = of charts alone as much as they take, else 720.
    """

    scene: Scene | Figure
    height: int | None = None

    def _repr_html_(self) -> str:
        height = self.height or _height_of(self.scene)
        return FRAME.format(page=html.escape(page_of_scene(self.scene)), height=height)


def _height_of(scene: Scene | Figure) -> int:
    """Pixels that a scene is given; charts know how many they take, one row below the other."""
    parts = [scene] if isinstance(scene, Figure) else scene.parts
    total = 0
    for part in parts:
        row = part.figures if isinstance(part, Row) else (part,)
        heights = [each.figure.layout.height for each in row if isinstance(each, Chart)]
        if len(heights) < len(row):
            return USUAL
        total += AROUND + max(heights)
    return total
