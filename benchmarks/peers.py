"""One layer of 12 heads over 512 tokens on its way to a browser: the page Heads against bertviz.

bertviz is not drawn: it loads what it draws with from another host. What counts is what it would
hand over, against everything the page receives from the click on its link until it rests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter

from benchmarks.browser import APP, EXCEPTION, IDLE, PAINT_MS, VIEWPORT, chromium, sentence
from benchmarks.report import TARGETS, at_most, table
from benchmarks.serving import serve

HEADS, TOKENS, D_MODEL = 12, 512, 48
MAX_MB = 4.0


def page_megabytes() -> float:
    """Megabytes that all heads on Play receive over its websocket, uncompressed."""
    received = [0]

    def count(frame: bytes | str) -> None:
        received[0] += len(frame)

    query = f"s={sentence(TOKENS).replace(' ', '+')}&vectors=random&d_model={D_MODEL}&heads={HEADS}"
    query += "&variant=multihead&fold=all+heads&words=all+words"
    with chromium() as browser, serve(APP.script) as server:
        page = browser.new_page(viewport=VIEWPORT)
        page.on("websocket", lambda socket: socket.on("framereceived", count))
        page.goto(f"http://127.0.0.1:{server.port}/explore?{query}")
        page.locator(".st-key-all_heads canvas").first.wait_for(state="attached", timeout=PAINT_MS)
        page.wait_for_selector(IDLE, timeout=PAINT_MS)
        page.wait_for_timeout(500)
        if page.locator(EXCEPTION).count():
            raise RuntimeError(f"the page failed:\n{server.last_words()}")
    return received[0] / 1e6


def bertviz() -> tuple[float, float]:
    """Megabytes and seconds of bertviz's head view of the same layer."""
    from bertviz import head_view

    from attention.pipeline import Settings, compute

    settings = Settings(
        s=sentence(TOKENS),
        variant="multihead",
        vectors="random",
        d_model=D_MODEL,
        config=(("heads", HEADS),),
    )
    result = compute(settings, lambda name: None)
    weights = result.layer_trace.weights
    start = perf_counter()
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        page = head_view([weights[None]], list(result.tokens), html_action="return")
    return len(page.data.encode()) / 1e6, perf_counter() - start


def run(_quick: bool, progress: Callable[[str], None]) -> Iterator[str]:
    """Measure both; yields one table."""
    progress(f"{HEADS} heads over {TOKENS} tokens")
    ours = page_megabytes()
    rows = [at_most("all heads on Play, all it receives", ours, MAX_MB, "MB")]
    try:
        theirs, seconds = bertviz()
    except ImportError as error:
        print(f"bertviz is left out: {error}; `make bench` installs it", file=sys.stderr)
    else:
        rows.append(at_most("bertviz, its page", theirs, None, "MB"))
        rows.append(at_most("bertviz, making it", seconds, None, "s"))
        rows.append(at_most("the page Heads over bertviz", ours / theirs, 1.0, "x"))
    yield table(f"{HEADS} heads over {TOKENS} tokens, to the browser", TARGETS, rows)
