"""What attention computes, as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy
import torch
from torch import Tensor

from attention.components.answers import when
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
        "masks": [MASK_NAMES[name] for name in masks or {}],
    }
    sent = {"scores": trace.scores, "weights": trace.weights}
    if trace.bias is not None:
        sent["scaled"] = trace.scaled
    if trace.mixed_scores is not None:
        sent["masked"] = trace.logits
    if trace.mixed_weights is not None:
        sent["mixed"] = trace.mixed_weights
    header["sent"] = list(sent)
    hidden = mask_bits(masks or {}, z.shape) if numpy.isnan(z).any() else torch.zeros(z.shape)
    rest = hidden.to(torch.uint8).numpy().tobytes()
    _heatmap(key=key, data=message(header, *sent.values(), rest=rest))


def weighted_sum(terms: Terms, output: Tensor, *, key: str) -> None:
    """One weighted sum as a table: one row per key, its weight as a bar, its term as a strip.

    terms: rows that sum to output (d_v,). Colours saturate where 3 % of the numbers lie beyond.
    """
    rows = torch.cat([terms.terms, output[None]])
    _weighted_sum(
        key=key,
        data=message(
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

    header = {
        "parts": headers,
        "joins": [part for part in parts if isinstance(part, str)],
        "chosen": chosen,
        "hidden": hidden,
        "pickable": on_choose is not None,
    }
    if written is not None:
        header["written"] = written
    rows, columns = shown[-1].numbers.shape
    picked = when(
        key,
        "cell",
        lambda cell: cell[0] in range(rows) and cell[1] in range(columns),
        lambda cell: on_choose and on_choose(*cell),
    )
    _matrices(key=key, data=message(header, *numbers), on_cell_change=picked)


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

    header = {
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": block,
        "tokens": n_tokens,
        "saturated": max(rows, columns) > PLAIN_DOTS,
        "chosen": head,
    }
    _head_grid(
        key=key,
        data=message(header, rest=dots.numpy().tobytes()),
        on_head_change=when(key, "head", lambda chosen: chosen in range(heads), on_choose),
    )


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

    header = {
        "size": len(compared.names),
        "names": list(compared.names),
        "changed": compared.changed.tolist(),
        "both": (compared.in_a & compared.in_b).tolist(),
        "absent": absent,
        "titles": list(titles),
        "query": query,
    }
    size = len(compared.names)
    _comparison(
        key=key,
        data=message(header, *sides, compared.divergence.float()),
        on_query_change=when(key, "query", lambda row: row in range(size), on_select),
    )


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
    first, last = swept.values[0], swept.values[-1]
    _sweep(
        key=key,
        data=message(header, *numbers, rest=swept.dots.numpy().tobytes()),
        on_at_change=when(
            key,
            "at",
            lambda value: first <= value <= last,
            lambda value: on_release(float(value)),
        ),
        on_query_change=when(key, "query", lambda row: row in range(len(names)), on_select),
    )
