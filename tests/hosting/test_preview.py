"""Previews on other sites of a link: words in the head of a page, and a picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from attention.app.components.answers import MAX_NAMES
from attention.app.shell import server
from attention.app.state.pages import PAGES, first_page
from attention.hosting.admission import Admission
from attention.hosting.preview import Preview
from attention.hosting.redirects import Redirects
from attention.hosting.request_limits import RequestLimits
from attention.hosting.uploads import UploadLimit
from attention.hosting.websocket_filter import WebsocketFilter
from attention.subjects.guide.carried import EXAMPLE, LONGEST, pack
from attention.subjects.guide.chapters import CARRIED, OWN_LESSONS_VARIABLE
from attention.subjects.guide.reading import text_told
from tests.hostile import HOSTILE
from tests.hosting.asking import Answer, answer

HTML = b"<html><head><title>x</title></head><body></head></body></html>"
PICTURE = Path(server.__file__).with_name("preview.png")


def answered(path: str, kind: str = "text/html; charset=utf-8", **more: Any) -> Answer:
    """The answer to a request, which a server gives in two parts and says what it was asked."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        told = {"content-type": kind, "content-length": str(len(HTML)), "asked": scope["headers"]}
        named = [(name.encode(), str(value).encode()) for name, value in told.items()]
        await send({"type": "http.response.start", "status": 200, "headers": named})
        await send({"type": "http.response.body", "body": HTML[:20], "more_body": True})
        await send({"type": "http.response.body", "body": HTML[20:]})

    pages = {"/": ("Explore · all", 'See "who" looks at <whom>.'), "/guide": ("Guide", "A way in.")}
    preview = Preview(app, "Site", lambda path, query: pages.get(path), PICTURE, "/preview.png")
    more = {"host": "school.example", "query_string": b"s=a"} | more
    nobody_goes_away = asyncio.Event().wait
    return answer(preview, path, receive=nobody_goes_away, **more)


def test_a_page_says_its_title_its_line_and_its_picture():
    _, headers, body = answered("/")
    assert int(headers["content-length"]) == len(body)
    assert body.count("og:title") == 1
    title = "Explore · all · Site".encode().decode("latin-1")
    assert f'<meta property="og:title" content="{title}">' in body
    assert body.count("See &quot;who&quot; looks at &lt;whom&gt;.") == 2
    assert "<whom>" not in body
    assert 'content="http://school.example/preview.png"' in body
    assert "A way in." in answered("/guide").text
    for sent, scheme in {"https": "https", "javascript": "http"}.items():
        proxied = answered("/", x_forwarded_proto=sent).text
        assert f'"{scheme}://school.example/preview.png"' in proxied


@pytest.mark.parametrize(
    "hostile",
    [
        *({"host": host} for host in ('a"><script>x', "", "[", "a b")),
        {"x_forwarded_proto": '"><script>'},
    ],
)
def test_a_hostile_host_stays_text(hostile):
    body = answered("/", **hostile).text
    assert "<script>" not in body
    assert body.endswith("</html>")


def test_the_page_is_asked_for_as_it_is_and_all_else_is_passed_on():
    asked = answered("/", accept_encoding="gzip", host="a").headers["asked"]
    assert asked == "[(b'host', b'a')]"
    elsewhere = answered("/elsewhere", "text/html")
    for found in (elsewhere, answered("/", method="HEAD"), answered("/", "application/json")):
        assert found.text.encode() == HTML


def test_the_picture_is_of_the_size_that_is_told():
    _, headers, text = answered("/preview.png")
    body = text.encode("latin-1")
    assert headers["content-type"] == "image/png"
    assert body[16:24] == (1200).to_bytes(4, "big") + (630).to_bytes(4, "big")
    assert len(body) < 300_000


def test_every_page_has_its_words():
    for page in PAGES:
        assert server._describe(f"/{page.name}", b"") == page.heading
    assert server._describe("/", b"") == server._describe(f"/{first_page().name}", b"")
    assert server._describe("/nowhere", b"") is None
    assert server._describe("/static/guide", b"") is None


LINK = urlencode({"lesson": CARRIED, "carried": pack(EXAMPLE)}).encode()
QUOTED = pack(EXAMPLE.replace("lesson: A first look", 'lesson: "A first look"'))


@pytest.mark.parametrize(
    ("query", "read"),
    [
        (LINK, True),
        (urlencode({"lesson": CARRIED, "carried": QUOTED}).encode(), True),
        (urlencode({"lesson": CARRIED, "carried": "nonsense"}).encode(), False),
        (f"lesson={CARRIED}".encode(), False),
        # of many names
        (LINK + b"&a=1" * (MAX_NAMES - 2), True),
        (LINK + b"&a=1" * (MAX_NAMES - 1), False),
        # as long as one that carries a lesson, and longer
        (LINK + b"&s=" + b"a" * (2 * LONGEST - len(LINK) - 3), True),
        (LINK + b"&s=" + b"a" * (2 * LONGEST - len(LINK) - 2), False),
    ],
    ids=range(8),
)
def test_a_link_with_a_lesson_says_its_title_and_how_many_chapters(query, read):
    words = "A lesson in 2 short chapters: a live figure, and a question to answer."
    shown = ("A first look", words) if read else server._describe("/guide", b"")
    assert server._describe("/guide", query) == shown


def test_admission_comes_before_all_that_looks_at_a_request_for_longer():
    order = [each.cls for each in server.options()["middleware"]]
    assert order[0] is RequestLimits, "even an address is read of a list that may be long"
    later = (Redirects, Preview, UploadLimit, WebsocketFilter)
    assert order.index(Admission) < min(map(order.index, later))


def test_a_link_to_the_owners_lesson_says_its_title(tmp_path, monkeypatch):
    (tmp_path / "1.md").write_text(EXAMPLE.split("===")[0], "utf-8")
    guide = server._describe("/guide", b"")
    assert server._describe("/guide", b"lesson=own") == guide
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
    assert (server._describe("/guide", b"lesson=own") or ("",))[0] == "A first look"
    assert server._describe("/guide", b"") == guide


@pytest.mark.parametrize("text", [*HOSTILE, "", "---\nlesson: [\n", "lesson: " + "x" * 9000])
def test_any_text_in_place_of_a_lesson_has_a_title_of_one_line(text):
    title, _ = text_told(text)
    assert title
    assert "\n" not in title[:120] == title
