"""How a visit goes: into the frame, the page first, nothing loaded or collected twice."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention.state.settings import current_settings, layer_settings
from attention.state.views import neighbours
from attention.view import acceptable, misread


@st.cache_resource(show_spinner="Loading the word vectors …")
def warm_up() -> None:
    """Load what everybody shares.

    One thread an operation: the tensors are small, and many people share the machine. Short turns
    for Python's threads: what a run has made is sent while the run goes on.
    """
    torch.set_num_threads(1)
    sys.setswitchinterval(0.0005)
    neighbours("glove")


@st.cache_resource(show_spinner=False)
def freeze() -> None:
    """Keep the garbage collector from walking, after every rerun, what the first one made.

    To be called at the end of the frame: by then all modules are loaded and warm.
    """
    gc.collect()
    gc.freeze()


def inside_frame(page: str) -> None:
    """To be called first by every page: make sure that streamlit_app.py runs around it.

    A cold server answers the first visit to a page's own address with that page alone, since a
    folder called `pages` is there. Then go to the frame, which comes back here.
    """
    if not st.session_state.pop("framed", False):
        st.session_state["asked_for"] = page
        st.switch_page("streamlit_app.py", query_params=st.query_params.to_dict())


def frame_ready() -> None:
    """To be called by the frame before any bound widget: the other half of `inside_frame`."""
    if asked_for := st.session_state.pop("asked_for", None):
        st.switch_page(asked_for, query_params=st.query_params.to_dict())
    st.session_state["framed"] = True
    if "misread" not in st.session_state:
        asked = st.query_params.to_dict()
        st.session_state["misread"] = misread(asked)
        drop_from_address(name for name, text in asked.items() if not acceptable(name, text))


def drop_from_address(names: Iterable[str]) -> None:
    """Forget settings that are wrong before a widget reads them: on some, it would fail."""
    if wrong := list(names):
        for name in wrong:
            del st.query_params[name]
        st.rerun()


def draw(controls: Callable[[], None], page: Callable[[], None], body: DeltaGenerator) -> None:
    """Draw the controls and, into body, the page: the page first, since that is what one awaits.

    After the first run the settings are known before their widgets are drawn again. Should the
    widgets have it otherwise (after a step back in the browser's history), draw once more.
    """
    if "as_opened" not in st.session_state:
        controls()
        with body:
            page()
        return
    expected = current_settings(), layer_settings()
    with body:
        page()
    controls()
    if (current_settings(), layer_settings()) != expected:
        st.rerun()


def words_on_link() -> list[str]:
    """What the opened link asked for and could not get, until something is changed."""
    standing = current_settings(), layer_settings()
    opened = st.session_state.setdefault("as_opened", standing)
    return st.session_state["misread"] if opened == standing else []


def let_through() -> None:
    """Pause for the time in which the browser draws what is sent so far, before sending the rest.

    Drawing the rest would otherwise come between the heatmap and the screen.
    """
    time.sleep(0.018)
