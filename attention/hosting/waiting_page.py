"""A page for who finds the server full: it says the position in the queue, and asks again."""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.responses import HTMLResponse, Response

COOKIE = "attention_queue"
# At this status nginx asks the next replica, and does not count it as a failure of this one, as it
# would 429 or 503: whose place is here is still led here.
FULL = 403


def waiting_page(position: int, crowded: bool, name: str, secure: bool) -> Response:
    """A page that says at which place of the queue one stands, and opens the app when it is time.

    crowded: whether others have all places of the visitor's address; name: of the visitor, for the
    browser to keep until then.
    """
    nonce = secrets.token_urlsafe(12)
    page = (Path(__file__).parent / "waiting_page.html").read_text("utf-8")
    policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{nonce}'"
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{policy}; script-src 'nonce-{nonce}'",
    }
    whose = " for your network" if crowded else ""
    for word, filled in {"place": str(position), "nonce": nonce, "whose": whose}.items():
        page = page.replace(f"{{{word}}}", filled)
    response = HTMLResponse(page, FULL, headers)
    response.set_cookie(
        COOKIE,
        name,
        max_age=3600,
        httponly=True,
        secure=secure,
        samesite="none" if secure else "lax",
    )
    return response
