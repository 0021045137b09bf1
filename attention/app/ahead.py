"""The picture of a changed link ahead of its page, which Streamlit takes longer to draw.

A browser asks for it as the address changes. What it gets is what the page is going to send: the
page comes to the same result, which is worked out once, and its own message has the last word.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import BoundedSemaphore
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from attention.app import sections
from attention.app.links import every_setting, read_link
from attention.app.results import current_result
from attention.app.session import known_ahead, reading, value_of, width_of
from attention.components.answers import MAX_NAMES
from attention.hosting.pace import Pace
from attention.inputs.text import tokenize
from attention.lessons.trained import words_of
from attention.pipeline import Result

# Of a core, for all visitors: when more is asked for, they wait for their pages as ever.
SHARE, AT_ONCE = 0.3, 1.0  # seconds of each second, seconds
# A longer message takes too long to come twice: of 256 tokens the heatmap was 17 ms sooner and the
# page 5 ms later, of 512 both were later. Of 16 and 64 they were 26 and 36, 2 and 13 ms sooner.
MAX_TOKENS = 128

_pace = Pace.full(SHARE, AT_ONCE, time.monotonic())
_place = BoundedSemaphore()


def names(result: Result) -> list[str]:
    """The settings after whose change a browser may ask for the picture that follows this one."""
    return known_ahead() if _is_short(result) else []


def _is_short(result: Result) -> bool:
    return max(len(result.tokens), len(result.key_tokens)) <= MAX_TOKENS


def answer(request: Request) -> Response:
    """The picture that Explore shows at this link, if it can be had now."""
    query = request.url.query
    many = query.count("&") >= MAX_NAMES
    data = None if many else picture_at(parse_qs(query, keep_blank_values=True))
    headers = {"Cache-Control": "no-store"}
    return Response(data, 200 if data else 204, headers, "application/octet-stream")


def picture_at(link: Mapping[str, Sequence[str]]) -> bytes | None:
    """The message of that picture.

    None where the page would say something of the link, the sentence is long, or others have had
    all that there is time for.
    """
    if not _is_legal(link) or not _place.acquire(blocking=False):
        return None
    begun = time.thread_time()
    try:
        if _pace.take(0.0, time.monotonic()):
            return None
        with reading(link):
            if len(tokenize(value_of("s"))) > MAX_TOKENS:
                return None
            result = current_result()
            if result is None or words_of(result) or not _is_short(result):
                return None
            return sections.explored(result, ahead=names(result))[1].message()
    finally:
        _pace.take(time.thread_time() - begun, time.monotonic())
        _place.release()


def _is_legal(link: Mapping[str, Sequence[str]]) -> bool:
    """Whether all settings in a link can be taken as they stand there."""
    declared = every_setting()
    known = {name: texts for name, texts in link.items() if name in declared}
    too_long = (declared[name].problem(declared[name].parse_all(known[name])) for name in known)
    return not read_link(known, width_of)[1] and not any(too_long)


ROUTE = Route("/ahead", answer)
