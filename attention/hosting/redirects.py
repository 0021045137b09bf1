"""Redirects from bare addresses to links that say all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Redirects:
    """Middleware: redirects a request for the bare address of a page to a link.

    opens: by the path of each such page what gives the query of that link, "" to stay.
    """

    def __init__(self, app: ASGIApp, opens: Mapping[str, Callable[[], str]]) -> None:
        self.app, self.opens = app, opens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        opens = self.opens.get(scope["path"]) if is_read and not scope["query_string"] else None
        if opens and (query := opens()):
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            redirect = RedirectResponse(f"?{query}", 307, headers)
            await redirect(scope, receive, send)
        else:
            await self.app(scope, receive, send)
