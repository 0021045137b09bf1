"""The street map of a long run in one file: from the whole of it to one weight, by every way."""

from __future__ import annotations

import re
from typing import Any

import pytest

import attention
from attention.capture import Recording
from tests.browser.browsing import FOREIGN, Page, eventually, expect
from tests.browser.test_every_view import check_with_axe
from tests.capture.making import OwnAttention, inputs, model
from tests.hostile import HOSTILE

TOKENS = 601
HEAD = 0, 1  # layer and head
TURNED = """plot => plot.getRootNode().querySelector("canvas.map").toDataURL()"""
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def run() -> Recording:
    """A run of tokens that are hostile, and words: the first that says "needle" is at 450."""
    with attention.capture() as captured:
        model(OwnAttention(is_causal=True))(inputs(1, TOKENS))
    tokens = [HOSTILE[at % len(HOSTILE)] if at % 2 else f"word{at}" for at in range(TOKENS)]
    tokens[450] = tokens[470] = "Needle"
    return Recording(captured.one().attentions, tokens=tokens)


@pytest.fixture
def page(run: Recording, offline: Any, tmp_path: Any) -> Page:
    """The file of the run, opened on the last token."""
    run.save_html(tmp_path / "run.html", layer=HEAD[0], head=HEAD[1], query=TOKENS - 1)
    opened: Page = offline(tmp_path / "run.html")
    expect_whole(plot_of(opened))
    return opened


def plot_of(page: Page) -> Any:
    return page.get_by_role("application", name="Weights of the head")


def expect_whole(plot: Any) -> None:
    """Until all that is to be seen of the map has come."""
    expect(plot).to_have_attribute("aria-busy", "false")


def told(page: Page) -> Any:
    return page.locator(".told")


def field_of(page: Page) -> Any:
    return page.get_by_label("Search for a word, or go to a position")


def weight(run: Recording, query: int, key: int) -> str:
    number = float(run.weights(*HEAD, query)[0, key])
    return f"{number:.4f}" if number >= 1e-3 or not number else f"{number:.3e}".split("e")[0]


def test_one_zooms_from_the_whole_to_a_cell_and_reads_its_weight(page, run):
    expect(told(page)).to_contain_text(f"Query {TOKENS - 1}")
    plot = plot_of(page)
    box = plot.bounding_box()
    x, y = box["x"] + 100, box["y"] + 400
    page.mouse.move(x, y)
    before = plot.evaluate(TURNED)
    for _ in range(3):
        page.mouse.wheel(0, -1200)
    eventually(page, lambda: plot.evaluate(TURNED) != before, True)
    expect_whole(plot)
    page.mouse.click(x, y)
    pointed = page.locator(".readout")
    expect(pointed).to_have_text(re.compile(r"query \d+ “.*”, key \d+ “.*”: "))
    query, key = map(int, re.findall(r"(?:query|key) (\d+) “", pointed.inner_text()))
    expect(told(page)).to_have_text(re.compile(f"Query {query} “.*”, key {key} “"))
    expect(told(page)).to_contain_text(weight(run, query, key))


def test_hostile_tokens_are_text_and_the_map_fits_a_phone_and_is_accessible(page):
    assert page.locator("body").locator(FOREIGN.replace("script, ", "")).count() == 0
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function(FITS)
    check_with_axe(page)
    expect_whole(plot_of(page))


def test_a_word_a_position_a_link_and_the_row_lead_to_their_cells(page, run):
    field = field_of(page)
    field.press_sequentially("needle r c p")  # keys of Streamlit and of the page among them
    expect(field).to_have_value("needle r c p")
    field.fill("needle")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 450 “Needle”")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 470 “Needle”")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    field.fill("450")
    field.press("Enter")
    expect(told(page)).to_contain_text("Query 450 “Needle”")
    plot_of(page).press("ArrowUp")
    expect(told(page)).to_contain_text("Query 449 “")
    plot_of(page).press("ArrowDown")
    second = page.get_by_role("list", name="Its greatest weights").get_by_role("button").nth(1)
    at = int(run.weights(*HEAD, 450)[0].topk(2).indices[1])
    second.click()
    expect(told(page)).to_contain_text(f"Query 450 “Needle”, key {at} ")
    page.get_by_text("The strongest far links").click()
    page.get_by_role("spinbutton", name="At least tokens apart").fill("500")
    page.get_by_role("button", name="Find the strongest").click()
    page.locator("details .links button").first.click()
    whole = run.weights(*HEAD).tril(-500)
    whole[:, 0] = 0
    query, key = divmod(int(whole.argmax()), TOKENS)
    expect(told(page)).to_contain_text(f"Query {query} ")
    expect(told(page)).to_contain_text(f"key {key} ")
    expect(page.locator(".text .key")).to_have_count(1)
