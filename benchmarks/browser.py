"""From a click to the painted picture, in Chromium: the app against two other pages.

`floor.py` is the least a Streamlit page can do, `usual.py` the page most people would write. All
three are served by processes of their own and looked at by one browser. A sample clicks the other
of two options (of "Mask" or "Scale") with the mouse and waits for the pictures that follow;
`watch.js` says what counts as painted. The pages take turns click by click, so that noise hits all
alike. The app's other pages are then measured against the floor in the same way. At last all pages
stand beside the floor among as many plain elements as they have, with what each part of the way
from the click to the painted page takes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle, islice, pairwise
from pathlib import Path
from urllib.parse import urlencode

from playwright import sync_api as playwright

from attention.app.state.openings import ALL_WORDS
from benchmarks.report import TARGETS, Row, at_most, table
from benchmarks.serving import APP_SCRIPT, HERE, TEXT, Server, serve
from tests.chromium import ARGUMENTS, find

SIZES = (16, 64, 256, 512)
SLOW, SLOW_TURNS = (256, 512), 2

HEATMAP_OVER_FLOOR = {16: 2.5, 64: 2.5, 256: 2.5, 512: 4.0}
PAGE_OVER_FLOOR = {16: 4.0, 64: 4.0, 256: 4.0}
CPU_WORDS = 16
# On the machine the target was set on, the usual page takes 141 ms.
CPU_MS, CPU_OVER_USUAL = 30.0, 0.21

PAINT_MS = 120_000
RESTS_MS = 500  # after a key, until what it chooses has been told and drawn
VIEWPORT: playwright.ViewportSize = {"width": 1440, "height": 1000}
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
EXCEPTION = '[data-testid="stException"]'


@dataclass(frozen=True)
class Site:
    """A page to measure: its script, its heatmap, its URL parameters for n.

    scope, group, options: where the options to click in turn are; one alone is turned on and off.
    menu: whether these stand in a list that opens at a click.
    next_one, button: in place of these, what the right arrow key leads on in, and what is then
    clicked, so that each click changes something else.
    """

    name: str
    script: Path
    heatmap: str
    scope: str
    parameters: Callable[[int], dict[str, str]]
    path: str = ""
    group: str = "Masks"
    options: tuple[str, ...] = ("causal",)
    menu: bool = False
    next_one: str = ""
    button: str = ""


def sentence(n: int) -> str:
    """n common words, the first ones over again when they run out."""
    return " ".join(islice(cycle(TEXT.split()), n))


FLOOR = Site(
    "floor",
    HERE / "floor.py",
    "canvas[data-version]",
    "stMain",
    lambda n: {"n": str(n)},
    group="Mask",
    options=("none", "causal"),
)
APP = Site(
    "app",
    APP_SCRIPT,
    ".st-key-map_of_all canvas[data-version]",
    "stMain",
    lambda n: {"s": sentence(n)},
    group="Scale",
    options=("1/√d_k", "none"),
    menu=True,
)
USUAL = replace(FLOOR, name="usual", script=HERE / "usual.py", heatmap=".stPlotlyChart .hm image")
SITES = (FLOOR, APP, USUAL)
MATRICES = ".frame[data-version]"
HOW = replace(
    APP,
    name="how, all words",
    heatmap=MATRICES,
    parameters=lambda n: {"s": sentence(n), "fold": "how", "words": ALL_WORDS, "step": "weights"},
    path="explore",
)
OPERATIONS = replace(
    APP,
    name="operations",
    heatmap=MATRICES,
    scope="stMain",
    parameters=lambda n: {
        "operation": "softmax",
        "softmax_x": "; ".join([" ".join(map(str, range(n)))] * 3),
    },
    path="operations",
    group="Along dim",
    options=("2", "1"),
    menu=False,
)
IDENTITIES = replace(
    APP,
    name="identities",
    heatmap=MATRICES,
    scope="stMain",
    parameters=lambda n: {"s": sentence(n), "claim": "mistakes", "source": "sentence"},
    path="identities",
    group="Mistake",
    options=("values", "count"),
    menu=False,
)
HEADS = replace(
    APP,
    name="12 heads",
    heatmap="canvas[data-version]",
    parameters=lambda n: {
        **{"s": sentence(n), "vectors": "random", "d_model": "48", "variant": "multihead"},
        **{"heads": "12", "fold": "all heads", "words": ALL_WORDS},
    },
    path="explore",
)
# Each click switches off one head more: no answer is known before.
WINDOW = replace(
    APP,
    name="a switch of the window",
    heatmap="canvas[data-version]",
    parameters=lambda n: {"model": "smollm2", "s": "The capital of France is"},
    path="model",
    next_one="All heads",
    button="button.switch",
)
WINDOW_MS = 100.0
# (page, numbers of rows, the most a change may take over the floor at that number)
OTHER_PAGES = (
    (HOW, SIZES, 2.5),
    (OPERATIONS, (16,), 2.5),
    (IDENTITIES, (16,), 2.5),
    (HEADS, (512,), 3.0),
)


# What a click comes to, one after the other: it is sent, answered for the first time and the last,
# all is drawn, and painted.
WAY = ("sent", "first", "last", "drawn", "page")
ON_THE_WAY = (
    *((APP, n) for n in (16, 256, 512)),
    *((HOW, n) for n in (16, 256)),
    (OPERATIONS, 16),
    (IDENTITIES, 16),
    (HEADS, 512),
)
ELEMENT, FLOOR_ELEMENTS = '[data-testid="stElementContainer"]', 2
HEADER = ("click to painted page, ms", "elements", "floor", "plain", "page", *WAY[:-1], "painted")


@dataclass(frozen=True)
class Effort:
    """Number of clicks to spend on every page: not measured, timed, on CPU time."""

    warm: int
    timed: int
    cpu: int


FULL = Effort(warm=3, timed=24, cpu=20)
QUICK = Effort(warm=1, timed=4, cpu=5)


@dataclass
class Samples:
    """Milliseconds from click to painted, one number per measured click; way: of its parts."""

    heatmap: list[float] = field(default_factory=list)
    page: list[float] = field(default_factory=list)
    way: list[list[float]] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[playwright.Browser]:
    """The installed Chromium, headless."""
    executable = find()
    if executable is None:
        raise RuntimeError("no Chromium found")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One site in one browser tab, showing n words."""

    def __init__(self, page: playwright.Page, site: Site, server: Server) -> None:
        """Prepare an empty tab: `watch.js` will run before anything else in it."""
        self.page, self.site, self.server = page, site, server
        page.add_init_script(path=HERE / "watch.js")
        self.options = cycle(reversed(site.options))
        self.times: dict[str, float] = {}  # of the last click, see `watch.js`

    def open(self, n: int) -> None:
        """Load the site and wait until it rests and shows n rows."""
        self.options = cycle(reversed(self.site.options))
        query = urlencode(self.site.parameters(n))
        self.page.goto(f"http://127.0.0.1:{self.server.port}/{self.site.path}?{query}")
        shown = f"{self.site.heatmap}, {EXCEPTION}"
        self.page.wait_for_selector(shown, state="attached", timeout=PAINT_MS)
        self.page.wait_for_selector(IDLE, timeout=PAINT_MS)
        if self.page.locator(EXCEPTION).count():
            raise RuntimeError(f"{self.site.name} failed:\n{self.server.last_words()}")
        if self.site.path:
            return
        rows = self.page.evaluate("selector => watch.rows(selector)", self.site.heatmap)
        if rows != n:
            raise RuntimeError(f"{self.site.name} shows {rows} words instead of {n}")

    def option(self) -> playwright.Locator:
        """Option that is to be clicked next."""
        if self.site.button:
            self.page.get_by_label(self.site.next_one).first.press("ArrowRight")
            self.page.wait_for_timeout(RESTS_MS)
            self.page.wait_for_selector(IDLE, timeout=PAINT_MS)
            return self.page.locator(self.site.button)
        scope = self.page.get_by_test_id(self.site.scope)
        if self.site.menu:
            menu = scope.get_by_role("combobox", name=self.site.group)
            menu.scroll_into_view_if_needed()
            self.page.wait_for_timeout(RESTS_MS)  # a list closes where the page still scrolls
            menu.click()
            return self.page.get_by_role("option", name=next(self.options), exact=True)
        group = scope.get_by_label(self.site.group, exact=True)
        return group.get_by_text(next(self.options), exact=True)

    def click(self) -> tuple[float, float]:
        """Choose the other option. Milliseconds until heatmap and whole page are painted."""
        return self._timed(self.option().click)

    def fill(self, text: str) -> tuple[float, float]:
        """Put another sentence into the box; the milliseconds begin as it gets there."""
        box = self.page.get_by_label("Sentence", exact=True)

        def type_it() -> None:
            self.page.evaluate("document.body.click()")
            box.fill(text)

        return self._timed(type_it)

    def way(self) -> list[float]:
        """Times of the parts of the last click's way, in milliseconds."""
        return [
            self.times[then] - self.times.get(before, 0.0) for before, then in pairwise(("", *WAY))
        ]

    def _timed(self, act: Callable[[], None]) -> tuple[float, float]:
        self.page.evaluate("selector => watch.arm(selector)", self.site.heatmap)
        act()
        self.times = self.page.evaluate("timeout => watch.result(timeout)", PAINT_MS)
        return self.times["heatmap"], self.times["page"]


