"""All heads of a run as a browser shows them first, and the map of each that it may ask for."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import plotly.graph_objects as go
import torch
from torch import Tensor

from attention.analysis.returned_weights import Layer
from attention.capture import Recording, Recordings
from attention.capture.recording import Part
from attention.core.functional import WeightsAlone
from attention.core.weighing import SOFTMAX, UNNORMED
from attention.figures import plotly_templates, plots
from attention.figures.head_grid import HeadGrid, grid_of_blocks, grid_words
from attention.figures.head_map import HeadMap
from attention.figures.image_patches import Patches, Sight, see
from attention.figures.messages import message
from attention.figures.modules import style_of
from attention.figures.street_map import MapAsked, StreetMap, first_question
from attention.notebook.fitting_run import FittingRun, fitting_run

ABSENT = "it is not in this file, which holds up to 10 MB; save_html(…, layer=…, head=…) chooses"
ROWS_OF_A_DOT = 4  # that are looked at
QUICK_CELLS = 1 << 25  # of a map that is read within a moment
MOST_MAPS = 4  # each takes up to 16 MB
MEAN = -1  # in place of a head: the mean of all of a layer


@dataclass(eq=False)
class HeadsOfRun:
    """Heads of a run to be shown, of one entry of its batch.

    sight: the picture whose patches are the keys, None where these are shown as a map; step,
    steps: which step of learning this is, and all that there are, where there are several.
    """

    run: FittingRun
    entry: int
    sight: Sight | None = None
    step: int = 0
    steps: tuple[int, ...] = ()
    _maps: dict[tuple[int, int], HeadMap] = field(default_factory=dict)
    _read: HeadMap | None = None

    @property
    def layers(self) -> list[int]:
        """The numbers of the layers."""
        return sorted(kept.number for kept in self.run.shown)

    @functools.cached_property
    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of each."""
        return [(layer, head) for layer in self.layers for head in self.run.head_numbers]

    @property
    def size(self) -> tuple[int, int]:
        """Queries and keys."""
        return len(self.run.texts), len(self.run.key_texts or self.run.texts)

    def has(self, layer: int, head: int) -> bool:
        """True if there is that head, or that mean of heads."""
        return (layer, head) in self.heads or (
            self.sight is not None and head == MEAN and layer in self.layers
        )

    def grid(self) -> tuple[HeadGrid, str]:
        """All heads, and words on them. Of many rows some are looked at."""

        def blocks(block: int) -> Tensor:
            made = [
                self.run.run.blocks(layer, head, block, block, step=_step(block), entry=self.entry)
                for layer, head in self.heads
            ]
            return torch.stack(made).abs().float().cpu()

        names = [f"layer {layer}" for layer in self.layers]
        sizes = not all(kept.weights_are_a_distribution for kept in self.run.shown)
        grid = grid_of_blocks(blocks, len(self.heads), self.size, names, sizes)
        return grid, grid_words(grid, self.size, _step(grid.block) > 1)

    def given(self) -> dict[str, Any]:
        """All that a browser is given before it asks: `Given` in browser/notebook/run.js."""
        names = ("head_grid", "notebook" if self.sight else "street_map")
        grid, words = self.grid()
        where = "above" if self.sight else "below"
        return {
            "grid": grid.content(),
            "heads": self.heads,
            "words": f"{words} Click a head to see it {where}.",
            "absent": ABSENT,
            "styles": dict(zip(("grid", "shown"), map(style_of, names), strict=True)),
            "themes": plotly_templates.THEMES,
            "step": self.step,
            "steps": self.steps,
            "picture": self.sight and self._picture(self.sight),
        }

    def weights(self, layer: int, head: int, rows: Part = None) -> Tensor:
        """Weights of a head, or the mean of all heads of a layer. float32 (rows, keys)."""
        heads = self.run.head_numbers if head == MEAN else (head,)
        run, entry = self.run.run, self.entry
        made = (run.weights(layer, one, rows, entry=entry).float().cpu() for one in heads)
        return functools.reduce(torch.add, made) / len(heads)

    def heatmap(self, layer: int, head: int, query: int) -> go.Figure:
        """All weights of a head, with the row of a query outlined."""
        of_shares = self.run.run.attention(layer).weights_are_a_distribution
        weighing = SOFTMAX if of_shares else UNNORMED
        alone = WeightsAlone(self.weights(layer, head), weighing=weighing)
        return plots.heatmap(alone, "weights", self.run.texts, query, self.run.key_texts)

    def first(self, layer: int, head: int, query: int) -> bytes:
        """The message that shows a head, with a query and its greatest weight chosen; of a picture
        that query's weights."""
        if self.sight is not None:
            return message({"query": query}, self.weights(layer, head, query))
        shown = self.map_of(layer, head)
        question = first_question(self._name(layer, head), query, shown.whole())
        return StreetMap(shown, self.run.sides, question, leads=True).content()

    def answer(self, layer: int, head: int, asked: MapAsked) -> bytes | None:
        """The message that answers a question, None where it asks for what is not there."""
        if head == MEAN or asked["map"] != self._name(layer, head):
            return None
        shown = StreetMap(self.map_of(layer, head), self.run.sides, asked)
        return shown.content() if shown.has(asked) else None

    def map_of(self, layer: int, head: int) -> HeadMap:
        """The map of a head; a long one is read on, beside all else, as long as it is the last."""
        found = self._maps.pop((layer, head), None)
        found = found or HeadMap(self.run.run, layer, head, entry=self.entry)
        self._maps[layer, head] = found
        while len(self._maps) > MOST_MAPS:
            del self._maps[next(iter(self._maps))]
        if found.is_done:
            return found
        if found.rows * found.columns <= QUICK_CELLS:
            found.fill(lambda done, of: None)
        elif self._read is not found:
            found.look()
            self._read = found
            threading.Thread(target=self._read_on, args=(found,), daemon=True).start()
        return found

    def _read_on(self, shown: HeadMap) -> None:
        def go_on(done: int, of: int) -> None:
            if self._read is not shown:
                raise _Left

        with suppress(_Left):
            shown.fill(go_on)

    def _name(self, layer: int, head: int) -> str:
        return f"run {layer} {head}" + (f" {self.step}" if self.steps else "")

    def _picture(self, sight: Sight) -> dict[str, Any]:
        texts = [[side.text(at) for at in range(len(side.tokens))] for side in self.run.sides]
        height, width, _ = sight.pixels.shape
        return {
            "source": sight.source,
            "width": width,
            "height": height,
            **asdict(sight.patches),
            "isSound": sight.is_sound,
            "texts": texts[0],
            "keyTexts": texts[1] if len(texts) > 1 else None,
        }


