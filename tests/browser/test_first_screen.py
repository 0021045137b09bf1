"""The bare address, as somebody sees it who has never been here."""

from __future__ import annotations

from typing import Any

import pytest

from attention.display.captions import distinct_names
from attention.lessons.opening import opening
from tests.browser.browsing import (
    Open,
    expect,
    expect_in_search,
    expect_rest,
    expect_search,
    search,
)

FIRST = opening()
SIZES = [(1440, 900), (1280, 720), (390, 844)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_who_opens_the_bare_address_sees_at_once_what_this_is_about(
    size: tuple[int, int], open_page: Open
) -> None:
    page = open_page("/", viewport={"width": size[0], "height": size[1]})
    words = distinct_names(FIRST.sentences[0].split())
    expect(page.get_by_role("option")).to_have_text(words)
    seen: list[Any] = [
        page.get_by_role("heading", name=FIRST.heading),
        page.locator(".st-key-s"),
        page.get_by_role("button", name=FIRST.endings[1]),
        page.get_by_text("looks most at").first,
        page.get_by_role("link", name="Take the guide"),
        page.get_by_role("button", name="Type your own"),
        page.get_by_role("option").last,
        page.locator(".keys .token").last,
        page.locator(".lines path").first,
    ]
    if size[0] > 1000:
        seen += [page.locator(".attention-cells"), page.locator(".equation > p").first]
        seen += [page.locator(f".st-key-{name}") for name in ("scale", "mask")]
    for part in seen:
        expect(part).to_be_in_viewport(ratio=0.9)


def test_the_bare_address_says_all_its_settings(open_page: Open) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", name=FIRST.heading)).to_be_visible()
    expect_rest(page)
    chosen = {name: str(value) for name, value in FIRST.chosen.items()}
    assert search(page) == {"s": FIRST.sentences[0], **chosen, "query": str(FIRST.query)}


def test_the_switch_moves_the_lines_and_says_its_sentence_in_the_address(open_page: Open) -> None:
    page = open_page("/")
    first, second = FIRST.endings
    last, line = page.get_by_role("option").last, page.locator(".lines path").nth(1)
    expect(last).to_have_text(first)
    expect_rest(page)
    before = line.get_attribute("stroke-width")
    page.get_by_role("button", name=second).click()
    expect(last).to_have_text(second)
    expect(line).not_to_have_attribute("stroke-width", before or "")
    expect_in_search(page, "s", FIRST.sentences[1])
    expect(page.get_by_role("button", name=second)).to_have_attribute("aria-pressed", "true")


def test_the_switch_does_not_wait_for_the_server(open_page: Open) -> None:
    silent = """() => {
      const send = WebSocket.prototype.send
      WebSocket.prototype.send = function (...all) { if (!window.silent) send.apply(this, all) }
    }"""
    page = open_page("/", before=lambda page: page.add_init_script(f"({silent})()"))
    last = page.get_by_role("option").last
    expect(last).to_have_text(FIRST.endings[0])
    expect_rest(page)
    page.evaluate("window.silent = true")
    page.get_by_role("button", name=FIRST.endings[1]).click()
    expect(last).to_have_text(FIRST.endings[1])


def test_type_your_own_leads_to_the_box_and_the_same_head_reads_it(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Type your own").click()
    box = page.get_by_label("Sentence", exact=True)
    expect(box).to_be_focused()
    page.keyboard.type("my dog")
    expect(page.get_by_role("option")).to_have_text(["my", "dog"])
    expect_in_search(page, "s", "my dog")
    chosen = {name: str(value) for name, value in FIRST.chosen.items()}
    assert chosen.items() <= search(page).items()


def test_defaults_alone_have_a_link_that_is_not_the_bare_address(open_page: Open) -> None:
    page = open_page("/?query=2")
    expect(page.get_by_role("option").nth(2)).to_have_attribute("aria-selected", "true")
    page.get_by_role("option").first.click()
    expect_search(page, {"query": "0"})


def test_an_address_written_after_the_pictures_are_drawn_says_what_they_show(
    open_page: Open,
) -> None:
    page = open_page("/?mask=causal")
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    expect_rest(page)
    page.evaluate("history.replaceState(history.state, '', '/')")
    expect_search(page, {"query": "0"})
    page.get_by_role("option").nth(2).click()
    expect_search(page, {"query": "2"})
    expect_rest(page)
    page.evaluate("history.pushState(history.state, '', '/?mask=window')")
    expect_search(page, {"mask": "window", "query": "2"})
