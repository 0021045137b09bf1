"""Pictures of what attention computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import plotly.graph_objects as go
import torch
from torch import Tensor

from attention.analysis.heads import PLAIN_DOTS
from attention.app.components.base import Component
from attention.app.components.selection import Selection, SelectionHeader, now
from attention.core.functional import Trace
from attention.figures import files, plots
from attention.figures.captions import EMPTY_ROW, MASK_NAMES, mask_bits
from attention.figures.glance import HeadGridHeader
from attention.figures.matrix import Matrix
from attention.figures.messages import message
from attention.figures.plots import StagesOfHeatmap

PARTS = ("lines", "heatmap", "sum", "diagram")
CALM_PARTS = ("arcs", "heatmap", "mixture")
CALM_CELLS = (30, 64, 360)  # pixels of one, of one where there are few, and of these together


class PictureHeader(StagesOfHeatmap):
    """Header of the picture, besides numbers; so for each component below."""

    parts: list[str]
    rows: int
    columns: int
    width: int
    tokens: list[str]
    known: list[bool]
    keys: list[str] | None
    keysKnown: list[bool] | None
    scale: float
    sent: list[str]  # whose numbers follow
    head: int | None
    masks: list[str]
    logits: str
    emptyRow: str
    caption: dict[str, str]
    called: str
    calm: bool
    digits: int
    said: Sequence[Said]


class Said(TypedDict):
    """Sentences on one query: a question, and a line in parts, every second of which stands
    out."""

    question: str
    line: list[str]


@dataclass(frozen=True)
class Picture:
    """One attention as a picture whose parts all show the same query.

    trace: of one head; tokens, known: those of the queries, and which have a vector;
    parts: any of `PARTS`: the tokens joined by lines, a stage as a heatmap, the new vector of the
    query as a weighted sum, and how that comes about from query, keys and values; or of
    `CALM_PARTS`: the sentence with arcs above it, a heatmap, and the sum as a line and a bar.
    memory: the tokens of the keys and which are known, None where they are those of the queries;
    masks: those in force, by name; head: which one of several the trace is of; caption: what the
    heatmap's begins and ends with; stage: the only one the heatmap has, "" = all of them; of: what
    the files say it is of, where that is not the only head; words: where the weights are no weights
    of attention but shares, which may lie below 0, what they are; most: the size that their last
    colour stands for, None = the greatest there is; calm: whether a heatmap has neither numbers nor
    anything beside it; said: what the arcs say of each query;
    height: pixels that a heatmap of squares may take, 0 = as many as usual; digits: decimals of the
    numbers in a sum and in a diagram, at most.
    """

    trace: Trace
    tokens: Sequence[str]
    known: Sequence[bool]
    parts: Sequence[str] = PARTS
    memory: tuple[Sequence[str], Sequence[bool]] | None = None
    masks: Mapping[str, Tensor] | None = None
    head: int | None = None
    caption: tuple[str, str] = ("", "")
    stage: str = ""
    of: str = ""
    words: str = ""
    most: float | None = None
    calm: bool = False
    said: Sequence[Said] = ()
    height: int = 0
    digits: int = 4

    @property
    def keys(self) -> list[str] | None:
        """The tokens of the keys, None where they are those of the queries."""
        return None if self.memory is None else list(self.memory[0])

    def content(self) -> bytes:
        """Message of what the component draws."""
        trace, keys = self.trace, self.keys
        sent: dict[str, Tensor] = {
            name: trace.stages[name] for name in ("scores", "weights") if name in trace.stages
        }
        if trace.bias is not None:
            sent["scaled"] = trace.scaled
        if trace.mixed_scores is not None:
            sent["masked"] = trace.logits
        if trace.mixed_weights is not None:
            sent["mixed"] = trace.mixed_weights
        if {"sum", "diagram", "mixture"} & {*self.parts}:
            sent |= {"values": trace.values, "output": trace.output}
        rows, columns = trace.scores.shape
        masks = self.masks or {}
        header: PictureHeader = {
            **plots.heatmap_of_stages(trace, self.tokens, keys, self.words),
            "parts": list(self.parts),
            "rows": rows,
            "columns": columns,
            "width": trace.values.shape[-1],
            "tokens": list(self.tokens),
            "known": list(self.known),
            "keys": keys,
            "keysKnown": None if self.memory is None else list(self.memory[1]),
            "scale": trace.scale,
            "sent": list(sent),
            "head": self.head,
            "masks": [MASK_NAMES[name] for name in masks],
            "logits": trace.logits_name,
            "emptyRow": EMPTY_ROW,
            "caption": {"before": self.caption[0], "after": self.caption[1]},
            "called": "share" if self.words else "weight",
            "calm": self.calm,
            "digits": self.digits,
            "said": self.said,
        }
        if self.calm:
            header["heat"]["texttemplate"] = ""
            header["layout"]["xaxis"].pop("domain", None)
            margin = header["layout"]["margin"]
            margin["r"] = 4
            usual, most, together = (CALM_CELLS[0] * rows, CALM_CELLS[1] * rows, CALM_CELLS[2])
            height = max(usual, min(most, together))
            header["layout"]["height"] = margin["t"] + margin["b"] + height
            header["entropy"] = []
        if self.most is not None:
            weights = header["stages"]["weights"]
            weights["zmax"], weights["zmin"] = self.most, -self.most * weights["diverging"]
        if self.height:  # cells with numbers are wider than high
            numbers = bool(header["heat"]["texttemplate"])
            header["layout"]["height"] = self.height * 4 // 5 if numbers else self.height
        if self.stage in header["stages"]:
            header["stages"] = {self.stage: header["stages"][self.stage]}
        hidden = mask_bits(masks, (rows, columns)).numpy().tobytes()
        return message(header, *sent.values(), rest=hidden)


class SwitchHeader(TypedDict):
    """Two last words of a sentence, and how long the content with the shown one is, in bytes."""

    words: list[str]
    size: int


class SelectedHeader(TypedDict):
    """Header before the content: the selection, and the parts of the picture that are drawn here.

    switch: where the last word can be changed; the content with the other one follows.
    """

    selection: SelectionHeader
    drawn: list[str]
    switch: SwitchHeader | None


_picture = Component(
    "picture", SelectedHeader, behind=PictureHeader, isolate_styles=False, word=int
)


@dataclass(frozen=True)
class Switch:
    """Two last words of a sentence, to be exchanged.

    other: the content of the picture with the word that is not shown: it is drawn at once;
    on_choose: gets the position of the word that is chosen then.
    """

    words: Sequence[str]
    other: bytes
    on_choose: Callable[[int], None]


def picture(
    shown: Picture,
    selection: Selection,
    *,
    key: str,
    content: bytes | None = None,
    drawn: Sequence[str] | None = None,
    switch: Switch | None = None,
) -> None:
    """Draws a picture.

    selection: the query and the stage shown, see `tell_selection`; they change in the browser,
    which has all numbers already. content: that of the picture, None where it is not known yet;
    drawn: which of its parts stand here, None = all.
    """
    _offer_trace(shown)
    content = content or shown.content()
    header: SelectedHeader = {
        "selection": now(selection),
        "drawn": list(shown.parts if drawn is None else drawn),
        "switch": None,
    }
    if switch is None:
        _picture.draw(header, key=key, rest=content)
        return
    header["switch"] = {"words": list(switch.words), "size": len(content)}
    taken = (range(len(switch.words)).__contains__, switch.on_choose)
    _picture.draw(header, key=key, rest=content + switch.other, word=taken)


def _offer_trace(shown: Picture) -> None:
    """The numbers of a picture as files, each token with its position."""
    trace, of = shown.trace, shown.of
    asking = [f"{position} {token}" for position, token in enumerate(shown.tokens)]
    asked = [f"{position} {token}" for position, token in enumerate(shown.keys or shown.tokens)]
    titles = {"scaled": "scaled scores", "masked": "masked scores", "mixed": "mixed weights"}
    if shown.words:
        titles["weights"] = "shares"
    for name, numbers in trace.stages.items():
        allowed = trace.mask if name == "masked" else None
        files.offer_matrix(titles.get(name, name), numbers, asking, asked, allowed, of)
    if trace.values.shape[-1]:
        files.offer_matrix("values", trace.values, asked, of=of)
        files.offer_matrix("new vectors y", trace.output, asking, of=of)


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
    whole: bool


class MatricesHeader(TypedDict):
    parts: list[MatrixHeader]
    joins: list[str]
    chosen: tuple[int, int] | None
    hidden: bool
    pickable: bool
    asked: tuple[int, int | None] | None
    inFull: bool
    written: NotRequired[int]


_matrices = Component("matrices", MatricesHeader, cell=tuple[int, int])


def matrices(
    parts: Sequence[Matrix | str],
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    hidden: bool = False,
    asked: tuple[int, int | None] | None = None,
    in_full: bool = False,
    written: int | None = None,
    of: str = "",
) -> None:
    """Matrices in a row with what stands between them: `[Q, "×", K, "=", scores]`.

    Pointing at a cell of the last one, the result, lights what it is made from (`Matrix.lights`).
    With on_choose its cells can be chosen, by click or arrow keys; chosen: the (row, column) lit
    meanwhile. hidden: the result's numbers stay here, to be guessed; asked: the row and the column
    of the result that are asked about, None = all columns. in_full: of a painted result the numbers
    of the lit row stand below it. written: up to how many columns numbers are written rather than
    painted, where that is not the usual 8. of: what the files say the matrices are of, where a page
    has several of a name.
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
                "whole": matrix.whole and not kept_back,
            }
        )
        if kept_back:
            headers[-1]["most"] = 1.0
            cells = torch.zeros_like(cells)
        else:
            names = matrix.row_names, matrix.column_names
            files.offer_matrix(matrix.name, matrix.numbers, *names, matrix.allowed, of)
        numbers.append(cells.flatten())

    rows, columns = shown[-1].numbers.shape
    header: MatricesHeader = {
        "parts": headers,
        "joins": [part for part in parts if isinstance(part, str)],
        "chosen": chosen,
        "hidden": hidden,
        "pickable": on_choose is not None,
        "asked": asked,
        "inFull": in_full,
    }
    if written is not None:
        header["written"] = written
    picked = (
        lambda cell: cell[0] in range(rows) and cell[1] in range(columns),
        lambda cell: on_choose and on_choose(*cell),
    )
    _matrices.draw(header, *numbers, key=key, cell=picked)


