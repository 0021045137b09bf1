"""A way through this machine to a server that can be cut."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit


class Server(socketserver.ThreadingTCPServer):
    """One that lets a browser connect as often at once as it likes."""

    request_queue_size = 128


@contextlib.contextmanager
def cutting(address: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Another address of the same server, and what cuts every websocket made by it."""
    server_address = urlsplit(address)
    every: set[socket.socket] = set()
    websockets: set[socket.socket] = set()

    class Through(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            place = (server_address.hostname or "", server_address.port or 80)
            with socket.create_connection(place) as end:
                both = {self.request, end}
                every.update(both)
                if b"/_stcore/stream" in self.request.recv(1 << 16, socket.MSG_PEEK):
                    websockets.update(both)
                back = threading.Thread(target=_carry, args=(end, self.request))
                back.start()
                _carry(self.request, end)
                back.join()
                every.difference_update(both)
                websockets.difference_update(both)

    def cut() -> None:
        for end in websockets.copy():
            _close(end)

    with Server(("127.0.0.1", 0), Through) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", cut
        finally:
            server.shutdown()
            thread.join()
            for end in every.copy():
                _close(end)


def _carry(source: socket.socket, sink: socket.socket) -> None:
    """All that comes, until either end is closed; then the other one is closed too."""
    with contextlib.suppress(OSError):
        while some := source.recv(1 << 16):
            sink.sendall(some)
    _close(sink)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
