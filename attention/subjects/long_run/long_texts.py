"""Texts too long for a link, or to see all weights at once: kept, run in the background, shown."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import torch
from cachetools import LRUCache
from torch import Tensor

from attention.app.cached import kept
from attention.app.controls.works import Task
from attention.app.state.shared import load_model
from attention.app.state.uploads import uploads
from attention.app.state.view import View
from attention.app.state.visit import KeptText
from attention.core.limits import MAX_SEEN
from attention.hosting.jobs import Step, Tell
from attention.inputs.text import plain
from attention.pipeline import Result, Settings
from attention.pipeline.computing import computed
from attention.pipeline.long_texts import layer_input, products, states, takes_long_texts
from attention.pipeline.preparing import into_layer
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.opened_run import live_run
from attention.subjects.long_run.text_words import UNFELT, is_mark, mark_of, wait_words
from attention.trained.models import Pieces, Transformer
from attention.trained.sources import NONE

STATES_BYTES = 160 << 20  # of all texts; 4,096 pieces of SmolLM2 take 9 MB behind each layer
OF_A_TEXT = 48 << 20  # of these, which are kept at even distances
RESULT_BYTES = 128 << 20  # a layer of SmolLM2 over 4,096 pieces takes 60 MB
UNASKED = 4.0  # seconds: a longer run waits for a click
TRIED = 256  # pieces by which the first run is timed


@dataclass(frozen=True)
class LongText:
    """A text of many pieces, for a model: their names."""

    model: str
    text: str

    @property
    def pieces(self) -> Pieces:
        return _pieces(self.model, self.text)


@kept(16)
def _pieces(name: str, text: str) -> Pieces:
    return load_model(name).all_pieces(text)


def keep(visit: str, text: str) -> KeptText:
    """Take a text in. visit: Streamlit's name of it. Raises NoRoom where there is none."""
    return KeptText(text, mark_of(text), uploads().take(visit, sys.getsizeof(text)))


def is_offered(view: View) -> bool:
    """True if a page shows long texts, and its model takes them."""
    takes = view.page.long_texts and view["model"] != NONE
    return takes and takes_long_texts(load_model(view["model"]))


def last_piece(view: View, text: str) -> int:
    """The position of the last piece of a text for the model of a view; 0 where it takes none."""
    return len(LongText(view["model"], text).pieces.ids) - 1 if is_offered(view) else 0


def kept_text(view: View) -> str | None:
    """The text that a view's link names, None where it names none, or the visit keeps another."""
    kept = view.visit.long_texts if view.page.long_texts else ()
    return next((one.text for one in kept if one.mark == view["long"]), None)


def is_missing(view: View) -> bool:
    """True if a link names a text that this visit does not keep."""
    return view.page.long_texts and is_mark(view["long"]) and kept_text(view) is None


def text_of(view: View) -> LongText | None:
    """The text of which a view shows a map, None: all weights are seen at once."""
    if not is_offered(view) or is_missing(view):
        return None
    given = kept_text(view)
    text = plain(view["s"]) if given is None else given
    if len(text.encode("utf-8", "replace")) <= MAX_SEEN:
        return None  # a piece is at least a byte
    asked = LongText(view["model"], text)
    long = given is not None or len(asked.pieces.ids) > load_model(asked.model).limit
    return asked if long else None


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
    return Task(what, steps, seconds < UNFELT, seconds < UNASKED, "long_run", words=words)


@kept(nbytes=RESULT_BYTES, size=lambda made: made[0].nbytes, together=True)
def _layer(asked: LongText, settings: Settings) -> tuple[Result, Opened]:
    model = load_model(asked.model)
    position = min(settings.layer, len(model.layers) - 1)
    entered = layer_input(model, asked.pieces, position, _entered(asked, position))
    enters = into_layer(settings, entered, position, len(model.layers))
    result = computed(settings, enters, keeps=0)
    return result, Opened(live_run(result))


def layer_of(asked: LongText, settings: Settings) -> tuple[Result, Opened]:
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
