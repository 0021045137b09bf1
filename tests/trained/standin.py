"""A stand-in for Hugging Face on this machine, which serves folders by the names of models."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class StandIn:
    """models: folders by name; gated: names of those that ask for an agreement; asked: the files
    that were sent, in order."""

    models: dict[str, Path] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    address: str = ""


def handler_of(hub: StandIn) -> type[BaseHTTPRequestHandler]:
    """Handler that answers a request as Hugging Face does, from the folders of `hub`."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            file = self.answer()
            if file is not None:
                hub.asked.append(file.name)
                self.wfile.write(file.read_bytes())

        def answer(self) -> Path | None:
            """The headers; returns the file asked for, if there is one."""
            name, _, rest = self.path.removeprefix("/").partition("/resolve/")
            folder = hub.models.get(name)
            file = folder and folder / rest.partition("/")[2]
            known = file is not None and file.is_file() and name not in hub.gated
            content = file.read_bytes() if file and known else b""
            self.send_response(200 if known else 404)
            if not known:
                missing = "EntryNotFound" if folder else "RepoNotFound"
                self.send_header("X-Error-Code", "GatedRepo" if name in hub.gated else missing)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            return file if known else None

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing is written."""

    return Handler


@contextmanager
def served() -> Iterator[StandIn]:
    """A stand-in that listens on a free port of this machine."""
    hub = StandIn()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler_of(hub)) as server:
        hub.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
