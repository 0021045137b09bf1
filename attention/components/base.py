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

BROWSER = Path(__file__).parent / "browser"


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
# What is shown by colours keeps them where a browser is told to replace all.
COLOURS = """@media (forced-colors: active) {{
  {root} {{ forced-color-adjust: none; background: var(--st-background-color); }}
}}"""


def component(name: str, *, isolate_styles: bool = True) -> Renderer:
    """The module and the style in the folder of that name, as a Streamlit component."""
    colours = COLOURS.format(root=":host" if isolate_styles else f".attention-{name}")
    renderer: Renderer = st.components.v2.component(
        f"attention_{name}",
        css=(BROWSER / name / "style.css").read_text("utf-8") + colours,
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
