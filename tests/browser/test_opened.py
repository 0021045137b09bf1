"""Parts that one has opened on a page stay open, whatever comes and goes above them."""

from tests.browser.browsing import expect, expect_in_search, expect_rest, expect_search

MATRICES = "The matrices all of this is made from"
DOES_NOT_FIT = "1 2; 3"


def test_a_text_that_does_not_fit_yet_stays_in_its_open_box(open_page):
    page = open_page("/operations?operation=softmax")
    page.get_by_text("The same as text").click()
    box = page.locator(".st-key-softmax_x input")
    box.fill(DOES_NOT_FIT)
    box.press("Enter")
    expect_search(page, {"operation": "softmax", "softmax_x": DOES_NOT_FIT})
    expect_rest(page)
    expect(box).to_be_visible()
    expect(box).to_be_focused()


def test_what_is_opened_stays_so_as_a_note_on_the_link_goes(open_page):
    page = open_page("/identities?claim=mistakes&source=sentence&tokens=many")
    note = page.locator(".note", has_text="many")
    expect(note).to_be_visible()
    page.get_by_text(MATRICES).click()
    opened = page.locator(".st-key-matrices_origin figure").first
    expect(opened).to_be_visible()
    page.get_by_label("Sentence", exact=True).fill("an apple")
    expect(note).to_have_count(0)
    expect_rest(page)
    expect(opened).to_be_visible()
    page.get_by_label("Mistake", exact=True).get_by_text("count", exact=True).click()
    expect_in_search(page, "mistake", "count")
    expect_rest(page)
    expect(opened).to_be_visible()
