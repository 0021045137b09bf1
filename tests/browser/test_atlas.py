"""The atlas in Chromium: tiles by click and arrow keys, heads listed, a name that breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from attention.atlas import files
from tests.browser.browsing import (
    Open,
    Page,
    check_link,
    expect,
    expect_in_search,
    expect_search,
)
from tests.serving import serving
from tests.subjects.atlas import making

LINK = {"model": "constructed", "s": "x b c d the x b", "layer": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app where an owner has an atlas made by hand."""
    folder = tmp_path_factory.mktemp("atlases")
    files.write(making.atlas(), files.path_of(folder, "constructed"))
    with serving(ATTENTION_ATLAS=str(folder)) as address:
        yield address


def tile(page: Page, layer: int, head: int) -> Any:
    return page.get_by_role("radio", name=f"layer {layer}, head {head}", exact=True)


def passport(page: Page, head: str) -> Any:
    return page.get_by_role("article", name=f"Passport of head {head}", exact=True)


def test_a_tile_shows_its_passport_another_stands_beside_and_the_link_holds_both(
    open_page: Open,
) -> None:
    page = open_page(f"/atlas?{urlencode(LINK)}")
    expect(passport(page, "1.0").locator(".title")).to_contain_text("apital")
    expect(tile(page, 1, 0)).to_have_attribute("aria-checked", "true")
    tile(page, 1, 0).press("ArrowDown")
    expect(passport(page, "1.1")).to_be_visible()
    expect(tile(page, 1, 1)).to_be_focused()
    tile(page, 0, 0).click()
    expect(passport(page, "0.0").locator(".title")).to_have_text("Looks one word back.")
    page.get_by_role("button", name="Put a second head beside it").click()
    tile(page, 1, 0).click()
    expect(passport(page, "1.0")).to_be_visible()
    expect(page.locator(".differences")).to_contain_text("−42.0 points in 1.0")
    expect_in_search(page, "second_head", "1.0")
    check_link(page, open_page)
    page.get_by_role("button", name="One head again").click()
    expect(passport(page, "1.0")).to_have_count(0)


def test_a_menu_colours_the_tiles_and_lists_heads_that_are_a_click_away(open_page: Open) -> None:
    page = open_page(f"/atlas?{urlencode(LINK)}")
    legend = page.locator(".st-key-head_atlas .legend")
    expect(legend).to_contain_text("full colour: 45 points")
    page.get_by_label("Tiles show").select_option("unexplained")
    expect(legend).to_contain_text("no name foretells; full colour: 100 %")
    expect_in_search(page, "tiles", "unexplained")
    count = page.locator(".st-key-head_atlas .count")
    expect(count).to_have_text("The 4 greatest of 4 heads.")
    page.get_by_label("Tiles show").select_option("looks one word back")
    expect(count).to_contain_text("Surely so of 1 of 4 heads")
    page.locator(".st-key-head_atlas li button").click()
    expect(passport(page, "0.0")).to_be_visible()


def test_a_name_is_broken_by_a_sentence_and_the_link_is_the_evidence(open_page: Open) -> None:
    page = open_page("/atlas?model=constructed&s=x+b+c&head_by=the+chosen+one")
    own = page.locator(".st-key-own_sentence")
    expect(own.locator(".verdict")).to_contain_text("Looks one word back: ")
    page.get_by_role("button", name="Break this name").click()
    box = page.get_by_label("Sentence", exact=True)
    expect(box).to_be_focused()
    box.fill("x b c d the x b")
    expect(own.locator("button.word")).to_have_count(8)
    own.get_by_role("radio", name="looks at the word that followed").click()
    expect(own.locator(".verdict.breaks")).to_contain_text("So it fails here. At “")
    expect(own.locator("button.wrong .mark").first).to_have_text("✗")
    expect_search(
        page,
        {
            "model": "constructed",
            "s": "x b c d the x b",
            "head_by": "the chosen one",
            "head_name": "induction",
        },
    )
    expect(own.get_by_role("link", name="Link to this evidence")).to_have_attribute(
        "href", re.compile("^atlas.*&s=x.b.c.d.the.x.b&head_name=induction$")
    )
    own.locator("button.word").nth(2).click()
    expect_in_search(page, "query", "2")
    check_link(page, open_page)
