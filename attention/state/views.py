"""What the settings as they stand come to, computed once for everybody."""

from __future__ import annotations

import dataclasses
import functools

import streamlit as st

from attention import compare, heads
from attention.analysis import Neighbours
from attention.compare import Sweep
from attention.cross import Batch, CrossSettings, read_memories
from attention.heads import Heads
from attention.state.settings import (
    COMPARE,
    OTHER,
    SHARED,
    cross_settings,
    current_settings,
    in_use,
    layer_settings,
    load_vectors,
    other_settings,
    two_sequences,
    value_of,
)
from attention.text import tokenize
from attention.view import Settings, View, compute, compute_batch


@st.cache_resource(show_spinner="Loading the word vectors …")
def neighbours(name: str) -> Neighbours:
    """Nearest words among the vectors of that name, ready for everybody."""
    return Neighbours(load_vectors(name))


@functools.lru_cache(maxsize=64)
def view_of(settings: Settings, memory: str | None = None) -> View:
    """What the settings come to; views are frozen, so sessions share them.

    memory: the sentence that keys and values come from, None = the settings' own.
    Streamlit's own caches would copy the view, or spend longer on hashing the settings than
    computing takes.
    """
    return compute(settings, load_vectors, memory)


def current_view() -> View | None:
    """What the settings come to; None while the sentence has no words."""
    settings = current_settings()
    return view_of(settings) if tokenize(settings.s) else None


def layer_view() -> View | None:
    """What `layer_settings` come to; None while the sentence has no words."""
    settings = layer_settings()
    return view_of(settings) if tokenize(settings.s) else None


def heads_of(settings: Settings) -> Heads:
    """All heads of what the settings come to; the same whichever of them is looked at."""
    return _heads_of(dataclasses.replace(settings, head=0))


# Few: the weights of many heads over a long sentence take tens of megabytes.
@functools.lru_cache(maxsize=4)
def _heads_of(settings: Settings) -> Heads:
    view = view_of(settings)
    return heads.look(
        view.layer,
        view.x,
        view.trace.mask,
        scale=view.scale,
        rotate=view.rotate,
        bias=view.bias,
    )


def cross_view() -> View | None:
    """What one sentence makes of another; None while either has no words."""
    asked = cross_settings()
    if not all(two_sequences()):
        return None
    return view_of(dataclasses.replace(current_settings(), s=asked.asking), asked.memory)


@functools.lru_cache(maxsize=16)
def _batch_of(settings: Settings, asked: CrossSettings) -> Batch:
    return compute_batch(settings, asked, load_vectors)


def cross_batch() -> Batch | None:
    """The batch that is asked for; None while there is no query, or no memory."""
    asked = dataclasses.replace(cross_settings(), element=0, dimension=0)
    if asked.batch_example == "sentences" and not (
        tokenize(asked.asking) and read_memories(asked.batch)[0]
    ):
        return None
    return _batch_of(current_settings(), asked)


def compared_views() -> tuple[View, View] | None:
    """What A and B make of the sentence; None while it has no words."""
    if not tokenize(value_of("s")):
        return None
    return view_of(current_settings()), view_of(other_settings())


def paired_views() -> tuple[View, View] | None:
    """What A makes of both sentences; None while either has no words."""
    second = value_of("s2", COMPARE)
    if not (tokenize(value_of("s")) and tokenize(second)):
        return None
    settings = current_settings()
    return view_of(settings), view_of(dataclasses.replace(settings, s=second))


def differences() -> list[str]:
    """What differs between A and B, in words, one line each."""
    ours = {name: value_of(name, declared) for declared in [in_use()] for name in declared}
    theirs = {name: value_of(name, declared) for declared in [in_use(OTHER)] for name in declared}
    return compare.differences(ours, theirs, SHARED | in_use() | in_use(OTHER))


def sweep_of(settings: Settings, kind: str, at: float) -> Sweep:
    """One of the settings swept, starting from a value; the window replaces that of the mask."""
    swept = _sweep_of(settings, kind)
    return dataclasses.replace(swept, at=compare.within(kind, at, len(swept.base)))


@functools.lru_cache(maxsize=8)
def _sweep_of(settings: Settings, kind: str) -> Sweep:
    trace = view_of(settings).trace
    instead = kind == "window" and settings.mask == "window"
    return compare.sweep(trace, kind, 0.0, None if instead else trace.mask)
