"""Two figures of what parts of a model do. Nothing here displays."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from torch import Tensor

from attention.figures.maps import BASE, BLUE
from attention.figures.plots import CHOSEN, label

GRID = "rgba(128, 128, 128, 0.25)"
FREE = {"fixedrange": True, "zeroline": False, "showgrid": False, "ticks": ""}


def guess_lines(
    names: Sequence[str],
    ranks: Tensor,
    shares: Tensor,
    words: Sequence[str],
    likeliest: Sequence[tuple[str, float]],
) -> go.Figure:
    """The ranks of two words through the layers, the likeliest on top.

    ranks, shares: (layers + 1, 2).
    """
    most = [f"{label(piece)} {share:.2f}" for piece, share in likeliest]
    lines = [
        {
            "type": "scatter",
            "x": list(range(len(names))),
            "y": ranks[:, at].tolist(),
            "customdata": [
                [label(name), share, told]
                for name, share, told in zip(names, shares[:, at].tolist(), most, strict=True)
            ],
            "name": label(word),
            "mode": "lines+markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"size": 6, "symbol": symbol},
            "hovertemplate": "%{customdata[0]}: %{y}.<br>probability %{customdata[1]:.4f}"
            "<br>likeliest: %{customdata[2]}"
            f"<extra>{label(word)}</extra>",
        }
        for at, (word, colour, symbol) in enumerate(
            zip(words, (CHOSEN, BLUE), ("circle", "square"), strict=True)
        )
    ]
    layout = BASE | {
        "height": 320,
        "margin": {"l": 64, "r": 8, "t": 8, "b": 84},
        "xaxis": FREE | {"title": {"text": "layers that have run", "standoff": 8}},
        "yaxis": {**FREE, "showgrid": True, "gridcolor": GRID, "type": "log"}
        | {"autorange": "reversed", "dtick": 1, "title": {"text": "rank", "standoff": 6}},
    }
    return go.Figure(lines, layout)


def part_bars(names: Sequence[str], by_query: Tensor, by_key: Tensor) -> go.Figure:
    """Bars of each part's share in a score, by way of the query and of the key. (parts,) both."""
    bars = [
        {
            "type": "bar",
            "x": list(range(len(names))),
            "y": numbers.tolist(),
            "customdata": [label(name) for name in names],
            "name": title,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": "%{customdata}: %{y:.4f}<extra></extra>",
        }
        for title, colour, numbers in (
            ("in the query", CHOSEN, by_query),
            ("in the key", BLUE, by_key),
        )
    ]
    layout = BASE | {
        "height": 300,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 84},
        "xaxis": FREE
        | {"title": {"text": "parts, in the order of the model", "standoff": 8}}
        | {"showticklabels": False},
        "yaxis": {**FREE, "showgrid": True, "gridcolor": GRID, "zeroline": True},
    }
    return go.Figure(bars, layout)
