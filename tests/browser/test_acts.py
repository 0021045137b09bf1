"""Acts of a visitor on Play: what each changes in the settings, the address and the history.

One table, run over the value alone and in Chromium.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from attention.app.state.pages import page_named
from attention.app.state.view import view_of
from attention.app.state.visit import Visit
from tests.browser.browsing import (
    FAR_AWAY,
    LATENCY,
    Page,
    check_link,
    choice,
    eventually,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
    go_back,
    go_forward,
    search,
    unfolded,
    values,
)
from tests.browser.test_play import cells, name_of

OPENED = {"s": "she ate an apple", "variant": "multihead", "heads": "10"}
ADDRESSES = {"explore": "/", "learning": "/learning"}


IN_A_ROW = """async () => {
  for (const by of [-1, -1, 1]) {
    history.go(by)
    await new Promise((resolve) => addEventListener("popstate", resolve, { once: true }))
  }
}"""


@dataclass(frozen=True)
class Act:
    """One act. do: does it in Chromium; chooses: settings that it sets; address: what stands there
    otherwise than before, "" where it is gone; box: the sentence; page: the one that it leads to;
    most: steps of the history, more than one where two acts may reach the server apart.
    """

    do: Callable[[Page], object]
    chooses: dict[str, Any]
    address: dict[str, str]
    box: str = ""
    page: str = ""
    most: int = 1


def box(page: Page) -> Any:
    return page.get_by_label("Sentence", exact=True)


def typed(text: str) -> Callable[[Page], object]:
    """A sentence typed letter by letter, slower than messages are sent."""

    def do(page: Page) -> None:
        box(page).fill("")
        box(page).press_sequentially(text, delay=40)

    return do


def picked(name: str, option: str) -> Callable[[Page], object]:
    def do(page: Page) -> None:
        choice(page, name, option).click()
        expect_rest(page)
        page.keyboard.press("Escape")  # a list of several stays open

    return do


def keys(name: str, key: str, times: int) -> Callable[[Page], object]:
    def do(page: Page) -> None:
        for _ in range(times):
            page.locator(f".st-key-{name} input").press(key)

    return do


def arrows(key: str, times: int) -> Callable[[Page], object]:
    """Keys on the chosen one of a row of choices."""

    def do(page: Page) -> None:
        for _ in range(times):
            page.locator(".st-key-fold [role=radio][aria-checked=true]").press(key)

    return do


def going(name: str) -> Callable[[Page], object]:
    return lambda page: page.get_by_test_id("stTopNav").get_by_role("link", name=name).click()


def typed_before_an_example(page: Page) -> None:
    box(page).fill("what I typed")
    page.locator(".st-key-examples button").nth(1).click()


def typed_before_a_choice(page: Page) -> None:
    box(page).fill("late one")
    picked("scale", "none")(page)


def a_stage_and_the_one_above(page: Page) -> None:
    name_of(page, "softmax").click()
    page.keyboard.press("ArrowUp")


ON_PLAY = {"variant": "multihead", "heads": "10", "head": "3", "scale": "none"}
ON_PLAY |= {"mask": "causal", "vectors": "random", "column": "1"}
ACTS = {
    "a sentence is typed": Act(
        typed("my dog ran"), {"s": "my dog ran"}, {"s": "my dog ran"}, box="my dog ran"
    ),
    "a fold is opened": Act(picked("fold", "how"), {"fold": "how"}, {"fold": "how"}),
    "a row is clicked and left by a key": Act(
        a_stage_and_the_one_above, {"step": "scaled"}, {"step": "scaled"}, most=2
    ),
    "a number is clicked": Act(
        lambda page: cells(page, "query · key").nth(1).click(),
        {"step": "scores", "column": 1},
        {"step": "", "column": "1"},
    ),
    "another fold is opened": Act(
        picked("fold", "all heads"), {"fold": "all heads"}, {"fold": "all heads"}
    ),
    "a head is clicked": Act(
        lambda page: name_of(page, "head 1").click(), {"head": 1}, {"head": "1"}
    ),
    "the map is opened again": Act(picked("fold", "map"), {"fold": "map"}, {"fold": ""}),
    "a scale is chosen": Act(picked("scale", "factor"), {"scale": "factor"}, {"scale": "factor"}),
    "keys count a head up": Act(keys("head", "ArrowUp", 2), {"head": 3}, {"head": "3"}),
    "a mask is chosen": Act(picked("mask", "causal"), {"mask": ("causal",)}, {"mask": "causal"}),
    "a setting behind More is chosen": Act(
        lambda page: unfolded(page, "vectors") and picked("vectors", "random")(page),
        {"vectors": "random"},
        {"vectors": "random"},
    ),
    "a text is typed, then an example taken at once": Act(
        typed_before_an_example,
        {"s": "apple sells computers and software"},
        {"s": "apple sells computers and software"},
        box="apple sells computers and software",
        most=2,
    ),
    "a text is typed, then a scale chosen at once": Act(
        typed_before_a_choice,
        {"s": "late one", "scale": "none"},
        {"s": "late one", "scale": "none"},
        box="late one",
        most=2,
    ),
    "another page is opened": Act(
        going("Watch it learn"), {}, dict.fromkeys(ON_PLAY, ""), page="learning"
    ),
    "one comes back": Act(going("Play"), {}, ON_PLAY, box="late one", page="explore"),
    "a variant without heads is chosen": Act(
        picked("reader", "gaussian"),
        {"variant": "gaussian"},
        {"variant": "gaussian", "heads": "", "head": ""},
    ),
}


def texts(address: dict[str, Any]) -> dict[str, str]:
    """An address as the browser has it, commas between the texts of one name."""
    joined = {n: ",".join(map(str, it)) for n, it in address.items() if isinstance(it, tuple)}
    return {name: str(value) for name, value in address.items()} | joined


def after(address: dict[str, str], act: Act) -> dict[str, str]:
    return {name: text for name, text in (address | act.address).items() if text}


def test_each_act_changes_the_value_and_its_address_as_the_table_says():
    page, address = page_named("explore"), dict(OPENED)
    visit = Visit().opening(page, parse_qs(urlencode(OPENED)), ())
    for name, act in ACTS.items():
        if act.page:
            page = page_named(act.page)
            visit = visit.arriving(page)
        visit, address = visit.choosing(**act.chooses), after(address, act)
        assert texts(view_of(page, visit).in_address) == address, name


@pytest.mark.parametrize(("script", "latency"), [("", 0), (FAR_AWAY, LATENCY)], ids=["near", "far"])
def test_each_act_is_one_step_of_the_history_and_stands_in_box_and_address(
    script, latency, open_page
):
    page = open_page(f"/?{urlencode(OPENED)}", before=lambda page: page.add_init_script(script))
    expect_heatmap(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()  # it keeps the steps
    expect_rest(page)
    steps, path, address = page.evaluate("history.length"), "/", dict(OPENED)
    seen: list[tuple[str, dict[str, str]]] = []

    def now() -> dict[str, str]:
        return {name: text for name, text in search(page).items() if name != "query"}

    for name, act in ACTS.items():
        act.do(page)
        path, address = ADDRESSES.get(act.page, path), after(address, act)
        eventually(page, lambda: (page.evaluate("location.pathname"), now()), (path, address))
        if act.box:
            expect(box(page)).to_have_value(act.box)
        expect_rest(page, latency=latency)
        taken, steps = page.evaluate("history.length") - steps, page.evaluate("history.length")
        assert taken in range(1, act.most + 1), name
        seen += [(path, address)] * taken
    check_link(page, open_page)
    for step, views in ((go_back, seen[-2::-1]), (go_forward, seen[1:])):
        for path, address in views:
            step(page)
            expect_rest(page, latency=latency)
            if views.count((path, address)) == 1:  # of two acts one may stand between
                there = (path, address)
                eventually(page, lambda: (page.evaluate("location.pathname"), now()), there)
                if path == "/":
                    eventually(page, lambda: values(page, "Sentence"), [address["s"]])
    page.evaluate(IN_A_ROW)
    expect_rest(page, latency=latency)
    check_link(page, open_page)


def test_an_address_that_an_earlier_run_writes_after_a_step_back_does_not_stay(open_page):
    page = open_page("/?query=1")
    expect_heatmap(page)
    choice(page, "fold", "how").click()
    expect_in_search(page, "fold", "how")
    expect_rest(page)
    page.evaluate("""() => {
      const { send } = WebSocket.prototype
      WebSocket.prototype.send = function (message) {
        WebSocket.prototype.send = send
        send.call(this, message)
        history.replaceState(history.state, "", location.pathname + "?mask=causal")
      }
      history.back()
    }""")
    expect_search(page, {"query": "1"})
    check_link(page, open_page)