def measure(tabs: list[Tab], n: int, effort: Effort) -> dict[str, Samples]:
    """Samples of every site at n words; the tabs take turns.

    The usual page takes many seconds a click on long sentences, so it is clicked less there.
    """
    for tab in tabs:
        tab.open(n)
    for turn in range(effort.warm):
        for tab in tabs:
            if not (tab.site is USUAL and n in SLOW and turn):
                tab.click()
    samples = {tab.site.name: Samples() for tab in tabs}
    for turn in range(effort.timed):
        for tab in tabs:
            if tab.site is USUAL and n in SLOW and turn >= SLOW_TURNS:
                continue
            heatmap, page = tab.click()
            samples[tab.site.name].heatmap.append(heatmap)
            samples[tab.site.name].page.append(page)
            samples[tab.site.name].way.append(tab.way())
    return samples


def summary(values: list[float]) -> str:
    """The median and the range."""
    return f"{statistics.median(values):.0f} ({min(values):.0f}-{max(values):.0f})"


def times_row(n: int, samples: dict[str, Samples]) -> Row:
    """Medians and ranges of all sites at n words."""
    cells = [
        summary(values)
        for site in SITES
        for values in (samples[site.name].heatmap, samples[site.name].page)
    ]
    return str(n), *cells


def target_rows(n: int, samples: dict[str, Samples]) -> list[Row]:
    """The ratios of medians that have a target at n words."""
    floor, app, usual = (statistics.median(samples[site.name].heatmap) for site in SITES)
    page = statistics.median(samples["app"].page)
    rows = [at_most(f"heatmap, {n} words, app / floor", app / floor, HEATMAP_OVER_FLOOR[n], "x")]
    rows.append(at_most(f"heatmap, {n} words, app / usual", app / usual, 1.0, "x"))
    if n in PAGE_OVER_FLOOR:
        what = f"whole page, {n} words, app / floor's heatmap"
        rows.append(at_most(what, page / floor, PAGE_OVER_FLOOR[n], "x"))
    return rows


