"""The component that draws a scene, and takes what is done in its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import streamlit as st

from attention.app.components.base import LOADER
from attention.app.components.selection import Selection, SelectionHeader, now
from attention.app.components.turns import Handler, turn_of, when
from attention.figures.messages import message
from attention.figures.modules import BROWSER
from attention.figures.scene import Column, Figure, Row, Scene, digest


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


_draw = st.components.v2.component(
    "attention_scene",
    css=(BROWSER / "scene" / "style.css").read_text("utf-8"),
    js=LOADER,
    isolate_styles=False,
)


def draw(
    scene: Scene,
    *,
    key: str,
    selection: Selection | None = None,
    taken: Mapping[str, Mapping[str, Handler]] | None = None,
) -> None:
    """Draw a scene in one element of the page.

    selection: query and stage that its figures show; taken: by the key of a figure, for each of
    its events what is asked of an answer and what is done then.
    """
    figures, contents, callbacks = list(scene), [], {}
    for figure in figures:
        figure.offer()
        contents.append(figure.content())
        for event, its in (taken or {}).get(figure.key, {}).items():
            callbacks[f"on_{figure.key}.{event}_change"] = when(figure.key, event, its, within=key)
    header: SceneHeader = {
        "figures": [_about(*each) for each in zip(figures, contents, strict=True)],
        "rows": _rows(scene),
        "selection": selection and now(selection),
    }
    data = message({**header, "key": key, "turn": 0}, rest=b"".join(contents))
    more: dict[str, Any] = callbacks
    _draw(key=key, data=data, **more)


def _about(figure: Figure, content: bytes) -> FigureHeader:
    return {
        "kind": figure.kind,
        "key": figure.key,
        "turn": turn_of(figure.key) if figure.key else 0,
        "size": len(content),
        "digest": digest(content),
        "light": figure.light,
    }


def _rows(scene: Scene) -> list[RowHeader]:
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
