"""Redirects from bare addresses to links that say all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Redirects:
    """Middleware: redirects a request for a page to another address.

    targets: by the path of each such page a function of the query that was asked for, which gives
    the address to go to, "" to stay.
    """

    def __init__(self, app: ASGIApp, targets: Mapping[str, Callable[[str], str]]) -> None:
        self.app, self.targets = app, targets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        target = self.targets.get(scope["path"]) if is_read else None
        if target and (address := target(scope["query_string"].decode("utf-8", "replace"))):
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            redirect = RedirectResponse(address, 307, headers)
            await redirect(scope, receive, send)
        else:
            await self.app(scope, receive, send)