def other_rows(browser: playwright.Browser, floor: Tab, app: Server, effort: Effort) -> list[Row]:
    """Costs of a change on the app's other pages, as ratios to the floor's in the same turns."""
    rows: list[Row] = []
    for site, sizes, limit in OTHER_PAGES:
        tab = Tab(browser.new_page(viewport=VIEWPORT), site, app)
        for n in sizes:
            samples = measure([floor, tab], n, effort)
            ours, least = (
                statistics.median(samples[name].heatmap) for name in (site.name, floor.site.name)
            )
            what = f"{site.name}, {n} rows, over the floor"
            rows.append(at_most(what, ours / least, limit, "x"))
        tab.page.close()
    return rows


def window_rows(browser: playwright.Browser, floor: Tab, app: Server, effort: Effort) -> list[Row]:
    """A switch in the window of a model until it is painted, beside the floor in the same turns."""
    tab = Tab(browser.new_page(viewport=VIEWPORT), WINDOW, app)
    samples = measure([floor, tab], CPU_WORDS, effort)
    tab.page.close()
    rows: list[Row] = []
    for part in ("heatmap", "page"):
        ours, least = (getattr(samples[name], part) for name in (WINDOW.name, floor.site.name))
        switched, one = statistics.median(ours), statistics.median(least)
        what = f"{WINDOW.name}, {'its map' if part == 'heatmap' else 'the whole page'}"
        rows += [
            at_most(f"{what} ({min(ours):.0f}-{max(ours):.0f})", switched, WINDOW_MS, "ms"),
            at_most(f"{what}, over the floor's {one:.0f} ms", switched / one, None, "x"),
        ]
    return rows


