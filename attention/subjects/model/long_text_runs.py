"""Runs of long texts in the background, layer by layer, and the layer that is shown."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import torch
from cachetools import LRUCache
from torch import Tensor

from attention.analysis.heads import Keys, Overview, overview_of_rows
from attention.analysis.token_texts import Texts
from attention.analysis.whole_runs import blocks_of, quick_rows
from attention.app.cached import kept
from attention.app.cached.long_texts import LongText
from attention.app.controls.works import Task
from attention.app.state.long_texts import mark_of
from attention.app.state.shared import load_model
from attention.capture import Attention, Recording
from attention.capture.masking import Bias, Rules, split
from attention.core.functional import LongTrace, Sliced
from attention.hosting.jobs import Step, Tell
from attention.pipeline import Result, Settings
from attention.pipeline.computing import computed
from attention.pipeline.long_texts import layer_input, products, states
from attention.pipeline.preparing import into_layer
from attention.trained.models import Transformer

STATES_BYTES = 160 << 20  # of all texts; 4,096 pieces of SmolLM2 take 9 MB behind each layer
OF_A_TEXT = 48 << 20  # of these, which are kept at even distances
RESULT_BYTES = 128 << 20  # a layer of SmolLM2 over 4,096 pieces takes 60 MB
UNASKED = 4.0  # seconds: a longer run waits for a click
UNFELT = 1.5  # seconds
TRIED = 256  # pieces by which the first run is timed


@dataclass(frozen=True, eq=False)
class LayerRun:
    """A layer over a text, as a run with one attention, of which all heads are kept."""

    run: Recording

    @functools.cached_property
    def texts(self) -> Texts:
        """Texts of the pieces."""
        return Texts(self.run.tokens or ())

    @functools.cached_property
    def overview(self) -> Overview:
        """All heads at a glance, measured on as many queries as take some seconds."""
        (kept,) = self.run.attentions
        shape = kept.shape[1:]
        rows = blocks_of(self.run, kept, quick_rows(*shape))
        return overview_of_rows(rows, shape, keys=Keys(ids=self.texts.tokens))


_states: LRUCache[tuple[LongText, int], Tensor] = LRUCache(
    STATES_BYTES, getsizeof=lambda state: state.nbytes
)
_states_lock = Lock()
_rates: dict[str, float] = {}  # products a second of each model, as last measured here


def forget() -> None:
    """Let go of all that is kept."""
    for cache in (_states, _layer.cache):
        cache.clear()


def _state(asked: LongText, layer: int) -> Tensor | None:
    """Input of a layer, as far as it is kept; behind the last one the output of that."""
    if layer == 0:
        return load_model(asked.model).embed(asked.pieces.ids)
    with _states_lock:
        return _states.get((asked, layer))


def _nearest(asked: LongText, layer: int) -> int:
    """The last layer up to this one whose input is kept."""
    with _states_lock:
        kept = (at for at in range(layer, 0, -1) if (asked, at) in _states)
        return next(kept, 0)


def _entered(asked: LongText, layer: int) -> Tensor:
    """Input of a layer, worked out here where it was let go meanwhile, see `_state`."""
    state = _state(asked, layer)
    if state is None:
        _run_to(asked, layer, lambda done, of, found=None: None)
        state = _state(asked, layer)
    assert state is not None
    return state


def _run_to(asked: LongText, layer: int, tell: Tell) -> None:
    """Run a text up to the input of a layer, which is kept, and those of some on the way."""
    model, first = load_model(asked.model), layer
    while (x := _state(asked, first)) is None:
        first -= 1
    every = math.ceil((len(model.layers) + 1) * x.nbytes / OF_A_TEXT)
    began = time.monotonic()
    for at, state in enumerate(states(model, x, first), first + 1):
        if (at % every == 0 or at == layer) and state.nbytes <= STATES_BYTES:
            with _states_lock:
                _states[asked, at] = state
        if at == layer:
            break
        tell(at - first, layer - first)
    _rates[asked.model] = products(model, len(x), layer - first) / (time.monotonic() - began)


def _rate(asked: LongText) -> float:
    """Products a second, as last measured; before the first run by a few pieces and one layer."""
    if asked.model not in _rates:
        model = load_model(asked.model)
        x, layer = model.embed(asked.pieces.ids[:TRIED]), model.layers[0]
        with torch.no_grad():
            layer.run(x)
            began = time.monotonic()
            layer.run(x)
        _rates[asked.model] = products(model, len(x), 1) / (time.monotonic() - began)
    return _rates[asked.model]


def wait_words(pieces: int, layers: int, seconds: float) -> str:
    """Tell how long some layers take over a text."""
    through = "1 layer" if layers == 1 else f"{layers} layers"
    return f"{pieces:,} pieces through {through} take about {max(1, round(seconds))} s here."


def task_of(asked: LongText, wanted: Collection[int]) -> Task:
    """The work until the inputs of these layers are there, with its wait in words."""
    missing = [layer for layer in sorted(wanted) if _state(asked, layer) is None]
    layers, before = 0, 0
    for layer in missing:
        layers += layer - max(before, _nearest(asked, layer))
        before = layer
    count = len(asked.pieces.ids)
    seconds = 0.0
    if layers:
        seconds = products(load_model(asked.model), count, layers) / _rate(asked)
    words = wait_words(count, layers, seconds)
    steps = [
        Step(words.rstrip("."), ("long", asked, layer), partial(_run_to, asked, layer))
        for layer in missing
    ]
    what = ("long", asked.model, mark_of(asked.text), *sorted(wanted))
    return Task(what, steps, seconds < UNFELT, seconds < UNASKED, "long_work", words=words)


@kept(nbytes=RESULT_BYTES, size=lambda made: made[0].nbytes, together=True)
def _layer(asked: LongText, settings: Settings) -> tuple[Result, LayerRun]:
    model = load_model(asked.model)
    position = min(settings.layer, len(model.layers) - 1)
    entered = layer_input(model, asked.pieces, position, _entered(asked, position))
    prepared = into_layer(settings, entered, position, len(model.layers))
    result = computed(settings, prepared, keeps=0)
    return result, LayerRun(live_run(result))


def layer_of(asked: LongText, settings: Settings) -> tuple[Result, LayerRun]:
    """The chosen layer over a text, once its input is there, and its weights as a run."""
    result, run = _layer(asked, replace(settings, s="", head=0, join="pieces"))
    return result.looked_at(settings), run


def next_words(asked: LongText, most: int) -> tuple[list[str], list[float]]:
    """The likeliest pieces to come next and their probabilities, once the last layer has run."""
    model = load_model(asked.model)
    assert isinstance(model, Transformer)
    state = _entered(asked, len(model.layers))
    likeliest = model.scores(model.final(state[-1:])[0]).softmax(-1).topk(most)
    return list(model.shown(likeliest.indices.tolist())), likeliest.values.tolist()


def live_run(result: Result) -> Recording:
    """The layer of a result over a long text, as a run with one attention.

    Its number is that of the layer in its model, its weights are those of `result.layer_trace`.
    Raises TypeError where that is no `LongTrace` of heads that are apart.
    """
    trace, trained = result.layer_trace, result.trained
    made = trace.made_from if isinstance(trace, LongTrace) else None
    if not (isinstance(trace, LongTrace) and isinstance(made, Sliced) and trained):
        raise TypeError("a live run is that of a layer of a trained model over a long text")
    queries, keys, heads = made.queries[None], made.keys[None], made.layer.heads
    shape = queries.shape[2], keys.shape[2]
    mask = None if made.mask is None else split(made.mask[None, None])[0]
    attention = Attention(
        number=trained.position,
        name=f"layer {trained.position}",
        kind="self",
        queries=queries,
        keys=keys,
        values=None,
        heads=(*range(heads),),
        groups=tuple(head * keys.shape[1] // heads for head in range(heads)),
        scale=trace.query(0).scale,
        cap=made.layer.cap,
        sinks=None,
        rules=Rules(mask, _bias_by_distance(made, shape[0]), *shape),
    )
    texts = [text.replace("·", " ").replace("↵", "\n") for text in result.tokens]
    return Recording([attention], tokens=texts)


def _bias_by_distance(made: Sliced, queries: int) -> Bias | None:
    """The bias of a layer's positions, which says one number for each distance."""
    last = made.bias(slice(queries - 1, queries), slice(None))
    first = made.bias(slice(0, 1), slice(None))
    if last is None or first is None:
        return None
    return Bias(torch.cat([last[:, 0], first[:, 0, 1:]], -1)[None], queries - 1)
