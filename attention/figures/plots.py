"""Tensors and tokens -> plotly figures. Nothing here displays anything.

Colours come from the figure's template, see `looks`: sequential for weights, diverging around 0
for scores and contributions.
"""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict, cast

import numpy
import plotly.graph_objects as go

from attention.core import analysis
from attention.core.functional import Trace
from attention.core.printing import distinct_names
from attention.core.weighing import SOFTMAX
from attention.figures.captions import sums_words, unshared_words
from attention.figures.plotly_templates import drawn

STAGE_WORDS = {
    "scores": "Raw scores: how well each query matches each key. Orange is above 0, blue below.",
    "scaled": "Scores times the scale: the larger the scale, the more their differences count.",
    "masked": "The scores that enter the softmax:",
    "erased": "What later keys take back: a token written at a key like an earlier one replaces "
    "a share of it. Orange is above 0, blue below.",
    "weights": "After the softmax",
    "mixed": "The weights after they were mixed across heads: the values are multiplied by these.",
}

UNSOFTENED = "The scores that weights are made of, without a softmax:"
SATURATED = " The largest numbers share the last colour."

WHERE_MASKED = ("masked", "erased", "weights", "mixed")

CHOSEN = "#d97706"
MASKED = "rgba(128, 128, 128, 0.28)"
CLEAR = "rgba(0, 0, 0, 0)"
GREY = {"color": "rgba(128, 128, 128, 0.55)"}
TOKEN_AXIS = {
    "type": "category",
    "tickmode": "array",
    "showgrid": False,
    "zeroline": False,
    "ticks": "",
}
ENTROPY_DOMAIN = [0.84, 0.98]
COLOUR_LEGEND = {"thickness": 10, "outlinewidth": 0, "len": 1, "tickfont": {"size": 11}}

MAX_TICKS = 32
MAX_NUMBERS = 12
MAX_FLAT = 44
LONG_QUANTILE = 0.99
TICK_LENGTH = 12
BELOW = 40  # pixels of a line of words


def heatmap(
    trace: Trace,
    stage: str,
    tokens: Sequence[str],
    query: int,
    keys: Sequence[str] | None = None,
) -> go.Figure:
    """One stage of a 2-D trace, queries down, keys across, row `query` outlined.

    keys: the tokens across, None = those of the queries. Masked cells are left open. Raises
    ValueError for an unknown stage.
    """
    if stage not in trace.stages:
        raise ValueError(f"stage must be one of {', '.join(trace.stages)}, got {stage!r}")
    trace = trace.detach()
    n_queries, n_keys = trace.scores.shape
    z = trace.stages[stage].numpy()
    masked = numpy.zeros(z.shape, dtype=bool)
    if trace.mask is not None and stage in WHERE_MASKED:
        masked = ~trace.mask.numpy()
        z = numpy.where(masked, numpy.float32("nan"), z)
    cells, layout = _around_cells(trace, tokens, keys)
    layout["shapes"] = [outline(query, n_keys)]
    if masked.any():
        layout["shapes"].append(ground(n_queries, n_keys))
    diverging = stage != "weights" or trace.weighing.signed
    cells |= colours(z, diverging=diverging, quantile=colour_quantile(n_keys))
    told = {"scores": "score", "scaled": "scaled", "weights": "weight"}
    known = [name for name in told if name in trace.stages]
    numbers = [f"{told[name]} %{{customdata[{at}]:.4f}}" for at, name in enumerate(known)]
    cells |= {
        "z": z,
        "customdata": numpy.stack([trace.stages[name].numpy() for name in known], -1),
        "hovertemplate": "<br>".join(["query %{y}", "key %{x}", *numbers]) + "<extra></extra>",
    }
    return drawn([cells], layout)


