"""Sentences and links as nobody means them, thousands, on every page; what each costs the server.

`python -m benchmarks.hostile 10000`. Everything is drawn from a seed. A run that fails, or shows no
page, ends it with exit status 1 and a line that says what was asked; runs that take more than
`SLOW` of a core are listed by what they ask for. With `--chromium` it is done in a browser instead,
page by page, sentences typed where there is a box for them: nothing but the page may come of them,
no error, no dialog, no request to anybody else.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import tempfile
import time
from urllib.parse import urlencode

from playwright import sync_api as playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.app.state.pages import PAGES
from tests.chromium import ARGUMENTS, find
from tests.hostile import links, sentences
from tests.running import opened
from tests.serving import serving

SLOW = 0.3  # seconds of a core
UNLIMITED = {"ATTENTION_LIMITS": "requests=1000 messages=1000"}
SHOWN = (
    "[data-testid=stApp][data-test-script-state=notRunning] [data-testid=stMain] "
    "[data-testid=stElementContainer] >> visible=true"
)
BOX = "[data-testid=stMain] [data-testid=stTextInput] input >> visible=true"
TYPED = 50  # sentences on a page before it is opened anew
PATIENCE = 60_000  # milliseconds
HARM = (
    "[data-testid=stException], [data-testid=stMain] :is(img[src^=http], script, iframe, "
    "a[href^='http://evil'], a[href^=javascript])"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("many", type=int, nargs="?", default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chromium", action="store_true", help="of each kind on every page")
    options = parser.parse_args()
    if options.chromium:
        return min(in_chromium(options.many, options.seed), 1)
    failed = 0
    for kind, cases in (("sentences", sentences), ("links", links)):
        draw = random.Random(f"{kind} {options.seed}")
        costs: list[tuple[float, str]] = []
        for number, (page, link) in enumerate(cases(draw, options.many)):
            asked = f"{page}?{urlencode(link, errors='replace')}"
            begun = time.process_time()
            try:
                app = opened(page, **link)
                assert app.heading, "the page has no title"
            except Exception as problem:
                failed += 1
                print(f"FAILED {asked[:2000]}: {type(problem).__name__}: {problem}", flush=True)
            costs.append((time.process_time() - begun, asked))
            if number % 1000 == 999:
                print(f"{kind}: {number + 1} done", file=sys.stderr, flush=True)
        _report(kind, costs)
    return min(failed, 1)


def in_chromium(many: int, seed: int) -> int:
    """So many of each kind on every page; says which bring anything but a page, how many."""
    failed = 0
    with (
        tempfile.TemporaryDirectory() as profile,  # keeps what is compiled of the page's scripts
        serving(**UNLIMITED) as server,
        playwright.sync_playwright() as api,
        api.chromium.launch_persistent_context(
            profile, executable_path=find(), args=ARGUMENTS
        ) as browser,
    ):
        for kind, cases in (("sentences", sentences), ("links", links)):
            page = browser.new_page()
            faults: list[str] = []
            sockets: list[playwright.WebSocket] = []
            _watch(page, server, faults, sockets)
            drawn = [*cases(random.Random(f"{kind} {seed}"), many * len(PAGES))]
            page_by_page = sorted(drawn, key=lambda case: case[0])
            for number, (name, link) in enumerate(page_by_page):
                asked = f"{name}?{urlencode(link, errors='replace')}"
                anew = kind == "links" or number % many % TYPED == 0
                try:
                    if anew or not _has_boxes(page):
                        page.goto(f"{server}/{asked}")
                        page.locator(SHOWN).first.wait_for(timeout=PATIENCE)
                    else:
                        _type(page, sockets[-1], [*link.values()])
                    faults += page.locator(HARM).evaluate_all("all => all.map(e => e.outerHTML)")
                except playwright.Error as problem:
                    faults.append(f"{problem}")
                for fault in faults:
                    failed += 1
                    print(f"FAILED {asked[:2000]}: {fault[:500]}", flush=True)
                faults.clear()
                if number % 100 == 99:
                    print(f"{kind}: {number + 1} done", file=sys.stderr, flush=True)
            print(f"{many} {kind} on each of {len(PAGES)} pages in Chromium", flush=True)
            page.close()
    return failed


def _has_boxes(page: playwright.Page) -> bool:
    """True if sentences can be typed, once all is drawn."""
    playwright.expect(page.locator("[data-stale=true], [data-testid=stSkeleton]")).to_have_count(0)
    return page.locator(BOX).count() > 0


def _type(page: playwright.Page, socket: playwright.WebSocket, texts: list[str]) -> None:
    """Types into all boxes that are to be seen, and waits for the answers."""
    for box, text in zip(page.locator(BOX).all(), texts, strict=False):
        if not box.is_visible():  # what was typed into another has taken it away
            return
        before = box.input_value()
        box.fill(text)
        if box.input_value() != before:
            with socket.expect_event("framereceived", _ends_run, timeout=PATIENCE):
                box.press("Enter")


def _ends_run(frame: str | bytes) -> bool:
    assert isinstance(frame, bytes)
    return ForwardMsg.FromString(frame).WhichOneof("type") == "script_finished"


def _watch(
    page: playwright.Page, server: str, faults: list[str], sockets: list[playwright.WebSocket]
) -> None:
    """Notes whatever is not the page alone, and its websockets."""
    own = (server, server.replace("http", "ws"), "data:", "blob:")

    def note_request(request: playwright.Request) -> None:
        if not request.url.startswith(own):
            faults.append(f"request: {request.url}")

    def note_dialog(dialog: playwright.Dialog) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("request", note_request)
    page.on("dialog", note_dialog)
    page.on("websocket", lambda socket: sockets.append(socket))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))


def _report(kind: str, costs: list[tuple[float, str]]) -> None:
    ordered = sorted(costs, reverse=True)
    middle, high = (ordered[len(ordered) * part // 100][0] for part in (50, 5))
    slow = [(cost, asked) for cost, asked in ordered if cost > SLOW]
    print(
        f"{len(costs)} {kind}: half took up to {1000 * middle:.0f} ms of a core, 95 of 100 up to "
        f"{1000 * high:.0f}, the longest {1000 * ordered[0][0]:.0f}; over {1000 * SLOW:.0f}: "
        f"{len(slow)}"
    )
    pages = collections.Counter(asked.split("?")[0] for _, asked in slow)
    for page, times in pages.most_common():
        print(f"  {times} on {page}, as")
        for cost, asked in [one for one in slow if one[1].split("?")[0] == page][:3]:
            print(f"    {1000 * cost:.0f} ms: {asked[:300]}")


if __name__ == "__main__":
    sys.exit(main())
