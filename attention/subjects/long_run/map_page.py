"""Street maps of runs: parts that browsers ask for, worked out once for all who look at a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from torch import Tensor

from attention.analysis.opened_run import OpenedRun
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.components.turns import Handler
from attention.app.controls import widgets, works
from attention.app.controls.part import part
from attention.app.controls.works import Task
from attention.app.state import session
from attention.app.state.view import View
from attention.capture import Recording
from attention.figures.head_map import EXACT, Blocks, HeadMap
from attention.figures.scene import Scene
from attention.figures.street_map import (
    MapAsked,
    StreetMap,
    first_question,
    leads_to,
    seen_of,
)
from attention.hosting.jobs import Step
from attention.subjects.long_run import scene as scenes

BLOCKS_BYTES = 64 << 20  # that of 32,768 tokens takes 16 MB, of 4,096 four
TILES_BYTES = 32 << 20
QUICK_CELLS = 1 << 25  # of a map that is read within a moment

_lock = Lock()
_names: WeakKeyDictionary[Recording, str] = WeakKeyDictionary()
_blocks: LRUCache[str, Blocks] = LRUCache(BLOCKS_BYTES, getsizeof=lambda kept: kept.greatest.nbytes)
_tiles: LRUCache[tuple[object, ...], Tensor] = LRUCache(
    TILES_BYTES, getsizeof=lambda tile: tile.nbytes
)


class Mapped(NamedTuple):
    """A map to be drawn: the layer and head, by their places among those shown, None = the mean of
    the layer's heads; and its title."""

    layer: int
    head: int | None
    title: str


@part
def maps_of(
    view: View,
    run: OpenedRun,
    maps: Sequence[Mapped],
    problems: Sequence[str] = (),
    below: Callable[[int], Scene] | None = None,
) -> None:
    """The map of a head of a run, or two side by side; only this answers the browser.

    problems: see `scene.street_maps`; below: the scene that follows from the chosen query, which
    then is that of the view. Without one links carry what the first map shows.
    """
    with session.turn(view.page):
        if not below:
            widgets.widget(view, "seen")  # never seen: it keeps what is looked at here
        query = int(view["query"]) if below else -1
        asked = session.visit().map_asked
        session.change(map_asked={at: asked[at] for at in asked if at < len(maps)})
        shown = []
        taken: dict[str, dict[str, Handler]] = {}
        for at, mapped in enumerate(maps):
            figure, take = _figure(view, run, mapped, at, query, linked=len(maps) > 1)
            taken[figure.key] = {"ask": (figure.has, take)}
            module = "" if below else run.shown[mapped.layer].name
            shown.append((figure, mapped.title, module))
        draw(scenes.street_maps(shown, problems), key="map_of_head", taken=taken)
        if below:
            tell_selection(view.selection, session.select)
            draw(below(min(query, run.shape[2] - 1)), key="below_map")


def _figure(
    view: View, run: OpenedRun, mapped: Mapped, place: int, query: int, linked: bool
) -> tuple[StreetMap, Callable[[MapAsked], None]]:
    """One of the maps of a page, and what is done with an answer of it.

    place: the first one is that of links; query: the chosen one, −1: that which the map has.
    """
    kept = run.shown[mapped.layer]
    head = None if mapped.head is None else run.head_numbers[mapped.head]
    shown, map_id = _shown(run.run, kept.number, head)
    query = min(query, shown.rows - 1)
    before = session.visit().map_asked.get(place)
    same = before is not None and before["map"] == map_id
    question = before if before and same else _first(shown, map_id, before, query)
    if before:
        nothing = _looking_as(before, first_question(before["map"], -1, []))
        _keep(place, {**nothing, "query": before["query"]})
    if query >= 0 and question["query"] != query:
        question = {**question, "row": query}
    if not shown.is_done:
        _read_on(shown, map_id, not same, place)
    is_linked_to = query < 0 and place == 0

    def take(asked: MapAsked) -> None:
        _keep(place, asked)
        if query >= 0 and asked["query"] in range(shown.rows):
            session.choose_query(asked["query"])
        if is_linked_to and (seen := seen_of(asked, shown.rows)) != session.view()["seen"]:
            session.choose("seen", seen)

    told = before and seen_of(before, shown.rows)
    is_there = before is not None and (place > 0 or told == view["seen"])
    leads = query < 0 and not is_there and leads_to(view["seen"], shown)
    figure = StreetMap(
        shown,
        run.sides,
        question,
        partial(_tile, shown, map_id),
        query,
        lead=view["seen"] if leads else "",
        linked=linked,
        key="street_map_beside" if place else "street_map",
    )
    return figure, take


def _keep(place: int, asked: MapAsked) -> None:
    session.change(map_asked={**session.visit().map_asked, place: asked})


def _first(shown: HeadMap, map_id: str, before: MapAsked | None, query: int) -> MapAsked:
    """Parts that a browser will ask for first: those that it looked at in the map before.

    query: the chosen one, −1: that of the map before.
    """
    tiles, last = shown.whole(), shown.rows - 1
    if before is None:
        return first_question(map_id, last if query < 0 else query, tiles)
    tiles = [tile for tile in before["shown"] if shown.has(*tile)] or tiles
    last = min(before["query"], last)
    return _looking_as(before, first_question(map_id, last if query < 0 else query, tiles))


def _looking_as(before: MapAsked, question: MapAsked) -> MapAsked:
    """A question of a browser that looks where it did before."""
    return {**question, "shown": before["shown"], "key": before["key"], "place": before["place"]}


def _shown(run: Recording, number: int, head: int | None) -> tuple[HeadMap, str]:
    """The map of a head, with what is known of it, and its name. The name tells it from others."""
    with _lock:
        of = "mean" if head is None else head
        map_id = f"{_names.setdefault(run, secrets.token_hex(4))} {number} {of}"
        shown = HeadMap(run, number, head, _blocks.get(map_id))
        if shown.greatest.nbytes <= _blocks.maxsize:
            _blocks.setdefault(map_id, shown.blocks)
    return shown, map_id


def _read_on(shown: HeadMap, map_id: str, waits: bool, place: int) -> None:
    """Have the other rows of a map looked at, beside the reruns; a few may be waited for."""
    quick = shown.heads * shown.rows * shown.columns <= QUICK_CELLS
    if not quick:
        shown.look()
    steps = [Step("Reading the map", ("map", map_id), shown.fill)]
    job = Task(("map", map_id), steps, quick, unasked=True, key=f"map_{place}")
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
