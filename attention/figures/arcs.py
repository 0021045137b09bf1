"""Two figures of associations: links over a sentence, and curves of faithfulness.

Nothing here displays. Written as data, as the figures of `maps` are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attention.figures.maps import BASE, BLUE, Panel, panels
from attention.figures.plots import CHOSEN, label

Link = tuple[int, int, float]  # query, key, strength
STEPS = 24  # straight parts of an arc
LEVELS = 8  # of width that arcs have
MOST_WIDE = 7.0
ROW = 28  # pixels


def arcs(names: Sequence[str], links: Sequence[Link], query: int) -> go.Figure:
    """The words of a sentence from top to bottom, the linked ones joined by arcs.

    links: (query, key, strength); an arc on the right leads from a word to one before it, on the
    left to one behind it; those of a strength below 0 are dashed. query: the word whose links stand
    out.
    """
    count = len(names)
    most = max((abs(strength) for *_, strength in links), default=1.0) or 1.0
    drawn = []
    for chosen in (False, True):
        for below in (False, True):
            some = [link for link in links if (link[0] == query, link[2] < 0) == (chosen, below)]
            drawn += _levels(some, most, count, chosen)
    dots = {
        "type": "scatter",
        "x": [_middle(link, count)[0] for link in links],
        "y": [_middle(link, count)[1] for link in links],
        "mode": "markers",
        "marker": {"size": 12, "color": "rgba(128, 128, 128, 0)"},
        "hovertemplate": "%{text}<extra></extra>",
        "text": [
            f"{label(names[start])} → {label(names[end])}<br>{strength:.4f}"
            for start, end, strength in links
        ],
        "showlegend": False,
    }
    words = {
        "type": "scatter",
        "x": [0] * count,
        "y": [*range(count)],
        "mode": "text",
        "text": [
            f"<b>{label(name)}</b>" if at == query else label(name) for at, name in enumerate(names)
        ],
        "textfont": {"size": 14},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    hidden = {"visible": False, "fixedrange": True}
    layout = BASE | {
        "height": max(160, ROW * count + 30),
        "margin": {"l": 4, "r": 4, "t": 6, "b": 6},
        "xaxis": hidden | {"range": [-1.0, 1.0]},
        "yaxis": hidden | {"range": [count - 0.4, -0.6]},
        "showlegend": False,
    }
    return go.Figure([*drawn, dots, words], layout)


def _reach(link: Link, count: int) -> float:
    """Distance that an arc goes to the side: the more words lie between, the farther."""
    start, end, _ = link
    reach = 0.17 + 0.75 * math.sqrt(abs(end - start) / max(1, count - 1))
    return reach if end < start else -reach


def _middle(link: Link, count: int) -> tuple[float, float]:
    return _reach(link, count), (link[0] + link[1]) / 2


def _levels(links: Sequence[Link], most: float, count: int, chosen: bool) -> list[dict[str, Any]]:
    """Arcs of about the same strength are drawn as one line."""
    found = []
    for level in range(1, LEVELS + 1):
        some = [link for link in links if max(1, math.ceil(LEVELS * abs(link[2]) / most)) == level]
        if not some:
            continue
        x: list[float | None] = []
        y: list[float | None] = []
        for link in some:
            start, end, _ = link
            reach, side = _reach(link, count), math.copysign(0.13, _reach(link, count))
            for step in range(STEPS + 1):
                angle = math.pi * step / STEPS
                x.append(side + (reach - side) * math.sin(angle))
                y.append((start + end) / 2 + (start - end) / 2 * math.cos(angle))
            x.append(None)
            y.append(None)
        width = MOST_WIDE * level / LEVELS
        line = {"color": CHOSEN if chosen else BLUE, "width": width, "shape": "linear"}
        line["dash"] = "dash" if some[0][2] < 0 else "solid"
        found.append(
            {
                "type": "scatter",
                "x": x,
                "y": y,
                "mode": "lines",
                "line": line,
                "opacity": 0.95 if chosen else 0.35 + 0.45 * level / LEVELS,
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return found


def curves_figure(
    removed: Mapping[str, Sequence[float]], kept: Mapping[str, Sequence[float]]
) -> go.Figure:
    """Faithfulness by method: the drop as the first pieces are removed, and as they alone stay."""
    count = max(map(len, (*removed.values(), *kept.values())), default=0)
    return panels(
        Panel("removed: more is better", removed, "removed %{x}<br>drop %{y:.4f}"),
        Panel("kept: less is better", kept, "kept %{x}<br>drop %{y:.4f}"),
        range(count),
        {"rangemode": "tozero"},
        ("pieces removed", "pieces kept"),
        340,
    )
