"""A link as a QR code, drawn here: no other host learns of it."""

from __future__ import annotations

import base64
import html
import io

import segno


def qr_code(link: str, told: str) -> str:
    """The HTML of a link's QR code, a picture in SVG; told: its alternative text.

    link: of 2,953 bytes at most.
    """
    svg = io.BytesIO()
    code = segno.make_qr(link, error="L", boost_error=False)
    code.save(svg, kind="svg", border=4, light="#ffffff", dark="#000000", xmldecl=False)
    packed = base64.b64encode(svg.getvalue()).decode()
    alt = html.escape(told, quote=True)
    return f'<img class="qr" src="data:image/svg+xml;base64,{packed}" alt="{alt}">'
