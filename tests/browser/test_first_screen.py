"""The bare address, as somebody sees it who has never been here."""

from __future__ import annotations

from typing import Any

from attention.app.state.openings import opening
from attention.subjects.play.pronoun_words import question
from tests.browser.browsing import (
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
    expect_to_fit,
    search,
)
from tests.browser.test_every_view import check_with_axe

FIRST = opening()
WORDS = FIRST.sentences[0].split()
SIZES = [(390, 844), (768, 1024), (1440, 900), (1280, 720)]
MOST_CONTROLS, MOST_WORDS, MOST_NUMBERS = 25, 98, 20

# What is seen without scrolling: things to use, words but for those along the heatmap, numbers.
SEEN = """() => {
  const inside = ({ top, bottom, width, height }) =>
    bottom > 0 && top < innerHeight && width > 1 && height > 1
  const seen = (node) => node.checkVisibility() && inside(node.getBoundingClientRect())
  const controls = "button:not([tabindex='-1']), a[href], input:not([type=hidden]), [role=listbox]"
  const all = [...document.querySelectorAll("body *")]
  const texts = all
    .filter((node) => !node.closest(".attention-heatmap, script, style, .js-plotly-plot"))
    .filter((node) => seen(node) && [...node.childNodes].some((child) => child.nodeType === 3))
    .map((node) => [...node.childNodes].filter((child) => child.nodeType === 3)
      .map((child) => child.data).join(" "))
  const all_of_them = texts.join(" ").split(/\\s+/)
  const words = all_of_them.filter((word) => /\\p{L}/u.test(word))
  return {
    controls: [...document.querySelectorAll(controls)].filter(seen).length,
    words: words.length,
    numbers: all_of_them.filter((word) => /^[−\\d.]+$/.test(word)).length,
  }
}"""

# Each width that an arc has on the way, in the frames after a click; between two of these a 30th of
# a second goes by, however long they take.
WIDTHS = """(button) => {
  let now = performance.now()
  performance.now = () => now
  const arc = () => Math.max(...[...document.querySelectorAll(".arc")].map(
    ({ style }) => Number.parseFloat(style.strokeWidth)))
  const widths = [arc()]
  button.click()
  return new Promise((done) => {
    const look = () => {
      now += 33
      widths.push(arc())
      const rest = widths.slice(-20).every((width) => width === arc() && width !== widths[0])
      if (widths.length < 20 || !rest) requestAnimationFrame(look)
      else {
        delete performance.now
        done({ widths, ghosts: document.querySelectorAll(".ghosts path").length })
      }
    }
    look()
  })
}"""


def chosen() -> dict[str, str]:
    return {name: str(value) for name, value in FIRST.chosen.items()}


def other(page: Page, ending: int = 1) -> Any:
    return page.get_by_role("button", name=FIRST.endings[ending])


def test_who_opens_the_bare_address_sees_at_once_what_this_is_about(open_page):
    page = open_page("/", color_scheme="dark")
    expect(page.get_by_role("option")).to_have_count(len(WORDS))
    assert page.locator(".word bdi").all_text_contents() == WORDS
    expect_heatmap(page)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        expect_to_fit(page)
        check_at_once(page, width > 1000)
    said = {"s": FIRST.sentences[0], **chosen()}
    expect_search(page, said)
    check_with_axe(page)


def check_at_once(page: Page, wide: bool) -> None:
    """The question, its answer and the ways on are in sight, and not much beside them."""
    seen: list[Any] = [
        page.get_by_role("heading", name=question(FIRST.word), level=1),
        page.get_by_role("status").filter(has_text="looks"),
        page.get_by_role("link", name="Take the guide"),
        page.get_by_role("button", name="Type your own"),
        other(page),
        *page.locator(".word .pill").all(),
        page.locator(".arc").first,
    ]
    if wide:
        expect(page.locator(".attention-cells")).to_be_in_viewport()
        seen += [page.locator(".equation-line")]
        seen += [page.locator(f".st-key-{name}") for name in ("reader", "scale", "mask", "fold")]
    for part in seen:
        expect(part).to_be_in_viewport(ratio=0.8)
    most = {"controls": MOST_CONTROLS, "words": MOST_WORDS, "numbers": MOST_NUMBERS}
    eventually(page, lambda: {k: n for k, n in page.evaluate(SEEN).items() if n > most[k]}, {})


