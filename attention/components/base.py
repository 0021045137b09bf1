"""How a component of ours is made, and what it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly
import streamlit as st
import streamlit.components.v1 as components
from torch import Tensor

Renderer = Callable[..., Any]

# plotly.js, as the plotly package ships it, served beside the app for the heatmap to load once.
components.declare_component("plotly_js", path=str(Path(plotly.__file__).parent / "package_data"))


def component(name: str, *, isolate_styles: bool = True) -> Renderer:
    """The script and the style in the folder of that name, as a Streamlit component."""
    folder = Path(__file__).parent / name
    renderer: Renderer = st.components.v2.component(
        f"attention_{name}",
        css=(folder / "style.css").read_text("utf-8"),
        js=(folder.parent / "shared.js").read_text("utf-8")
        + (folder / "index.js").read_text("utf-8"),
        isolate_styles=isolate_styles,
    )
    return renderer


def message(header: dict[str, Any], *tensors: Tensor, rest: bytes = b"") -> bytes:
    """A JSON header, then float32 tensors to the last bit, then bytes; shared.js reads it."""
    numbers = [tensor.contiguous().numpy().tobytes() for tensor in tensors]
    header["floats"] = sum(map(len, numbers)) // 4
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *numbers, rest])
