"""A run in a real notebook: JupyterLab in Chromium, from a click to what the next cell reads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.browsing import Page, expect
from tests.serving import ROOT, free_port, wait_until_healthy

pytest.importorskip("anywidget", reason="needs anywidget (requirements-dev.txt)")
pytest.importorskip("jupyterlab", reason="needs JupyterLab (requirements-dev.txt)")

TOKENS = 61
SHOWN = f"""\
import attention
from tests.capture.making import OwnAttention, inputs, model
from tests.hostile import HOSTILE

with attention.capture() as run:
    model(OwnAttention(is_causal=True), OwnAttention(is_causal=True))(inputs(1, {TOKENS}))
tokens = [HOSTILE[at % len(HOSTILE)] if at % 2 else f"word{{at}}" for at in range({TOKENS})]
widget = run.show(tokens, layer=1, query=9)
widget"""
READ = """\
row = run.weights(widget.layer, widget.head, widget.query)[0]
print(widget.layer, widget.head, widget.query, int(row.argmax()), f"{float(row.max()):.4f}")"""
SET = "widget.layer, widget.query = 0, 50"
LEARNED = """\
import attention
from tests.capture.making import OwnAttention, inputs, model

network = model(OwnAttention())
with attention.capture(every=2, into="runs"):
    for step in range(5):
        network(inputs(1, 7, seed=step))
learning = attention.capture.open_folder("runs").show([*"abcdefg"])
learning"""
STEP = "print(learning.step)"
# Its indicator shows "idle" before there is a session, and a cell run then is never run.
CONNECTED = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  const kernel = context?.isReady && context.session?.kernel;
  return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""
CELLS = [SHOWN, READ, SET, LEARNED, STEP]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook in JupyterLab, whose kernel is this Python."""
    folder = tmp_path_factory.mktemp("notebooks")
    cells = [
        {"id": f"c{at}", "cell_type": "code", "source": source}
        | {"metadata": {}, "outputs": [], "execution_count": None}
        for at, source in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python"}
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 5}
    written = json.dumps(notebook | {"metadata": {"kernelspec": kernel}})
    (folder / "run.ipynb").write_text(written, "utf-8")
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    places = {name: str(folder / name.lower()) for name in own}
    port = free_port()
    options = [
        *("--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--IdentityProvider.token="),
        *(f"--ServerApp.root_dir={folder}", "--LabApp.news_url=", "--ServerApp.log_level=ERROR"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        cwd=folder,
        env=os.environ | places | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}", server, "api")
        yield f"http://127.0.0.1:{port}/lab/tree/run.ipynb"
    finally:
        server.terminate()
        server.wait(timeout=60)


@pytest.fixture
def notebook(browser: Any, address: str) -> Iterator[Page]:
    """The notebook, once its kernel has begun; nothing may fail in it or leave the machine."""
    faults: list[str] = []
    host = address.partition("/lab")[0]
    page = browser.new_page(viewport={"width": 1440, "height": 1400})
    known = (host, host.replace("http", "ws"), "data:", "blob:")
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda one: one.url.startswith(known) or faults.append(one.url))
    page.goto(address, wait_until="commit", timeout=120_000)
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS), timeout=120_000)
    page.wait_for_function(CONNECTED, timeout=120_000)
    yield page
    page.close()
    assert faults == []


def run(page: Page, cell: int) -> Any:
    """Run a cell; its output."""
    page.locator(".jp-CodeCell .cm-content").nth(cell).click()
    page.keyboard.press("Control+Enter")
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea")


def test_a_click_in_the_widget_is_what_the_next_cell_reads_and_a_cell_sets_what_it_shows(notebook):
    output = run(notebook, 0)
    heads = output.get_by_role("radio")
    expect(heads).to_have_count(6, timeout=120_000)
    expect(heads.nth(3)).to_have_attribute("aria-checked", "true")
    told = output.locator(".told")
    expect(told).to_contain_text("Query 9")
    heads.nth(5).click()
    expect(output.get_by_text("Layer 1, head 2", exact=True)).to_be_visible()
    expect(output.get_by_role("application")).to_have_attribute("data-map", "run 1 2")
    output.get_by_role("application").press("ArrowDown")
    expect(told).to_contain_text("Query 10 “word10”")
    read = run(notebook, 1)
    expect(read).to_contain_text(re.compile(r"^1 2 10 \d+ 0\.\d{4}"))
    _, _, _, key, weight = read.inner_text().split()
    greatest = output.get_by_role("list", name="Its greatest weights").get_by_role("button").first
    expect(greatest).to_contain_text(f"({key})")
    expect(greatest).to_contain_text(weight)
    run(notebook, 2)
    expect(told).to_contain_text("Query 50 “word50”")
    expect(output.get_by_text("Layer 0, head 2", exact=True)).to_be_visible()
    field = output.get_by_label("Search for a word, or go to a position")
    field.press_sequentially("word2 a b d d")  # commands of JupyterLab among them
    expect(field).to_have_value("word2 a b d d")
    expect(notebook.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    expect(notebook.locator(".jp-OutputArea img")).to_have_count(0)


def test_a_slider_over_the_steps_of_learning_is_moved_by_keyboard(notebook):
    learned = run(notebook, 3)
    slider = learned.get_by_role("slider", name="Step of learning")
    expect(slider).to_have_attribute("aria-valuetext", "step 4", timeout=120_000)
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "step 2")
    expect(run(notebook, 4)).to_have_text("2")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "step 0")
    expect(run(notebook, 4)).to_have_text("0")
