"""The street map of a head: a question of the browser that draws it becomes a message.

The app and notebooks use the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict

from torch import Tensor

from attention.analysis.token_texts import CHUNK, Texts
from attention.analysis.whole_runs import frame
from attention.figures import files
from attention.figures.head_map import EXACT_SIDE, SIDE, HeadMap, Link
from attention.figures.scene import Figure

MOST_TILES, MOST_TEXTS, MOST_LETTERS = 64, 8, 200
MOST_GREATEST = 12
MOST_SEEN = 1 << 19  # weights of a part that is offered as a file
BUDGET = 0.25  # seconds that the tiles of one answer may take; the browser asks for the others

TileOf = Callable[[int, int, int], tuple[Tensor, bool]]


class MapAsked(TypedDict):
    """All that a browser has not yet of what it shows.

    map: of which map it speaks; tiles: level, row and column of each; texts: side (0 = queries,
    1 = keys) and chunk of each; row: a query, or −1; block: level, row and column of a square whose
    greatest weight is to be chosen, or nothing; words: to be searched, "" for none, at that side;
    far: how far apart the ends of links are to be, and whether the first key is left out (0 or 1),
    or nothing; shown: the tiles that are to be seen, query, key: the chosen cell, place: the first
    row and column that are to be seen, and how many, or nothing where that is the whole; these also
    of the next map.
    """

    map: str
    tiles: list[tuple[int, int, int]]
    texts: list[tuple[int, int]]
    row: int
    block: list[int]
    words: str
    side: int
    far: list[int]
    shown: list[tuple[int, int, int]]
    query: int
    key: int
    place: list[int]


class MapTile(TypedDict):
    """A tile whose shades follow in the bytes, or, of the lowest level, weights in the numbers."""

    level: int
    row: int
    column: int
    height: int
    width: int
    final: bool


class MapTexts(TypedDict):
    """A chunk of the texts of a side."""

    side: int
    chunk: int
    texts: list[str]


class MapFound(TypedDict):
    """Positions of the words that were searched."""

    words: str
    side: int
    positions: list[int]


class MapLink(TypedDict):
    """A cell with the texts of its query and key."""

    query: int
    key: int
    weight: float
    texts: tuple[str, str]


class StreetMapHeader(TypedDict):
    """Header of what is sent: the map, and the answer to what was asked.

    rest of the bytes: shades of the tiles; numbers: weights of those of the lowest level, then of
    the row. chosen: the query that something beside the map is about, or −1; done: rows that have
    been looked at for the coarser levels; row: the query whose weights follow, or −1.
    """

    map: str
    chosen: int
    rows: int
    columns: int
    sides: int
    top: int
    side: int
    exactSide: int
    chunk: int
    least: float
    done: int
    tiles: list[MapTile]
    texts: list[MapTexts]
    row: int
    greatest: list[MapLink]
    cell: tuple[int, int] | None
    found: MapFound | None
    links: list[MapLink] | None


def first_question(map_id: str, query: int, tiles: list[tuple[int, int, int]]) -> MapAsked:
    """The question that a browser would begin with: these tiles, and the row of a query, or −1."""
    return {
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
        "key": -1,
        "place": [],
    }


def _is_place(place: list[int], head: HeadMap) -> bool:
    if not place:
        return True
    if len(place) != 4 or min(place) < 0:
        return False
    row, column, rows, columns = place
    return row < head.rows and column < head.columns and min(rows, columns) > 0


@dataclass(frozen=True, eq=False)
class StreetMap(Figure, kind="street_map", header=StreetMapHeader, ask=MapAsked):
    """A street map of a head: tiles of any zoom, rows, texts and places, as a browser asks for
    them.

    texts: of the queries, and of the keys where they are others; question: it is answered, or as
    much of it as takes little time; tile_of: gives the numbers of a tile, and whether they say all
    there is, None = as the map has them; chosen: see the header; leads: whether the greatest weight
    of the query in question becomes the chosen cell. It answers `ask`, the next question, and
    offers the chosen row and the part that is seen as files.
    """

    head: HeadMap
    texts: Sequence[Texts]
    question: MapAsked
    tile_of: TileOf | None = None
    chosen: int = -1
    leads: bool = False

    def offer(self) -> None:
        head, asked = self.head, self.question
        table = partial(frame, head.run, head.number, head.head, entry=head.entry)
        of = f"layer {head.number}, head {head.head}"
        if 0 <= (query := asked["query"]) < head.rows:
            files.offer_frame(f"row of query {query}", partial(table, query), of)
        row, column, rows, columns = asked["place"] or (0, 0, head.rows, head.columns)
        if rows * columns <= MOST_SEEN:
            part = slice(row, row + rows), slice(column, column + columns)
            files.offer_frame("part of the map", partial(table, *part), of)

    def has(self, asked: MapAsked) -> bool:
        """True if a question asks for what there is, and for little at once."""
        head, sides = self.head, len(self.texts)
        few = max(len(asked["tiles"]), len(asked["shown"])) <= MOST_TILES
        few = few and len(asked["texts"]) <= MOST_TEXTS
        block, far = asked["block"], asked["far"]
        there = all(head.has(*tile) for tile in asked["tiles"])
        counts = head.rows, head.columns
        texts = all(
            side in range(sides) and 0 <= at * CHUNK < counts[side] for side, at in asked["texts"]
        )
        places = -1 <= asked["row"] < head.rows and asked["side"] in range(sides)
        places = places and _is_place(asked["place"], head)
        return (
            (few and there and texts and places and len(asked["words"]) <= MOST_LETTERS)
            and (not block or (len(block) == 3 and head.has_block(*block)))
            and (not far or (len(far) == 2 and far[0] >= 0 and far[1] in (0, 1)))
        )

    def content(self) -> bytes:
        head, texts, asked = self.head, self.texts, self.question
        tiles, numbers, shades = self._tiles()
        query, cell = asked["row"], None
        if asked["block"]:
            query, key, _ = head.greatest_in(*asked["block"])
            cell = query, key
        greatest: list[MapLink] = []
        if query >= 0:
            weights = head.row(query)
            numbers.append(weights)
            keys = weights.abs().topk(min(MOST_GREATEST, len(weights))).indices
            named = zip(keys.tolist(), weights[keys].tolist(), strict=True)
            greatest = _named(texts, [Link(query, key, weight) for key, weight in named])
        if self.leads:
            cell = query, greatest[0]["key"] if greatest else 0
        return self.sent(
            *numbers,
            rest=b"".join(part.numpy().tobytes() for part in shades),
            map=asked["map"],
            rows=head.rows,
            columns=head.columns,
            sides=len(texts),
            top=head.top,
            side=SIDE,
            exactSide=EXACT_SIDE,
            chunk=CHUNK,
            least=head.least,
            done=head.done,
            tiles=tiles,
            texts=[
                {"side": side, "chunk": at, "texts": texts[side].chunk(at)}
                for side, at in asked["texts"]
            ],
            row=query,
            greatest=greatest,
            cell=cell,
            found=_found(texts, asked),
            links=_far(head, texts, asked),
        )

    def _tiles(self) -> tuple[list[MapTile], list[Tensor], list[Tensor]]:
        """The tiles that are asked for, weights of those of the lowest level, shades of the
        others."""
        tile_of, until = self.tile_of or self.head.tile_of, time.monotonic() + BUDGET
        tiles: list[MapTile] = []
        shades: list[Tensor] = []
        numbers: list[Tensor] = []
        for level, row, column in self.question["tiles"]:
            tile, final = tile_of(level, row, column)
            tiles.append(
                {
                    "level": level,
                    "row": row,
                    "column": column,
                    "height": tile.shape[0],
                    "width": tile.shape[1],
                    "final": final,
                }
            )
            (shades if level >= 0 else numbers).append(tile.flatten())
            if time.monotonic() > until:
                break
        return tiles, numbers, shades


def _found(texts: Sequence[Texts], asked: MapAsked) -> MapFound | None:
    words, side = asked["words"], asked["side"]
    if not words:
        return None
    return {"words": words, "side": side, "positions": texts[side].find(words)}


def _far(head: HeadMap, texts: Sequence[Texts], asked: MapAsked) -> list[MapLink] | None:
    if not asked["far"] or not head.is_done:
        return None
    apart, without_first = asked["far"]
    return _named(texts, head.far_links(apart, bool(without_first)))


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
        if weight
    ]
