"""Declaration of a component of ours, and the messages it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import plotly
import streamlit as st
import streamlit.components.v1 as components

from attention.app.components.turns import Handler, turn_of, when
from attention.figures.messages import declare, message
from attention.figures.modules import BROWSER, style_of

Header = TypeVar("Header", bound=Mapping[str, object])

COMPONENTS: dict[str, Component[Any]] = {}  # by name


def _contents(folder: Path) -> str:
    """A name for what stands in a folder, another one after any change."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.*")):
        digest.update(f"{file.relative_to(folder).as_posix()} {file.stat().st_size} ".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


# The address changes with what is served, so that no browser mixes a new release with what it has
# kept of an old one. Streamlit puts the name of the declaring module before that of a component.
MODULES = f"browser_{_contents(BROWSER)}"
ADDRESS = f"{__name__}.{MODULES}"


def serve() -> None:
    """Serve the modules, and plotly.js as its package ships it: to be called within a run."""
    plotly_js = Path(plotly.__file__).parent / "package_data"
    components.declare_component("plotly_js", path=str(plotly_js))
    components.declare_component(MODULES, path=str(BROWSER))


def _loader() -> str:
    """The script that loads the modules, the same for each component."""
    shared = sorted(file.relative_to(BROWSER).as_posix() for file in BROWSER.glob("shared/*.js"))
    loader = (BROWSER / "loader.js").read_text("utf-8")
    return loader.replace("{folder}", ADDRESS).replace("{shared}", " ".join(shared))


LOADER = _loader()


class Component(Generic[Header]):
    """One of our components: its module and style in browser/, and what goes to and fro.

    name: that of its folder; header: the type of what it is sent besides numbers; answers: the
    type of what each of its events carries. browser/messages.d.ts tells the module all these types.
    """

    def __init__(
        self,
        name: str,
        header: type[Header],
        *,
        isolate_styles: bool = True,
        **answers: Any,
    ) -> None:
        self.headers = [header]
        self.answers = answers
        for event, kind in answers.items():
            declare(event, kind)
        self._draw = st.components.v2.component(
            f"attention_{name}",
            css=style_of(name, ":host" if isolate_styles else f".attention-{name}"),
            js=LOADER,
            isolate_styles=isolate_styles,
        )
        COMPONENTS[name] = self

    def draw(
        self,
        header: Header,
        *,
        key: str,
        width: Literal["stretch", "content"] = "stretch",
        **taken: Handler,
    ) -> None:
        """Draw it; taken: for each event what is asked of an answer, and what is done then."""
        callbacks: dict[str, Any] = {
            f"on_{event}_change": when(key, event, its) for event, its in taken.items()
        }
        data = message({**header, "key": key, "turn": turn_of(key)})
        self._draw(key=key, data=data, width=width, **callbacks)
