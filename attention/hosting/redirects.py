"""Redirects from bare addresses to links that say all, and from those of pages that are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Redirects:
    """Middleware: redirects a request for the bare address of a page to a link.

    opens: by the path of each such page what gives the query of that link, "" to stay, from the
    sentence of an address that says no more than it, "" of one that says nothing; moved: by
    the path of a page that is gone the name of the one that has taken its place, whatever the query
    said.
    """

    def __init__(
        self, app: ASGIApp, opens: Mapping[str, Callable[[str], str]], moved: Mapping[str, str]
    ) -> None:
        self.app, self.opens, self.moved = app, opens, moved

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if to := self._leads_to(scope):
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            await RedirectResponse(to, 307, headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _leads_to(self, scope: Scope) -> str:
        """The link that a request is redirected to, "" for none."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return ""
        path = scope["path"]
        settings = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        sentence = settings.pop("s", [""])[-1]
        asked = path in self.opens and not settings and (sentence or not scope["query_string"])
        query = self.opens[path](sentence) if asked else ""
        return f"?{query}" if query else self.moved.get(path, "")