_head_grid = Component("head_grid", HeadGridHeader, head=int)


def head_grid(
    dots: Tensor,
    block: int,
    n_tokens: int,
    head: int,
    on_choose: Callable[[int], None],
    *,
    key: str,
    layer_names: Sequence[str] = (),
    earned: Sequence[str] = (),
) -> None:
    """All heads as small heatmaps on one canvas, one to be chosen by click or arrow keys.

    dots: uint8 (heads, rows, columns), each the greatest of block × block weights, see
    `heads.thumbnails`; n_tokens: how many there are; head: the chosen one; layer_names: where the
    heads are those of several layers, in a row each, what these are called; earned: the names that
    the heads have earned, "" for none, empty where none has.
    """
    heads, rows, columns = dots.shape

    header: HeadGridHeader = {
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": block,
        "tokens": n_tokens,
        "saturated": max(rows, columns) > PLAIN_DOTS,
        "chosen": head,
        "layerNames": list(layer_names),
        "earned": list(earned),
    }
    chosen = (range(heads).__contains__, on_choose)
    _head_grid.draw(header, key=key, rest=dots.numpy().tobytes(), head=chosen)


class ChartHeader(TypedDict):
    label: str
    height: float
    data: list[Any]  # for plotly, as is the layout
    layout: dict[str, Any]


_chart = Component("chart", ChartHeader, isolate_styles=False, point=int)


def chart(
    figure: go.Figure,
    label: str,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    points: int = 0,
) -> None:
    """A figure of Plotly, drawn when all around it has been; label: what it shows, in words.

    on_choose gets the number of a point that is clicked, the first of its customdata, one of
    `points`; whatever is chosen so must have another way for the keyboard.
    """
    drawn = figure.to_plotly_json()
    header: ChartHeader = {
        "label": label,
        "height": figure.layout.height,
        "data": drawn["data"],
        "layout": drawn["layout"],
    }
    chosen = (range(points).__contains__, lambda point: on_choose and on_choose(point))
    _chart.draw(header, key=key, point=chosen)
