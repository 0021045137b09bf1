"""The bare address, which leads to a link that names all its settings."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Entrance:
    """Leads who asks for the top of the app, and says nothing else, to a link.

    top: the path of the top; link: gives the query of that link, as it is by then. An address that
    says anything itself is passed on.
    """

    def __init__(self, app: ASGIApp, top: str, link: Callable[[], str]) -> None:
        self.app, self.top, self.link = app, top, link

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if asked and scope["path"] == self.top and not scope["query_string"]:
            headers = {"Cache-Control": "no-store"}  # another release may begin elsewhere
            answer = RedirectResponse(f"?{self.link()}", 307, headers)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)
