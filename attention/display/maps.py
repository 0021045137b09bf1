"""Two figures of the lessons: where a word goes, and how scores spread. Nothing here displays.

Each is written as data and made at once: it takes Plotly a sixth of the time of a figure that is
put together by `add_trace` and `update_layout`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from attention.display.figures import CHOSEN, CLEAR, TICK_LENGTH, label

GREY, BLUE = "rgba(128, 128, 128, 0.9)", "#3785bf"
KINDS = {  # of a spot: its colour, and what the legend says
    "probe": (CHOSEN, "to compare with"),
    "before": (GREY, "near before"),
    "after": (BLUE, "near after"),
    "both": ("#4c9f70", "near both"),
    "token": ("rgba(128, 128, 128, 0.4)", "other tokens, by weight"),
}
LEAST_DOT, MOST_DOT = 6, 34
MAP_WIDTH, MAP_HEIGHT, LETTER, LINE = 500, 276, 6.5, 14  # pixels
NARROWEST = 320
BASE: dict[str, Any] = {
    "template": "none",
    "paper_bgcolor": CLEAR,
    "plot_bgcolor": CLEAR,
    "hoverlabel": {"align": "left"},
    "legend": {"orientation": "h", "yref": "container", "y": 0, "x": 0, "font": {"size": 12}},
}


@dataclass(frozen=True)
class Spot:
    """A word on the map: x, y on the plane; kind: one of `KINDS`; weight: of a token, 0 to 1."""

    name: str
    x: float
    y: float
    kind: str
    weight: float = 0.0


def word_map(
    token: str, spots: Sequence[Spot], start: tuple[float, float], end: tuple[float, float]
) -> go.Figure:
    """Words on a plane, and an arrow from where a token starts to where it ends."""
    named = {spot.name for spot in spots if spot.kind != "token"}
    ends = (
        ["bottom center", "top center"] if end[1] >= start[1] else ["top center", "bottom center"]
    )
    across = _room([s.x for s in spots], start[0], end[0])
    up = _room([s.y for s in spots], start[1], end[1])
    labels = _Labels(across, up)
    for point, name, side in zip((start, end), ("alone", "here"), ends, strict=True):
        labels.keep_free(*point, f"{token} {name}", side)
    drawn = []
    for kind, (colour, words) in KINDS.items():
        some = [spot for spot in spots if spot.kind == kind]
        if some:
            drawn.append(_spots(kind, some, colour, words, named, labels))
    token_itself = {
        "type": "scatter",
        "x": [start[0], end[0]],
        "y": [start[1], end[1]],
        "mode": "markers+text",
        "text": [f"<b>{label(token)}</b> alone", f"<b>{label(token)}</b> here"],
        "textposition": ends,
        "textfont": {"size": 14, "color": CHOSEN},
        "marker": {"size": 9, "color": CHOSEN, "symbol": ["circle-open", "circle"]},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    arrow = {
        **{"x": end[0], "y": end[1], "ax": start[0], "ay": start[1]},
        **{"xref": "x", "yref": "y", "axref": "x", "ayref": "y"},
        **{"showarrow": True, "arrowhead": 2, "arrowwidth": 2.5, "arrowcolor": CHOSEN},
        **{"standoff": 5, "startstandoff": 5},
    }
    hidden = {"showticklabels": False, "zeroline": False, "showgrid": False, "ticks": ""}
    layout = BASE | {
        "height": 340,
        "margin": {"l": 4, "r": 4, "t": 8, "b": 56},
        "xaxis": hidden | {"fixedrange": True, "range": across},
        "yaxis": hidden | {"fixedrange": True, "range": up},
        "annotations": [arrow],
    }
    return go.Figure([*drawn, token_itself], layout)


def _spots(
    kind: str,
    some: Sequence[Spot],
    colour: str,
    words: str,
    named: Collection[str],
    labels: _Labels,
) -> dict[str, Any]:
    """The spots of one kind; a token that is one of the `named` words keeps its dot alone."""
    token = kind == "token"
    sizes = [LEAST_DOT + MOST_DOT * abs(spot.weight) ** 0.5 if token else 6 for spot in some]
    sides = [
        None
        if token and spot.name in named
        else labels.place(spot.x, spot.y, spot.name, radius=size / 2)
        for spot, size in zip(some, sizes, strict=True)
    ]
    told = "%{customdata[0]}" + ("<br>weight %{customdata[1]:.4f}" if token else "")
    return {
        "type": "scatter",
        "x": [spot.x for spot in some],
        "y": [spot.y for spot in some],
        "mode": "markers+text",
        "name": words,
        "text": [label(spot.name) if side else "" for spot, side in zip(some, sides, strict=True)],
        "customdata": [[label(spot.name), spot.weight] for spot in some],
        "textposition": [side or "top center" for side in sides],
        "textfont": {"size": 12, "color": GREY if token else colour},
        "marker": {"size": sizes, "color": colour, "line": {"width": 0}},
        "hovertemplate": f"{told}<extra></extra>",
    }


class _Labels:
    """Where words are written on a map, so that none hides another or is cut.

    across, up: the ranges of the axes. Sizes are in pixels, on a map of about the size it has; on
    one as narrow as a phone has it, no word is cut.
    """

    def __init__(self, across: Sequence[float], up: Sequence[float]) -> None:
        self.across, self.up = across, up
        self.taken: list[tuple[float, float, float, float]] = []

    def place(self, x: float, y: float, word: str, radius: float = 3.0) -> str | None:
        """At which side of a dot there is room for its word; None where there is none."""
        for side in ("middle right", "middle left", "top center", "bottom center"):
            box = self._box(x, y, word, radius, side)
            narrow = self._box(x, y, word, radius, side, NARROWEST)
            within = narrow[0] >= 0 and narrow[2] <= NARROWEST
            if within and not any(_meet(box, other) for other in self.taken):
                self.taken.append(box)
                return side
        return None

    def keep_free(self, x: float, y: float, word: str, side: str) -> None:
        """Let no word stand where this one does."""
        self.taken.append(self._box(x, y, word, 3.0, side))

    def _box(
        self, x: float, y: float, word: str, radius: float, side: str, across: int = MAP_WIDTH
    ) -> tuple[float, float, float, float]:
        (left, right), (bottom, top) = self.across, self.up
        x, y = (x - left) / (right - left) * across, (y - bottom) / (top - bottom) * MAP_HEIGHT
        width, height, apart = LETTER * min(len(word), 2 * TICK_LENGTH), LINE, radius + 2
        middle, low = x - width / 2, y - height / 2
        left, bottom = {
            "middle right": (x + apart, low),
            "middle left": (x - apart - width, low),
            "top center": (middle, y + apart),
            "bottom center": (middle, y - apart - height),
        }[side]
        return left, bottom, left + width, bottom + height


def _meet(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _room(values: Sequence[float], *more: float) -> list[float]:
    """The range of an axis, with room for words at both ends."""
    least, most = min([*values, *more]), max([*values, *more])
    margin = 0.18 * (most - least) or 1.0
    return [least - margin, most + margin]


def spread_figure(
    widths: Sequence[int],
    spread: Mapping[str, Sequence[float]],
    greatest: Mapping[str, Sequence[float]],
) -> go.Figure:
    """The spread of scores, and the greatest share after the softmax, against d_k."""
    colours = (CHOSEN, BLUE)
    lines = [
        {
            "type": "scatter",
            "x": list(widths),
            "y": list(values),
            "name": name,
            "mode": "lines+markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"size": 7},
            "xaxis": f"x{axis}",
            "yaxis": f"y{axis}",
            "showlegend": axis == 1,
            "hovertemplate": f"d_k %{{x}}<br>{digits} %{{y:.2f}}<extra>{name}</extra>",
        }
        for axis, (numbers, digits) in enumerate(((spread, "spread"), (greatest, "share")), 1)
        for colour, (name, values) in zip(colours, numbers.items(), strict=False)
    ]
    across = {
        "type": "log",
        "tickvals": list(widths[::2]),
        "tickangle": 0,
        "title": {"text": "d_k", "standoff": 8},
        "fixedrange": True,
        "showgrid": False,
    }
    up = {
        **{"fixedrange": True, "rangemode": "tozero", "zeroline": False},
        **{"gridcolor": "rgba(128, 128, 128, 0.25)", "ticklabelstandoff": 4},
    }
    layout = BASE | {
        "height": 360,
        "margin": {"l": 44, "r": 8, "t": 34, "b": 84},
        "xaxis": across | {"domain": [0, 0.46]},
        "xaxis2": across | {"domain": [0.56, 1]},
        "yaxis": up,
        "yaxis2": up | {"anchor": "x2", "range": [0, 1.02]},
        "annotations": [
            _heading("spread of the scores", 0),
            _heading("the greatest of 8 shares", 0.56),
        ],
    }
    return go.Figure(lines, layout)


def _heading(words: str, x: float) -> dict[str, Any]:
    return {
        "text": words,
        "x": x,
        "y": 1.0,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 14},
    }
