"""Our browser components: a typed Python wrapper each, its script and style in a folder beside.

They are Streamlit components v2: no iframe, no build step. Tokens reach the page as text only
(`textContent`); colours come from the theme's `--st-*` variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import plotly
import streamlit as st
import streamlit.components.v1 as components
import torch
from torch import Tensor

from attention import analysis, figures
from attention.analysis import Terms
from attention.functional import Trace
from attention.matrix import MOST_CELLS, Matrix, Misprint, cells, read_matrix

Renderer = Callable[..., Any]


def _component(name: str, *, isolate_styles: bool = True) -> Renderer:
    folder = Path(__file__).parent / name
    renderer: Renderer = st.components.v2.component(
        f"attention_{name}",
        css=(folder / "style.css").read_text("utf-8"),
        js=(folder.parent / "shared.js").read_text("utf-8")
        + (folder / "index.js").read_text("utf-8"),
        isolate_styles=isolate_styles,
    )
    return renderer


# plotly.js, as the plotly package ships it, served beside the app for the heatmap to load once.
components.declare_component("plotly_js", path=str(Path(plotly.__file__).parent / "package_data"))


def _message(header: dict[str, Any], *tensors: Tensor, rest: bytes = b"") -> bytes:
    """A JSON header, then float32 tensors to the last bit, then bytes; shared.js reads it."""
    numbers = [tensor.contiguous().numpy().tobytes() for tensor in tensors]
    header["floats"] = sum(map(len, numbers)) // 4
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *numbers, rest])


_token_view = _component("token_view")
_weighted_sum = _component("weighted_sum")
_heatmap = _component("heatmap", isolate_styles=False)
_mask_grid = _component("mask_grid")
_copy_link = _component("copy_link")
_matrices = _component("matrices")
_number_grid = _component("number_grid")


def token_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    mask: Tensor | None,
    query: int,
    on_select: Callable[[int], None],
    *,
    key: str,
) -> None:
    """Queries and keys as text, joined by lines as strong as the weights of one query.

    weights: (queries, keys); mask: (queries, keys) bool or None; query: the selected position.
    Hovering a query previews its row in the browser; a click, Enter or the arrow keys call
    on_select with its position.
    """
    shown = weights if mask is None else weights.masked_fill(~mask, torch.nan)

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(tokens):
            on_select(position)

    _token_view(
        key=key,
        data=_message({"tokens": list(tokens), "known": list(known), "query": query}, shown),
        on_query_change=selected,
    )


def heatmap(trace: Trace, stage: str, tokens: Sequence[str], query: int, *, key: str) -> None:
    """`figures.heatmap`, drawn by plotly.js without the detour of a Plotly chart of Streamlit's.

    That one is built anew on every change, twice, from numbers as text; here plotly.js changes
    what stands, from the numbers' own bytes. Hovering tells query, key, score, scaled, weight.
    """
    z, data, layout = figures.heatmap_parts(trace, stage, tokens, query)
    rows, columns = z.shape
    bits = analysis.entropy_bits(trace.weights).tolist() if stage == "weights" else None
    header = {
        "data": data,
        "layout": layout,
        "rows": rows,
        "columns": columns,
        "tokens": list(tokens),
        "scale": trace.scale,
        "stage": stage,
        "entropy": bits,
        "room": figures.ENTROPY_DOMAIN,
    }
    masked = numpy.isnan(z).tobytes()
    _heatmap(key=key, data=_message(header, trace.scores, trace.weights, rest=masked))


def weighted_sum(terms: Terms, output: Tensor, *, key: str) -> None:
    """One weighted sum as a table: a row a key with its weight as a bar, its term as a strip.

    terms: rows that sum to output (d_v,). Colours saturate where 3 % of the numbers lie beyond.
    """
    rows = torch.cat([terms.terms, output[None]])
    _weighted_sum(
        key=key,
        data=_message(
            {
                "keys": terms.keys,
                "positions": terms.positions,
                "weights": terms.weights.tolist(),
                "columns": terms.numbers,
                "width": rows.shape[1],
                "most": float(rows.abs().flatten().quantile(0.97)) or 1.0,
                "length": float(output.norm()),
            },
            rows,
        ),
    )


def mask_grid(
    tokens: Sequence[str],
    mask: Tensor,
    on_paint: Callable[[list[tuple[int, int]], bool], None],
    *,
    key: str,
) -> None:
    """A grid of the cells a query may attend to, to click, drag over or reach by arrow keys.

    mask: (queries, keys) bool. on_paint gets the (query, key) cells and whether they may attend.
    """

    def painted() -> None:
        match st.session_state[key].paint:
            case {"cells": [*cells], "allowed": bool(allowed)}:
                pairs = [(query, key) for query, key in cells]
                on_paint(pairs, allowed)

    _mask_grid(
        key=key,
        data={"tokens": list(tokens), "mask": mask.int().tolist()},
        on_paint_change=painted,
    )


def matrices(
    parts: Sequence[Matrix | str],
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    hidden: bool = False,
) -> None:
    """Matrices in a row with what stands between them: `[Q, "×", K, "=", scores]`.

    Pointing at a cell of the last one, the result, lights what it is made from (`Matrix.lights`).
    With on_choose its cells can be chosen, by click or arrow keys; chosen: the (row, column) lit
    meanwhile. hidden: the result's numbers stay here, to be guessed.
    """
    shown = [part for part in parts if isinstance(part, Matrix)]
    headers, numbers = [], []
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

    header = {
        "parts": headers,
        "joins": [part for part in parts if isinstance(part, str)],
        "chosen": chosen,
        "hidden": hidden,
        "deliberate": hidden,
        "pickable": on_choose is not None,
    }
    _matrices(key=key, data=_message(header, *numbers), on_cell_change=picked)


def number_grid(
    name: str,
    text: str,
    on_edit: Callable[[str], None],
    *,
    key: str,
    wrong: str = "",
    resizable: bool = True,
) -> None:
    """The matrix that `text` writes as a table of number boxes; on_edit gets the new text.

    A cell that is no number is marked, and a line below says what is needed; `wrong`: what else
    is wrong with the whole matrix, in the caller's words.
    """
    lines = [cells(line) for line in text.strip().strip(";").split(";")]
    place: dict[str, int | None] = {"row": None, "column": None}
    try:
        read_matrix(text)
    except Misprint as error:
        wrong, place = str(error), {"row": error.row, "column": error.column}

    def edited() -> None:
        match st.session_state[key].cells:
            case [*grid] if grid and all(isinstance(row, list) for row in grid):
                rows = [[_one_cell(str(cell)) for cell in row] for row in grid]
                on_edit("; ".join(" ".join(row) for row in rows))

    data = {"name": name, "cells": lines, "wrong": wrong, "resizable": resizable, **place}
    _number_grid(
        key=key, data={**data, "most": MOST_CELLS}, on_cells_change=edited, width="content"
    )


def _one_cell(typed: str) -> str:
    """What was typed into a cell as one cell of a matrix's text; 0,5 is meant as 0.5."""
    return re.sub(r"[\s;|]+", "", typed).replace(",", ".")[:20] or "_"


def copy_link(*, key: str) -> None:
    """A button that copies the address of exactly this view."""
    _copy_link(key=key, data={}, width="content")
