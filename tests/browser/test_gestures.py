"""Whatever a figure lets one choose is chosen by a click and by keys, and stands in the link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.browser.browsing import Page, check_link, eventually, expect_rest, search
from tests.trained.packaged import packaged

Find = Callable[[Page], Any]
SAID = {"s": "the cat walks on the street"}


def radio(name: str) -> Find:
    return lambda page: page.get_by_role("radio", name=name, exact=True)


def option(figure: str, at: int) -> Find:
    return lambda page: page.locator(f".st-key-{figure}").get_by_role("option").nth(at)


def cell(figure: str, at: int) -> Find:
    return lambda page: page.locator(f".st-key-{figure} [role=grid] td.cell").nth(at)


# A link; where one clicks, and what the link says then; a key that follows, and what that says.
GESTURES: dict[str, tuple[str, Mapping[str, str], Find, Mapping[str, str], str, Mapping[str, str]]]
GESTURES = {
    "heads": (
        "explore",
        SAID | {"fold": "all heads", "words": "all words", "variant": "multihead", "heads": "5"},
        radio("Head 1"),
        {"head": "1"},
        "End",
        {"head": "4"},
    ),
    "map of a model": (
        "model",
        SAID | {"model": "minilm", "head_by": "the chosen one"},
        radio("layer 1, head 5"),
        {"layer": "1", "head": "5"},
        "ArrowDown",
        {"layer": "2", "head": "5"},
    ),
    "lines through layers": (
        "model",
        SAID | {"model": "minilm", "more": "layer by layer"},
        option("layer_lines", 6),
        {"query": "6"},
        "ArrowUp",
        {"query": "5"},
    ),
    "comparison": (
        "explore",
        SAID | {"fold": "against", "words": "all words"},
        lambda page: page.locator(".down span").nth(1),
        {"query": "1"},
        "Home",
        {"query": "0"},
    ),
    "step": (
        "explore",
        SAID | {"fold": "how", "words": "all words", "step": "weights"},
        cell("step_matrices", 19),
        {"query": "3", "column": "1"},
        "Home",
        {"query": "0", "column": "0"},
    ),
    "operation": (
        "operations",
        {},
        cell("picture_1", -1),
        {"operation_batch": "1", "operation_column": "1"},
        "Home",
        {"operation_batch": "1"},
    ),
}


@pytest.mark.parametrize("gesture", GESTURES)
def test_what_is_chosen_by_a_click_or_by_keys_stands_in_the_link(gesture, open_page):
    name, settings, find, clicked, key, moved = GESTURES[gesture]
    if "model" in settings:
        packaged(settings["model"])
    page = open_page(f"/{name}?{urlencode(settings)}")

    def chosen() -> dict[str, str]:
        return {name: its for name, its in search(page).items() if name in {*clicked, *moved}}

    find(page).click()
    eventually(page, chosen, clicked)
    expect_rest(page)
    focused = find(page).locator("xpath=ancestor-or-self::*[@tabindex='0'][1]")
    focused.press(key)
    eventually(page, chosen, moved)
    check_link(page, open_page)
