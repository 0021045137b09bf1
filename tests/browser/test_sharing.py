"""Sharing a view: its link, its caption, and the page embedded in another one."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from attention.app.parts.widgets import EXAMPLES
from attention.app.state.pages import FIRST, PAGES
from tests.browser.browsing import (
    FITS,
    Open,
    Page,
    check_link,
    choice,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
    go_back,
    go_forward,
    search,
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


def test_the_title_can_be_read_and_its_words_opened_while_the_sidebar_is_folded_away(
    open_page: Open,
) -> None:
    page = open_page("/explore")
    expect_heatmap(page)
    page.get_by_test_id("stSidebar").hover()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    unfold = page.get_by_test_id("stExpandSidebarButton")
    expect(unfold).to_be_visible()
    title, words = page.locator(".page-title h1"), page.locator(".page-title details")
    title.click(trial=True)  # where something covers it, this fails
    words.locator("summary").click()
    expect(words).to_have_attribute("open", "")
    unfold.click()
    expect(page.get_by_text("Variant", exact=True)).to_be_in_viewport()


def test_the_tab_has_an_icon_of_its_own(open_page: Open) -> None:
    page = open_page("/explore")
    expect(page).to_have_title(re.compile("Explore"))
    icon = page.locator("link[rel='shortcut icon']")
    expect(icon).to_have_attribute("href", re.compile("^data:image/png;base64,"))
    shown = """async (link) => {
      const image = Object.assign(new Image(), { src: link.href })
      await image.decode()
      return [image.naturalWidth, image.naturalHeight]
    }"""
    assert icon.evaluate(shown) == [32, 32]


def test_the_picture_and_the_weighted_sum_still_fit_a_laptop(open_page: Open) -> None:
    page = open_page("/explore", viewport={"width": 1280, "height": 720})
    expect_heatmap(page)
    expect(page.locator(".equation")).to_be_visible()
    expect(page.locator(".equation")).to_be_in_viewport(ratio=1)
    assert page.locator(".st-key-s").bounding_box()["y"] < 210


def test_the_tab_follows_the_sentence(open_page: Open) -> None:
    page = open_page("/explore")
    box = page.get_by_label("Sentence", exact=True)
    box.fill("<b>a</b> dog")
    expect(page).to_have_title("Explore · <b>a</b> dog · Attention explorer")
    choice(page, "scale", "none").click()
    expect_search(page, {"s": "<b>a</b> dog", "scale": "none"})
    expect(page).to_have_title("Explore · <b>a</b> dog · Attention explorer")


def test_the_menu_is_reached_by_keys_and_says_what_was_copied(open_page: Open) -> None:
    page = open_page("/?variant=additive&query=2", **CLIPBOARD)
    expect_heatmap(page)
    more(page).press("ArrowDown")
    items = page.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    names = ["Copy link", "Save card as PNG", "Copy embed code"]
    names += [f"Copy embed code: {name} alone" for name in ("lines", "heatmap", "sum")]
    expect(items).to_have_text([*names, "Copy caption"])
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("Copied the caption.")
    expect(more(page)).to_be_focused()
    expect(page.get_by_role("menu")).to_have_count(0)
    caption = clipboard(page)
    assert caption.startswith("Explore. See which words")
    assert "Sentence: “the cat walks on the street”. Additive attention. Scale: 1/√d_k." in caption
    assert caption.endswith(
        f"Bahdanau et al. 2015 (https://arxiv.org/abs/1409.0473), appendix A.1.2. {page.url}"
    )
    more(page).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(more(page)).to_have_attribute("aria-expanded", "false")


def test_what_is_clicked_in_the_menu_while_a_run_ends_is_copied(open_page: Open) -> None:
    page = open_page("/explore", **CLIPBOARD)
    expect_heatmap(page)
    page.get_by_label("Sentence", exact=True).fill("a dog")
    more(page).click()
    page.get_by_role("menuitem", name="Copy caption").hover()
    page.mouse.down()
    expect(page).to_have_title(re.compile("a dog"))
    expect_rest(page)
    page.mouse.up()
    expect(status(page)).to_have_text("Copied the caption.")


def test_embed_code_shows_the_figure_alone_in_another_page(open_page: Open) -> None:
    sentence = HOSTILE[6]
    page = open_page("/?query=1&scale=none", **CLIPBOARD)
    page.get_by_label("Sentence", exact=True).fill(sentence)
    expect_in_search(page, "s")
    expect(page).to_have_title(re.compile("bold"))
    more(page).click()
    page.get_by_role("menuitem", name="heatmap alone").click()
    expect(status(page)).to_have_text("Copied the embed code of heatmap alone.")
    code = clipboard(page)
    assert code.startswith("<iframe src=")
    assert code.count("<") == 2
    whole = page.url
    inside = frame_around(page, code)
    expect(page.locator("iframe")).to_have_attribute("title", re.compile("^Explore · <b>bold</b>"))
    expect(inside.locator(".attention-heatmap .xtick").last).to_be_attached()
    expect(inside.locator(".attention-picture .part")).to_have_count(1)
    for absent in ("stSidebar", "stHeader", "stTextInput"):
        for element in inside.get_by_test_id(absent).all():
            expect(element).to_be_hidden()
    expect(inside.get_by_role("heading")).to_have_count(0)
    inside.get_by_role("radio", name="scores").click()
    link = inside.get_by_role("link", name="Open in Attention explorer")
    with page.context.expect_page() as opened:
        link.click()
    cat = {"query": "4"}  # the word chosen before stays chosen
    expect_search(opened.value, {"s": sentence, "scale": "none", "stage": "scores"} | cat)
    assert opened.value.url.split("?")[0] == whole.split("?")[0]
    expect(opened.value.get_by_role("button", name="Copy link")).to_be_visible()


@pytest.mark.parametrize(
    ("link", "shown", "hidden"),
    [
        ("/?figure=lines", ".lines", ".heatmap, .equation, .nearest"),
        ("/?figure=sum", ".equation", ".heatmap, .lines, .nearest"),
        ("/steps?figure=matrices&step=scores", ".st-key-matrices", ".working, .st-key-step, h1"),
        ("/heads?figure=heads", ".st-key-head_grid", ".st-key-picture, .numbers"),
        ("/heads?figure=lines", ".st-key-head_view", ".st-key-picture, .numbers, .st-key-cover"),
        ("/heads?figure=heatmap", ".st-key-picture .heatmap", ".st-key-head_grid"),
        ("/trained?figure=heads", ".st-key-model_window", ".st-key-picture, .numbers"),
        (
            "/trained?figure=layers&model=smollm2",
            ".st-key-layer_lines",
            ".st-key-picture, .numbers",
        ),
        ("/cross?figure=sum", ".equation", ".st-key-target, .nearest"),
        ("/cross?figure=matrices&cross=batch", ".st-key-sequence_0", ".st-key-cross, .working"),
        ("/compare?figure=comparison", ".st-key-comparison", ".numbers, .st-key-other_settings"),
        ("/compare?figure=sweep&compare=sweep", ".st-key-sweep_view", ".st-key-sweep"),
        ("/operations?figure=matrices", ".st-key-picture_0", ".st-key-inputs, .working"),
        ("/identities?figure=matrices", ".st-key-matrices_0", ".st-key-claim"),
        ("/guide?figure=figure&chapter=scores", ".st-key-guide_figure", ".st-key-guide_question"),
    ],
)
def test_an_embedded_figure_stands_alone(
    open_page: Open, link: str, shown: str, hidden: str
) -> None:
    page = open_page(f"{link}&embed=true", viewport={"width": 640, "height": 480})
    expect(page.locator(shown).first).to_be_visible()
    expect(page.locator(hidden).locator("visible=true")).to_have_count(0)
    expect(page.get_by_role("link", name="Open in Attention explorer")).to_be_visible()
    page.wait_for_function(FITS)


def test_an_embedded_page_has_no_menu_and_stays_embedded(open_page: Open) -> None:
    page = open_page("/heads?embed=true&embed_options=dark_theme&head=1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Heads")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.locator(".note")).to_have_count(0)
    page.get_by_label("Sentence", exact=True).fill("a dog")
    expect_in_search(page, "s")
    assert "embed=true" in page.url
    assert "embed_options=dark_theme" in page.url
    assert page.evaluate("document.querySelector('.page-title').checkVisibility()")
    page.get_by_role("spinbutton", name="Head").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-picture .caption")).to_contain_text("Head 2.")


def test_back_and_forward_lead_to_views_that_are_their_links(open_page: Open) -> None:
    page = open_page("/?" + urlencode({"s": "a cat sat", "mask": "causal", "query": "1"}))
    titles = {"/": FIRST.title} | {f"/{known.name}": known.title for known in PAGES}
    expect_heatmap(page)
    first = page.evaluate("history.length")

    def follow(name: str, title: str = "") -> None:
        page.get_by_role("link", name=name, exact=True).click()
        expect_page(title or name)

    def expect_page(name: str) -> None:
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect_rest(page)

    page.get_by_role("button", name=EXAMPLES[1]).click()
    expect_in_search(page, "s", EXAMPLES[1])
    follow("Heads")
    page.get_by_role("option").nth(3).click()
    expect_in_search(page, "query", "3")
    follow("Learn", "Guide")
    page.get_by_role("button", name="Next", exact=True).click()
    expect_in_search(page, "chapter", "rows-of-numbers")
    follow("Play", "Explore")
    follow("Compare")
    last, count = search(page), page.evaluate("history.length") - first
    assert count >= 5
    for step in [go_back] * count + [go_forward] * count:
        before = page.evaluate("location.pathname")
        step(page)
        path = page.evaluate("location.pathname")
        expect_page(titles[path])
        if path != before:
            check_link(page, open_page).close()
    expect_search(page, last)


def test_steps_back_and_forward_in_a_row_end_at_a_view_that_is_its_link(open_page: Open) -> None:
    page = open_page("/?query=1")
    expect_heatmap(page)
    for name in ("Heads", "Compare"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect_rest(page)
    page.evaluate("""async () => {
      for (const by of [-1, -1, 1]) {
        history.go(by)
        await new Promise((resolve) => addEventListener("popstate", resolve, { once: true }))
      }
    }""")
    check_link(page, open_page)


def test_a_step_back_to_a_link_that_cannot_be_had_leaves_out_what_is_wrong(
    open_page: Open,
) -> None:
    page = open_page("/?mask=length&valid_len=1e999")
    expect_search(page, {"mask": "length"})
    expect_heatmap(page)
    go_back(page)
    expect_search(page, {"mask": "length"})
    expect(page.locator(".st-key-valid_len input")).to_have_value("3")
    expect(page.get_by_test_id("stException")).to_have_count(0)
