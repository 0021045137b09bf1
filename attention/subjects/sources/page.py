"""Sources: documents the app grew out of, each step with its number and a link that opens it."""

import streamlit as st

from attention.app.controls import widgets
from attention.app.shell import frame
from attention.app.state.view import View
from attention.subjects.sources.steps import source
from attention.subjects.sources.words import as_html


def one_source(view: View) -> None:
    """The choice of a document, then all its steps."""
    name = widgets.widget(view, "document", label_visibility="collapsed", width="content")
    st.html(as_html(source(name)))


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, one_source)
