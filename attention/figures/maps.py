"""Two figures of the lessons: where a word goes, and how scores spread. Nothing here displays.

Each is written as data and made at once: it takes Plotly a sixth of the time of a figure that is
put together by `add_trace` and `update_layout`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from attention.figures.plots import CHOSEN, CLEAR, TICK_LENGTH, label

GREY, BLUE = "rgba(128, 128, 128, 0.9)", "#3785bf"
KINDS = {  # of a spot: its colour, and what the legend says
    "probe": (CHOSEN, "to compare with"),
    "before": (GREY, "near before"),
    "after": (BLUE, "near after"),
    "both": ("#4c9f70", "near both"),
    "token": ("rgba(128, 128, 128, 0.4)", "other tokens, by weight"),
}
FIRST_NAMED = ("probe", "both", "after", "before", "token")  # those of the table, then the others
LEAST_DOT, MOST_DOT, OWN_DOT = 6, 34, 9
MAP_WIDTHS, MAP_HEIGHT, LETTER, LINE = (350, 450, 700), 276, 6.5, 14  # pixels
NARROWEST = 320
SIDES = tuple(
    f"{up} {across}"
    for up, across in (
        *(("middle", "right"), ("middle", "left"), ("top", "center"), ("bottom", "center")),
        *(("top", "right"), ("top", "left"), ("bottom", "right"), ("bottom", "left")),
    )
)
COLOURS, DASHES = (BLUE, CHOSEN), ("solid", "dash")
Box = tuple[float, float, float, float]  # left, bottom, right, top
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
    token: str,
    spots: Sequence[Spot],
    start: tuple[float, float],
    end: tuple[float, float],
    reach: Sequence[tuple[float, float]] = (),
) -> go.Figure:
    """Words on a plane, and an arrow from where a token starts to where it ends.

    reach: points that the plane is to have room for besides.
    """
    named = {spot.name for spot in spots if spot.kind != "token"}
    greatest = max(spots, key=lambda spot: abs(spot.weight)).name if spots else ""
    ends = (
        ["bottom center", "top center"] if end[1] >= start[1] else ["top center", "bottom center"]
    )
    across = _room([s.x for s in spots], start[0], end[0], *(x for x, _ in reach))
    up = _room([s.y for s in spots], start[1], end[1], *(y for _, y in reach))
    dots = [(spot.x, spot.y, _size(spot) / 2) for spot in spots]
    dots += [(*point, OWN_DOT / 2) for point in (start, end)]
    labels = _Labels(across, up, dots)
    for at, (point, name) in enumerate(((start, "alone"), (end, "here"))):
        own = (*point, f"{token} {name}", OWN_DOT / 2)
        ends[at] = labels.fit(*own, (ends[at], *SIDES)) or labels.keep(*own, ends[at])
    sides_of = {
        spot: labels.fit(spot.x, spot.y, spot.name, _size(spot) / 2)
        or (
            labels.over(spot.x, spot.y, spot.name, _size(spot) / 2)
            if spot.kind == "probe" or spot.name == greatest
            else None
        )
        for spot in sorted(spots, key=lambda spot: FIRST_NAMED.index(spot.kind))
        if spot.kind != "token" or spot.name not in named
    }
    drawn = []
    for kind, (colour, words) in KINDS.items():
        some = [spot for spot in spots if spot.kind == kind]
        if some:
            drawn.append(_spots(kind, some, colour, words, sides_of))
    token_itself = {
        "type": "scatter",
        "x": [start[0], end[0]],
        "y": [start[1], end[1]],
        "mode": "markers+text",
        "text": [f"<b>{label(token)}</b> alone", f"<b>{label(token)}</b> here"],
        "textposition": ends,
        "textfont": {"size": 14, "color": CHOSEN},
        "marker": {"size": OWN_DOT, "color": CHOSEN, "symbol": ["circle-open", "circle"]},
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


def _size(spot: Spot) -> float:
    """Width of the dot of a spot."""
    return LEAST_DOT + (MOST_DOT * abs(spot.weight) ** 0.5 if spot.kind == "token" else 0)


def _spots(
    kind: str, some: Sequence[Spot], colour: str, words: str, sides_of: Mapping[Spot, str | None]
) -> dict[str, Any]:
    """The spots of one kind, each with its word where that has a side."""
    token = kind == "token"
    sides = [sides_of.get(spot) for spot in some]
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
        "marker": {"size": [_size(spot) for spot in some], "color": colour, "line": {"width": 0}},
        "hovertemplate": f"{told}<extra></extra>",
    }


class _Labels:
    """Places of words on a map, so that none hides another or a dot, or is cut.

    across, up: the ranges of the axes; dots: x, y and radius of each. Sizes are in pixels, on maps
    of about the widths that it has; on one as narrow as a phone has it, no word is cut.
    """

    def __init__(
        self,
        across: Sequence[float],
        up: Sequence[float],
        dots: Sequence[tuple[float, float, float]],
    ) -> None:
        self.across, self.up, self.dots = across, up, dots
        self.taken: dict[int, list[Box]] = {width: [] for width in MAP_WIDTHS}

    def fit(
        self, x: float, y: float, word: str, radius: float, sides: Sequence[str] = SIDES
    ) -> str | None:
        """At which side of a dot there is room for its word; None where there is none."""
        for side in sides:
            left, _, right, _ = self._box(x, y, word, radius, side, NARROWEST)
            if left < 0 or right > NARROWEST:
                continue
            if all(self._is_free(x, y, word, radius, side, width) for width in MAP_WIDTHS):
                return self.keep(x, y, word, radius, side)
        return None

    def over(self, x: float, y: float, word: str, radius: float) -> str:
        """The side of a dot for a word that must be read: it may hide dots, but no other word."""
        for side in SIDES:
            boxes = {w: self._box(x, y, word, radius, side, w) for w in MAP_WIDTHS}
            if not any(_meet(box, taken) for w, box in boxes.items() for taken in self.taken[w]):
                return self.keep(x, y, word, radius, side)
        return self.keep(x, y, word, radius, SIDES[0])

    def keep(self, x: float, y: float, word: str, radius: float, side: str) -> str:
        """Let no other word stand where this one does."""
        for width, taken in self.taken.items():
            taken.append(self._box(x, y, word, radius, side, width))
        return side

    def _is_free(self, x: float, y: float, word: str, radius: float, side: str, width: int) -> bool:
        """True if no other word stands there, and no dot but those at the same point."""
        box, here = self._box(x, y, word, radius, side, width), self._pixels(x, y, width)
        if any(_meet(box, other) for other in self.taken[width]):
            return False
        dots = ((self._pixels(x, y, width), size) for x, y, size in self.dots)
        return not any(math.dist(dot, here) > 1 and _covers(box, *dot, size) for dot, size in dots)

    def _pixels(self, x: float, y: float, width: int) -> tuple[float, float]:
        (left, right), (bottom, top) = self.across, self.up
        return (x - left) / (right - left) * width, (y - bottom) / (top - bottom) * MAP_HEIGHT

    def _box(self, x: float, y: float, word: str, radius: float, side: str, width: int) -> Box:
        """Box that a word takes up, as far from its dot as plotly.js writes it."""
        x, y = self._pixels(x, y, width)
        long, apart = LETTER * min(len(word), 2 * TICK_LENGTH), radius / 0.8 + 1
        up, across = side.split()
        left = {"right": x + apart, "left": x - apart - long, "center": x - long / 2}[across]
        bottom = {"top": y + apart, "bottom": y - apart - LINE, "middle": y - LINE / 2}[up]
        return left, bottom, left + long, bottom + LINE


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _covers(box: Box, x: float, y: float, radius: float) -> bool:
    """True if a box and a dot have anything in common."""
    left, bottom, right, top = box
    return math.hypot(max(left - x, 0, x - right), max(bottom - y, 0, y - top)) < radius


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
    """The spread of scores, and the greatest share after the softmax, against d_k: two panels of
    curves, each in one colour in both."""
    lines = [
        {
            "type": "scatter",
            "x": list(widths),
            "y": list(values),
            "name": name,
            "mode": "lines+markers",
            "line": {"color": COLOURS[at], "width": 2.5, "dash": DASHES[at]},
            "marker": {"size": 6},
            "xaxis": f"x{axis}",
            "yaxis": f"y{axis}",
            "showlegend": axis == 1,
            "hovertemplate": f"d_k %{{x}}<br>{words} %{{y:.2f}}<extra>{name}</extra>",
        }
        for axis, (words, curves) in enumerate((("spread", spread), ("share", greatest)), 1)
        for at, (name, values) in enumerate(curves.items())
    ]
    ahead = {
        **{"tickangle": 0, "fixedrange": True, "showgrid": False, "type": "log"},
        **{"tickvals": list(widths[::2]), "title": {"text": "d_k", "standoff": 8}},
    }
    up = {
        **{"fixedrange": True, "gridcolor": "rgba(128, 128, 128, 0.25)", "ticklabelstandoff": 4},
        **{"zeroline": True, "zerolinecolor": "rgba(128, 128, 128, 0.5)"},
    }
    layout = BASE | {
        "height": 460,
        "margin": {"l": 44, "r": 8, "t": 34, "b": 84},
        "xaxis": ahead | {"domain": [0, 0.46]},
        "xaxis2": ahead | {"domain": [0.56, 1]},
        "yaxis": up | {"rangemode": "tozero"},
        "yaxis2": up | {"anchor": "x2", "range": [0, 1.02]},
        "annotations": [
            _heading("spread of the scores", 0),
            _heading("greatest of 8 shares", 0.56),
        ],
    }
    return go.Figure(lines, layout)


def _heading(words: str, x: float) -> dict[str, Any]:
    """The title of a part of a figure. x: where it begins, from 0 to 1."""
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
