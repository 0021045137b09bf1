"""A number of each layer and head, or of each layer and token, as a labelled heatmap."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go
from torch import Tensor

from attention.core.arguments import must_be
from attention.core.printing import distinct_names
from attention.figures.chart import Chart
from attention.figures.maps import BASE
from attention.figures.plots import (
    COLOUR_LEGEND,
    cell_gaps,
    colours,
    figure_height,
    label,
    margins,
    tick_names,
    token_axis,
    top_angle,
)

# the ground shines through near 0, so that it does in either theme
AROUND_0 = [[0, "rgb(47, 111, 184)"], [0.5, "rgba(128, 128, 128, 0.1)"], [1, "rgb(217, 119, 6)"]]
TITLE = 52  # pixels, with the name of the axis


def layer_map(numbers: Tensor, title: str, tokens: Sequence[str] | None = None) -> Chart:
    """Numbers (layers, heads), or (layers, tokens) where the tokens are given, as a heatmap.

    Layers go down, as effects, votes and patches of `attention.changing` have them. Orange is above
    0, blue below. `attention.show` shows it, `attention.save_scene` writes it as a file. Raises
    ValueError where the numbers have other axes, or there are not as many tokens.
    """
    must_be("numbers", numbers, Tensor)
    if numbers.dim() != 2 or not numbers.numel():
        raise ValueError(
            f"numbers must be (layers, heads) or (layers, tokens), got {tuple(numbers.shape)}"
        )
    layers, columns = numbers.shape
    if tokens is not None and len(tokens) != columns:
        raise ValueError(f"there must be a token for each of {columns} columns, got {len(tokens)}")
    kind = "head" if tokens is None else "token"
    names = [str(at) for at in range(columns)] if tokens is None else tick_names(tokens)
    full = names if tokens is None else [label(name) for name in distinct_names(tokens)]
    rows = [str(layer) for layer in range(layers)]
    z = numbers.detach().float().cpu().numpy()
    cells = {
        "type": "heatmap",
        "x": [str(at) for at in range(columns)],
        "y": rows,
        "z": z,
        "customdata": [full] * layers,
        **cell_gaps(layers, columns),
        **colours(z, diverging=True),
        "autocolorscale": False,
        "colorscale": AROUND_0,
        "colorbar": COLOUR_LEGEND | {"x": 1, "xpad": 8},
        "hovertemplate": f"layer %{{y}}, {kind} %{{customdata}}<br>%{{z:.4f}}<extra></extra>",
    }
    room, words = margins(rows, names), {"text": "" if tokens else "head", "standoff": 2}
    layout = BASE | {
        "title": {
            **{"text": html.escape(title), "x": 0, "xref": "paper", "y": 1, "yref": "container"},
            **{"yanchor": "top", "pad": {"t": 8}, "font": {"size": 15}},
        },
        "xaxis": token_axis(names)
        | {"side": "top", "tickangle": top_angle(names), "range": [-0.5, columns - 0.5]}
        | {"title": words},
        "yaxis": token_axis(rows)
        | {"range": [layers - 0.5, -0.5], "title": {"text": "layer", "standoff": 4}},
        "height": figure_height(layers) + TITLE,
        "margin": room | {"t": room["t"] + TITLE, "l": room["l"] + 16},
    }
    return Chart(go.Figure([cells], layout), title)
