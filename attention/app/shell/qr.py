"""A link as a QR code, drawn here: no other host learns of it."""

from __future__ import annotations

import base64
import html
import io

import segno
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

MOST = 2953  # bytes that a code can hold


def qr_code(link: str, told: str) -> str:
    """The HTML of a link's QR code, a picture in SVG; told: its alternative text.

    link: of 2,953 bytes at most.
    """
    packed = base64.b64encode(_svg(link)).decode()
    alt = html.escape(told, quote=True)
    return f'<img class="qr" src="data:image/svg+xml;base64,{packed}" alt="{alt}">'


def answer(request: Request) -> Response:
    """The QR code of a `link` as SVG, for the card of a view."""
    link = request.query_params.get("link", "")
    if not 0 < len(link.encode()) <= MOST:
        return PlainTextResponse(f"link must have 1 to {MOST:,} bytes", 400)
    return Response(_svg(link), media_type="image/svg+xml")


def _svg(link: str) -> bytes:
    svg = io.BytesIO()
    code = segno.make_qr(link, error="L", boost_error=False)
    looks = {"light": "#ffffff", "dark": "#000000", "xmldecl": False, "omitsize": True}
    code.save(svg, kind="svg", border=4, **looks)
    return svg.getvalue()
