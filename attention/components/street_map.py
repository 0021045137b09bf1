"""A street map of a head: tiles of any zoom, rows, texts and places, as a browser asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from torch import Tensor, cat, empty

from attention.components.base import Component
from attention.display.street_map import EXACT_SIDE, SIDE, HeadMap, Link

MOST_TILES, MOST_TEXTS, MOST_LETTERS = 64, 8, 200


class MapAsked(TypedDict):
    """All that a browser has not yet of what it shows.

    turn: a number of its own, which the answer has too; map: of which map it speaks; tiles: level,
    row and column of each; texts: side (0 = queries, 1 = keys) and chunk of each; row: a query, or
    −1; block: level, row and column of a square whose greatest weight is to be chosen, or nothing;
    words: to be searched, "" for none, at that side; far: how far apart the ends of links are to
    be, and whether the first key is left out (0 or 1), or nothing; shown: the tiles that are to be
    seen, and query: the chosen one, both also of the next map.
    """

    turn: int
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
    the row. done: rows that have been looked at for the coarser levels; row: the query whose
    weights follow, or −1.
    """

    map: str
    turn: int
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


@dataclass
class MapAnswer:
    """Parts of an answer, as `StreetMapHeader` has them; tiles: with the numbers of each."""

    tiles: list[tuple[tuple[int, int, int], Tensor, bool]] = field(default_factory=list)
    texts: list[MapTexts] = field(default_factory=list)
    row: tuple[int, Tensor] | None = None
    greatest: Sequence[MapLink] = ()
    cell: Link | None = None
    found: MapFound | None = None
    links: Sequence[MapLink] | None = None


_street_map = Component("street_map", StreetMapHeader, ask=MapAsked)


def street_map(
    head: HeadMap,
    answer: MapAnswer,
    *,
    map_id: str,
    sides: int,
    turn: int,
    chunk: int,
    on_ask: Callable[[MapAsked], object],
    key: str,
) -> None:
    """Draws the map of a head, with the answer to what the browser has asked for.

    map_id: tells it from others; sides: 2 where keys have other texts
    than queries; turn: that of the question, 0 for none; chunk: the number of texts of a chunk;
    on_ask: gets what the browser asks for next, checked, within a callback.
    """
    tiles: list[MapTile] = [
        {
            "level": level,
            "row": row,
            "column": column,
            "height": numbers.shape[0],
            "width": numbers.shape[1],
            "final": final,
        }
        for (level, row, column), numbers, final in answer.tiles
    ]
    shades = [numbers for (level, *_), numbers, _ in answer.tiles if level >= 0]
    weights = [numbers.flatten() for (level, *_), numbers, _ in answer.tiles if level < 0]
    if answer.row is not None:
        weights.append(answer.row[1])
    header: StreetMapHeader = {
        "map": map_id,
        "turn": turn,
        "rows": head.rows,
        "columns": head.columns,
        "sides": sides,
        "top": head.top,
        "side": SIDE,
        "exactSide": EXACT_SIDE,
        "chunk": chunk,
        "least": head.least,
        "done": head.done,
        "tiles": tiles,
        "texts": answer.texts,
        "row": -1 if answer.row is None else answer.row[0],
        "greatest": list(answer.greatest),
        "cell": None if answer.cell is None else answer.cell[:2],
        "found": answer.found,
        "links": None if answer.links is None else list(answer.links),
    }

    def fits(asked: MapAsked) -> bool:
        """True if it asks for what there is, and for little at once."""
        few = max(len(asked["tiles"]), len(asked["shown"])) <= MOST_TILES
        few = few and len(asked["texts"]) <= MOST_TEXTS
        block, far = asked["block"], asked["far"]
        there = all(head.has(*tile) for tile in asked["tiles"])
        counts = head.rows, head.columns
        texts = all(
            side in range(sides) and 0 <= at * chunk < counts[side] for side, at in asked["texts"]
        )
        places = -1 <= asked["row"] < head.rows and asked["side"] in range(sides)
        return (
            (few and there and texts and places and len(asked["words"]) <= MOST_LETTERS)
            and (not block or (len(block) == 3 and head.has_block(*block)))
            and (not far or (len(far) == 2 and far[0] >= 0 and far[1] in (0, 1)))
        )

    _street_map.draw(
        header,
        cat(weights) if weights else empty(0),
        key=key,
        rest=b"".join(numbers.contiguous().numpy().tobytes() for numbers in shades),
        ask=(fits, on_ask),
    )
