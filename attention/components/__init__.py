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
from attention.compare import Comparison, Sweep
from attention.functional import Trace
from attention.heads import PLAIN_DOTS
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
_examples = _component("examples")


def token_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    mask: Tensor | None,
    query: int,
    on_select: Callable[[int], None],
    *,
    key: str,
    memory: tuple[Sequence[str], Sequence[bool]] | None = None,
) -> None:
    """Queries and keys as text, joined by lines as strong as the weights of one query.

    memory: the tokens of the keys and which are known, None where they are those of the queries;
    weights: (queries, keys); mask: (queries, keys) bool or None; query: the selected position.
    Hovering a query previews its row in the browser; a click, Enter or the arrow keys call
    on_select with its position.
    """
    shown = weights if mask is None else weights.masked_fill(~mask, torch.nan)
    header: dict[str, Any] = {"tokens": list(tokens), "known": list(known), "query": query}
    if memory is not None:
        header["memory"] = {"tokens": list(memory[0]), "known": list(memory[1])}

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(tokens):
            on_select(position)

    _token_view(
        key=key,
        data=_message(header, shown),
        on_query_change=selected,
    )


def heatmap(
    trace: Trace,
    stage: str,
    tokens: Sequence[str],
    query: int,
    *,
    key: str,
    keys: Sequence[str] | None = None,
) -> None:
    """`figures.heatmap`, drawn by plotly.js without the detour of a Plotly chart of Streamlit's.

    That one is built anew on every change, twice, from numbers as text; here plotly.js changes
    what stands, from the numbers' own bytes. Hovering tells query, key, score, scaled, weight.
    keys: the tokens across, None = those of the queries.
    """
    z, data, layout = figures.heatmap_parts(trace, stage, tokens, query, keys)
    rows, columns = z.shape
    bits = analysis.entropy_bits(trace.weights).tolist() if stage == "weights" else None
    header = {
        "data": data,
        "layout": layout,
        "rows": rows,
        "columns": columns,
        "tokens": list(tokens),
        "keys": None if keys is None else list(keys),
        "scale": trace.scale,
        "stage": stage,
        "entropy": bits,
        "room": figures.ENTROPY_DOMAIN,
    }
    masked = numpy.isnan(z).tobytes()
    numbers = [trace.scores, trace.weights]
    if trace.bias is not None:
        numbers.append(trace.scaled)
    _heatmap(key=key, data=_message(header, *numbers, rest=masked))


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
    keys: Sequence[str] | None = None,
) -> None:
    """A grid of the cells a query may attend to, to click, drag over or reach by arrow keys.

    mask: (queries, keys) bool; keys: the tokens across, None = those of the queries. on_paint
    gets the (query, key) cells and whether they may attend.
    """

    def painted() -> None:
        match st.session_state[key].paint:
            case {"cells": [*cells], "allowed": bool(allowed)}:
                pairs = [(query, key) for query, key in cells]
                on_paint(pairs, allowed)

    _mask_grid(
        key=key,
        data={
            "tokens": list(tokens),
            "keys": list(tokens if keys is None else keys),
            "mask": mask.int().tolist(),
        },
        on_paint_change=painted,
    )


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
    if written is not None:
        header["written"] = written
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


def examples(
    words: str, texts: Sequence[str], on_choose: Callable[[int], None], *, key: str
) -> None:
    """After some words, things to try; on_choose gets the position of the one clicked."""

    def chosen() -> None:
        position = st.session_state[key].example
        if isinstance(position, int) and 0 <= position < len(texts):
            on_choose(position)

    _examples(key=key, data={"words": words, "texts": list(texts)}, on_example_change=chosen)


def copy_link(*, key: str) -> None:
    """A button that copies the address of exactly this view."""
    _copy_link(key=key, data={}, width="content")


_head_grid = _component("head_grid")
_head_view = _component("head_view")


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

    header = {
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": block,
        "tokens": n_tokens,
        "saturated": max(rows, columns) > PLAIN_DOTS,
        "chosen": head,
    }
    _head_grid(key=key, data=_message(header, rest=dots.numpy().tobytes()), on_head_change=chosen)


def head_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    active: Sequence[int],
    query: int,
    on_select: Callable[[int], None],
    on_active: Callable[[list[int]], None],
    *,
    key: str,
) -> None:
    """Queries and keys as text, joined by lines in a colour a head, as strong as their weights.

    weights: of the edges to draw, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) of the
    chosen query alone; active: the heads drawn. A click on a head's button turns it on or off, a
    double click (or one with shift) keeps it alone: on_active gets the heads then active. Queries
    are chosen as in `token_view`.
    """
    heads, rows, _ = weights.shape

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(tokens):
            on_select(position)

    def toggled() -> None:
        match st.session_state[key].active:
            case [*chosen] if all(isinstance(head, int) for head in chosen):
                on_active([head for head in chosen if 0 <= head < heads])

    header = {
        "tokens": list(tokens),
        "known": list(known),
        "heads": heads,
        "whole": rows == len(tokens),
        "active": list(active),
        "query": query,
    }
    _head_view(
        key=key,
        data=_message(header, weights),
        on_query_change=selected,
        on_active_change=toggled,
    )


_comparison = _component("comparison")
_sweep = _component("sweep")


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

    header = {
        "size": len(compared.names),
        "names": list(compared.names),
        "changed": compared.changed.tolist(),
        "both": (compared.in_a & compared.in_b).tolist(),
        "absent": absent,
        "titles": list(titles),
        "query": query,
    }
    data = _message(header, *sides, compared.divergence.float())
    _comparison(key=key, data=data, on_query_change=selected)


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

    header = {
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
        data=_message(header, *numbers, rest=swept.dots.numpy().tobytes()),
        on_at_change=released,
        on_query_change=selected,
    )
