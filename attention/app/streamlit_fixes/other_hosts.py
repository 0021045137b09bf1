"""No request to another host, which Streamlit would make: see docs/upstream.md."""

from __future__ import annotations

from streamlit import net_util


def ask_no_other_host() -> None:
    """Where a page of another host asks to connect, Streamlit asks a third one for its address."""
    net_util.get_external_ip = lambda: None
