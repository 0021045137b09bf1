"""A street map of a head: tiles of any zoom, rows, texts and places, as a browser asks for them."""

from __future__ import annotations

from collections.abc import Callable

from attention.app.components.base import Component
from attention.subjects.long_run.map_answers import MapAsked, Packed, StreetMapHeader, fits
from attention.subjects.long_run.street_map import HeadMap

_street_map = Component("street_map", StreetMapHeader, ask=MapAsked)


def street_map(
    head: HeadMap, answer: Packed, *, on_ask: Callable[[MapAsked], object], key: str
) -> None:
    """Draws the map of a head, with the answer to what the browser has asked for.

    on_ask: gets what the browser asks for next, checked, within a callback.
    """
    header, numbers, rest = answer
    sides = header["sides"]
    _street_map.draw(
        header,
        numbers,
        key=key,
        rest=rest,
        ask=(lambda asked: fits(asked, head, sides), on_ask),
    )
