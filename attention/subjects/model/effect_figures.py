"""Three figures of what parts of a model do. Nothing here displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from torch import Tensor

from attention.figures.layer_maps import AROUND_0
from attention.figures.maps import BASE, BLUE
from attention.figures.plots import CHOSEN, FAINT, label

GRID = "rgba(128, 128, 128, 0.25)"
STRIPE = 26  # pixels of a row of heads
LEAST_SEEN = 0.03  # of the last colour: weaker discs have but a faint outline
FREE = {"fixedrange": True, "zeroline": False, "showgrid": False, "ticks": ""}


def effect_map(
    total: Tensor, direct: Tensor | None, layer_names: Sequence[str], chosen: tuple[int, int]
) -> go.Figure:
    """Each head as a square in the colour of its total effect, its direct effect as a disc on it.

    total, direct: (layers, heads); chosen: the (layer, head) outlined. A point's customdata is its
    position among all heads, layer after layer.
    """
    layers, heads = total.shape
    most = float(max(total.abs().max(), 0 if direct is None else direct.abs().max())) or 1.0
    told = "<br>".join(
        ["%{customdata[1]}, head %{y}", "total %{customdata[2]:.3f}"]
        + ([] if direct is None else ["direct %{customdata[3]:.3f}"])
    )
    data = [
        [
            [
                layer * heads + head,
                label(layer_names[layer]),
                float(total[layer, head]),
                None if direct is None else float(direct[layer, head]),
            ]
            for layer in range(layers)
        ]
        for head in range(heads)
    ]
    squares = {
        "type": "heatmap",
        "z": total.T.tolist(),
        "customdata": data,
        "zmin": -most,
        "zmax": most,
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": f"{told}<extra></extra>",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "len": 1, "tickfont": {"size": 11}},
        "colorscale": AROUND_0,
    }
    drawn: list[dict[str, Any]] = [squares]
    if direct is not None:
        seen = (direct.T.flatten().abs() > LEAST_SEEN * most).tolist()
        discs = {
            "type": "scatter",
            "x": [layer for _ in range(heads) for layer in range(layers)],
            "y": [head for head in range(heads) for _ in range(layers)],
            "customdata": [position for row in data for position in row],
            "mode": "markers",
            "marker": {
                "size": 9,
                "color": direct.T.flatten().tolist(),
                "cmin": -most,
                "cmax": most,
                "line": {"width": 1, "color": [FAINT if one else GRID for one in seen]},
                "colorscale": AROUND_0,
            },
            "hovertemplate": f"{told}<extra></extra>",
            "showlegend": False,
        }
        drawn.append(discs)
    layer, head = chosen
    outline = {
        "type": "rect",
        "x0": layer - 0.5,
        "x1": layer + 0.5,
        "y0": head - 0.5,
        "y1": head + 0.5,
        "line": {"color": CHOSEN, "width": 3},
    }
    layout = BASE | {
        "height": STRIPE * heads + 64,
        "margin": {"l": 44, "r": 8, "t": 6, "b": 44},
        "xaxis": FREE | {"title": {"text": "layer", "standoff": 6}, "range": [-0.5, layers - 0.5]},
        "yaxis": FREE
        | {"title": {"text": "head", "standoff": 6}, "range": [heads - 0.5, -0.5], "dtick": 1},
        "shapes": [outline],
    }
    return go.Figure(drawn, layout)


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