def way_rows(
    browser: playwright.Browser,
    floor: Tab,
    app: Server,
    effort: Effort,
    progress: Callable[[str], None],
) -> list[Row]:
    """A click's way to the painted page: on the floor, among as many plain elements, on the page.

    What each part of it takes on the page, and in brackets among the plain elements.
    """
    rows: list[Row] = []
    for site, n in ON_THE_WAY:
        progress(f"the way of a click on {site.name}, {n} rows")
        tab = Tab(browser.new_page(viewport=VIEWPORT), site, app)
        tab.open(n)
        elements = tab.page.locator(ELEMENT).count()
        query = FLOOR.parameters(n) | {"elements": str(elements - FLOOR_ELEMENTS)}
        among = replace(FLOOR, name="plain", parameters=lambda _, query=query: query)
        plain = Tab(browser.new_page(viewport=VIEWPORT), among, floor.server)
        samples = measure([floor, plain, tab], n, effort)
        pages = (f"{statistics.median(each.page):.0f}" for each in samples.values())
        ours, theirs = (samples[name].way for name in (site.name, among.name))
        parts = (
            f"{statistics.median(a):.0f} ({statistics.median(b):.0f})"
            for a, b in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True)
        )
        rows.append((f"{site.name}, {n} rows", str(elements), *pages, *parts))
        for each in (tab, plain):
            each.page.close()
    return rows


def cpu_rows(tabs: list[Tab], clicks: int) -> list[Row]:
    """CPU time every server spends on one change of the mask, from the click until the page rests.

    The tabs take turns here too. Milliseconds depend on the machine, so the share of what the usual
    page takes has the same target.
    """
    spent = dict.fromkeys((tab.site.name for tab in tabs), 0.0)
    for tab in tabs:
        tab.open(CPU_WORDS)
        tab.click()
    for _ in range(clicks):
        for tab in tabs:
            before = tab.server.cpu_seconds()
            tab.click()
            spent[tab.site.name] += 1000 * (tab.server.cpu_seconds() - before) / clicks
    what = f"server CPU per change, {CPU_WORDS} words"
    limits = {APP.name: CPU_MS}
    rows = [at_most(f"{what}, {name}", ms, limits.get(name), "ms") for name, ms in spent.items()]
    share = spent[APP.name] / spent[USUAL.name]
    rows.append(at_most(f"{what}, app / usual", share, CPU_OVER_USUAL, "x"))
    return rows


def run(quick: bool, progress: Callable[[str], None]) -> Iterator[str]:
    """Measure everything; yields each table as soon as it is complete."""
    effort = QUICK if quick else FULL
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        tabs = []
        for site in SITES:
            progress(f"serving {site.name}")
            server = stack.enter_context(serve(site.script))
            page = browser.new_page(viewport=VIEWPORT)
            tabs.append(Tab(page, site, server))
        times: list[Row] = []
        targets: list[Row] = []
        for n in SIZES:
            progress(f"clicking at {n} words")
            samples = measure(tabs, n, effort)
            times.append(times_row(n, samples))
            targets += target_rows(n, samples)
        header = [f"{site.name} {what}" for site in SITES for what in ("heatmap", "page")]
        yield table("Click to painted, ms: median (least-greatest)", ["words", *header], times)
        yield table("Click to painted: ratios of medians", TARGETS, targets)
        progress(f"CPU time of the servers at {CPU_WORDS} words")
        yield table("The servers", TARGETS, cpu_rows(tabs, effort.cpu))
        progress("clicking on the other pages")
        others = other_rows(browser, tabs[0], tabs[1].server, effort)
        yield table("Other pages: click to painted, ratios of medians", TARGETS, others)
        progress("switching heads off in the window")
        switches = window_rows(browser, tabs[0], tabs[1].server, effort)
        yield table("A head switched off: click to painted", TARGETS, switches)
        ways = way_rows(browser, tabs[0], tabs[1].server, effort, progress)
        yield table("The way of a click, beside as many plain elements (in brackets)", HEADER, ways)
