"""Addresses that lead on: bare ones to links that say all, those of before to those of now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Entrance:
    """Leads who asks for a page on to another address.

    ways: for the path of each page that may lead on, what gives the address to go to from the query
    of the one asked for, as it is by then, "" to stay.
    """

    def __init__(self, app: ASGIApp, ways: Mapping[str, Callable[[str], str]]) -> None:
        self.app, self.ways = app, ways

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        way = self.ways.get(scope["path"]) if asks else None
        if way and (address := way(scope["query_string"].decode("utf-8", "replace"))):
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            answer = RedirectResponse(address, 307, headers)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)
