"""One whole class: a teacher before a projector, and three pupils."""

import re

from attention.subjects.guide.carried import EXAMPLE, pack
from attention.subjects.guide.classes import name_of, new_key
from tests.browser.browsing import eventually, expect, expect_in_search, expect_rest

OVERLAPPING = """() => {
  const seen = [...document.querySelectorAll(
    ".stMain :is(h1, h2, p, button, a, td, li, img, summary, input)")]
    .filter((node) => node.checkVisibility({ opacityProperty: true }) && node.innerText !== "")
  return seen.filter((node) => {
    const box = node.getBoundingClientRect()
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    const there = x > 0 && x < innerWidth && y > 0 && y < innerHeight
    if (!box.width || !box.height || !there) return false
    const top = document.elementFromPoint(x, y)
    return top && !node.contains(top) && !top.contains(node)
  }).map((node) => `${node.localName}.${node.className} ${node.innerText}`.slice(0, 90))
}"""


def test_a_class_joins_and_answers_and_is_there_after_a_reload(open_page):
    key = new_key()
    room = name_of(key)
    link = f"/write?lesson=link&carried={pack(EXAMPLE)}&room={room}&teacher={key}"
    teacher = open_page(link, permissions=["clipboard-read", "clipboard-write"])
    expect(teacher).not_to_have_url(re.compile(f"teacher|{key}"))
    assert teacher.evaluate("history.length") == 2, "a blank page, and this one"
    expect(teacher.locator(".way-in")).to_contain_text(f"/guide?room={room}")
    expect(teacher.locator(".st-key-class_question h2")).to_contain_text("A sixth word is added")
    teacher.get_by_role("button", name="Copy link").click()
    pasted = "navigator.clipboard.readText()"
    eventually(teacher, lambda: teacher.evaluate(pasted).partition("/guide")[2], f"?room={room}")
    teacher.keyboard.press("p")
    expect(teacher.locator(".projected")).to_have_count(1)
    of_its_own = {"before": lambda page: page}
    pupils = [open_page(f"/guide?room={room}", **of_its_own) for _ in range(3)]
    for pupil, choice in zip(pupils, ("they grow", "they shrink", "they shrink"), strict=True):
        expect(pupil.locator("h1")).to_have_text("A first look")
        pupil.get_by_role("radio", name=choice).click()
        expect_in_search(pupil, "guess")
    count = teacher.locator(".st-key-class_question .told")
    in_class = "3 answers so far · 3 in the class"
    expect(count).to_have_text(in_class)
    pupils[1].reload()
    for tab in (pupils[1], open_page(f"/guide?room={room}", beside=pupils[2])):
        expect(tab.locator(".st-key-told_to_class")).to_contain_text("your first choices go")
        dots = tab.locator(".st-key-contents")
        expect(dots.get_by_role("radio", name=re.compile("answered"))).to_have_count(1)
    eventually(teacher, lambda: teacher.evaluate(OVERLAPPING), [])
    teacher.get_by_role("button", name="Reveal").click()
    bars = teacher.locator("[class*='st-key-choices_'] tbody tr")
    expect(bars).to_have_count(3)
    expect_rest(teacher, 20_000)
    expect(teacher).not_to_have_url(re.compile(f"teacher|{key}"))
    teacher.reload()
    expect(bars).to_have_count(3)
    expect(count).to_have_text(in_class)


def test_nothing_lies_over_anything_before_a_projector(open_page):
    page = open_page("/guide?chapter=masks")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect_rest(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()  # brings the key P with it
    page.keyboard.press("p")
    expect(page.locator(".projected")).to_have_count(1)
    page.evaluate("document.querySelector('.projector-hint').remove()")
    eventually(page, lambda: page.evaluate(OVERLAPPING), [])
