"""A lesson is written on cards: what is typed counts at once, and the preview follows."""

from __future__ import annotations

from tests.browser.browsing import Page, eventually, expect, expect_rest, go_back, values


def expect_titles(page: Page, *titles: str) -> None:
    """Until these are the chapters, in their order."""
    numbered = [f"{number} · {title}" for number, title in enumerate(titles, 1)]
    expect(page.locator(".st-key-opened_card button")).to_have_text(numbered)


def test_typing_that_a_click_ends_counts_with_the_click_and_goes_back_with_the_browser(open_page):
    page = open_page("/write")
    first, second = "Who does what", "A softer choice"
    expect_titles(page, first, second)
    expect_rest(page)
    page.locator(".stExpander summary").click()
    page.get_by_label("Title", exact=True).fill("Who & why")
    page.get_by_role("button", name="Move later").click()
    expect_titles(page, second, "Who & why")
    shown = page.frame_locator(".st-key-card_preview iframe")
    expect(shown.locator("h2")).to_have_text("Who & why")
    page.get_by_label("Sentence", exact=True).fill("a wolf slept")
    page.get_by_label("Question", exact=True).click()
    expect(shown.locator(".st-key-picture")).to_contain_text("wolf")
    go_back(page)
    eventually(page, lambda: values(page, "Sentence"), ["the cat chased the mouse"])
    expect_titles(page, second, "Who & why")


def test_a_link_that_cannot_be_taken_can_still_be_read(open_page):
    page = open_page("/write")
    page.get_by_label("Name of the lesson").fill("<b>")
    page.get_by_label("Question", exact=True).click()
    expect(page.get_by_text("HTML is not allowed")).to_be_visible()
    links = page.locator(".stLinkButton p").filter(has_not_text="guide")
    expect(links.first).to_have_text("Open the lesson")
    expect(links.last).to_have_text("Start a class")
    colours = links.evaluate_all("all => all.map(each => getComputedStyle(each).color)")
    assert len({*colours}) == 1
