"""Two figures of the lessons: where a word goes, and how scores spread. Nothing here displays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from attention.display.figures import CHOSEN, CLEAR, label

GREY, BLUE = "rgba(128, 128, 128, 0.9)", "#3785bf"
KINDS = {  # of a spot: its colour, and what the legend says
    "probe": (CHOSEN, "to compare with"),
    "before": (GREY, "near before"),
    "after": (BLUE, "near after"),
    "both": ("#4c9f70", "near both"),
    "token": ("rgba(128, 128, 128, 0.4)", "other tokens, by weight"),
}
LEAST_DOT, MOST_DOT = 6, 34
BASE: dict[str, Any] = {
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
    figure = go.Figure()
    named = {spot.name for spot in spots if spot.kind != "token"}
    above, below = "top center", "bottom center"
    across = _room([s.x for s in spots], start[0], end[0])
    for kind, (colour, words) in KINDS.items():
        some = [spot for spot in spots if spot.kind == kind]
        if some:
            figure.add_trace(_spots(kind, some, colour, words, named, sum(across) / 2))
    figure.add_trace(
        go.Scatter(
            x=[start[0], end[0]],
            y=[start[1], end[1]],
            mode="markers+text",
            text=[f"<b>{label(token)}</b> alone", f"<b>{label(token)}</b> here"],
            textposition=[below, above] if end[1] >= start[1] else [above, below],
            textfont={"size": 14, "color": CHOSEN},
            marker={"size": 9, "color": CHOSEN, "symbol": ["circle-open", "circle"]},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.add_annotation(
        x=end[0],
        y=end[1],
        ax=start[0],
        ay=start[1],
        xref="x",
        yref="y",
        axref="x",
        ayref="y",
        showarrow=True,
        arrowhead=2,
        arrowwidth=2.5,
        arrowcolor=CHOSEN,
        standoff=5,
        startstandoff=5,
    )
    hidden = {"showticklabels": False, "zeroline": False, "showgrid": False, "ticks": ""}
    figure.update_layout(
        **BASE,
        height=340,
        margin={"l": 4, "r": 4, "t": 8, "b": 56},
        xaxis=hidden | {"fixedrange": True, "range": across},
        yaxis=hidden | {"fixedrange": True, "range": _room([s.y for s in spots], start[1], end[1])},
    )
    return figure


def _spots(
    kind: str,
    some: Sequence[Spot],
    colour: str,
    words: str,
    named: Collection[str],
    middle: float,
) -> go.Scatter:
    """The spots of one kind; a token that is one of the `named` words keeps its dot alone.

    middle: of the map, towards which a word is written, so that none is cut.
    """
    token = kind == "token"
    sizes = [LEAST_DOT + MOST_DOT * abs(spot.weight) ** 0.5 if token else 6 for spot in some]
    names = ["" if token and spot.name in named else label(spot.name) for spot in some]
    beside = ["middle right" if spot.x < middle else "middle left" for spot in some]
    told = "%{customdata[0]}" + ("<br>weight %{customdata[1]:.4f}" if token else "")
    return go.Scatter(
        x=[spot.x for spot in some],
        y=[spot.y for spot in some],
        mode="markers+text",
        name=words,
        text=names,
        customdata=[[label(spot.name), spot.weight] for spot in some],
        textposition="top center" if token else beside,
        textfont={"size": 12, "color": GREY if token else colour},
        marker={"size": sizes, "color": colour, "line": {"width": 0}},
        hovertemplate=f"{told}<extra></extra>",
    )


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
    figure = go.Figure()
    colours = (CHOSEN, BLUE)
    for axis, (numbers, digits) in enumerate(((spread, "spread"), (greatest, "share")), 1):
        for colour, (name, values) in zip(colours, numbers.items(), strict=False):
            figure.add_trace(
                go.Scatter(
                    x=list(widths),
                    y=list(values),
                    name=name,
                    mode="lines+markers",
                    line={"color": colour, "width": 2.5},
                    marker={"size": 7},
                    xaxis=f"x{axis}",
                    yaxis=f"y{axis}",
                    showlegend=axis == 1,
                    hovertemplate=f"d_k %{{x}}<br>{digits} %{{y:.2f}}<extra>{name}</extra>",
                )
            )
    across = {
        "type": "log",
        "tickvals": list(widths),
        "title": {"text": "d_k"},
        "fixedrange": True,
        "showgrid": False,
    }
    up = {"fixedrange": True, "rangemode": "tozero", "zeroline": False}
    figure.update_layout(
        **BASE,
        height=360,
        margin={"l": 44, "r": 8, "t": 34, "b": 84},
        xaxis=across | {"domain": [0, 0.46]},
        xaxis2=across | {"domain": [0.56, 1]},
        yaxis=up,
        yaxis2=up | {"anchor": "x2", "range": [0, 1.02]},
        annotations=[
            _heading("spread of the scores", 0),
            _heading("the greatest of 8 shares", 0.56),
        ],
    )
    return figure


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
