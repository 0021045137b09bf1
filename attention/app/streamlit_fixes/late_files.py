"""Drop a file that comes after its visit has ended: see docs/upstream.md."""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import Runtime

from attention.hosting.uploads import PATH


class LateFiles:
    """Before Streamlit: a file that has come is not held where its visit is there no more."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)
        if scope["type"] == "http" and PATH in scope["path"]:
            *_, visit, file = scope["path"].split("/")
            files: Any = Runtime.instance().uploaded_file_mgr
            if not Runtime.instance().is_active_session(visit):
                files.remove_file(visit, file)
