"""The room for opened files, and what stands before the server to keep it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from starlette.requests import Request

from attention.hosting import uploads as room
from attention.hosting.uploads import NOT_HELD, NoRoom, UploadLimit, Uploads
from tests.hosting.asking import ask, inner, to_its_end
from tests.properties import given
from tests.properties import strategies as st

MB = 1 << 20
FILE = "/_stcore/upload_file/visit/{}"


def uploads_of(megabytes: int = 14) -> Uploads:
    return Uploads(megabytes, dict)


# Who has how much


def test_an_address_may_have_as_much_as_it_leaves_free():
    uploads = uploads_of()
    first = uploads.take("a", 5 * MB, "10.0.0.1")
    second = uploads.take("b", 2 * MB, "10.0.0.1")
    with pytest.raises(NoRoom, match="14 MB together"):
        uploads.take("c", 1, "10.0.0.1")
    third = uploads.take("d", 7 * MB // 2, "10.0.0.2")
    with pytest.raises(NoRoom):
        uploads.take("d", 1)
    assert (first.nbytes, second.nbytes, third.nbytes) == (5 * MB, 2 * MB, 7 * MB // 2)


def test_files_that_the_server_holds_count_for_the_address_that_sent_them():
    held: dict[str, int] = {}
    uploads = Uploads(14, lambda: held)
    uploads.take("a", 3 * MB, "10.0.0.1")  # arrives, and is held from now on
    held["a"] = 3 * MB
    assert uploads.take("a", 4 * MB)
    with pytest.raises(NoRoom):
        uploads.take("b", 5 * MB, "10.0.0.1")
    assert uploads.take("c", 5 * MB, "10.0.0.2")
    del held["a"]
    assert uploads.take("b", 5 * MB, "10.0.0.1")


@given(asked=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9 * MB)), max_size=40))
def test_whatever_some_addresses_take_another_one_may_have_half_of_what_is_left(asked):
    uploads, taken = uploads_of(13), []
    for address, nbytes in asked:
        with contextlib.suppress(NoRoom):
            taken.append(uploads.take(f"visit of {address}", nbytes, address))
    left = 13 * MB - sum(one.nbytes for one in taken)
    assert left >= 13 * MB / 16, "each of four takes half of what is left, at most"
    assert uploads.take("another", left // 2, "e")


# Before the server


class Server:
    """A server that answers every request as soon as it may, behind what counts files."""

    def __init__(self, uploads: Uploads | None = None) -> None:
        self.reached: list[tuple[str, str]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.app = UploadLimit(self._answer, uploads or uploads_of(), bool)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached.append((scope["method"], scope["path"]))
        await self.may_answer.wait()
        async for _ in Request(scope, receive).stream():
            pass
        await inner(scope, receive, send)

    async def ask(
        self,
        path: str,
        length: object = None,
        method: str = "PUT",
        body: Any = None,
        kind: str = "multipart/form-data; boundary=x",
    ) -> int:
        """The status of the answer. body: what comes of it, and is then gone from that list."""
        coming = [{"type": "http.request", "body": b""}] if body is None else body
        named: dict[str, Any] = {"content_type": kind}
        named |= {} if length is None else {"content_length": length}

        async def receive() -> dict[str, Any]:
            while not coming:
                await asyncio.sleep(0)
            return coming.pop(0)

        return (await ask(self.app, path, receive, method=method, **named)).status


def chunks(count: int) -> list[dict[str, Any]]:
    """The body of a request, in so many pieces."""
    more = {"type": "http.request", "body": b"x" * 7, "more_body": True}
    return [more] * (count - 1) + [more | {"more_body": False}]


@to_its_end
async def test_a_file_without_room_is_read_and_thrown_away_and_its_page_learns_why():
    uploads, body = uploads_of(), chunks(5)
    server = Server(uploads)
    assert await server.ask(FILE.format("large"), 7 * MB + 1, body=body) == 204
    assert (body, server.reached) == ([], [])
    assert await server.ask(FILE.format("fits"), 7 * MB) == 200
    assert server.reached == [("PUT", FILE.format("fits"))]
    assert "no room for it at the moment" in uploads.why_missing("large")
    assert uploads.why_missing("fits") == NOT_HELD


FORM = "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    ("method", "path", "length", "kind", "status"),
    [
        # another form costs more to read
        *(("PUT", FILE, MB, kind, 415) for kind in ("multipart/mixed", "text/plain", "")),
        # a file says its length
        *(("PUT", FILE, length, FORM, 411) for length in ("", "a lot", "-1", "²", "9" * 5000)),
        ("PUT", FILE, None, FORM, 411),
        # all else goes on
        ("DELETE", FILE, 20 * MB, FORM, 200),
        ("PUT", "/", 20 * MB, FORM, 200),
        ("GET", "/explore", 20 * MB, FORM, 200),
    ],
)
@to_its_end
async def test_a_file_comes_as_a_form_and_says_its_length(method, path, length, kind, status):
    server = Server()
    assert await server.ask(path, length, method, kind=kind) == status
    assert len(server.reached) == (status == 200)


@to_its_end
async def test_a_sender_who_is_gone_before_a_file_is_read_does_no_harm():
    cut = [*chunks(3)[:2], {"type": "http.disconnect"}]
    assert await Server().ask(FILE.format("large"), 8 * MB, body=cut) == 204


@to_its_end
async def test_files_that_are_still_coming_count_and_no_longer_once_they_have_come():
    server, paths = Server(), [FILE.format(number) for number in range(5)]
    server.may_answer.clear()
    several = [asyncio.create_task(server.ask(path, 3 * MB)) for path in paths]
    await asyncio.sleep(0)
    server.may_answer.set()
    assert await asyncio.gather(*several) == [200, 200, 204, 204, 204]
    assert await server.ask(paths[2], 7 * MB) == 200


@pytest.mark.parametrize(("slowest", "status"), [(1e9, 408), (1e-9, 200)])
@to_its_end
async def test_a_file_that_does_not_come_holds_no_room_and_what_has_come_gives_it_time(
    monkeypatch, slowest, status
):
    monkeypatch.setattr(room, "PATIENCE", 0.0)
    monkeypatch.setattr(room, "SLOWEST", slowest)
    uploads, (body, last) = uploads_of(), ([each] for each in chunks(2))
    server = Server(uploads)
    asked = asyncio.create_task(server.ask(FILE.format("slow"), 7 * MB, body=body))
    while body:
        await asyncio.sleep(0)
    assert await server.ask(FILE.format("other"), 1) == 204, "there is no room yet"
    body += last
    assert await asked == status
    assert uploads.take("visit", 7 * MB), "the room is free"
