"""Visitors who open a file on the page Own run and leave: the memory that they leave behind.

They come one after the other, each with the same file: small, and as large as may be once it is
unpacked. Then the server is left alone for a while. Everything stays on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import io
import sys
import time
import uuid
from collections.abc import Callable

import numpy
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta

from benchmarks.report import TARGETS, at_most, table
from benchmarks.serving import APP_SCRIPT, serve
from benchmarks.visitors import Found, Visitor, connected, resident_megabytes

UPLOADER = "own_file"
TOKENS, HEADS = 512, 63
MORE_MEGABYTES, MORE_AT_LAST = 150.0, 50.0
MAX_VISITS, MAX_MINUTES = 1000, 60.0


def expanding() -> bytes:
    """An .npz of 74 kB that takes 16 MB unpacked."""
    weights = numpy.broadcast_to(numpy.eye(TOKENS, dtype=numpy.uint8), (HEADS, TOKENS, TOKENS))
    file = io.BytesIO()
    numpy.savez_compressed(file, weights=weights, tokens=numpy.array(["token"] * TOKENS))
    return file.getvalue()


class Opener(Visitor):
    """A visit to the page Own run."""

    def __init__(self, port: int) -> None:
        super().__init__(0, Found(), {})
        self.port, self.file = port, ""
        self.last = self.message()
        self.notes: list[str] = []

    async def __aenter__(self) -> Opener:
        """Come to the page."""
        await self.connect()
        await self.run(self.message())
        self.page = next(page for page, name in self.names.items() if name == "own")
        await self.run(self.message())
        return self

    async def connect(self) -> None:
        """Connect; once more: come back to the same visit."""
        self.socket = await connected(self.port, self.session)

    async def __aexit__(self, *_: object) -> None:
        """Leave, as a browser does whose tab is closed."""
        await self.socket.close(1001)

    async def run(self, message: BackMsg) -> float:
        """Send a message; seconds until the run that it starts has finished."""
        self.last, self.notes = message, []
        return await super().run(message)

    def look_at(self, delta: Delta, drawn: dict[str, str]) -> None:
        """Note the quiet lines too."""
        super().look_at(delta, drawn)
        body = delta.new_element.html.body
        if body.startswith("<p class='note'>"):
            self.notes.append(body)

    async def open(self, content: bytes) -> float:
        """Open a file in place of the last; seconds from having sent it until its page is drawn."""
        if self.file:
            await asyncio.to_thread(self.ask, "DELETE")
        self.file = str(uuid.uuid4())
        assert await asyncio.to_thread(self.ask, "PUT", content) == 204
        return await self.run(self.message_with(self.file, len(content)))

    def message_with(self, file: str, nbytes: int) -> BackMsg:
        """A rerun of the page with that file in its uploader."""
        message = self.message()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id = self.widgets[UPLOADER]
        told = widget.file_uploader_state_value.uploaded_file_info.add()
        told.file_id, told.name, told.size = file, "weights.npz", nbytes
        told.file_urls.file_id = file
        return message

    def ask(self, method: str, content: bytes = b"", meanwhile: Callable[[], object] = bool) -> int:
        """The status of the answer to a request about the file, as Streamlit's page asks it.

        meanwhile: is called when half of the content is sent.
        """
        server = http.client.HTTPConnection("127.0.0.1", self.port)
        server.request("GET", "/_stcore/health")
        answer = server.getresponse()
        answer.read()
        cookie = (answer.getheader("set-cookie") or "").split(";")[0]
        edge = uuid.uuid4().hex
        disposition = 'Content-Disposition: form-data; name="file"; filename="weights.npz"'
        begin, end = f"--{edge}\r\n{disposition}\r\n\r\n", f"\r\n--{edge}--\r\n"
        body = begin.encode() + content + end.encode()
        server.putrequest(method, f"/_stcore/upload_file/{self.session}/{self.file}")
        server.putheader("Content-Type", f"multipart/form-data; boundary={edge}")
        server.putheader("Content-Length", str(len(body)))
        server.putheader("Cookie", cookie)
        server.putheader("X-Xsrftoken", cookie.partition("=")[2])
        server.endheaders(body[: len(body) // 2])
        meanwhile()
        server.send(body[len(body) // 2 :])
        answer = server.getresponse()
        answer.read()
        server.close()
        return answer.status


async def come_and_go(port: int, visits: int) -> None:
    """So many visits, one after the other, each of which opens the same file."""
    content = expanding()
    for _ in range(visits):
        async with Opener(port) as visit:
            await visit.open(content)
            assert "picture" in visit.widgets, visit.notes


def main() -> None:
    """Open and leave; exit with 1 if more memory stays than may."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.openers", description=__doc__)
    parser.add_argument("visits", nargs="?", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=5.0, help="of quiet at the end")
    options = parser.parse_args()
    with serve(APP_SCRIPT) as server:
        asyncio.run(come_and_go(server.port, 1))
        before = resident_megabytes(server)
        asyncio.run(come_and_go(server.port, min(options.visits, MAX_VISITS)))
        after = resident_megabytes(server)
        time.sleep(60 * min(options.minutes, MAX_MINUTES))
        at_last = resident_megabytes(server)
    rows = (
        at_most("after the last", after - before, MORE_MEGABYTES, "MB"),
        at_most(f"{options.minutes:g} minutes later", at_last - before, MORE_AT_LAST, "MB"),
    )
    print(table(f"Memory over {before:.0f} MB, {options.visits} visits", TARGETS, rows))
    sys.exit(any(row[-1] != "meets" for row in rows))


if __name__ == "__main__":
    main()
