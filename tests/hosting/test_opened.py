"""Traces of opened files on a real server as their visitors go."""

from __future__ import annotations

import asyncio
import http.client
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Iterator

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta

from benchmarks.visitors import Found, Visitor, connected
from tests.serving import started

TEXT = b"x" * (3 << 20)  # two have no room together, of 8 MB of which an address has half
TAKEN, NO_ROOM = "The lesson has more than 60,000 letters.", "there is no room for it"
KEPT_SECONDS = 10
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server that has 8 MB for files, and keeps a visit that is cut off for some seconds."""
    limits = {
        "ATTENTION_LIMITS": "uploads=8",
        "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "4",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT_SECONDS),
    }
    with (
        tempfile.TemporaryFile("a+") as log,
        started("streamlit_app.py", log, **limits) as (port, _),
    ):
        yield port


class Opener(Visitor):
    """A visit to the page Write a lesson, which opens the file of one."""

    def __init__(self, port: int) -> None:
        super().__init__(0, Found(), {})
        self.port, self.file, self.said = port, "", ""

    async def __aenter__(self) -> Opener:
        """Come to the page."""
        self.socket = await connected(self.port)
        await self.run(self.message())
        self.page = next(page for page, name in self.names.items() if name == "write")
        await self.run(self.message())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave, as a browser does whose tab is closed."""
        await self.socket.close(1001)

    async def run(self, message: BackMsg) -> float:
        """Send a message; seconds until the run that it starts has finished."""
        self.said = ""
        return await super().run(message)

    def look_at(self, delta: Delta, drawn: dict[str, str]) -> None:
        """Note the words of scenes too."""
        super().look_at(delta, drawn)
        self.said += delta.new_element.bidi_component.bytes.decode("utf-8", "replace")

    async def opens(self) -> bool:
        """Open the file in place of the last; False where the page says that it has no room."""
        if self.file:
            await asyncio.to_thread(self.ask, "DELETE")
        self.file = str(uuid.uuid4())
        assert await asyncio.to_thread(self.ask, "PUT", TEXT) == 204
        message = self.message()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id = self.widgets["lesson_file"]
        told = widget.file_uploader_state_value.uploaded_file_info.add()
        told.file_id, told.name, told.size = self.file, "lesson.md", len(TEXT)
        told.file_urls.file_id = self.file
        await self.run(message)
        assert (TAKEN in self.said) != (NO_ROOM in self.said), self.said
        return TAKEN in self.said

    def ask(self, method: str, content: bytes = b"") -> int:
        """The status of the answer to a request about the file, as Streamlit's page asks it."""
        server = http.client.HTTPConnection("127.0.0.1", self.port)
        server.request("GET", "/_stcore/health")
        answer = server.getresponse()
        answer.read()
        cookie = (answer.getheader("set-cookie") or "").split(";")[0]
        edge = uuid.uuid4().hex
        disposition = 'Content-Disposition: form-data; name="file"; filename="lesson.md"'
        begin, end = f"--{edge}\r\n{disposition}\r\n\r\n", f"\r\n--{edge}--\r\n"
        headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2],
        }
        path = f"/_stcore/upload_file/{self.session}/{self.file}"
        server.request(method, path, begin.encode() + content + end.encode(), headers)
        answer = server.getresponse()
        answer.read()
        server.close()
        return answer.status


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that is asked for again and again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():
            await asyncio.sleep(0.2)


def test_who_leaves_frees_the_room_of_an_address_at_once_and_who_comes_late_is_told(port):
    async def story() -> None:
        async with Opener(port) as second:
            async with Opener(port) as first:
                assert await first.opens()
                assert not await second.opens()
            async with asyncio.timeout(KEPT_SECONDS - 2):
                await until(second.opens)

    asyncio.run(story())


def test_who_is_cut_off_has_the_room_of_a_file_for_a_while_and_then_no_more(port):
    async def story() -> None:
        async with Opener(port) as visit:
            await until(visit.opens)
            visit.socket.transport.abort()
            async with Opener(port) as another:
                assert not await another.opens()
                await until(another.opens)

    asyncio.run(story())
