"""What attention computes, as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy
import streamlit as st
import torch
from torch import Tensor

from attention.components.base import component, message
from attention.core import analysis
from attention.core.analysis import Terms
from attention.core.functional import Trace
from attention.display import figures
from attention.display.captions import MASK_NAMES, mask_bits
from attention.display.matrix import Matrix
from attention.lessons.compare import Comparison, Sweep
from attention.lessons.heads import PLAIN_DOTS

_heatmap = component("heatmap", isolate_styles=False)
_weighted_sum = component("weighted_sum")
_matrices = component("matrices")
_head_grid = component("head_grid")
_comparison = component("comparison")
_sweep = component("sweep")


class HeatmapHeader(TypedDict):
    """What the heatmap is sent besides numbers; so for each component below."""

    data: list[Any]  # as plotly.js has them
    layout: dict[str, Any]
    rows: int
    columns: int
    tokens: list[str]
    keys: list[str] | None
    scale: float
    stage: str
    sent: list[str]  # the stages whose numbers follow
    entropy: list[float] | None
    room: Sequence[float]
    masks: list[str]


def heatmap(
    trace: Trace,
    stage: str,
    tokens: Sequence[str],
    query: int,
    *,
    key: str,
    keys: Sequence[str] | None = None,
    masks: Mapping[str, Tensor] | None = None,
) -> None:
    """`figures.heatmap`, drawn by plotly.js without the detour of a Plotly chart of Streamlit's.

    That one is built anew on every change, twice, from numbers as text; here plotly.js changes
    what stands, from the numbers' own bytes. Hovering tells query, key, score, scaled, weight,
    and which mask hides the cell.
    keys: the tokens across, None = those of the queries; masks: those in force, by name.
    """
    z, data, layout = figures.heatmap_parts(trace, stage, tokens, query, keys)
    rows, columns = z.shape
    sent = {"scores": trace.scores, "weights": trace.weights}
    if trace.bias is not None:
        sent["scaled"] = trace.scaled
    if trace.mixed_scores is not None:
        sent["masked"] = trace.logits
    if trace.mixed_weights is not None:
        sent["mixed"] = trace.mixed_weights
    header: HeatmapHeader = {
        "data": data,
        "layout": layout,
        "rows": rows,
        "columns": columns,
        "tokens": list(tokens),
        "keys": None if keys is None else list(keys),
        "scale": trace.scale,
        "stage": stage,
        "sent": list(sent),
        "entropy": analysis.entropy_bits(trace.weights).tolist() if stage == "weights" else None,
        "room": figures.ENTROPY_DOMAIN,
        "masks": [MASK_NAMES[name] for name in masks or {}],
    }
    hidden = mask_bits(masks or {}, z.shape) if numpy.isnan(z).any() else torch.zeros(z.shape)
    rest = hidden.to(torch.uint8).numpy().tobytes()
    _heatmap(key=key, data=message("heatmap", 1, header, *sent.values(), rest=rest))


class WeightedSumHeader(TypedDict):
    keys: list[str]
    positions: list[int | None]
    weights: list[float]
    columns: Mapping[str, Sequence[float | None]]
    width: int
    most: float
    length: float


def weighted_sum(terms: Terms, output: Tensor, *, key: str) -> None:
    """One weighted sum as a table: one row per key, its weight as a bar, its term as a strip.

    terms: rows that sum to output (d_v,). Colours saturate where 3 % of the numbers lie beyond.
    """
    rows = torch.cat([terms.terms, output[None]])
    header: WeightedSumHeader = {
        "keys": terms.keys,
        "positions": terms.positions,
        "weights": terms.weights.tolist(),
        "columns": terms.numbers,
        "width": rows.shape[1],
        "most": float(rows.abs().flatten().quantile(0.97)) or 1.0,
        "length": float(output.norm()),
    }
    _weighted_sum(key=key, data=message("weighted_sum", 1, header, rows))


class MatrixHeader(TypedDict):
    name: str
    rows: int
    columns: int
    rowNames: list[str]
    columnNames: list[str]
    kind: str
    lights: str
    masked: bool
    most: float
    hidden: bool


class MatricesHeader(TypedDict):
    parts: list[MatrixHeader]
    joins: list[str]
    chosen: tuple[int, int] | None
    hidden: bool
    pickable: bool
    written: NotRequired[int]


def matrices(
    parts: Sequence[Matrix | str],
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    hidden: bool = False,
    written: int | None = None,
) -> None:
    """Matrices in a row with what stands between them: `[Q, "×", K, "=", scores]`.

    Pointing at a cell of the last one, the result, lights what it is made from (`Matrix.lights`).
    With on_choose its cells can be chosen, by click or arrow keys; chosen: the (row, column) lit
    meanwhile. hidden: the result's numbers stay here, to be guessed. written: up to how many
    columns numbers are written rather than painted, where that is not the usual 8.
    """
    shown = [part for part in parts if isinstance(part, Matrix)]
    headers: list[MatrixHeader] = []
    numbers = []
    for matrix in shown:
        kept_back = hidden and matrix is shown[-1]
        cells = matrix.numbers.detach().float()
        if matrix.allowed is not None:
            cells = cells.masked_fill(~matrix.allowed, torch.nan)
        sizes = cells[cells.isfinite()].abs()
        headers.append(
            {
                "name": matrix.name,
                "rows": cells.shape[0],
                "columns": cells.shape[1],
                "rowNames": list(matrix.row_names),
                "columnNames": list(matrix.column_names),
                "kind": matrix.kind,
                "lights": "cell" if matrix is shown[-1] else matrix.lights,
                "masked": matrix.allowed is not None,
                "most": matrix.most or (float(sizes.max()) if sizes.numel() else 0.0) or 1.0,
                "hidden": kept_back,
            }
        )
        if kept_back:
            headers[-1]["most"] = 1.0
            cells = torch.zeros_like(cells)
        numbers.append(cells.flatten())

    def picked() -> None:
        rows, columns = shown[-1].numbers.shape
        match st.session_state[key].cell:
            case [int(row), int(column)] if 0 <= row < rows and 0 <= column < columns:
                if on_choose is not None:
                    on_choose(row, column)

    header: MatricesHeader = {
        "parts": headers,
        "joins": [part for part in parts if isinstance(part, str)],
        "chosen": chosen,
        "hidden": hidden,
        "pickable": on_choose is not None,
    }
    if written is not None:
        header["written"] = written
    _matrices(key=key, data=message("matrices", 1, header, *numbers), on_cell_change=picked)


class HeadGridHeader(TypedDict):
    heads: int
    rows: int
    columns: int
    block: int
    tokens: int
    saturated: bool
    chosen: int


def head_grid(
    dots: Tensor,
    block: int,
    n_tokens: int,
    head: int,
    on_choose: Callable[[int], None],
    *,
    key: str,
) -> None:
    """All heads as small heatmaps on one canvas, one to be chosen by click or arrow keys.

    dots: uint8 (heads, rows, columns), each the greatest of block × block weights, see
    `heads.thumbnails`; n_tokens: how many there are; head: the chosen one.
    """
    heads, rows, columns = dots.shape

    def chosen() -> None:
        picked = st.session_state[key].head
        if isinstance(picked, int) and 0 <= picked < heads:
            on_choose(picked)

    header: HeadGridHeader = {
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": block,
        "tokens": n_tokens,
        "saturated": max(rows, columns) > PLAIN_DOTS,
        "chosen": head,
    }
    data = message("head_grid", 1, header, rest=dots.numpy().tobytes())
    _head_grid(key=key, data=data, on_head_change=chosen)


class ComparisonHeader(TypedDict):
    size: int
    names: list[str]
    changed: list[bool]
    both: list[bool]
    absent: list[list[bool]]
    titles: list[str]
    query: int


def comparison(
    compared: Comparison,
    titles: Sequence[str],
    query: int,
    on_select: Callable[[int], None],
    *,
    key: str,
) -> None:
    """Two heatmaps of weights, their difference, and how far each row diverges.

    titles: of the three heatmaps; query: the chosen row. What is hidden is hatched. Pointing at a
    cell tells its numbers on both sides; a click or the arrow keys call on_select with a row.
    """
    absent = [(~compared.in_a).tolist(), (~compared.in_b).tolist(), []]
    sides = (
        weights.masked_fill(hidden | ~(there[:, None] & there), torch.nan)
        for weights, hidden, there in (
            (compared.a, compared.hidden_a, compared.in_a),
            (compared.b, compared.hidden_b, compared.in_b),
        )
    )

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(compared.names):
            on_select(position)

    header: ComparisonHeader = {
        "size": len(compared.names),
        "names": list(compared.names),
        "changed": compared.changed.tolist(),
        "both": (compared.in_a & compared.in_b).tolist(),
        "absent": absent,
        "titles": list(titles),
        "query": query,
    }
    data = message("comparison", 1, header, *sides, compared.divergence.float())
    _comparison(key=key, data=data, on_query_change=selected)


class SweepHeader(TypedDict):
    kind: str
    size: int
    names: list[str]
    values: Sequence[float]
    at: float
    shown: Sequence[float]
    dots: int
    biased: bool
    query: int


def sweep(
    swept: Sweep,
    names: Sequence[str],
    query: int,
    on_release: Callable[[float], None],
    on_select: Callable[[int], None],
    *,
    key: str,
) -> None:
    """Weights under a slider: each of its stops is worked out in the browser, from the scores.

    query: the chosen row, shown in numbers. on_release gets the value the slider is left at, and
    on_select a row, by click or arrow keys.
    """
    masked = swept.base if swept.mask is None else swept.base.masked_fill(~swept.mask, torch.nan)

    def released() -> None:
        value = st.session_state[key].at
        if isinstance(value, int | float) and swept.values[0] <= value <= swept.values[-1]:
            on_release(float(value))

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(names):
            on_select(position)

    header: SweepHeader = {
        "kind": swept.kind,
        "size": len(names),
        "names": list(names),
        "values": swept.values,
        "at": swept.at,
        "shown": swept.shown,
        "dots": swept.dots.shape[-1],
        "biased": swept.bias is not None,
        "query": query,
    }
    numbers = [masked] if swept.bias is None else [masked, swept.bias]
    _sweep(
        key=key,
        data=message("sweep", 1, header, *numbers, rest=swept.dots.numpy().tobytes()),
        on_at_change=released,
        on_query_change=selected,
    )
