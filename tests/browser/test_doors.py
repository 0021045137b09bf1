"""The doors of the menu in Chromium, P, which hides all that is not the page, and the foot."""

import re

from tests.browser.browsing import expect, expect_rest

FONT = "() => getComputedStyle(document.querySelector('.page-title h1')).fontSize"


def test_the_door_one_is_in_is_marked_and_its_views_are_of_the_same_sentence(open_page):
    page = open_page("/operations?s=she+sat+by&scale=none")
    doors, views = page.get_by_test_id("stTopNav"), page.locator(".st-key-views")
    marked = doors.locator("[aria-current=page]")
    expect(marked).to_have_text("Laboratory")
    views.get_by_role("link", name="Identities").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Identities")
    expect(marked).to_have_text("Laboratory")
    doors.get_by_role("link", name="Teach").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Write a lesson")
    expect(marked).to_have_text("Teach")


def test_p_hides_all_but_the_page_in_larger_type_and_shows_it_again(open_page):
    page = open_page("/cross?target=she+sat")
    expect(page.get_by_role("heading", level=1)).to_have_text("Two sequences")
    expect_rest(page)
    chrome = [page.get_by_test_id("stHeader"), page.locator(".st-key-download")]
    chrome.append(page.get_by_role("button", name="Copy link"))
    before = page.evaluate(FONT)
    box = page.get_by_label("Queries from", exact=True)
    box.press("End")
    box.press_sequentially("p")
    expect(box).to_have_value(re.compile("p$"))
    for part in chrome:
        expect(part).to_be_visible()
    box.blur()
    page.keyboard.press("p")
    for part in chrome:
        expect(part).to_be_hidden()
    expect(page.get_by_text("P shows the menu again")).to_be_visible()
    assert float(page.evaluate(FONT)[:-2]) == 1.25 * float(before[:-2])
    page.keyboard.press("p")
    for part in chrome:
        expect(part).to_be_visible()
    assert page.evaluate(FONT) == before


def test_a_question_mark_opens_the_shortcuts_where_nobody_types_it(open_page):
    page = open_page("/cross?target=she+sat")
    expect_rest(page)
    shortcuts, button = page.locator("#shortcuts"), page.get_by_role("button", name="Shortcuts (?)")
    box = page.get_by_label("Queries from", exact=True)
    box.press("End")
    box.press_sequentially("?")
    expect(box).to_have_value(re.compile(r"\?$"))
    expect(shortcuts).to_be_hidden()
    box.blur()
    expect_rest(page)
    for opened in (lambda: page.keyboard.press("?"), button.click, lambda: button.press("Enter")):
        opened()
        expect(shortcuts).to_be_visible()
        page.keyboard.press("Escape")
        expect(shortcuts).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts (?)")).to_be_focused()
    page.keyboard.press("?")
    expect(shortcuts).to_be_hidden()
