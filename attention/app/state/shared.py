"""Resources that all visitors share, loaded once: vectors and trained models."""

from __future__ import annotations

from functools import cache

import streamlit as st
from torchtext.vocab import Vectors

from attention.inputs.vector_file import Report
from attention.inputs.vectors import Neighbours, named_vectors
from attention.trained import sources
from attention.trained.models import Model


@st.cache_resource(show_spinner=False)
def load_vectors(name: str, _report: Report = lambda line: None) -> Vectors:
    """The vectors of that name, loaded once for everybody. _report: is told how far it is."""
    return named_vectors(name, _report)


@st.cache_resource(show_spinner=False)
def neighbours(name: str) -> Neighbours:
    """Nearest words among the vectors of that name, ready for everybody."""
    return Neighbours(load_vectors(name))


@st.cache_resource(show_spinner=False)
def load_model(name: str) -> Model:
    """The trained model of that name, loaded once for everybody."""
    return sources.load(name, load_model)


@cache  # asked for many times in each run
def width_of(vectors: str) -> int:
    """The d_model of the vectors of that name."""
    return int(load_vectors(vectors).dim)
