"""The one way to show weights in a notebook: a live widget of a run, or else a figure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from attention.capture import Recording
from attention.display import showing
from attention.display.returned import Layer
from attention.notebook.heads import heads_of


def show(
    weights: Any,
    tokens: Sequence[str] | None = None,
    *,
    layer: Layer | str = None,
    head: int | None = None,
    query: int = 0,
    keys: Sequence[str] | None = None,
    entry: int | None = None,
    attention_mask: Any = None,
) -> Any:
    """Any weights as the app shows them: see `display.showing.show`, whose figures these are.

    In a notebook where anywidget is installed, a recording is a live widget: all heads, and a map
    of the chosen one to zoom. Its `layer`, `head` and `query` are as one has clicked, and can be
    set.
    """
    if isinstance(weights, Recording) and is_live():
        from attention.notebook.widget import RunWidget

        heads, first = heads_of(weights, tokens, keys, entry, (layer, head, query))
        return RunWidget(heads, *first)
    return showing.show(
        weights,
        tokens,
        layer=layer,
        head=head,
        query=query,
        keys=keys,
        entry=entry,
        attention_mask=attention_mask,
    )


def is_live() -> bool:
    """True within a notebook that shows widgets: of Jupyter, VS Code, Colab or marimo."""
    if find_spec("anywidget") is None:
        return False
    ipython, marimo = sys.modules.get("IPython"), sys.modules.get("marimo")
    shell = ipython and ipython.get_ipython()
    return hasattr(shell, "kernel") or bool(marimo and marimo.running_in_notebook())
