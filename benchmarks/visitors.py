"""Visitors over real websockets against one process: how long they wait, and what they cost.

A visitor opens the app and then changes something every few seconds: types a new sentence, turns a
mask on or off, chooses a token, goes to another page, opens a link. What is timed is a change from
sending it until its run has finished. The bare page bears the same visitors in the same run; there
they only type. Everything stays on loopback; the number of visitors and the time are bounded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

from benchmarks.report import Row, table
from benchmarks.serving import APP_SCRIPT, HERE, TEXT, Server, serve

EVENTS = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{{}}__events"
BARE = HERE / "bare.py"
VISITORS = (10, 50, 100)
MAX_VISITORS, MAX_SECONDS = 300, 120
THINK_SECONDS = 5.0
RAMP_SECONDS = 15.0
PATIENCE_SECONDS = 120
# Of ForwardMsg.ScriptFinishedStatus: a whole run is over, or that of a fragment; 2 begins another.
WHOLE, OF_A_FRAGMENT = (0, 1), (3,)
CHANGES = {"type": 12, "mask": 3, "token": 2, "page": 2, "link": 1}
LINKS = (
    {"variant": "multihead", "positions": "alibi"},
    {"variant": "talking", "stage": "mixed", "mask": "causal"},
    {"vectors": "random", "variant": "additive", "query": "2"},
)
WORDS = " ".join(f"w{number}" for number in range(512))
PIECES = "the cat walks on the street " * 80
# What costs the server most on each page; {} is another number each time, so that nothing is known.
HEAVY = (
    ("", {"s": f"{WORDS} {{}}", "variant": "multihead", "heads": "50", "positions": "alibi"}),
    ("", {"s": f"{WORDS} {{}}", "fold": "all heads", "variant": "talking", "heads": "50"}),
    ("", {"s": f"{WORDS} {{}}", "fold": "how", "variant": "additive"}),
    ("model", {"s": f"{{}} {PIECES}", "model": "minilm"}),
    ("model", {"s": f"{{}} {PIECES}", "model": "en-pt"}),
    ("model", {"s": f"{{}} {PIECES[:200]}", "model": "smollm2", "off": "23.4"}),
    ("model", {"s": f"{{}} {PIECES[:200]}", "model": "smollm2-giver"}),
    ("model", {"s": f"{{}} {PIECES[:200]}", "model": "smollm2", "more": "layer by layer"}),
    ("model", {"s": f"{{}} {PIECES[:200]}", "model": "minilm", "more": "associations"}),
    ("cross", {"target": f"{WORDS} {{}}", "memory": WORDS, "variant": "additive"}),
    ("", {"s": f"{{}} {'a b ' * 255}", "s2": "a " * 512, "fold": "against"}),
    ("", {"s": f"{WORDS} {{}}", "fold": "against", "differs": "scale", "words": "all words"}),
    ("identities", {"s": f"{WORDS} {{}}", "claim": "influence", "tokens": "24"}),
)
HEADER = ("visitors", "page", "changes", "p50", "p95", "first", "CPU", "memory", "errors")


@dataclass
class Found:
    """Findings of all visitors of one run, in seconds, and what went wrong."""

    changes: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


def connected(port: int, address: str = "") -> websockets.connect:
    """A websocket to a server, as Streamlit's page opens it.

    address: where it comes from, as a proxy tells.
    """
    return websockets.connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        subprotocols=[websockets.Subprotocol("streamlit")],
        origin=websockets.Origin(f"http://127.0.0.1:{port}"),
        additional_headers={"X-Forwarded-For": address} if address else {},
        max_size=None,
    )


class Visitor:
    """One visit: a websocket, and the widgets and pages that the server has told of."""

    def __init__(self, number: int, found: Found, kinds: dict[str, int]) -> None:
        self.random, self.found, self.kinds = random.Random(number), found, kinds
        self.widgets: dict[str, str] = {}
        self.fragments: dict[str, str] = {}
        self.pages: list[str] = []
        self.names: dict[str, str] = {}
        self.page, self.session, self.turn = "", "", 0

    async def visit(self, port: int, until: float, ramp: float, address: str = "") -> None:
        """Open the page some time within the ramp, then change something until the time is over."""
        await asyncio.sleep(self.random.random() * ramp)
        try:
            async with connected(port, address=address) as self.socket:
                self.found.first.append(await self.run(self.message()))
                while time.monotonic() < until:
                    await asyncio.sleep(THINK_SECONDS * (0.5 + self.random.random()))
                    self.found.changes.append(await self.run(self.change()))
        except Exception as error:
            self.found.errors[f"{type(error).__name__}: {error}"[:100]] += 1

    async def run(self, message: BackMsg) -> float:
        """Send a message; seconds until the run that it starts has finished."""
        drawn: dict[str, str] = {}
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS))
            self.note(answer)
            match answer.WhichOneof("type"):
                case "script_finished" if answer.script_finished in WHOLE + OF_A_FRAGMENT:
                    kept = {} if answer.script_finished in WHOLE else self.widgets
                    self.widgets = kept | drawn
                    return time.perf_counter() - start
                case "new_session":
                    self.session = answer.new_session.initialize.session_id
                case "navigation":
                    told = answer.navigation.app_pages
                    self.names = {page.page_script_hash: page.url_pathname for page in told}
                    self.pages = [*self.names]
                case "delta":
                    self.look_at(answer.delta, drawn)

    def note(self, answer: ForwardMsg) -> None:
        """Note what the server sends, for visitors that need more of it."""

    def look_at(self, delta: Delta, drawn: dict[str, str]) -> None:
        """Note a widget by its key, which is the end of its id, and a scene by the keys of its
        figures; an exception is an error."""
        kind = delta.new_element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(delta.new_element.exception.message)
        identity = str(getattr(getattr(delta.new_element, kind or "", None), "id", ""))
        if identity.startswith("$$ID-"):
            drawn[identity.split("-", 2)[2]] = identity
            if kind == "bidi_component":
                drawn |= dict.fromkeys(figures_in(delta.new_element.bidi_component.bytes), identity)
            self.fragments[identity] = delta.fragment_id

    def message(self, **query: str) -> BackMsg:
        """A rerun of the page that is shown, at a link."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode(query)
        message.rerun_script.page_script_hash = self.page
        return message

    def change(self) -> BackMsg:
        """One change of those that the visitors of this page make, as often as each is made."""
        kind = self.random.choices([*self.kinds], [*self.kinds.values()])[0]
        if kind == "page" or "s" not in self.widgets:  # where no sentence stands, go on
            self.page = self.random.choice(self.pages)
            return self.message()
        if kind == "link":
            return self.message(**self.random.choice(LINKS))
        message = self.message()
        widget = message.rerun_script.widget_states.widgets.add()
        if kind == "mask" and "mask" in self.widgets:
            key = "mask"
            widget.string_array_value.data[:] = self.random.choice([[], ["causal"], ["window"]])
        elif kind == "token" and "selection" in self.widgets:
            key, self.turn = "selection", self.turn + 1
            values = {"query": self.random.randrange(6), "stage": "weights"}
            chosen = {"event": "selection", "value": [self.turn, values]}
            widget.json_trigger_value = json.dumps([chosen])
        else:
            key = "s"
            widget.string_value = " ".join(self.random.choices(TEXT.split(), k=10))
        identity = self.widgets[key]
        widget.id = EVENTS.format(identity) if key == "selection" else identity
        message.rerun_script.fragment_id = self.fragments[identity]
        return message


