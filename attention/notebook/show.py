"""The one way to show weights in a notebook: a live widget of a run, or else a figure."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from attention.analysis.returned_weights import Layer
from attention.capture import Recording, Recordings
from attention.figures.scene import Figure, Scene, Words, scene
from attention.notebook.arrays import MAX_CELLS, show_array
from attention.notebook.heads import First, Pictured, heads_of, heads_of_steps
from attention.notebook.scenes import ShownScene
from attention.notebook.still import Still


def show(
    weights: Any,
    tokens: Sequence[str] | None = None,
    *,
    layer: Layer | str = None,
    head: int | None = None,
    query: int | None = None,
    keys: Sequence[str] | None = None,
    entry: int | None = None,
    attention_mask: Any = None,
    image: Any = None,
    sound: Any = None,
    patches: Any = None,
) -> Any:
    """Any weights as the app shows them: all heads, or with `layer` or `head` the heatmap of one.

    weights: a recording of `attention.capture`, of which those layers are shown whose queries and
    keys are as many as the tokens; or what transformers returns, from a call or from `generate`, or
    its `attentions` or `cross_attentions`, or a tensor or an array of (layers, heads, queries,
    keys), (heads, queries, keys) or (queries, keys); tokens: one for each query, None = those of
    the recording; keys: the tokens across, None = those of the queries; entry: which of a batch;
    attention_mask: as a tokenizer gives it, its padding is left out. layer: counted from 0 or a
    module's name in a recording; "all" says of an array of four axes that the first counts layers;
    query: the row that is outlined. See `returned_weights.one_sequence`.

    In a notebook where anywidget is installed, a recording is a live widget: all heads, and a map
    of the chosen one to zoom. Its `layer`, `head` and `query` are as one has clicked, and can be
    set. image: of PIL, an array (height, width, 3) or a tensor (3, height, width): weights of its
    patches are laid over it; sound: a spectrogram (frequencies, frames), over stretches of which a
    text's cross-attention is laid; patches: see `image_patches.find_patches`. Of these the mean of
    the heads (head −1) of the last layer is shown first. A scene or a figure of
    `attention.figures` is drawn as on its page. Of the recordings of a folder the last is shown;
    live, a slider leads over all, of which `step` says which is shown. Raises ValueError where
    they do not fit.
    """
    if isinstance(weights, Scene | Figure):
        return ShownScene(weights)
    pictured = Pictured(image, sound, patches)
    first = First(layer, head, query)
    if isinstance(weights, Recordings) and is_live():
        from attention.notebook.widget import RunWidget

        steps = heads_of_steps(weights, tokens, keys, entry, first, pictured)
        return RunWidget(*steps)
    if isinstance(weights, Recordings):
        weights = weights[max(weights)]
    if pictured and not isinstance(weights, Recording):
        raise ValueError(
            "an image or a sound is shown with a recording of attention.capture(), got "
            f"{type(weights).__name__}"
        )
    if not isinstance(weights, Recording):
        return show_array(weights, tokens, keys, entry, first, attention_mask)
    heads, chosen = heads_of(weights, tokens, keys, entry, first, pictured)
    if is_live():
        from attention.notebook.widget import RunWidget

        return RunWidget(heads, chosen)
    if pictured:
        return Still(heads, *chosen)
    if len(heads.heads) > 1 and layer in (None, "all") and head is None:
        grid, words = heads.grid()
        return ShownScene(scene(grid, Words(words)))
    return heads.heatmap(*chosen) if math.prod(heads.size) <= MAX_CELLS else Still(heads, *chosen)


def is_live() -> bool:
    """True within a notebook that shows widgets: of Jupyter, VS Code, Colab or marimo."""
    if find_spec("anywidget") is None:
        return False
    ipython, marimo = sys.modules.get("IPython"), sys.modules.get("marimo")
    shell = ipython and ipython.get_ipython()
    return hasattr(shell, "kernel") or bool(marimo and marimo.running_in_notebook())
