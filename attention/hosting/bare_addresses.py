"""Redirects from bare addresses to links that name all their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class BareAddresses:
    """Middleware: redirects a request for a page, which says nothing else, to a link.

    links: for the path of each such page what gives the query of its link, as it is by then, ""
    where there is none. An address that says anything itself is passed on.
    """

    def __init__(self, app: ASGIApp, links: Mapping[str, Callable[[], str]]) -> None:
        self.app, self.links = app, links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        link = self.links.get(scope["path"]) if is_read and not scope["query_string"] else None
        if link and (query := link()):
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            redirect = RedirectResponse(f"?{query}", 307, headers)
            await redirect(scope, receive, send)
        else:
            await self.app(scope, receive, send)
