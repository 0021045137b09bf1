"""Sharing a view: its link, its caption, and the page embedded in another one."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.browsing import (
    Page,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
)
from tests.hostile import HOSTILE

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def more(page: Page) -> Any:
    return page.get_by_role("button", name="More ways to share")


def status(page: Page) -> Any:
    return page.locator(".st-key-copy_link .said")


def frame_around(page: Page, code: str, width: int = 800) -> Any:
    """The app in a frame of a page of the same host."""
    page.goto(page.url.split("?")[0] + "_stcore/health")
    page.set_content(f"<body style='margin: 0; width: {width}px'>{code}</body>")
    return page.frame_locator("iframe")


def test_the_title_opens_while_the_sidebar_is_folded_away(open_page):
    page = open_page("/cross?target=she+sat", viewport={"width": 1280, "height": 720})
    icon = page.locator("link[rel='shortcut icon']")
    expect(icon).to_have_attribute("href", re.compile("^data:image/png;base64,"))
    page.get_by_test_id("stSidebar").hover()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    title, words = page.locator(".page-title h1"), page.locator(".page-title details")
    title.click(trial=True)  # where something covers it, this fails
    words.locator("summary").click()
    expect(words).to_have_attribute("open", "")


def test_the_menu_is_reached_by_keys_and_says_what_was_copied(open_page):
    page = open_page("/?variant=additive&query=2", **CLIPBOARD)
    expect_heatmap(page)
    more(page).press("ArrowDown")
    items = page.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("Copied the caption.")
    expect(more(page)).to_be_focused()
    expect(page.get_by_role("menu")).to_have_count(0)
    caption = clipboard(page)
    assert "Sentence: “the cat walks on the street”. Additive attention. Scale: 1/√d_k." in caption
    assert caption.endswith(page.url)
    more(page).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(more(page)).to_have_attribute("aria-expanded", "false")

    page.get_by_label("Sentence", exact=True).fill("a dog")
    more(page).click()
    page.get_by_role("menuitem", name="Copy embed code", exact=True).hover()
    page.mouse.down()
    expect(page).to_have_title(re.compile(" · a dog · Attention explorer$"))
    expect_rest(page)  # what is clicked while a run ends counts
    page.mouse.up()
    expect(status(page)).to_have_text("Copied the embed code of the page.")


def test_embed_code_shows_the_figure_alone_in_another_page(open_page):
    sentence = HOSTILE[6]
    page = open_page("/?query=1&scale=none", **CLIPBOARD)
    page.get_by_label("Sentence", exact=True).fill(sentence)
    expect_in_search(page, "s")
    expect(page).to_have_title(re.compile("bold"))
    expect_rest(page)  # what is clicked while a run ends counts
    more(page).click()
    page.get_by_role("menuitem", name="heatmap alone").click()
    expect(status(page)).to_have_text("Copied the embed code of heatmap alone.")
    code = clipboard(page)
    whole = page.url
    inside = frame_around(page, code)
    expect(page.locator("iframe")).to_have_attribute("title", re.compile("· <b>bold</b>"))
    expect(inside.locator(".attention-heatmap .xtick").last).to_be_attached()
    expect(inside.locator(".word").first).to_be_hidden()
    for absent in ("stSidebar", "stHeader", "stTextInput"):
        for element in inside.get_by_test_id(absent).all():
            expect(element).to_be_hidden()
    expect(inside.get_by_role("heading")).to_have_count(0)
    link = inside.get_by_role("link", name="Open in Attention explorer")
    with page.context.expect_page() as opened:
        link.click()
    expect_search(opened.value, {"s": sentence, "scale": "none"})
    assert opened.value.url.split("?")[0] == whole.split("?")[0]
    expect(opened.value.get_by_role("button", name="Copy link")).to_be_visible()


def test_an_embedded_page_has_no_menu_and_stays_embedded(open_page):
    page = open_page("/?embed=true&embed_options=dark_theme&fold=how&s=she+sat")
    expect(page.locator(".word bdi")).to_have_text(["she", "sat"])
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.get_by_label("Sentence", exact=True).fill("a dog")
    expect_in_search(page, "s")
    assert "embed=true" in page.url
    assert "embed_options=dark_theme" in page.url