def figures_in(data: bytes) -> list[str]:
    """The keys of the figures of a scene; none where a component draws something else."""
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) if data else {}
    return (
        [figure["key"] for figure in header["figures"]]
        if "rows" in header and "figures" in header
        else []
    )


class Glutton(Visitor):
    """Does what costs most, at once again, and is not counted. on: one page alone, "" for all."""

    on = ""

    async def visit(self, port: int, until: float, ramp: float, address: str = "") -> None:
        """Open one heavy link after the other until the time is over."""
        heavy = [(name, link) for name, link in HEAVY if self.on in ("", name)]
        async with connected(port) as self.socket:
            await self.run(self.message())
        pages = {name: page for page, name in self.names.items()}
        while time.monotonic() < until:
            name, link = heavy[self.turn % len(heavy)]
            self.turn += 1
            self.page = pages.get(name, "")
            filled = {key: text.replace("{}", str(self.turn)) for key, text in link.items()}
            async with connected(port) as self.socket:  # in an open visit its widgets would decide
                await self.run(self.message(**filled))


async def visits(
    port: int, count: int, seconds: float, ramp: float, kinds: dict[str, int], gluttons: int = 0
) -> Found:
    """Findings of `count` visitors within a time, beside so many who take what they can."""
    found = Found()
    until = time.monotonic() + ramp + seconds
    visitors = [Visitor(number, found, kinds) for number in range(count)]
    visitors += [Glutton(number, Found(), kinds) for number in range(gluttons)]
    await asyncio.gather(*(visitor.visit(port, until, ramp) for visitor in visitors))
    return found


