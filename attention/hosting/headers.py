"""Headers of every answer, which say what a browser may do with a page of the app."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EMBEDDED_VARIABLE = "ATTENTION_EMBEDDED_IN"

# What Streamlit's pages need: styles are written by scripts, and the script of a component is text
# that becomes a blob. Nothing comes from another host.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}


def security_headers(scripts: Iterable[str]) -> dict[str, str]:
    """The headers by name; other pages may embed the app, or those alone that the owner names.

    `ATTENTION_EMBEDDED_IN="'self' https://school.example"`, as `frame-ancestors` has it. scripts:
    those that stand in a page itself.
    """
    ancestors = os.environ.get(EMBEDDED_VARIABLE, "").replace(";", " ").split() or ["*"]
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    known = "".join(f" 'sha256-{digest}'" for digest in digests)
    policy = POLICY | {"frame-ancestors": " ".join(ancestors)}
    policy["script-src"] += known
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


class SecurityHeaders:
    """Middleware: puts headers on every answer that does not have them itself."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    response.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
