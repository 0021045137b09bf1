"""A file for a session of another replica: nginx is told to ask the next one."""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

FILE = re.compile(r"/_stcore/upload_file/([^/]*)/")


class ReplicaUploads:
    """Middleware: answers 404 where a file is for a session that is not here.

    A visitor who is led to a full replica has a place on the next one, and so sends files here
    first. here: whether a session is.
    """

    def __init__(self, app: ASGIApp, is_here: Callable[[str], bool]) -> None:
        self.app, self.is_here = app, is_here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = FILE.search(scope["path"]) if scope["type"] == "http" else None
        if file and not self.is_here(file[1]):
            await PlainTextResponse("No such session", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