class _Left(Exception):
    """Another head is shown by now."""


@dataclass(frozen=True)
class First:
    """The head and the query that are shown first: those of a layer, None = as it fits."""

    layer: Layer | str = None
    head: int | None = None
    query: int | None = None


@dataclass(frozen=True, eq=False)
class Pictured:
    """A picture or a sound as somebody gives it, and where its patches stand: see `patches`."""

    image: Any = None
    sound: Any = None
    patches: Any = None

    def __bool__(self) -> bool:
        return self.image is not None or self.sound is not None


def heads_of(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    entry: int | None,
    first: First,
    pictured: Pictured,
) -> tuple[HeadsOfRun, tuple[int, int, int]]:
    """Heads of a run that fit the tokens, and the layer, head and query that are chosen first.

    Of a picture these are the last layer, the mean of its heads, and the class token or, of a text,
    the last token. Raises ValueError where there are none.
    """
    sight, layer, query = None, first.layer, first.query or 0
    if pictured:
        tokens, keys, sight = _seen(run, tokens, keys, layer, pictured)
        if first.query is None and (keys is not None or sight.patches.stop < len(tokens)):
            query = len(tokens) - 1
    opened = fitting_run(run, tokens, keys, layer, query)
    found = HeadsOfRun(opened, entry or 0, sight)
    last = sight is not None and layer in (None, "all")
    shown = max(opened.shown, key=lambda kept: kept.number) if last else opened.shown[0]
    if first.head is not None:
        head = shown.heads[shown.position(first.head)]
    else:
        head = MEAN if sight is not None else shown.heads[0]
    return found, (shown.number, head, query)


def heads_of_steps(
    runs: Recordings, *shown: Any
) -> tuple[HeadsOfRun, tuple[int, int, int], Callable[[int], HeadsOfRun]]:
    """Heads of the last of some steps of learning, as `heads_of` has them, and those of each."""

    def at(step: int) -> tuple[HeadsOfRun, tuple[int, int, int]]:
        heads, chosen = heads_of(runs[step], *shown)
        heads.step, heads.steps = step, tuple(runs)
        return heads, chosen

    return *at(max(runs)), lambda step: at(step)[0]


def _seen(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    layer: Layer | str,
    pictured: Pictured,
) -> tuple[Sequence[str], Sequence[str] | None, Sight]:
    """Texts of queries and keys, and the picture whose patches the keys are.

    A text asks by cross-attention, where there is any; without one the patches ask.
    """
    image, sound, patches = pictured.image, pictured.sound, pictured.patches
    if image is not None and sound is not None:
        raise ValueError("there must be an image or a sound, got both")
    tokens = tokens or run.tokens
    within = patches is not None and not isinstance(patches, Patches)  # the text
    wanted = "self" if tokens is None or within else "cross"
    fitting = [
        kept
        for kept in run.attentions
        if kept.weights_are_a_distribution
        and layer in (None, "all", kept.number, kept.name)
        and (tokens is None or len(tokens) == kept.shape[2])
    ]
    if not fitting:
        there = ", ".join(
            f"{kept.number} ({kept.name}): {kept.shape[2]}" for kept in run.attentions
        )
        came = "no tokens" if tokens is None else f"{len(tokens)} tokens"
        raise ValueError(
            f"there must be a token for each query of a layer, {there}, got {came} and {layer=}"
        )
    one = sorted(fitting, key=lambda kept: kept.kind != wanted)[0]
    itself = one.kind == "self"
    sight = see(image, sound, one.shape[3], patches, tokens if itself else keys)
    named = [sight.name(at) for at in range(one.shape[3])]
    if itself:
        return tokens or named, None, sight
    if tokens is None:
        raise ValueError(f"there must be a token for each of {one.shape[2]} queries, got none")
    return tokens, keys or run.keys or named, sight


def _step(block: int) -> int:
    """Rows from one that is looked at to the next, where a square stands for so many."""
    return -(-block // ROWS_OF_A_DOT)