def resident_megabytes(server: Server) -> float:
    """The memory of the server's process, without pages of files, which all processes share."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def measure(
    name: str, script: Path, count: int, seconds: float, kinds: dict[str, int], gluttons: int = 0
) -> Row:
    """A row of the table: a fresh process, one visitor to warm it, then all of them.

    CPU of one run; memory that one visitor adds; first: the first run of a visitor.
    """
    with serve(script) as server:
        asyncio.run(visits(server.port, 1, 0.1, 0.0, {"type": 1}))
        before, cpu = resident_megabytes(server), server.cpu_seconds()
        found = asyncio.run(visits(server.port, count, seconds, RAMP_SECONDS, kinds, gluttons))
        cpu, grown = server.cpu_seconds() - cpu, resident_megabytes(server) - before
    for error, times in found.errors.most_common(3):
        print(f"{name}: {times} × {error}", file=sys.stderr)
    changes, first = sorted(found.changes) or [math.nan], found.first or [math.nan]
    seconds_of = (
        *(statistics.median(changes), changes[int(0.95 * len(changes))]),
        *(statistics.median(first), cpu / max(1, len(found.changes) + len(found.first))),
    )
    waits = [f"{1000 * value:.0f} ms" for value in seconds_of]
    megabytes, errors = f"{grown / count:.2f} MB", str(found.errors.total())
    return str(count), name, str(len(found.changes)), *waits, megabytes, errors


def run(counts: list[int], seconds: float, progress: Callable[[str], None]) -> str:
    """The table for some numbers of visitors, the app and the bare page in turn."""
    rows = []
    for count in counts:
        for name, script, kinds in (("bare", BARE, {"type": 1}), ("app", APP_SCRIPT, CHANGES)):
            progress(f"{count} visitors, {name}")
            rows.append(measure(name, script, count, seconds, kinds))
        progress(f"{count} visitors, and one who takes what they can")
        rows.append(measure("app, a glutton", APP_SCRIPT, count, seconds, CHANGES, 1))
    return table(f"Visitors, a change every {THINK_SECONDS:g} s each", HEADER, rows)


def main() -> None:
    """Measure the numbers of visitors that are asked for, or a few usual ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.visitors", description=__doc__)
    parser.add_argument("visitors", nargs="*", type=int, default=VISITORS)
    parser.add_argument("--seconds", type=float, default=25.0)
    pages = sorted({name for name, _ in HEAVY if name})
    words = "where the one is who takes what they can; all pages in turn, if none is named"
    parser.add_argument("--glutton-on", choices=pages, default="", help=words)
    options = parser.parse_args()
    Glutton.on = options.glutton_on
    counts = [min(count, MAX_VISITORS) for count in options.visitors]
    print(run(counts, min(options.seconds, MAX_SECONDS), lambda text: print(text, file=sys.stderr)))


if __name__ == "__main__":
    main()