def write_below(figure: go.Figure, words: str) -> None:
    """Add a line of words below a figure of tokens, in place."""
    room = {"margin": {"b": figure.layout.margin.b + BELOW}}
    figure.update_layout(height=figure.layout.height + BELOW, **room)
    place = {"x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "yshift": -26}
    figure.add_annotation(
        place, text=words, xref="paper", yref="paper", showarrow=False, font={"size": 13}
    )


def _beside(trace: Trace) -> str:
    """Name of the numbers beside the rows of weights."""
    return "entropy, bits" if trace.weights_are_a_distribution else "sum of row"


def _numbers_beside(trace: Trace) -> list[float | None]:
    """The entropy of each row in bits, None where there is nothing to attend to; the sum of each
    row where the weights are no shares."""
    if not trace.weights_are_a_distribution:
        return [*trace.weights.double().sum(-1).tolist()]
    bits: list[float] = analysis.entropy_bits(trace.weights).tolist()
    return [None if math.isnan(each) else each for each in bits]


def _around_cells(
    trace: Trace, tokens: Sequence[str], keys: Sequence[str] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cells of a heatmap without numbers and colours, and the layout around them."""
    n_queries, n_keys = trace.scores.shape
    keys = tokens if keys is None else keys
    rows, columns = tick_names(tokens), tick_names(keys)
    cells = {
        "type": "heatmap",
        "x": position_labels(keys),
        "y": position_labels(tokens),
        "texttemplate": "%{z:.2f}" if max(n_queries, n_keys) <= MAX_NUMBERS else "",
        **cell_gaps(n_queries, n_keys),
        "colorbar": COLOUR_LEGEND,
    }
    layout: dict[str, Any] = {
        "xaxis": token_axis(columns)
        | {"side": "top", "tickangle": top_angle(columns), "range": [-0.5, n_keys - 0.5]},
        "yaxis": token_axis(rows) | {"range": [n_queries - 0.5, -0.5]},
        "height": figure_height(n_queries),
        "margin": margins(rows, columns),
        "plot_bgcolor": CLEAR,
        "showlegend": False,
    }
    return cells, layout


class HeatmapCells(TypedDict):
    """Cells of a heatmap as a page reads them for plotly: names, gaps, whether numbers stand in."""

    x: list[str]
    y: list[str]
    xgap: int
    texttemplate: str


class HeatmapAxis(TypedDict):
    """Axis of a heatmap as a page reads it for plotly."""

    range: list[float]
    domain: NotRequired[list[float]]
    tickangle: NotRequired[int]
    tickvals: list[int]
    ticktext: list[str]
    tickfont: dict[str, int]


class HeatmapLayout(TypedDict):
    """Layout of a heatmap as a page reads it for plotly."""

    xaxis: HeatmapAxis
    yaxis: HeatmapAxis
    height: int
    margin: dict[str, int]


class HeatmapStage(TypedDict):
    """The range of colours of a stage, and what it shows, in words."""

    zmin: float
    zmax: float
    diverging: bool
    words: str


class StagesOfHeatmap(TypedDict):
    """Description of a heatmap besides its numbers, ready for JSON.

    heat, layout: of the cells and around them; entropy: of each row in bits, None where there is
    nothing to attend to, or the sum of each row; beside: which of these; room: where that stands.
    """

    heat: HeatmapCells
    layout: HeatmapLayout
    room: list[float]
    entropy: list[float | None]
    beside: str
    stages: dict[str, HeatmapStage]


def heatmap_of_stages(
    trace: Trace, tokens: Sequence[str], keys: Sequence[str] | None = None, words: str = ""
) -> StagesOfHeatmap:
    """Describe `heatmap` for any stage, without the numbers, for a page that draws it.

    words: what the weights are where they are no weights of attention: then without entropy.
    """
    bits = _numbers_beside(trace)
    heat, layout = _around_cells(trace, tokens, keys)
    if not words:
        layout["xaxis"] |= {"domain": [0, 0.82]}  # the entropy stands beside
    n_keys = trace.scores.shape[1]
    quantile = colour_quantile(n_keys)
    stages: dict[str, HeatmapStage] = {}
    for name, numbers in trace.stages.items():
        masked = trace.mask is not None and name in WHERE_MASKED
        same = name == "scaled" and trace.bias is None and trace.scale > 0
        if same:
            most = stages["scores"]["zmax"] * trace.scale
        else:
            most = _most((numbers[trace.mask] if masked else numbers).numpy(), quantile)
        diverging = name != "weights" or trace.weighing.signed or bool((numbers < 0).any())
        low = -most if diverging else 0.0
        told = words or stage_words(trace, name)
        stages[name] = {"zmin": low, "zmax": most, "diverging": diverging, "words": told}
    return {
        "heat": cast(HeatmapCells, heat),
        "layout": cast(HeatmapLayout, layout),
        "room": ENTROPY_DOMAIN,
        "entropy": [] if words else bits,
        "beside": _beside(trace),
        "stages": stages,
    }


def position_labels(tokens: Sequence[str]) -> list[str]:
    """A label a token that is its own also when a word repeats: "the (4)". Escaped for plotly."""
    return [f"{label(token)} ({index})" for index, token in enumerate(tokens)]


@functools.lru_cache(maxsize=4096)
def label(token: str) -> str:
    """A token as a short tick label, escaped: plotly reads labels as HTML."""
    return html.escape(_cut(token, TICK_LENGTH))


def tick_names(tokens: Sequence[str]) -> list[str]:
    """The tokens as tick labels: short, with their position where a word comes more than once."""
    named = zip(tokens, distinct_names(tokens), strict=True)
    ends = [(token, name.removeprefix(token)) for token, name in named]
    return [_cut(token, TICK_LENGTH - len(end)) + end for token, end in ends]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def token_axis(tokens: Sequence[str]) -> dict[str, Any]:
    """A category axis with at most `MAX_TICKS` labels: drawing time is tick labels."""
    step = -(-len(tokens) // MAX_TICKS)
    ticks = range(0, len(tokens), step)
    return TOKEN_AXIS | {
        "fixedrange": len(tokens) <= MAX_TICKS,
        "tickvals": list(ticks),
        "ticktext": [label(tokens[tick]) for tick in ticks],
        "tickfont": {"size": tick_size(len(ticks))},
    }


def margins(tokens: Sequence[str], keys: Sequence[str] | None = None) -> dict[str, Any]:
    """Room for the labels, from their lengths: measuring them would draw every figure twice.

    tokens: along the left; keys: along the top, None = the same.
    """

    def room(names: Sequence[str]) -> int:
        longest = max(len(html.unescape(label(name))) for name in names)
        return 14 + round(0.6 * tick_size(min(len(names), MAX_TICKS)) * max(longest, 5))

    keys = tokens if keys is None else keys
    top = 26 if top_angle(keys) == 0 else room(keys)
    return {"l": room(tokens), "r": 56, "t": top, "b": 28, "autoexpand": False}


def top_angle(tokens: Sequence[str]) -> int:
    """Labels along the top lie flat while there is room, else they stand."""
    return 0 if sum(max(len(label(token)), 3) for token in tokens) <= MAX_FLAT else -90


def tick_size(ticks: int) -> int:
    """A font size at which so many labels stand apart."""
    return 13 if ticks <= 24 else 10


def ground(n_queries: int, n_keys: int) -> dict[str, Any]:
    """The grey that shows through where cells are masked."""
    return {
        "type": "rect",
        "layer": "below",
        "x0": -0.5,
        "x1": n_keys - 0.5,
        "y0": -0.5,
        "y1": n_queries - 0.5,
        "fillcolor": MASKED,
        "line": {"width": 0},
    }


def figure_height(rows: int) -> int:
    """Pixels for so many rows: 34 each while these are few, 24 beyond, less where they are many."""
    return max(228, min(548, 48 + max(34 * min(rows, 8), 24 * rows)))


def colour_quantile(n_keys: int) -> float:
    """Long rows have a few large weights and very many small ones: let the largest saturate."""
    return LONG_QUANTILE if n_keys > MAX_TICKS else 1.0


def stage_words(trace: Trace, stage: str) -> str:
    """Describe a heatmap of this stage of a 2-D trace, in a sentence or two."""
    more, softmax = "", trace.weighing == SOFTMAX
    unsoftened = {} if softmax else {"masked": UNSOFTENED, "weights": trace.weighing.sentence}
    if stage == "scaled" and trace.bias is not None:
        more = " Then a number that follows from the distance is added."
    elif stage == "masked":
        hides = trace.mask is not None and not trace.mask.all()
        more = " hatched cells are hidden." if hides else " no cell is hidden."
        cap = f"{trace.cap or 0:g}"
        more += {
            "scaled": "",
            "mixed": " The scores were mixed across heads before.",
            "capped": f" Each score s was capped before: {cap} · tanh(s / {cap}).",
            "decayed": " Each is what is left of a score after the tokens between.",
        }[trace.logits_name]
    elif stage == "weights" and not trace.weights_are_a_distribution:
        around_zero = " Orange is above 0, blue below." if trace.weighing.signed else ""
        return unshared_words(trace.weights, trace.weighing) + around_zero
    elif stage == "weights":
        sums = sums_words(trace.weights)
        more = f" {sums if softmax else sums.capitalize()}."
        if trace.weights.any() and len(trace.weights) <= MAX_TICKS:
            more += " A long grey bar means the attention is spread out."
    crowded = trace.scores.shape[1] > MAX_TICKS
    return (STAGE_WORDS | unsoftened)[stage] + more + (SATURATED if crowded else "")


def cell_gaps(rows: int, columns: int) -> dict[str, int]:
    """A hairline between the cells of a heatmap while they are large enough for it."""
    gap = 1 if max(rows, columns) <= MAX_TICKS else 0
    return {"xgap": gap, "ygap": gap}


def outline(row: int, n_keys: int) -> dict[str, Any]:
    """A frame around one row of a heatmap."""
    return {
        "type": "rect",
        "x0": -0.5,
        "x1": n_keys - 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": CHOSEN, "width": 2},
    }


def colours(z: Any, *, diverging: bool, quantile: float = 1.0) -> dict[str, Any]:
    """Colour range of a heatmap: 0 to its greatest value, or as far below 0 as above.

    With a quantile below 1 the largest numbers share the last colour, so that a few of them do
    not leave all others pale.
    """
    most = _most(z[numpy.isfinite(z)], quantile)
    if diverging:
        return {"zmin": -most, "zmax": most, "autocolorscale": True}
    return {"zmin": 0.0, "zmax": most}


def _most(numbers: Any, quantile: float) -> float:
    """Below what that part of the sizes lies; 1 where there is none."""
    sizes = numpy.abs(numbers)
    most = numpy.quantile(sizes, quantile) if sizes.size and quantile < 1 else sizes.max(initial=0)
    return float(most) or 1.0
