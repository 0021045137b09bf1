"""Previews on other sites of a link: words in the head of a page, and a picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from attention.app.shell import server
from attention.app.state.pages import FIRST, PAGES
from attention.hosting.preview import Preview
from attention.lessons.carried import EXAMPLE, pack
from attention.lessons.chapters import CARRIED, OWN_LESSONS_VARIABLE
from attention.lessons.reading import text_told
from tests.hostile import HOSTILE

HTML = b"<html><head><title>x</title></head><body></head></body></html>"
PICTURE = Path(server.__file__).with_name("preview.png")


def answered(
    path: str,
    *,
    method: str = "GET",
    kind: bytes = b"text/html; charset=utf-8",
    headers: tuple[tuple[bytes, bytes], ...] = ((b"host", b"school.example"),),
) -> tuple[dict[str, str], bytes, Any]:
    """The headers and the body of an answer in two parts, and the request that is passed on."""
    messages, passed = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope)
        told = [(b"content-type", kind), (b"content-length", str(len(HTML)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": HTML[:20], "more_body": True})
        await send({"type": "http.response.body", "body": HTML[20:]})

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"s=a",
        "scheme": "http",
        "headers": [*headers],
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> Any:
        return await asyncio.Future()  # nobody goes away

    pages = {"/": ("Explore", 'See "who" looks at <whom>.'), "/guide": ("Guide", "A way in.")}
    preview = Preview(app, "Site", lambda path, query: pages.get(path), PICTURE, "/preview.png")
    asyncio.run(preview(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return found, body, passed[0] if passed else None


def test_a_page_says_its_title_its_line_and_its_picture() -> None:
    headers, body, _ = answered("/")
    assert int(headers["content-length"]) == len(body)
    assert body.count(b"og:title") == 1
    assert b'<meta property="og:title" content="Explore \xc2\xb7 Site">' in body
    assert b"See &quot;who&quot; looks at &lt;whom&gt;." in body
    assert b'content="http://school.example/preview.png"' in body
    assert b"A way in." in answered("/guide")[1]


def test_behind_a_proxy_the_picture_has_the_visitors_scheme() -> None:
    host = (b"host", b"school.example")
    _, body, _ = answered("/", headers=(host, (b"x-forwarded-proto", b"https")))
    assert b"https://school.example/preview.png" in body
    _, body, _ = answered("/", headers=(host, (b"x-forwarded-proto", b'"><script>')))
    assert b"<script>" not in body


@pytest.mark.parametrize("host", [b'a"><script>x', b"", b"[", b"a b"])
def test_a_hostile_host_stays_text(host: bytes) -> None:
    _, body, _ = answered("/", headers=((b"host", host),))
    assert b"<script>" not in body
    assert body.endswith(b"</html>")


def test_the_page_is_asked_for_as_it_is_and_all_else_is_passed_on() -> None:
    _, _, passed = answered("/", headers=((b"accept-encoding", b"gzip"), (b"host", b"a")))
    assert passed["headers"] == [(b"host", b"a")]
    for path, method, kind in (
        ("/elsewhere", "GET", b"text/html"),
        ("/", "HEAD", b"text/html"),
        ("/", "GET", b"application/json"),
    ):
        assert answered(path, method=method, kind=kind)[1] == HTML


def test_the_picture_is_of_the_size_that_is_told() -> None:
    headers, body, _ = answered("/preview.png")
    assert headers["content-type"] == "image/png"
    assert body[16:24] == (1200).to_bytes(4, "big") + (630).to_bytes(4, "big")
    assert len(body) < 300_000


def test_every_page_has_its_words() -> None:
    for page in PAGES:
        assert server._told(f"/{page.name}", b"") == page.told
    assert server._told("/", b"") == server._told(f"/{FIRST.name}", b"")
    assert server._told("/nowhere", b"") is None
    assert server._told("/static/guide", b"") is None


@pytest.mark.parametrize("line", ["lesson: First look", 'lesson: "First look"'])
def test_a_link_with_a_lesson_says_its_title_and_how_many_chapters_it_has(line: str) -> None:
    link = {"lesson": CARRIED, "carried": pack(EXAMPLE.replace("lesson: A first look", line))}
    words = "A lesson in 2 short chapters: a live figure, and a question to answer."
    assert server._told("/guide", urlencode(link).encode()) == ("First look", words)
    guide = server._told("/guide", b"")
    assert server._told("/guide", urlencode(link | {"carried": "nonsense"}).encode()) == guide
    assert server._told("/guide", f"lesson={CARRIED}".encode()) == guide


def test_a_link_to_the_owners_lesson_says_its_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.md").write_text(EXAMPLE.split("===")[0], "utf-8")
    guide = server._told("/guide", b"")
    assert server._told("/guide", b"lesson=own") == guide
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
    assert (server._told("/guide", b"lesson=own") or ("",))[0] == "A first look"
    assert server._told("/guide", b"") == guide


@pytest.mark.parametrize("text", [*HOSTILE, "", "---\nlesson: [\n", "lesson: " + "x" * 9000])
def test_any_text_in_place_of_a_lesson_has_a_title_of_one_line(text: str) -> None:
    title, _ = text_told(text)
    assert title
    assert "\n" not in title[:120] == title
