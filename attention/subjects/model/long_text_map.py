"""The map of a long text: parts that browsers ask for, worked out once for all who look at it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from torch import Tensor

from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import works
from attention.app.controls.part import part
from attention.app.controls.works import Task
from attention.app.state import session
from attention.app.state.view import View
from attention.capture import Recording
from attention.figures.head_map import EXACT, Blocks, HeadMap
from attention.figures.scene import Scene
from attention.figures.street_map import MapAsked, StreetMap, first_question
from attention.hosting.jobs import Step
from attention.subjects.model import long_text_scene as scenes
from attention.subjects.model.long_text_runs import LayerRun

BLOCKS_BYTES = 64 << 20  # that of 4,096 tokens takes four
TILES_BYTES = 32 << 20

_lock = Lock()
_names: WeakKeyDictionary[Recording, str] = WeakKeyDictionary()
_blocks: LRUCache[str, Blocks] = LRUCache(BLOCKS_BYTES, getsizeof=lambda kept: kept.greatest.nbytes)
_tiles: LRUCache[tuple[object, ...], Tensor] = LRUCache(
    TILES_BYTES, getsizeof=lambda tile: tile.nbytes
)


@part
def draw_map(
    view: View, read: LayerRun, head: int, title: str, below: Callable[[int], Scene]
) -> None:
    """The map of a head over a text, and the scene of the chosen query; only this answers the
    browser."""
    with session.turn(view.page):
        figure, take = _figure(view, read, head)
        taken = {figure.key: {"ask": (figure.has, take)}}
        draw(scenes.map_of_head(figure, title), key="map_of_head", taken=taken)
        tell_selection(view.selection, session.select)
        draw(below(figure.chosen), key="below_map")


def _figure(view: View, read: LayerRun, head: int) -> tuple[StreetMap, Callable[[MapAsked], None]]:
    """The map, and what is done with an answer of it."""
    (kept,) = read.run.attentions
    shown, map_id = _shown(read.run, kept.number, head)
    query = min(int(view["query"]), shown.rows - 1)
    before: MapAsked | None = session.visit().map_asked
    same = before is not None and before["map"] == map_id
    question = before if before and same else _first(shown, map_id, before, query)
    if before:
        nothing = _looking_as(before, first_question(before["map"], -1, []))
        _keep({**nothing, "query": before["query"]})
    if question["query"] != query:
        question = {**question, "row": query}
    if not shown.is_done:
        _read_on(shown, map_id, not same)

    def take(asked: MapAsked) -> None:
        _keep(asked)
        if asked["query"] in range(shown.rows):
            session.choose_query(asked["query"])

    tile_of = partial(_tile, shown, map_id)
    figure = StreetMap(shown, [read.texts], question, tile_of, query, key="street_map")
    return figure, take


def _keep(asked: MapAsked) -> None:
    session.change(map_asked=asked)


def _first(shown: HeadMap, map_id: str, before: MapAsked | None, query: int) -> MapAsked:
    """Parts that a browser will ask for first: those that it looked at in the map before."""
    tiles = shown.whole()
    if before is None:
        return first_question(map_id, query, tiles)
    tiles = [tile for tile in before["shown"] if shown.has(*tile)] or tiles
    return _looking_as(before, first_question(map_id, query, tiles))


def _looking_as(before: MapAsked, question: MapAsked) -> MapAsked:
    """A question of a browser that looks where it did before."""
    return {**question, "shown": before["shown"], "key": before["key"], "place": before["place"]}


def _shown(run: Recording, number: int, head: int) -> tuple[HeadMap, str]:
    """The map of a head, with what is known of it, and its name. The name tells it from others."""
    with _lock:
        map_id = f"{_names.setdefault(run, secrets.token_hex(4))} {number} {head}"
        shown = HeadMap(run, number, head, _blocks.get(map_id))
        _blocks.setdefault(map_id, shown.blocks)
    return shown, map_id


def _read_on(shown: HeadMap, map_id: str, waits: bool) -> None:
    """Have the other rows of a map looked at, beside the reruns; they may be waited for."""
    name = "map", map_id
    steps = [Step("Reading the map", name, shown.fill)]
    works.ask(Task(name, steps, quick=True, unasked=True, key="map"), waits=waits)


def _tile(shown: HeadMap, map_id: str, level: int, row: int, column: int) -> tuple[Tensor, bool]:
    """The numbers of a tile, and whether they say all there is."""
    if level == EXACT:
        return shown.tile_of(level, row, column)
    key, final = (map_id, level, row, column), shown.is_final(level, row)
    with _lock:
        found = _tiles.get(key)
    if found is None:
        found, final = shown.tile_of(level, row, column)
        if final:
            with _lock:
                _tiles[key] = found
    return found, final
