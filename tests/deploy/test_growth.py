"""Several processes behind nginx: they share nothing, and a visitor loses nothing with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.browsing import (
    Page,
    choice,
    expect,
    expect_heatmap,
    expect_rest,
    expect_search,
    expect_the_same,
)
from tests.deploy.conftest import Deployed
from tests.deploy.cutting import cutting
from tests.deploy.replicas import led_to

pytestmark = [pytest.mark.browser, pytest.mark.soak]

LINK = "/?s=she+sat+by+the+bank&variant=multihead&head=2&query=1&mask=causal"


def with_cookie(deployed: Deployed, port: int) -> Callable[[Page], object]:
    """Lead a new page to that process."""
    cookie = {"name": "replica", "value": deployed.cookies[port], "url": deployed.address}
    return lambda page: page.context.add_cookies([cookie])


def sentence(page: Page) -> Any:
    return page.get_by_label("Sentence", exact=True)


def test_visitors_stay_where_they_are_and_a_link_shows_the_same_to_all(deployed, open_page):
    pages = {port: open_page(LINK, before=with_cookie(deployed, port)) for port in deployed.cookies}
    assert len(pages) == 3
    first, *others = pages.values()
    for other in others:
        expect_the_same(other, first)
    for port, page in pages.items():
        page.get_by_role("link", name="Laboratory", exact=True).click()
        expect(page).to_have_title("Operations · Attention explorer")
        assert {*led_to(deployed.folder, deployed.cookies[port])} == {port}


def test_a_new_visitor_is_given_a_cookie_once(deployed, open_page):
    page = open_page("/explore")
    (cookie,) = (each for each in page.context.cookies() if each["name"] == "replica")
    page.reload()
    expect_heatmap(page)
    assert cookie in page.context.cookies()
    assert len({*led_to(deployed.folder, cookie["value"])}) == 1
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"


def test_a_link_of_60_kB_passes(deployed, open_page):
    text = "%20" * 19_000
    page = open_page(f"/?s=the+cat+sat&s2={text}")
    expect(sentence(page)).to_have_value("the cat sat")


def test_cutting_the_websocket_again_and_again_loses_nothing_set_or_typed(deployed, open_page):
    with cutting(deployed.address) as (address, cut):
        page = open_page("/?s=she+sat&query=1", address=address)
        expect(page.get_by_role("button", name="Copy link")).to_be_visible()
        sentence(page).press("End")
        wanted = {"s": "she sat", "query": "1"}
        for word in (" by", " the", " river", " bank"):
            expect_rest(page)
            page.keyboard.type(word[:-1])
            cut()
            page.keyboard.type(word[-1], delay=100)
            wanted["s"] += word
            expect_search(page, wanted)
        for field, name, option in (("scale", "scale", "none"), ("reader", "variant", "additive")):
            expect_rest(page)
            choice(page, field, option).click()
            cut()
            wanted[name] = option
            expect_search(page, wanted)
        expect(sentence(page)).to_have_value("she sat by the river bank")
        expect(page.locator(".word bdi")).to_have_text(["she", "sat", "by", "the", "river", "bank"])


def test_a_visitor_whose_process_is_killed_goes_on_typing_on_another_one(deployed, open_page):
    port, other, _ = deployed.cookies
    page = open_page(LINK, before=with_cookie(deployed, port))
    reader = open_page(LINK, before=with_cookie(deployed, port))
    neighbour = open_page(LINK, before=with_cookie(deployed, other))
    sentence(page).press("End")
    page.keyboard.type(" with")
    deployed.processes[port].kill()
    page.keyboard.type("out a map", delay=100)
    written = "she sat by the bank without a map"
    wanted = {"s": written, "variant": "multihead", "head": "2", "query": "1", "mask": "causal"}
    expect_search(page, wanted)
    expect(sentence(page)).to_have_value(written)
    expect(sentence(page)).to_be_focused()
    assert led_to(deployed.folder, deployed.cookies[port])[-1] != port
    for each in (reader, neighbour):
        sentence(each).fill(written)
        expect_the_same(page, each)
    assert {*led_to(deployed.folder, deployed.cookies[other])} == {other}
