"""Filter between a websocket and what stands behind it."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send


def _every(connection: HTTPConnection) -> bool:
    return True


class WebsocketFilter:
    """Middleware: filters what websockets receive and send, and passes all else on.

    through: gives, for each websocket, a filtered `receive` and `send`; where: True for those that
    are filtered.
    """

    def __init__(
        self,
        app: ASGIApp,
        through: Callable[[Receive, Send], tuple[Receive, Send]],
        where: Callable[[HTTPConnection], bool] = _every,
    ) -> None:
        self.app, self.through, self.where = app, through, where

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and self.where(HTTPConnection(scope)):
            receive, send = self.through(receive, send)
        await self.app(scope, receive, send)
