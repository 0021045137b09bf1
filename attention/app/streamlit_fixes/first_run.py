"""The folder `pages/` on a cold server, which Streamlit would serve without the app's frame.

The first visit to a page's own address is answered with that page alone, as in an app of pages
without `st.navigation`. Such a page goes to the frame, and the frame comes back to it. The test of
a cold server in tests/browser/test_cold.py passes without this once Streamlit has mended it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attention.app.state import session

SCRIPT = "streamlit_app.py"


def come_back() -> None:
    """To be called by the frame: go to the page that has sent the visitor here, if one has."""
    if return_to := st.session_state.pop("return_to", None):
        st.switch_page(return_to, query_params=session.link())
    st.session_state["framed"] = True


def go_to_frame(file: str) -> None:
    """To be called by a page, with its `__file__`: go to the frame unless it stands around."""
    if not st.session_state.pop("framed", False):
        st.session_state["return_to"] = f"pages/{Path(file).name}"
        st.switch_page(SCRIPT, query_params=session.link())
