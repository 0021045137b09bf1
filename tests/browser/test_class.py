"""One whole class: a teacher before a projector, and three pupils with phones."""

import re

from attention.subjects.guide.carried import EXAMPLE, pack
from attention.subjects.guide.classes import name_of, new_key
from tests.browser.browsing import eventually, expect, expect_rest

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


def test_a_class_votes_twice_and_is_counted_at_every_moment_over_reloads(open_page):
    key = new_key()
    room = name_of(key)
    link = f"/write?lesson=link&carried={pack(EXAMPLE)}&room={room}&teacher={key}"
    teacher = open_page(link, permissions=["clipboard-read", "clipboard-write"])
    expect(teacher).not_to_have_url(re.compile(f"teacher|{key}"))
    assert teacher.evaluate("history.length") == 2, "a blank page, and this one"
    expect(teacher.locator(".way-in")).to_contain_text(f"/guide?room={room}")
    expect(teacher.locator(".st-key-class_question h2")).to_contain_text("A sixth word is added")
    expect(teacher.locator(".class-sentence")).to_have_text("the cat chased the mouse")
    teacher.get_by_role("button", name="Copy link").click()
    pasted = "navigator.clipboard.readText()"
    eventually(teacher, lambda: teacher.evaluate(pasted).partition("/guide")[2], f"?room={room}")
    teacher.keyboard.press("p")
    expect(teacher.locator(".projected")).to_have_count(1)
    phone = {"before": lambda page: page.set_viewport_size({"width": 390, "height": 844})}
    pupils = [open_page(f"/guide?room={room}", **phone) for _ in range(3)]
    told = teacher.locator(".st-key-class_question .told")

    def vote(*choices: str) -> None:
        for pupil, choice in zip(pupils, choices, strict=False):
            radio = pupil.get_by_role("radio", name=choice).last  # the one before may be on its way
            expect(radio).to_be_enabled()
            radio.click()
            expect(radio).to_be_checked()

    expect(pupils[2].locator("h1")).to_have_text("A first look")
    vote("they grow", "they shrink", "they shrink")
    expect(told).to_have_text("First vote: 3 answers so far · 3 in the class")
    pupils[1].reload()
    tabs = [pupils[1], open_page(f"/guide?room={room}", beside=pupils[2])]
    for tab in tabs:
        expect(tab.locator(".st-key-told_to_class")).to_contain_text("your votes go")
        dots = tab.locator(".st-key-contents")
        expect(dots.get_by_role("radio", name=re.compile("answered"))).to_have_count(1)
    eventually(teacher, lambda: teacher.evaluate(OVERLAPPING), [])
    teacher.get_by_role("button", name="Close the vote").click()
    for tab in (*pupils, *tabs):
        expect(tab.get_by_role("radio", name="they shrink").last).to_be_disabled()
    pupils[2].close()
    teacher.get_by_role("button", name="Vote again").click()
    vote("they stay", "they grow")
    expect(told).to_have_text("Second vote: 2 answers so far · 3 in the class")
    pupils[2] = open_page(f"/guide?room={room}", beside=tabs[1])
    vote("they shrink", "they stay", "they shrink")
    expect(told).to_have_text("Second vote: 3 answers so far · 3 in the class")
    expect(teacher.locator("[class*='st-key-choices_'] i")).to_have_count(0)
    for pupil in pupils:
        expect(pupil.locator(".st-key-verdict")).to_contain_text("The second vote is open")
    teacher.get_by_role("button", name="Close the vote").click()
    expect(told.nth(1)).to_have_text("From wrong to right 1, from right to wrong 1.")
    bars = teacher.locator("[class*='st-key-choices_'] tbody tr")
    seen = ["they grow1 · 33 %0 · 0 %", "they stay0 · 0 %1 · 33 %", "they shrink2 · 67 %2 · 67 %"]
    expect(bars).to_have_text(seen)
    teacher.get_by_role("button", name="Reveal").click()
    seen[2] = seen[2].replace("shrink", "shrink ✓")
    expect(bars).to_have_text(seen)
    for pupil, verdict in zip(pupils, ("Right", "Not this one", "Right"), strict=True):
        expect(pupil.locator(".st-key-verdict")).to_contain_text(f"{verdict}. A row")
    expect_rest(teacher, 20_000)
    expect(teacher).not_to_have_url(re.compile(f"teacher|{key}"))
    teacher.reload()
    expect(bars).to_have_text(seen)
    both = "First vote: 3 answers · Second vote: 3 answers · 3 in the class"
    expect(told.first).to_have_text(both)


def test_a_chosen_word_below_the_preview_of_a_card_is_scrolled_to(open_page):
    long = "the keeper of the light went down to the shore and counted all boats that came home"
    link = 'the cat chased the mouse&query=2"\nquestion'
    text = EXAMPLE.replace(link, f'{long} before it was dark again there&query=22"\nquestion', 1)
    page = open_page(f"/write?lesson=link&carried={pack(text)}")
    page.set_viewport_size({"width": 1280, "height": 1100})
    inner = page.frame_locator("iframe")
    chosen = inner.locator(".token-lines [aria-selected=true]")
    expect(chosen).to_have_text("there")
    expect(chosen).to_be_in_viewport()
    assert page.locator(".stMain").evaluate("main => main.scrollTop") == 0


def test_nothing_lies_over_anything_before_a_projector(open_page):
    page = open_page("/guide?chapter=masks")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect_rest(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()  # brings the key P with it
    page.keyboard.press("p")
    expect(page.locator(".projected")).to_have_count(1)
    page.evaluate("document.querySelector('.projector-hint').remove()")
    eventually(page, lambda: page.evaluate(OVERLAPPING), [])
