"""How a component of ours is made, and what it is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import plotly
import streamlit as st
import streamlit.components.v1 as components
from torch import Tensor

Renderer = Callable[..., Any]

# plotly.js, as the plotly package ships it, served beside the app for the heatmap to load once.
components.declare_component("plotly_js", path=str(Path(plotly.__file__).parent / "package_data"))


BROWSER = Path(__file__).parent / "browser"


def _contents(folder: Path) -> str:
    """A name for what stands in a folder, another one after any change."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.*")):
        digest.update(f"{file.relative_to(folder).as_posix()} {file.stat().st_size} ".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _loader() -> str:
    """Serves the scripts; gives the one that loads them, the same for each component.

    The address changes with what is served, so that no browser mixes a new release with what it
    has kept of an old one.
    """
    served = components.declare_component(f"browser_{_contents(BROWSER)}", path=str(BROWSER))
    shared = sorted(file.relative_to(BROWSER).as_posix() for file in BROWSER.glob("shared/*.js"))
    loader = (BROWSER / "loader.js").read_text("utf-8")
    return loader.replace("{folder}", served.name).replace("{shared}", " ".join(shared))


LOADER = _loader()


def component(name: str, *, isolate_styles: bool = True) -> Renderer:
    """The module and the style in the folder of that name, as a Streamlit component."""
    renderer: Renderer = st.components.v2.component(
        f"attention_{name}",
        css=(BROWSER / name / "style.css").read_text("utf-8"),
        js=LOADER,
        isolate_styles=isolate_styles,
    )
    return renderer


def message(
    name: str, version: int, header: Mapping[str, object], *tensors: Tensor, rest: bytes = b""
) -> bytes:
    """A JSON header, then float32 tensors to the last bit, then bytes.

    name, version: what the header is, as its type beside the component says; `decode` in
    browser/shared/message.js reads it, and takes no other than the module there was written for.
    """
    numbers = [tensor.contiguous().numpy().tobytes() for tensor in tensors]
    floats = sum(map(len, numbers)) // 4
    text = json.dumps({"message": name, "version": version, "floats": floats, **header}).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *numbers, rest])
