"""Street maps of runs: parts that browsers ask for, worked out once for all who look at a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from torch import Tensor

from attention.analysis.token_texts import Texts
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import works
from attention.app.controls.part import part
from attention.app.controls.works import Task
from attention.app.state import session
from attention.app.state.view import View
from attention.capture import Recording
from attention.figures.scene import Scene
from attention.hosting.jobs import Step
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.figures import MapAsked, StreetMap, first_question
from attention.subjects.long_run.opened_run import OpenedRun
from attention.subjects.long_run.street_map import EXACT, Blocks, HeadMap

BLOCKS_BYTES = 64 << 20  # that of 32,768 tokens takes 16 MB, of 4,096 four
TILES_BYTES = 32 << 20
QUICK_CELLS = 1 << 25  # of a map that is read within a moment

_lock = Lock()
_names: WeakKeyDictionary[Recording, str] = WeakKeyDictionary()
_texts: WeakKeyDictionary[Recording, tuple[Texts, ...]] = WeakKeyDictionary()
_blocks: LRUCache[str, Blocks] = LRUCache(BLOCKS_BYTES, getsizeof=lambda kept: kept.greatest.nbytes)
_tiles: LRUCache[tuple[object, ...], Tensor] = LRUCache(
    TILES_BYTES, getsizeof=lambda tile: tile.nbytes
)


@part
def map_of(
    view: View,
    run: OpenedRun,
    layer: int,
    head: int,
    title: str,
    problems: Sequence[str] = (),
    below: Callable[[int], Scene] | None = None,
) -> None:
    """The map of a head of a run, by its place among those shown; only this answers the browser.

    title, problems: see `scene.street_map`; below: the scene that follows from the chosen query,
    which then is that of the view.
    """
    with session.turn(view.page):
        number = run.shown[layer].number
        shown, map_id = _shown(run.run, number, run.head_numbers[head])
        query = min(int(view["query"]), shown.rows - 1) if below else -1
        before = session.visit().map_asked
        same = before is not None and before["map"] == map_id
        question = before if before and same else _first(shown, map_id, before, query)
        if before:
            answered = first_question(before["map"], -1, [])
            looked_at: MapAsked = {**answered, "shown": before["shown"], "query": before["query"]}
            session.change(map_asked=looked_at)
        if below and question["query"] != query:
            question = {**question, "row": query}
        if not shown.is_done:
            _read_on(shown, map_id, not same)

        def take(asked: MapAsked) -> None:
            session.change(map_asked=asked)
            if below and asked["query"] in range(shown.rows):
                session.choose_query(asked["query"])

        tile_of = partial(_tile, shown, map_id)
        figure = StreetMap(shown, _texts_of(run), question, tile_of, query, key="street_map")
        taken = {figure.key: {"ask": (figure.has, take)}}
        draw(scenes.street_map(figure, title, problems), key="map_of_head", taken=taken)
        if below:
            tell_selection(view.selection, session.select)
            draw(below(query), key="below_map")


def _first(shown: HeadMap, map_id: str, before: MapAsked | None, query: int) -> MapAsked:
    """Parts that a browser will ask for first: those that it looked at in the map before.

    query: the chosen one, −1: that of the map before.
    """
    tiles, last = shown.whole(), shown.rows - 1
    if before is not None:
        tiles = [tile for tile in before["shown"] if shown.has(*tile)] or tiles
        last = min(before["query"], last)
    return first_question(map_id, last if query < 0 else query, tiles)


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
    """Have the other rows of a map looked at, beside the reruns; a few may be waited for."""
    quick = shown.rows * shown.columns <= QUICK_CELLS
    if not quick:
        shown.look()
    steps = [Step("Reading the map", ("map", map_id), shown.fill)]
    job = Task(("map", map_id), steps, quick, unasked=True, key="map")
    works.ask(job, waits=waits and quick)


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
