"""Small ones that stand before the server: whose request it is, where it leads, what it says."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from typing import Any

import pytest

from attention.core.limits import Limits
from attention.hosting import request_limits
from attention.hosting.addresses import PROXIES_VARIABLE, trusted_proxies
from attention.hosting.admission import Admission
from attention.hosting.headers import EMBEDDED_VARIABLE, SecurityHeaders, security_headers
from attention.hosting.redirects import Redirects
from attention.hosting.request_limits import (
    MAX_HEADER,
    MAX_HEADERS,
    MAX_PATH,
    RequestLimits,
    without_escapes,
)
from attention.hosting.uploads import UploadLimit, Uploads
from attention.hosting.waiting_page import COOKIE
from attention.hosting.websocket_filter import WebsocketFilter
from tests.hosting.asking import Answer, answer, inner, nothing


@pytest.mark.parametrize(
    ("named", "peer", "header", "address"),
    [
        ("127.0.0.1", "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "::ffff:192.0.2.1", "203.0.113.9", "::ffff:192.0.2.1"),
        ("10.16.0.0/12,::1", "::ffff:10.17.3.80", "8.8.4.4, 10.18.1.1", "8.8.4.4"),
        ("10.16.0.0/12", "::ffff:10.32.0.1", "203.0.113.9", "::ffff:10.32.0.1"),
        ("*", "::ffff:192.0.2.1", "203.0.113.9, 192.0.2.7", "203.0.113.9"),
        ("a name", "::ffff:192.0.2.1", "203.0.113.9", "::ffff:192.0.2.1"),
        (None, "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
    ],
)
def test_a_proxy_is_believed_whatever_kind_of_socket_sees_it(
    monkeypatch, named, peer, header, address
):
    monkeypatch.delenv(PROXIES_VARIABLE, raising=False)
    if named is not None:
        monkeypatch.setenv(PROXIES_VARIABLE, named)
    found: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope["client"][0])
        await inner(scope, receive, send)

    wrapped = trusted_proxies().cls(app, *trusted_proxies().args, **trusted_proxies().kwargs)
    answer(wrapped, address=peer, type="websocket", x_forwarded_for=header)
    assert found == [address]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/_stcore/upload_file/here/7", 200),
        ("/_stcore/upload_file/there/7", 404),
        ("/_stcore/upload_file/here/there", 200),
        ("/base/_stcore/upload_file/there/7", 404),
        ("/_stcore/health", 200),
    ],
)
def test_a_file_is_taken_where_its_session_is(path, status):
    limit, form = UploadLimit(inner, Uploads(8, dict), {"here"}.__contains__), "multipart/form-data"
    for method in ("PUT", "DELETE"):
        found = answer(limit, path, method=method, content_length="1", content_type=form)
        assert found.status == status


@pytest.mark.parametrize("path", ["/", "/base/", "/base/model"])
def test_a_bare_address_or_a_sentence_alone_leads_to_a_link_of_the_same_path(path):
    for method in ("GET", "HEAD"):
        redirects = Redirects(inner, {path: lambda s: f"s={s or 'a+cat'}&query=3"}, {})
        for query, s in {b"": "a+cat", b"s=dogs": "dogs"}.items():
            found = answer(redirects, path, method=method, query_string=query)
            assert (found.status, found.headers["location"]) == (307, f"?s={s}&query=3")
            assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "more"),
    [
        *(("/", {"query_string": query}) for query in (b"seed=0", b"s=a&seed=0", b"s=")),
        *((path, {}) for path in ("/explore", "/none", "/guide", "/_stcore/health")),
        *((path, {"method": "POST"}) for path in ("/", "/gone")),
        *((path, {"type": "websocket"}) for path in ("/", "/gone")),
    ],
)
def test_an_address_that_says_anything_is_passed_on(path, more):
    opens = {"/": lambda s: f"s={s}&query=1", "/none": lambda s: ""}
    redirects = Redirects(inner, opens, {"/gone": "model"})
    assert answer(redirects, path, **more) == (200, {}, "the app")


@pytest.mark.parametrize("query", [b"", b"layer=3&head=1"])
def test_the_address_of_a_page_that_is_gone_leads_to_another_whatever_it_says(query):
    for method in ("GET", "HEAD"):
        redirects = Redirects(inner, {}, {"/base/gone": "model"})
        found = answer(redirects, "/base/gone", method=method, query_string=query)
        assert (found.status, found.headers["location"]) == (307, "model")


@pytest.mark.parametrize(
    "before",
    [
        lambda app: Admission(app, Limits(), bool),
        lambda app: UploadLimit(app, Uploads(8, dict), bool),
        lambda app: WebsocketFilter(app, bool),
        RequestLimits,
    ],
)
def test_what_is_no_request_is_passed_on(before):
    passed: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    asyncio.run(before(app)({"type": "lifespan"}, None, None))
    assert passed == ["lifespan"]


def test_every_answer_says_what_a_browser_may_do_with_it():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        own = [(b"referrer-policy", b"no-referrer")]
        await send({"type": "http.response.start", "status": 200, "headers": own})

    found = answer(SecurityHeaders(app, security_headers(["one()"]))).headers
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert "'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4='" in policy["script-src"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & set(policy["script-src"].split())


@pytest.mark.parametrize(
    ("named", "ancestors"),
    [
        ("", "*"),
        ("'self' https://a.example", "'self' https://a.example"),
        ("'none'; script-src *", "'none' script-src *"),
    ],
)
def test_an_owner_says_which_pages_may_embed_the_app(monkeypatch, named, ancestors):
    monkeypatch.setenv(EMBEDDED_VARIABLE, named)
    assert security_headers([])["Content-Security-Policy"].endswith(f"frame-ancestors {ancestors}")


# Requests that are longer than anybody needs, and cookies that cost much to read


def scope(path: str = "/", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "path": path, "headers": [*headers]}


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (MAX_PATH, {}),
        (1, {"cookie": MAX_HEADER}),
        (1, {f"x-{number}": 1 for number in range(MAX_HEADERS)}),
    ],
    ids=["path", "header", "headers"],
)
def test_a_request_that_is_longer_than_may_be_is_refused_and_told_so(monkeypatch, path, more):
    monkeypatch.setattr(request_limits, "PAUSE", 0.0)
    reached: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await inner(scope, receive, send)

    def asked(path: int, more: dict[str, int]) -> Answer:
        named = {name: "a" * length for name, length in more.items()}
        return answer(RequestLimits(app), "/".ljust(path, "a"), **named)

    assert asked(path, more).status == 200
    longer = {name: length + 1 for name, length in more.items()}
    refused = asked(path + (not more), longer if len(more) < 2 else more | {"one-more": 1})
    assert (refused.status, len(reached)) == (431, 1)
    assert f"{MAX_HEADERS} headers of {MAX_HEADER:,} bytes" in refused.text


def test_a_websocket_whose_request_is_too_long_is_closed(monkeypatch):
    monkeypatch.setattr(request_limits, "PAUSE", 0.0)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    connect = scope("/" + "a" * MAX_PATH) | {"type": "websocket"}
    asyncio.run(RequestLimits(inner)(connect, nothing, send))
    assert sent == ["websocket.close"]


def test_cookies_with_escapes_are_left_out_before_anybody_reads_one():
    seen: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(value for name, value in scope["headers"] if name == b"cookie")
        await inner(scope, receive, send)

    other = SimpleCookie({"other": 'a "word"'})["other"].coded_value
    assert "\\" in other
    sent = f"first=1; other={other}; {COOKIE}=me; last={chr(92) * 3000}"
    assert answer(RequestLimits(app), cookie=sent).status == 200
    assert seen == [f"first=1; {COOKIE}=me".encode()]
    plain = scope("/", (b"cookie", b"first=1"), (b"x-other", b"a\\b"))
    assert without_escapes(plain) is plain
