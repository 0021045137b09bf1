"""All heads of a run as a browser shows them first, and the map of each that it may ask for."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attention.capture import Recording
from attention.display import looks
from attention.display.glance import HeadGridHeader
from attention.display.map_answers import MapAsked, answer, first_question, fits
from attention.display.messages import message
from attention.display.modules import style_of
from attention.display.opened_run import OpenedRun
from attention.display.returned import Layer
from attention.display.showing import fitting_run
from attention.display.street_map import HeadMap, Texts

ABSENT = "it is not in this file, which holds up to 10 MB; save_html(…, layer=…, head=…) chooses"
DOTS = 64  # along a head, at most
ALL_DOTS = 1 << 20
ROWS_OF_A_DOT = 4  # that are looked at
QUICK_CELLS = 1 << 25  # of a map that is read within a moment
MOST_MAPS = 4  # each takes up to 16 MB


@dataclass(eq=False)
class HeadsOfRun:
    """Heads of a run to be shown, of one entry of its batch."""

    run: OpenedRun
    entry: int
    _maps: dict[tuple[int, int], HeadMap] = field(default_factory=dict)
    _read: HeadMap | None = None

    @property
    def layers(self) -> list[int]:
        """The numbers of the layers."""
        return sorted(kept.number for kept in self.run.shown)

    @functools.cached_property
    def texts(self) -> tuple[Texts, ...]:
        """Texts of the queries, and of the keys where they are others."""
        of_keys = self.run.key_texts
        return tuple(map(Texts, [self.run.texts] if of_keys is None else [self.run.texts, of_keys]))

    @functools.cached_property
    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of each."""
        return [(layer, head) for layer in self.layers for head in self.run.head_numbers]

    @property
    def size(self) -> tuple[int, int]:
        """Queries and keys."""
        return len(self.run.texts), len(self.run.key_texts or self.run.texts)

    def given(self) -> dict[str, Any]:
        """All that a browser is given before it asks: `Given` in browser/notebook/run.js."""
        dots, block, step = self._dots()
        return {
            "grid": self._grid(dots, block),
            "heads": self.heads,
            "words": _words(self.size, block, step),
            "absent": ABSENT,
            "styles": {name: style_of(name) for name in ("head_grid", "street_map")},
            "themes": looks.THEMES,
        }

    def first(self, layer: int, head: int, query: int) -> bytes:
        """The message that shows a head, with a query and its greatest weight chosen."""
        shown = self.map_of(layer, head)
        asked = first_question(self._name(layer, head), query, shown.whole())
        header, numbers, rest = answer(shown, self.texts, asked)
        greatest = header["greatest"]
        cell = (query, greatest[0]["key"] if greatest else 0)
        return message({**header, "cell": cell}, numbers, rest=rest)

    def answer(self, layer: int, head: int, asked: MapAsked) -> bytes | None:
        """The message that answers a question, None where it asks for what is not there."""
        shown, texts = self.map_of(layer, head), self.texts
        if asked["map"] != self._name(layer, head) or not fits(asked, shown, len(texts)):
            return None
        header, numbers, rest = answer(shown, texts, asked)
        return message(header, numbers, rest=rest)

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
        return f"run {layer} {head}"

    def _dots(self) -> tuple[Tensor, int, int]:
        """All heads, uint8 (heads, rows, columns); how many cells a dot spans, and which rows of
        these are looked at, every so many-th."""
        cells = max(1, min(DOTS, math.isqrt(ALL_DOTS // len(self.heads))))
        block = -(-max(self.size) // cells)
        step = -(-block // ROWS_OF_A_DOT)
        made = [
            self.run.run.blocks(layer, head, block, block, step=step, entry=self.entry)
            for layer, head in self.heads
        ]
        weights = torch.stack(made).float().cpu()
        greatest = weights.amax((-2, -1), keepdim=True)
        shades = weights * (255 / greatest.where(greatest > 0, 1.0))
        return shades.round().to(torch.uint8), block, step

    def _grid(self, dots: Tensor, block: int) -> bytes:
        header: HeadGridHeader = {
            "heads": dots.shape[0],
            "rows": dots.shape[1],
            "columns": dots.shape[2],
            "block": block,
            "tokens": max(self.size),
            "saturated": False,
            "chosen": 0,
            "layerNames": [f"layer {layer}" for layer in self.layers],
            "earned": [],
        }
        return message(header, rest=dots.numpy().tobytes())


class _Left(Exception):
    """Another head is shown by now."""


def heads_of(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    entry: int | None,
    chosen: tuple[Layer | str, int | None, int],
) -> tuple[HeadsOfRun, tuple[int, int, int]]:
    """Heads of a run that fit the tokens, and the layer, head and query that are chosen first.

    chosen: as `attention.show` has them. Raises ValueError where there are none.
    """
    layer, head, query = chosen
    opened = fitting_run(run, tokens, keys, layer, query)
    first = opened.shown[0]
    number = first.heads[0] if head is None else first.heads[first.position(head)]
    found = HeadsOfRun(opened, entry or 0)
    return found, (first.number, number, query)


def _words(size: tuple[int, int], block: int, step: int) -> str:
    dot = "a weight"
    if block > 1:
        of = f"some rows of {block} × {block}" if step > 1 else f"{block} × {block}"
        dot = f"the greatest of {of} weights"
    return (
        f"{size[0]:,} queries down, {size[1]:,} keys across. Each square is {dot}; the strongest "
        "colour is the head's largest. Click a head to see it below."
    )
