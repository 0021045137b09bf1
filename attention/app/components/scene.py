"""The component that draws a scene, and takes what is done in its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import streamlit as st

from attention.app.components.base import LOADER
from attention.app.components.selection import now
from attention.app.components.turns import Handler, turn_of, when
from attention.figures.modules import BROWSER
from attention.figures.scene import Scene
from attention.figures.scene_message import Selection, scene_message

Taken = Mapping[str, Mapping[str, Handler]]  # by the key of a figure, and its events

Drawn = list[tuple[Scene, bool]]  # scenes, each with whether it shows the selection

_drawn: ContextVar[Drawn | None] = ContextVar("drawn", default=None)


@contextmanager
def collecting() -> Iterator[Drawn]:
    """Collects the scenes that are drawn meanwhile."""
    scenes: Drawn = []
    before = _drawn.set(scenes)
    try:
        yield scenes
    finally:
        _drawn.reset(before)


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
    taken: Taken | None = None,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """Draw a scene in one element of the page.

    selection: query and stage that its figures show; taken: by the key of a figure, for each of
    its events what is asked of an answer and what is done then.
    """
    more: dict[str, Any] = {}
    if (drawn := _drawn.get()) is not None:
        drawn.append((scene, selection is not None))
    for figure in scene:
        figure.offer()
        for event, its in (taken or {}).get(figure.key, {}).items():
            more[f"on_{figure.key}.{event}_change"] = when(figure.key, event, its, within=key)
    data = scene_message(scene, selection and now(selection), key, turn_of)
    _draw(key=key, data=data, width=width, **more)
