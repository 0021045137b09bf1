"""Servers that are measured: the app or another script, as a process whose time can be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.serving import started

HERE = Path(__file__).parent
APP_SCRIPT = HERE.parent / "streamlit_app.py"
TEXT = (
    "the old dog saw a small cat under that tree and ran to it as fast as he could but her "
    "friend was quick so they sat by the river with some bread until night came"
)


@dataclass(frozen=True)
class Server:
    """A running Streamlit process and what it writes."""

    port: int
    pid: int
    log: IO[str]

    def last_words(self) -> str:
        """The end of its log."""
        self.log.seek(0)
        return self.log.read()[-2000:]

    def cpu_seconds(self) -> float:
        """User and system time the process has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve(script: Path) -> Iterator[Server]:
    """Serve a script with Streamlit on a free port for as long as the block runs.

    All who come are at one address, which may have all places.
    """
    with (
        tempfile.TemporaryFile("a+") as log,
        started(str(script), log, ATTENTION_LIMITS="address=100") as (port, process),
    ):
        yield Server(port, process.pid, log)
