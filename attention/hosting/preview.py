"""Preview of a link to a page on other sites: its title, a line and a picture (ogp.me)."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import FileResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

END_OF_HEAD = b"</head>"


class Preview:
    """Middleware: puts the title, the line and the picture of a page into the head of its HTML.

    site: the name of the app; describe: gives, of a path and its query, the title and a line on
    what the page shows, None where there is none; picture: a PNG file of 1200 × 630 pixels, served
    at `address`.
    """

    def __init__(
        self,
        app: ASGIApp,
        site: str,
        describe: Callable[[str, bytes], tuple[str, str] | None],
        picture: Path,
        address: str,
    ) -> None:
        self.app, self.site, self.describe = app, site, describe
        self.picture, self.address = FileResponse(picture), address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == self.address:
            await self.picture(scope, receive, send)
        elif _is_read(scope) and (
            description := self.describe(scope["path"], scope["query_string"])
        ):
            await self.app(_uncompressed(scope), receive, self._with_head(scope, description, send))
        else:
            await self.app(scope, receive, send)

    def _with_head(self, scope: Scope, description: tuple[str, str], send: Send) -> Send:
        """Sends the same, with more in the head of a page that is sent as plain HTML."""
        begun: Message | None = None
        body = b""

        async def send_page(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and _is_page(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    whole = body.replace(
                        END_OF_HEAD, self._head(scope, description) + END_OF_HEAD, 1
                    )
                    headers = MutableHeaders(scope=begun)
                    headers["content-length"] = str(len(whole))
                    await send(begun)
                    await send({"type": "http.response.body", "body": whole})

        return send_page

    def _head(self, scope: Scope, description: tuple[str, str]) -> bytes:
        title, words = description
        forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
        scheme = forwarded if forwarded in ("http", "https") else scope["scheme"]
        picture = URL(scope={**scope, "scheme": scheme, "path": self.address, "query_string": b""})
        properties = {
            "og:type": "website",
            "og:site_name": self.site,
            "og:title": f"{title} · {self.site}",
            "og:description": words,
            "og:image": str(picture),
            "og:image:width": "1200",
            "og:image:height": "630",
        }
        lines = [
            f'<meta property="{name}" content="{html.escape(content)}">'
            for name, content in properties.items()
        ]
        lines.append(f'<meta name="description" content="{html.escape(words)}">')
        lines.append('<meta name="twitter:card" content="summary_large_image">')
        return "".join(lines).encode()


def _is_read(scope: Scope) -> bool:
    return bool(scope["type"] == "http" and scope["method"] == "GET")


def _uncompressed(scope: Scope) -> Scope:
    """A request whose answer is not to be compressed."""
    kept = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
    return {**scope, "headers": kept}


def _is_page(begun: Message) -> bool:
    headers = Headers(raw=begun["headers"])
    html_page = headers.get("content-type", "").startswith("text/html")
    return begun["status"] == 200 and html_page and "content-encoding" not in headers
