"""What a visitor clicks or types into."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from torch import Tensor

from attention.components.answers import when
from attention.components.base import component, message
from attention.display.matrix import MAX_CELLS, MatrixError, cells, read_matrix
from attention.lessons.steps import Graph

_mask_grid = component("mask_grid")
_number_grid = component("number_grid")
_examples = component("examples")
_step_graph = component("step_graph")
_copy_link = component("copy_link")
_lights = component("lights", isolate_styles=False)
_save_figures = component("save_figures")


class MaskGridHeader(TypedDict):
    """What the mask grid is sent; so for each component below."""

    tokens: list[str]
    keys: list[str]
    mask: list[list[int]]


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

    rows, columns = mask.shape
    header: MaskGridHeader = {
        "tokens": list(tokens),
        "keys": list(tokens if keys is None else keys),
        "mask": mask.int().tolist(),
    }
    painted = when(
        key,
        "paint",
        lambda paint: all(
            row in range(rows) and column in range(columns) for row, column in paint["cells"]
        ),
        lambda paint: on_paint([(row, column) for row, column in paint["cells"]], paint["allowed"]),
    )
    _mask_grid(key=key, data=message("mask_grid", 1, header), on_paint_change=painted)


class NumberGridHeader(TypedDict):
    name: str
    cells: list[list[str]]
    wrong: str
    row: int | None  # where it is wrong
    column: int | None
    resizable: bool
    most: int  # cells there may be


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
    row, column = None, None
    try:
        read_matrix(text)
    except MatrixError as error:
        wrong, row, column = str(error), error.row, error.column

    def edited(grid: list[list[str]]) -> None:
        on_edit("; ".join(" ".join(map(_one_cell, row)) for row in grid))

    shown = max(MAX_CELLS, sum(map(len, lines)))
    header: NumberGridHeader = {
        "name": name,
        "cells": lines,
        "wrong": wrong,
        "row": row,
        "column": column,
        "resizable": resizable,
        "most": MAX_CELLS,
    }
    _number_grid(
        key=key,
        data=message("number_grid", 1, header),
        on_cells_change=when(key, "cells", lambda grid: sum(map(len, grid)) <= shown, edited),
        width="content",
    )


def _one_cell(typed: str) -> str:
    """What was typed into a cell as one cell of a matrix's text; 0,5 is meant as 0.5."""
    return re.sub(r"[\s;|]+", "", typed).replace(",", ".")[:20] or "_"


class ExamplesHeader(TypedDict):
    words: str
    texts: list[str]
    gone: list[int] | None  # positions


def examples(
    words: str,
    texts: Sequence[str],
    on_choose: Callable[[int], None],
    *,
    key: str,
    gone: Collection[int] | None = None,
) -> None:
    """After some words, things to try; on_choose gets the position of the one clicked.

    gone: where a click takes one away or brings it back, the positions of those that are away.
    """

    header: ExamplesHeader = {
        "words": words,
        "texts": list(texts),
        "gone": None if gone is None else sorted(gone),
    }
    chosen = when(key, "example", lambda index: index in range(len(texts)), on_choose)
    _examples(key=key, data=message("examples", 2, header), on_example_change=chosen)


class StepGraphHeader(TypedDict):
    boxes: list[dict[str, Any]]  # `Box`
    arrows: list[dict[str, Any]]  # `Arrow`
    chosen: int  # which box


def step_graph(graph: Graph, step: str, on_choose: Callable[[str], None], *, key: str) -> None:
    """The steps of a computation as boxes from x to y, to click or reach by arrow keys.

    step: the one that is lit; on_choose gets the name of another. Shapes stand on the arrows.
    """
    names = [box.step for box in graph.boxes]
    header: StepGraphHeader = {
        "boxes": [asdict(box) for box in graph.boxes],
        "arrows": [asdict(arrow) for arrow in graph.arrows],
        "chosen": names.index(step),
    }
    chosen = when(key, "step", lambda name: name and name in names, on_choose)
    _step_graph(key=key, data=message("step_graph", 1, header), on_step_change=chosen)


def lights(selectors: Mapping[str, str], figure: str, chapter: int, *, key: str) -> None:
    """Words of a text light what they speak of, when pointed at, focused or tapped.

    selectors: CSS for the parts by name, which links to `#light-name` light; figure: CSS for what
    the parts are looked for in. Where the chapter is another one than before, its heading comes
    into view.
    """
    _lights(key=key, data={"selectors": dict(selectors), "figure": figure, "chapter": chapter})


class CopyLinkHeader(TypedDict):
    title: str
    caption: str
    paper: str
    figures: list[str]
    task: list[str]
    embedded: bool


def copy_link(
    title: str,
    caption: str,
    paper: str,
    figures: Sequence[str],
    task: Sequence[str] = (),
    *,
    embedded: bool,
    key: str,
) -> None:
    """A button that copies the address of exactly this view, and a menu of further ways to share.

    title: what the browser's tab and an embedded frame are called; caption: words to stand below a
    figure; paper: what stands below the page's title where it is printed; figures: the names of
    those that can be embedded alone; task: what a link to the task that the page sets hides, empty
    where it sets none. Where the page is embedded already, a link to the whole of it stands
    instead.
    """
    header: CopyLinkHeader = {
        "title": title,
        "caption": caption,
        "paper": paper,
        "figures": list(figures),
        "task": list(task),
        "embedded": embedded,
    }
    _copy_link(key=key, data=message("copy_link", 3, header), width="content")


class SaveFiguresHeader(TypedDict):
    figures: dict[str, str]


def save_figures(figures: Mapping[str, str], *, key: str) -> None:
    """A button for each figure that stands on the page; it saves what is seen of it as SVG.

    figures: names, with what the keys of their components begin with.
    """
    header: SaveFiguresHeader = {"figures": dict(figures)}
    _save_figures(key=key, data=message("save_figures", 1, header))
