"""What attention computes, as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention.components.base import component, message
from attention.core.functional import Trace
from attention.display import figures
from attention.display.captions import EMPTY_ROW, MASK_NAMES, mask_bits
from attention.display.matrix import Matrix
from attention.lessons.compare import Comparison, Sweep
from attention.lessons.heads import PLAIN_DOTS

PARTS = ("lines", "heatmap", "sum")

_picture = component("picture", isolate_styles=False)
_place = component("place")
_matrices = component("matrices")
_head_grid = component("head_grid")
_comparison = component("comparison")
_sweep = component("sweep")


def picture(
    trace: Trace,
    tokens: Sequence[str],
    known: Sequence[bool],
    place: Mapping[str, Any],
    *,
    key: str,
    parts: Sequence[str] = PARTS,
    memory: tuple[Sequence[str], Sequence[bool]] | None = None,
    masks: Mapping[str, Tensor] | None = None,
    head: int | None = None,
    caption: tuple[str, str] = ("", ""),
) -> None:
    """One attention as a picture whose parts all show the same query, from a trace of one head.

    parts: any of `PARTS`: the tokens joined by lines, a stage as a heatmap, the new vector of the
    query as a weighted sum. place: which query and stage are chosen, see `place_of`; they change
    in the browser, which has all numbers already. memory: the tokens of the keys and which are
    known, None where they are those of the queries; masks: those in force, by name; head: which
    one of several the trace is of; caption: what the heatmap's begins and ends with.
    """
    keys = None if memory is None else list(memory[0])
    sent = {"scores": trace.scores, "weights": trace.weights}
    if trace.bias is not None:
        sent["scaled"] = trace.scaled
    if trace.mixed_scores is not None:
        sent["masked"] = trace.logits
    if trace.mixed_weights is not None:
        sent["mixed"] = trace.mixed_weights
    if "sum" in parts:
        sent |= {"values": trace.values, "output": trace.output}
    rows, columns = trace.scores.shape
    header = figures.heatmap_of_stages(trace, tokens, keys) | {
        "place": place,
        "parts": list(parts),
        "rows": rows,
        "columns": columns,
        "width": trace.values.shape[-1],
        "tokens": list(tokens),
        "known": list(known),
        "keys": keys,
        "keysKnown": None if memory is None else list(memory[1]),
        "scale": trace.scale,
        "sent": list(sent),
        "head": head,
        "masks": [MASK_NAMES[name] for name in masks or {}],
        "emptyRow": EMPTY_ROW,
        "caption": {"before": caption[0], "after": caption[1]},
    }
    hidden = mask_bits(masks or {}, (rows, columns))
    _picture(key=key, data=message(header, *sent.values(), rest=hidden.numpy().tobytes()))


def place_of(values: Mapping[str, Any], on_choose: Callable[[Any], None], *, key: str) -> None:
    """Tells the server what is chosen in the pictures of a page, and them what a link says.

    Nothing is seen of it. Only the fragment that it stands in runs when something is chosen.
    """
    _place(key=key, data=values, on_place_change=lambda: on_choose(st.session_state[key].place))


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
        "pickable": on_choose is not None,
    }
    if written is not None:
        header["written"] = written
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
    _head_grid(key=key, data=message(header, rest=dots.numpy().tobytes()), on_head_change=chosen)


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
    data = message(header, *sides, compared.divergence.float())
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
    on_select a row, by click or arrow keys. The browser counts the values it sends, and keeps its
    own until the one it sent last has come back.
    """
    masked = swept.base if swept.mask is None else swept.base.masked_fill(~swept.mask, torch.nan)
    turns = f"{key}_turn"

    def released() -> None:
        match st.session_state[key].at:
            case [int(turn), int() | float() as value]:
                st.session_state[turns] = turn
                if swept.values[0] <= value <= swept.values[-1]:
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
        "turn": st.session_state.get(turns, 0),
        "shown": swept.shown,
        "dots": swept.dots.shape[-1],
        "biased": swept.bias is not None,
        "query": query,
    }
    numbers = [masked] if swept.bias is None else [masked, swept.bias]
    _sweep(
        key=key,
        data=message(header, *numbers, rest=swept.dots.numpy().tobytes()),
        on_at_change=released,
        on_query_change=selected,
    )
