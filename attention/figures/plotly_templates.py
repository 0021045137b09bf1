"""The app's colours as plotly templates, light and dark, for figures that leave the app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.io import templates

SEQUENTIAL = (
    "#f5f9fd", "#e2edf8", "#cbdff1", "#abcfe6", "#82bbdb",
    "#58a1cf", "#3785bf", "#1b69ad", "#0a4c8f", "#08306b",
)  # fmt: skip
DIVERGING = (
    "#1c4f9c", "#4a78b8", "#86a5d1", "#bccbe5", "#e9edf5",
    "#f9efe6", "#f3cfae", "#e39e66", "#c96f2b", "#9c4a0c",
)  # fmt: skip
SEQUENTIAL_DARK = (
    "#151f2b", "#182c40", "#1a3b58", "#1d4c73", "#235f90",
    "#3077ad", "#4a92c8", "#71afdd", "#a1cdee", "#d6ebfb",
)  # fmt: skip
DIVERGING_DARK = (
    "#7fb2f0", "#5a8fd0", "#3f6ca6", "#2b4a74", "#1b2b40",
    "#3a2a1c", "#704721", "#a96726", "#db8c3c", "#f8bd7f",
)  # fmt: skip
CATEGORICAL = (
    "#1f6fb2", "#d97706", "#4c9f70", "#8a5fbf", "#b5486b",
    "#7a7f87", "#2aa3a3", "#c2a83e", "#5c6bc0", "#8d6e63",
)  # fmt: skip
CATEGORICAL_DARK = (
    "#6db3ee", "#f0a04b", "#7fcf9f", "#b795e6", "#e58aa8",
    "#a4abb5", "#63cfcf", "#e3cd6e", "#97a3ea", "#c2a598",
)  # fmt: skip


def _template(
    ground: str, ink: str, bar: str, sequential: Sequence[str], diverging: Sequence[str]
) -> go.layout.Template:
    return go.layout.Template(
        layout={
            "colorscale": {"sequential": _scale(sequential), "diverging": _scale(diverging)},
            "colorway": [bar],
            "font": {"family": "Source Sans, Helvetica, Arial, sans-serif", "color": ink},
            "paper_bgcolor": ground,
            "plot_bgcolor": ground,
        },
        data={"heatmap": [{"colorscale": _scale(sequential)}]},
    )


def _scale(colours: Sequence[str]) -> list[list[Any]]:
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]


LIGHT = _template("#ffffff", "#17212b", "#1f6fb2", SEQUENTIAL, DIVERGING)
DARK = _template("#10161d", "#e6ebf0", "#6db3ee", SEQUENTIAL_DARK, DIVERGING_DARK)


def variables(
    template: go.layout.Template,
    sequential: Sequence[str],
    diverging: Sequence[str],
    categorical: Sequence[str],
) -> dict[str, str]:
    """The variables of a theme that components read, as Streamlit names them."""
    layout = template.layout
    ground = layout.paper_bgcolor
    return {
        "--st-font": layout.font.family,
        "--st-text-color": layout.font.color,
        "--st-background-color": ground,
        "--st-border-color": f"color-mix(in srgb, {layout.font.color} 20%, transparent)",
        "--st-primary-color": layout.colorway[0],
        "--st-secondary-background-color": f"color-mix(in srgb, {layout.font.color} 6%, {ground})",
        "--st-button-radius": "0.5rem",
        "--st-chart-sequential-colors": ",".join(sequential),
        "--st-chart-diverging-colors": ",".join(diverging),
        "--st-chart-categorical-colors": ",".join(categorical),
    }


THEMES = {
    "light": variables(LIGHT, SEQUENTIAL, DIVERGING, CATEGORICAL),
    "dark": variables(DARK, SEQUENTIAL_DARK, DIVERGING_DARK, CATEGORICAL_DARK),
}


def drawn(data: Sequence[dict[str, Any]], layout: dict[str, Any]) -> go.Figure:
    """A figure in these colours: the dark ones where plotly's default template is a dark one."""
    looks = DARK if "dark" in (templates.default or "") else LIGHT
    return go.Figure(data, {"template": looks} | layout)