def test_another_word_is_asked_about_by_a_click_and_by_keys_before_the_server_hears_of_it(
    open_page,
):
    silent = """() => {
      const send = WebSocket.prototype.send
      WebSocket.prototype.send = function (...all) { if (!window.silent) send.apply(this, all) }
    }"""
    page = open_page("/", before=lambda page: page.add_init_script(f"({silent})()"))
    expect(page.locator(".equation-line")).to_contain_text(f"y{FIRST.word}")
    expect_rest(page)
    page.evaluate("window.silent = true")
    page.get_by_role("option", name=WORDS[0]).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(question(f"{WORDS[0]} (0)"))
    expect(page.locator(".told-line")).to_contain_text(f"“{WORDS[0]} (0)” ")
    expect(page.locator(".equation-line")).to_contain_text(f"y{WORDS[0]}")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    last = WORDS[-2]
    expect(page.get_by_role("heading", level=1)).to_have_text(question(last))
    expect(page.locator(".told-line")).to_contain_text(f"“{last}” ")
    other(page).click()
    expect(page.locator(".word bdi").last).to_have_text(FIRST.endings[1])
    expect(page.get_by_role("heading", level=1)).to_have_text(question(last))


def test_a_change_moves_for_a_moment_but_is_there_at_once_for_who_wants_no_motion(open_page):
    page = open_page("/")
    expect(page.locator(".arc").last).to_be_attached()
    expect_rest(page)
    seen = page.evaluate(WIDTHS, other(page).element_handle())
    first, last = seen["widths"][0], seen["widths"][-1]
    assert last < first - 2
    assert [width for width in seen["widths"] if last + 0.1 < width < first - 0.1]
    assert seen["ghosts"] > 0
    expect_in_search(page, "s", FIRST.sentences[1])
    expect_rest(page)
    page.emulate_media(reduced_motion="reduce")
    seen = page.evaluate(WIDTHS, other(page, 0).element_handle())
    assert len({*seen["widths"]}) == 2
    assert seen["ghosts"] == 0


def test_type_your_own_leads_to_the_box_and_the_same_head_reads_it(open_page):
    page = open_page("/")
    box = page.get_by_label("Sentence", exact=True)
    expect(box).to_be_hidden()  # so that no one comes to it by Tab before it is opened
    page.get_by_role("button", name="Type your own").click()
    expect(box).to_be_focused()
    page.keyboard.type("my dog told me that it was hungry")
    expect(page.get_by_role("heading", level=1)).to_have_text(question("it"))
    expect(box).to_be_focused()
    expect_in_search(page, "s", "my dog told me that it was hungry")
    expect(page.get_by_role("option", name="it")).to_have_attribute("aria-selected", "true")
    assert chosen().items() <= search(page).items()

    page.keyboard.insert_text("it was cold and dark and the old road was long " * 6)
    expect(page.locator(".stage")).to_have_attribute("data-layout", "wrap")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect_to_fit(page)


def test_an_address_written_after_the_pictures_are_drawn_says_what_they_show(open_page):
    page = open_page("/?mask=causal")
    expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    expect_rest(page)
    page.evaluate("history.replaceState(history.state, '', '/')")
    expect_search(page, {"query": "5"})
    page.get_by_role("option").nth(2).click()
    expect_search(page, {"query": "2"})
    expect_rest(page)
    page.evaluate("history.pushState(history.state, '', '/?mask=window')")
    expect_search(page, {"mask": "window", "query": "2"})


def test_on_a_phone_the_share_of_the_last_word_stands_beside_the_button_that_changes_it(open_page):
    last = len(WORDS) - 1
    page = open_page(f"/?{FIRST.link}&query={last}", viewport={"width": 390, "height": 844})
    word = page.locator(".sentence .word").last
    share = word.locator("small")
    expect(share).to_contain_text("%")
    expect_rest(page)

    def stands_beside() -> bool:
        left, right = share.bounding_box(), page.locator(".stage .other").bounding_box()
        return bool(left["x"] + left["width"] < right["x"] and right["x"] + right["width"] < 390)

    eventually(page, stands_beside, True)
