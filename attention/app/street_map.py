"""Street maps of runs: parts that browsers ask for, worked out once for all who look at a run."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from threading import Lock
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from torch import Tensor

from attention.app import session, works
from attention.app.parts import part
from attention.app.view import View
from attention.app.works import Task
from attention.capture import Recording
from attention.components.street_map import (
    MapAnswer,
    MapAsked,
    MapLink,
    street_map,
)
from attention.display.opened_run import OpenedRun
from attention.display.street_map import (
    CHUNK,
    EXACT,
    Blocks,
    HeadMap,
    Link,
    Texts,
)
from attention.hosting import work
from attention.hosting.jobs import Step

BLOCKS_BYTES = 64 << 20  # that of 32,768 tokens takes 16 MB, of 4,096 four
TILES_BYTES = 32 << 20
QUICK_CELLS = 1 << 25  # of a map that is read within a moment
WAIT = 0.3  # seconds that its first picture waits for it
BUDGET = 0.25  # seconds that the tiles of one answer may take; the browser asks for the others
MOST_GREATEST = 12

_lock = Lock()
_names: WeakKeyDictionary[Recording, str] = WeakKeyDictionary()
_texts: WeakKeyDictionary[Recording, tuple[Texts, ...]] = WeakKeyDictionary()
_blocks: LRUCache[str, Blocks] = LRUCache(BLOCKS_BYTES, getsizeof=lambda kept: kept.greatest.nbytes)
_tiles: LRUCache[tuple[object, ...], Tensor] = LRUCache(
    TILES_BYTES, getsizeof=lambda tile: tile.nbytes
)


@part
def map_of(view: View, run: OpenedRun, layer: int, head: int) -> None:
    """The map of a head of a run, by its place among those shown; only this answers the browser."""
    with session.turn(view.page):
        number = run.shown[layer].number
        shown, map_id = _shown(run.run, number, run.head_numbers[head])
        before = session.visit().map_asked
        asked = before if before and before["map"] == map_id and before["turn"] else None
        if before:
            session.change(map_asked={**before, "turn": 0})
        if not shown.is_done:
            _read_on(shown, map_id, asked is None)
        texts = _texts_of(run)
        answer = _answer(shown, map_id, texts, asked or _first(shown, map_id, before))
        street_map(
            shown,
            answer,
            map_id=map_id,
            sides=len(texts),
            turn=asked["turn"] if asked else 0,
            chunk=CHUNK,
            on_ask=lambda asked: session.change(map_asked=asked),
            key="street_map",
        )


def _first(shown: HeadMap, map_id: str, before: MapAsked | None) -> MapAsked:
    """Parts that a browser will ask for: of another map those that it looked at in the last one."""
    tiles, query = shown.whole(), shown.rows - 1
    if before is not None and before["map"] == map_id:
        tiles, query = [], -1  # which it has, unless it asks again
    elif before is not None:
        tiles = [tile for tile in before["shown"] if shown.has(*tile)] or tiles
        query = min(before["query"], query)
    return {
        "turn": 0,
        "map": map_id,
        "tiles": tiles,
        "texts": [],
        "row": query,
        "block": [],
        "words": "",
        "side": 0,
        "far": [],
        "shown": [],
        "query": query,
    }


def _shown(run: Recording, number: int, head: int) -> tuple[HeadMap, str]:
    """The map of a head, with what is known of it, and its name. The name tells it from others."""
    with _lock:
        map_id = f"{_names.setdefault(run, secrets.token_hex(4))} {number} {head}"
        shown = HeadMap(run, number, head, _blocks.get(map_id))
        if shown.greatest.nbytes <= _blocks.maxsize:
            _blocks.setdefault(map_id, shown.blocks)
    return shown, map_id


def _texts_of(run: OpenedRun) -> tuple[Texts, ...]:
    """The texts of the queries, and of the keys where they are others."""
    found = _texts.get(run.run)
    if found is None:
        sides = [run.texts] if run.key_texts is None else [run.texts, run.key_texts]
        found = _texts[run.run] = tuple(map(Texts, sides))
    return found


def _read_on(shown: HeadMap, map_id: str, waits: bool) -> None:
    """Have the other rows of a map looked at, beside the reruns; a few are waited for."""
    quick = shown.rows * shown.columns <= QUICK_CELLS
    if not quick:
        shown.look()
    steps = [Step("Reading the map", ("map", map_id), shown.fill)]
    job = Task(("map", map_id), steps, quick, unasked=True, key="map")
    with work.waiting():
        works.ask(job, WAIT if waits and quick else 0.0)


def _tile(shown: HeadMap, map_id: str, level: int, row: int, column: int) -> tuple[Tensor, bool]:
    """The numbers of a tile, and whether they say all there is."""
    if level == EXACT:
        return shown.weights(row, column), True
    key, final = (map_id, level, row, column), shown.is_final(level, row)
    with _lock:
        found = _tiles.get(key)
    if found is None:
        found = shown.tile(level, row, column)
        if final:
            with _lock:
                _tiles[key] = found
    return found, final


def _answer(shown: HeadMap, map_id: str, texts: Sequence[Texts], asked: MapAsked) -> MapAnswer:
    """The answer to what a browser asks for, or to as much of it as takes little time."""
    answer, until = MapAnswer(), time.monotonic() + BUDGET
    for place in asked["tiles"]:
        level, row, column = place
        answer.tiles.append(((level, row, column), *_tile(shown, map_id, level, row, column)))
        if time.monotonic() > until:
            break
    answer.texts = [
        {"side": side, "chunk": at, "texts": texts[side].chunk(at)} for side, at in asked["texts"]
    ]
    query = asked["row"]
    if asked["block"]:
        level, row, column = asked["block"]
        answer.cell = shown.greatest_in(level, row, column)
        query = answer.cell.query
    if query >= 0:
        weights = shown.row(query)
        numbers, keys = weights.topk(min(MOST_GREATEST, len(weights)))
        best = zip(keys.tolist(), numbers.tolist(), strict=True)
        answer.row = query, weights
        answer.greatest = _named(texts, [Link(query, key, number) for key, number in best])
    if asked["words"]:
        positions = texts[asked["side"]].find(asked["words"])
        answer.found = {"words": asked["words"], "side": asked["side"], "positions": positions}
    if asked["far"] and shown.is_done:
        apart, without_first = asked["far"]
        answer.links = _named(texts, shown.far_links(apart, bool(without_first)))
    return answer


def _named(texts: Sequence[Texts], links: Sequence[Link]) -> list[MapLink]:
    """Cells with the texts of their query and key."""
    return [
        {
            "query": query,
            "key": key,
            "weight": weight,
            "texts": (texts[0].text(query), texts[-1].text(key)),
        }
        for query, key, weight in links
        if weight > 0
    ]
