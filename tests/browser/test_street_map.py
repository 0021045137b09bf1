"""The street map of a long run in Chromium: from the whole of it to one weight, by every way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import attention
from attention.capture import Recording
from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_harmless,
    expect_to_fit,
    search,
)
from tests.browser.test_every_view import check_with_axe
from tests.browser.test_own_weights import open_file
from tests.capture.making import OwnAttention, inputs, model
from tests.hostile import HOSTILE

TOKENS = 601
TURNED = """plot => plot.getRootNode().querySelector("canvas.map").toDataURL()"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Path]:
    """A run of tokens that are hostile, and words: the first that says "needle" is at 450."""
    with attention.capture() as captured:
        model(OwnAttention(is_causal=True))(inputs(1, TOKENS))
    tokens = [HOSTILE[at % len(HOSTILE)] if at % 2 else f"word{at}" for at in range(TOKENS)]
    tokens[450] = tokens[470] = "Needle"
    file = tmp_path_factory.mktemp("run") / "run.safetensors"
    captured.save(file, tokens=tokens)
    return captured.one(), file


def opened(open_page: Open, file: Path, **options: Any) -> tuple[Page, Any]:
    page = open_page("/own", **options)
    open_file(page, file)
    plot = page.get_by_role("application", name="Weights of the head")
    expect_whole(plot)
    return page, plot


def expect_whole(plot: Any) -> None:
    """Until all that is to be seen of the map has come."""
    expect(plot).to_have_attribute("aria-busy", "false")


def told(page: Page) -> Any:
    return page.locator(".told")


def head_of(page: Page) -> tuple[int, int]:
    """Layer and head that the file was opened on."""
    asked = search(page)
    return int(asked.get("layer", 0)), int(asked.get("head", 0))


def weight(run: Recording, head: tuple[int, int], query: int, key: int) -> str:
    number = float(run.weights(*head, query)[0, key])
    return f"{number:.4f}" if number >= 1e-3 or not number else f"{number:.3e}".split("e")[0]


def test_one_zooms_from_the_whole_to_a_cell_and_reads_its_weight(open_page, run):
    page, plot = opened(open_page, run[1])
    expect(told(page)).to_contain_text(f"Query {TOKENS - 1}")
    box = plot.bounding_box()
    x, y = box["x"] + 100, box["y"] + 400
    page.mouse.move(x, y)
    before = plot.evaluate(TURNED)
    page.mouse.wheel(0, -1200)
    page.mouse.wheel(0, -1200)
    page.mouse.wheel(0, -1200)
    eventually(page, lambda: plot.evaluate(TURNED) != before, True)
    expect_whole(plot)
    page.mouse.click(x, y)
    pointed = page.locator(".readout")
    expect(pointed).to_have_text(re.compile(r"query \d+ “.*”, key \d+ “.*”: "))
    query, key = map(int, re.findall(r"(?:query|key) (\d+) “", pointed.inner_text()))
    expect(told(page)).to_have_text(re.compile(f"Query {query} “.*”, key {key} “"))
    expect(told(page)).to_contain_text(weight(run[0], head_of(page), query, key))


def test_hostile_tokens_are_text_and_a_word_a_link_and_the_row_lead_to_their_cells(open_page, run):
    page, plot = opened(open_page, run[1], viewport={"width": 390, "height": 800})
    expect_harmless(page)
    expect_to_fit(page)
    check_with_axe(page)
    expect_whole(plot)
    page.set_viewport_size({"width": 1440, "height": 900})
    field = page.get_by_label("Search for a word, or go to a position")
    field.press_sequentially("needle r c p")  # keys of Streamlit and of the page among them
    expect(field).to_have_value("needle r c p")
    field.fill("needle")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 450 “Needle”")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 470 “Needle”")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    second = page.get_by_role("list", name="Its greatest weights").get_by_role("button").nth(1)
    at = int(run[0].weights(*head_of(page), 470)[0].topk(2).indices[1])
    second.click()
    expect(told(page)).to_contain_text(f"Query 470 “Needle”, key {at} ")
    page.get_by_text("The strongest far links").click()
    page.get_by_role("spinbutton", name="At least tokens apart").fill("500")
    page.get_by_role("button", name="Find the strongest").click()
    page.locator("details .links button").first.click()
    whole = run[0].weights(*head_of(page))
    whole = whole.tril(-500)
    whole[:, 0] = 0
    query, key = divmod(int(whole.argmax()), TOKENS)
    expect(told(page)).to_contain_text(f"Query {query} ")
    expect(told(page)).to_contain_text(f"key {key} ")
    expect(page.locator(".text .key")).to_have_count(1)


def test_one_goes_to_a_position_two_maps_move_together_and_a_link_leads_back(open_page, run):
    page, plot = opened(open_page, run[1])
    field = page.get_by_label("Search for a word, or go to a position")
    field.fill("470")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 470 “Needle”")
    page.get_by_text("mean of the layer", exact=True).click()
    expect(page.get_by_text("Layer 0, mean of its heads")).to_be_visible()
    expect(told(page).nth(1)).to_contain_text("Query 470 “Needle”")
    for shown in (plot.nth(0), plot.nth(1)):
        expect_whole(shown)
    plot.nth(0).focus()
    page.keyboard.press("ArrowUp")
    for beside in (0, 1):
        expect(told(page).nth(beside)).to_contain_text("Query 469 “")
    first = page.locator(".numbers button.lead").first
    first.click()
    best = run[0].links(apart=64, each=1).iloc[0]
    words = f"Query {best['query']} “"
    expect(told(page).first).to_contain_text(words)
    expect(told(page).nth(1)).to_contain_text(words)
    cell = f"{best['query']},{best['key']},"
    eventually(page, lambda: str(search(page).get("seen")).startswith(cell), True)
    address = page.url.partition("/own")[2]
    other = open_page(f"/own{address}")
    expect(other.locator(".note", has_text="“run.safetensors”, whose SHA-256")).to_be_visible()
    open_file(other, run[1])
    expect(told(other).first).to_contain_text(words)
    expect(other.locator(".note", has_text="SHA-256")).to_have_count(0)
