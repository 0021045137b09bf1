"""Message of a whole scene for its module in the browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from attention.figures.messages import message
from attention.figures.scene import Column, Figure, Row, Scene, digest


class QueryAndStage(TypedDict):
    """Query and stage that are chosen in the pictures of a page."""

    query: int
    stage: str


class Selection(TypedDict):
    """Selection as the server knows it."""

    values: QueryAndStage
    defaults: QueryAndStage


class SelectionHeader(Selection):
    """Selection beside other things, with the turn of `tell_selection`."""

    turn: int


class FigureHeader(TypedDict):
    """One figure: size is that of its message in bytes, digest a name for what that holds."""

    kind: str
    key: str
    turn: int
    size: int
    digest: str
    light: bool


class RowHeader(TypedDict):
    """Columns of figures, by their positions; shares of the width, none: as wide as they are."""

    columns: Sequence[Sequence[int]]
    shares: Sequence[float]


class SceneHeader(TypedDict):
    """Figures, whose messages follow; rows of them; the selection that all of them show."""

    figures: Sequence[FigureHeader]
    rows: Sequence[RowHeader]
    selection: SelectionHeader | None


def scene_message(
    scene: Scene,
    selection: SelectionHeader | None = None,
    key: str = "",
    turn_of: Callable[[str], int] = lambda key: 0,
) -> bytes:
    """All figures of a scene as one message.

    selection: query and stage that its figures show; key: of the element that it is drawn in;
    turn_of: the number of answers given so far under the key of a figure.
    """
    contents = [figure.content() for figure in scene]
    header: SceneHeader = {
        "figures": [
            about(figure, content, turn_of(figure.key) if figure.key else 0)
            for figure, content in zip(scene, contents, strict=True)
        ],
        "rows": rows_of(scene),
        "selection": selection,
    }
    return message({**header, "key": key, "turn": 0}, rest=b"".join(contents))


def about(figure: Figure, content: bytes, turn: int = 0) -> FigureHeader:
    """One figure with its content. turn: the number of answers given so far under its key."""
    return {
        "kind": figure.kind,
        "key": figure.key,
        "turn": turn,
        "size": len(content),
        "digest": digest(content),
        "light": figure.light,
    }


def rows_of(scene: Scene) -> list[RowHeader]:
    """Rows from top to bottom; a figure that stands alone is a row of one."""
    rows: list[RowHeader] = []
    count = 0
    for part in scene.parts:
        columns = []
        row = part if isinstance(part, Row) else Row([part])
        for each in row.figures:
            size = len(each.figures) if isinstance(each, Column) else 1
            columns.append([*range(count, count + size)])
            count += size
        rows.append({"columns": columns, "shares": list(row.shares)})
    return rows
