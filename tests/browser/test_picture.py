"""The linked picture in Chromium: what is pointed at or chosen in one part, all parts show."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from attention.core.analysis import shares
from tests.browser.browsing import (
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_rest,
    expect_search,
    expect_to_fit,
    with_messages,
)
from tests.subjects.play.how.making import result_of

SENTENCE = "she sat by the river bank"
WORDS = SENTENCE.split()
LINK = {"target": SENTENCE, "memory": SENTENCE}

# What each part shows of the query that is chosen, the one whose row is seen, and a key. A part of
# the heatmap's frame counts by the cells that it lies on.
LOOK = """() => {
  const all = (selector) => [...document.querySelectorAll(`.attention-picture ${selector}`)]
  const first = (selector, mark) => {
    const at = all(selector).findIndex((one) => one.matches(mark))
    return at < 0 ? null : at
  }
  const cells = all(".attention-cells")[0].getBoundingClientRect()
  const along = (name, start, size, count) => {
    const [part] = all(`.attention-${name}`)
    if (!part.checkVisibility()) return null
    const box = part.getBoundingClientRect()
    return Math.round(((box[start] - cells[start]) * count) / cells[size])
  }
  const [rows, columns] = [all(".queries .token").length, all(".keys .token").length]
  const pointed = all(".lines path.previewed")[0]?.getAttribute("d")
  const to = all(".joined path").findIndex((line) => line.getAttribute("d") === pointed)
  const term = all(".equation .pointed")[0]
  return {
    held: first(".queries .token", "[aria-selected=true]"),
    outline: along("outline", "top", "height", rows),
    query: first(".queries .token", ".previewed"),
    row: along("row", "top", "height", rows),
    key: first(".keys .token", ".previewed"),
    line: pointed ? to : null,
    column: along("column", "left", "width", columns),
    term: term ? Number(term.dataset.key) : null,
    terms: first(".terms tbody tr", ".pointed"),
    tip: all(".attention-tip")[0].checkVisibility(),
    summary: all(".summary")[0].textContent.split("”")[0].slice(1),
    equation: all(".equation bdi")[0].textContent,
  }
}"""

# The server's answers come late; what it is told is kept, and each word that the address names.
LATE = """
const send = WebSocket.prototype.send
Object.assign(window, { told: [], seen: [null] })
WebSocket.prototype.send = function (data) {
  if (typeof data !== "string") window.told.push(new TextDecoder("latin1").decode(data))
  return send.call(this, data)
}
const note = () => {
  const query = new URLSearchParams(location.search).get("query")
  if (window.seen.at(-1) !== query) window.seen.push(query)
  requestAnimationFrame(note)
}
note()
""" + with_messages("(task) => function (event) { setTimeout(() => task.call(this, event), 250) }")
TOLD = "words => window.told.some((told) => told.replaceAll(' ', '').includes(words))"

# The numbers in the cells of the heatmap: how many there are, and whether all stand out from their
# cells by 4.5 to 1, as WCAG 2.2 has it.
WRITTEN = """() => {
  const canvas = document.querySelector(".attention-cells")
  const frame = canvas.getBoundingClientRect()
  const spans = [...document.querySelectorAll(".attention-written span:not(:empty)")]
  const light = (colour) => colour
    .map((byte) => byte / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + [0.2126, 0.7152, 0.0722][at] * part, 0.05)
  const stands = (span) => {
    const { left, top, width, height } = span.getBoundingClientRect()
    const x = ((left + width / 2 - frame.left) * canvas.width) / frame.width
    const y = ((top + height / 2 - frame.top) * canvas.height) / frame.height
    const ground = [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3)
    const ink = getComputedStyle(span).color.match(/\\d+/g).slice(0, 3).map(Number)
    const [less, more] = [light(ink), light(ground)].sort((a, b) => a - b)
    return more / less >= 4.5
  }
  return { numbers: spans.length, contrast: spans.every(stands) }
}"""


def cross(**settings: Any) -> str:
    """Address of the whole picture, of one sentence that looks at itself."""
    return "/cross?" + urlencode(LINK | settings, True)


def expect_showing(
    page: Page, held: int, query: int | None = None, key: int | None = None, cell: bool = False
) -> None:
    """Until all parts show the chosen query, or another one or a key that is pointed at; the
    equation names the strongest keys alone."""
    seen = held if query is None else query
    other = seen if seen != held else None

    def wanted() -> dict[str, Any]:
        written = part(page, f".equation .term[data-key='{key}']").count()
        return {
            **dict.fromkeys(("held", "outline"), held),
            **{"query": other, "row": seen if cell else other},
            **dict.fromkeys(("key", "line", "column", "terms"), key),
            **{"term": key if written else None, "tip": cell},
            **dict.fromkeys(("summary", "equation"), WORDS[seen]),
        }

    eventually(page, lambda: page.evaluate(LOOK), wanted)


def part(page: Page, selector: str) -> Any:
    return page.locator(f".attention-picture {selector}")


def cell_at(page: Page, query: int, key: int) -> tuple[float, float]:
    """Where the middle of a cell of the heatmap is."""
    box = part(page, ".attention-cells").bounding_box()
    down, across = box["height"] * (query + 0.5), box["width"] * (key + 0.5)
    return box["x"] + across / len(WORDS), box["y"] + down / len(WORDS)


def nearest(page: Page) -> Any:
    """The word nearest to the chosen token, which is that token."""
    return page.locator(".st-key-before strong").first


def expect_stage(page: Page, name: str) -> None:
    """Until the heatmap is of that stage, and the menu says so."""
    expect(part(page, ".stages [aria-checked=true]")).to_have_text(name)
    expect(page.get_by_label(f"Heatmap of the {name}: queries down")).to_be_visible()


def test_what_a_link_names_that_is_gone_is_the_nearest_and_what_is_pointed_at_is_shown_by_all(
    open_page,
):
    page = open_page(cross(query=77, stage="mixed"))
    expect_stage(page, "weights")
    expect_showing(page, 5)
    note = part(page, ".lines .note")
    expect(note).to_have_text("That word is gone; the last one is selected.")
    part(page, ".queries .token >> nth=2").click()
    expect(note).to_be_hidden()
    for selector, shown in (
        (".queries .token >> nth=4", {"query": 4}),
        (".keys .token >> nth=5", {"key": 5}),
        (".terms tbody tr >> nth=1 >> th", {"key": 1}),
        (".terms tbody tr >> nth=3 >> td.weight", {"key": 3}),
        (".equation .term[data-key='5']", {"key": 5}),
    ):
        part(page, selector).hover()
        expect_showing(page, 2, **shown)
        page.mouse.move(5, 5)
        expect_showing(page, 2)
    for query, key in ((0, 5), (2, 1)):
        page.mouse.move(*cell_at(page, query, key))
        expect_showing(page, 2, query=query, key=key, cell=True)
    page.mouse.move(5, 5)
    expect_showing(page, 2)
    expect_search(page, LINK | {"query": "2", "stage": "mixed"})


def test_what_is_chosen_in_one_part_is_held_by_all_and_by_the_address_though_answers_are_late(
    open_page,
):
    page = open_page(cross(), before=lambda page: page.add_init_script(LATE))
    expect_heatmap(page)
    steps = page.evaluate("history.length")

    def expect_chosen(query: int) -> None:
        expect_showing(page, query)
        expect_search(page, LINK | ({"query": str(query)} if query else {}))
        page.wait_for_function(TOLD, arg=f'"query":{query}')  # and has not answered

    click = "element => { element.click(); return location.search }"
    token = part(page, ".queries .token >> nth=4")
    assert token.evaluate(click).endswith("bank&query=4"), "before the server knows"
    expect_chosen(4)
    page.mouse.click(*cell_at(page, 1, 5))
    expect_chosen(1)
    page.mouse.move(5, 5)
    part(page, ".queries").focus()
    for key, query in {"ArrowDown": 2, "End": 5, "ArrowUp": 4, "Home": 0}.items():
        page.keyboard.press(key)
        expect_chosen(query)
    expect(nearest(page)).to_have_text(WORDS[0])
    expect_rest(page)
    assert page.evaluate("window.seen") == [None, "4", "1", "2", "5", "4", None]
    assert page.evaluate("history.length") == steps + 3, "two clicks, and keys that move on"

    cells, image = part(page, ".attention-cells[data-version]"), "cells => cells.toDataURL()"
    painted = cells.evaluate(image)
    scores = part(page, ".stages").get_by_role("radio", name="scores", exact=True)
    assert scores.evaluate(click).endswith("bank&stage=scores")
    expect_stage(page, "scores")
    assert cells.evaluate(image) != painted
    scores.press("ArrowUp")
    expect_stage(page, "weights")
    expect(part(page, ".stages [aria-checked=true]")).to_be_focused()
    expect_search(page, LINK)
    assert cells.evaluate(image) == painted


def test_every_number_in_a_cell_can_be_read_in_every_theme_and_on_paper(open_page):
    page = open_page(cross(mask=("length", "window")))
    expect_heatmap(page)
    weights = result_of(SENTENCE, SENTENCE, mask=("length", "window")).trace.weights
    shown = {"numbers": int((weights > 0).sum()), "contrast": True}
    for change in ({}, {"color_scheme": "dark"}, {"media": "print"}, {"media": "screen"}):
        page.emulate_media(**change)
        eventually(page, lambda: page.evaluate(WRITTEN), shown)
    entropies = part(page, ".attention-entropy div:not(.title)").all_text_contents()
    attends = [bool(row.any()) for row in weights]
    assert [text != "—" for text in entropies] == attends
    assert not all(attends)


def test_the_numbers_worked_out_in_the_browser_are_written_and_told_where_they_belong(open_page):
    """Look at each step: `tests/app/test_worked_out.py` holds its numbers to those of torch."""
    settings: dict[str, Any] = {"mask": ("causal",), "variant": "talking", "head": 2}
    page = open_page(cross(vectors="random", d_model=10, **settings))
    trace = result_of(SENTENCE, SENTENCE, d_model=10, **settings).trace
    part(page, ".queries .token >> nth=2").click()
    for selector, numbers in (
        (".keys small", [f"{x:.2f}" for x in trace.weights[2, :3]] + ["masked"] * 3),
        (".terms tbody .weight span + span", [f"{x:.2f}" for x in trace.applied[2]]),
        (".terms tbody td:last-child", [f"{100 * x:.1f} %" for x in shares(trace, 2)]),
    ):
        expect(part(page, selector)).to_have_text([x.replace("-", "−") for x in numbers])
    for strip, told in (("tbody", f"{WORDS[-1]}, dimension 0"), ("tfoot", "y, dimension 0")):
        numbers = part(page, f".terms {strip} canvas")
        numbers.hover(position={"x": 1, "y": numbers.bounding_box()["height"] - 1})
        expect(part(page, ".terms .readout")).to_contain_text(told)


def test_the_diagram_has_the_strongest_keys_follows_what_is_chosen_and_fits_a_phone(open_page):
    link = {"s": " ".join([*WORDS, *map(str, range(34))]), "vectors": "random", "fold": "numbers"}
    page = open_page("/?" + urlencode(link))
    part(page, ".diagram summary").click()  # behind the sum, which shows the same numbers
    flow = part(page, ".flow")
    expect(flow.locator(".key")).to_have_count(12)
    expect(part(page, ".diagram .more")).to_contain_text("28 more keys, together of weight ")
    page.get_by_role("option").nth(4).click()
    expect(flow.locator(".end bdi")).to_have_text("river")
    flow.locator("div.weight").nth(2).hover()
    key = flow.locator(".key bdi").nth(2).inner_text()
    for pointed in (".flow .key.pointed bdi", ".terms tr.pointed bdi"):
        expect(part(page, pointed)).to_have_text(key)
    page.mouse.move(5, 5)
    expect(flow.locator(".pointed")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    expect_to_fit(page)
    assert flow.evaluate("flow => flow.scrollWidth <= flow.clientWidth")
