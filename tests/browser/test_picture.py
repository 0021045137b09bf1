"""The linked picture in Chromium: what is pointed at or chosen in one part, all parts show."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
import torch
from torch import Tensor

from attention.core.analysis import contributions, shares
from attention.pipeline import Result
from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_rest,
    expect_search,
    expect_to_fit,
    with_messages,
)
from tests.deploy.cutting import cutting
from tests.subjects.explore.how.making import result_of

WORDS = ["she", "sat", "by", "the", "river", "bank"]
LINK = {"s": " ".join(WORDS)}

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
  const lineTo = (line) => {
    if (!line) return null
    const { top } = all(".lines svg")[0].getBoundingClientRect()
    const end = top + Number(line.getAttribute("d").split(",").at(-1))
    const middle = ({ top, height }) => top + height / 2
    return all(".keys .token").findIndex(
      (key) => Math.abs(middle(key.getBoundingClientRect()) - end) < 1.5)
  }
  const term = all(".equation .pointed")[0]
  return {
    held: first(".queries .token", "[aria-selected=true]"),
    outline: along("outline", "top", "height", rows),
    query: first(".queries .token", ".previewed"),
    row: along("row", "top", "height", rows),
    key: first(".keys .token", ".previewed"),
    line: lineTo(all(".lines path.previewed")[0]),
    column: along("column", "left", "width", columns),
    term: term ? Number(term.dataset.key) : null,
    terms: first(".terms tbody tr", ".pointed"),
    tip: all(".attention-tip")[0].checkVisibility(),
    summary: all(".summary")[0].textContent.split("”")[0].slice(1),
    equation: all(".equation bdi")[0].textContent,
  }
}"""

# The server's answers come late, and what it is told is kept.
LATE = """
const send = WebSocket.prototype.send
window.told = []
WebSocket.prototype.send = function (data) {
  if (typeof data !== "string") window.told.push(new TextDecoder("latin1").decode(data))
  return send.call(this, data)
}
""" + with_messages("(task) => function (event) { setTimeout(() => task.call(this, event), 250) }")

TOLD = "words => window.told.some((told) => told.replaceAll(' ', '').includes(words))"

# The numbers in the cells of the heatmap: whether all stand out from their cells by 4.5 to 1, as
# WCAG 2.2 has it, have letters of 11 pixels and lie within their cells, and how many there are.
WRITTEN = """() => {
  const canvas = document.querySelector(".attention-cells")
  const frame = canvas.getBoundingClientRect()
  const spans = [...document.querySelectorAll(".attention-written span")].filter(
    (span) => span.textContent)
  const rows = Number(canvas.dataset.rows)
  const all = document.querySelectorAll(".attention-written span").length
  const [across, down] = [(frame.width * rows) / all, frame.height / rows]
  const light = (colour) => colour
    .map((byte) => byte / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + [0.2126, 0.7152, 0.0722][at] * part, 0.05)
  const contrasts = spans.map((span) => {
    const box = span.getBoundingClientRect()
    const middle = [box.left + box.width / 2 - frame.left, box.top + box.height / 2 - frame.top]
    const dots = [canvas.width / frame.width, canvas.height / frame.height]
    const [x, y] = middle.map((at, side) => Math.floor(at * dots[side]))
    const ground = [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3)
    const ink = getComputedStyle(span).color.match(/\\d+/g).slice(0, 3).map(Number)
    const [less, more] = [light(ink), light(ground)].sort((a, b) => a - b)
    return more / less
  })
  const sizes = spans.map((span) => Number.parseFloat(getComputedStyle(span).fontSize))
  const fit = spans.every((span) => {
    const { width, height } = span.getBoundingClientRect()
    return width < across && height < down
  })
  const [contrast, size] = [Math.min(...contrasts) >= 4.5, Math.min(...sizes) >= 11]
  return { contrast, size, fit, numbers: spans.length }
}"""


def look(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(LOOK)
    return found


def showing(
    held: int, query: int | None = None, key: int | None = None, cell: bool = False
) -> dict[str, Any]:
    """Marks that all parts show: the chosen query, or another one or a key that is pointed at."""
    seen = held if query is None else query
    other = seen if seen != held else None
    return {
        **dict.fromkeys(("held", "outline"), held),
        **{"query": other, "row": seen if cell else other},
        **dict.fromkeys(("key", "line", "column", "term", "terms"), key),
        **{"tip": cell, "summary": WORDS[seen], "equation": WORDS[seen]},
    }


def expect_showing(page: Page, *where: Any, **more: Any) -> None:
    """Until all parts show it; the equation names the strongest keys alone."""
    wanted = showing(*where, **more)

    def written() -> dict[str, Any]:
        there = part(page, f".equation .term[data-key='{wanted['key']}']").count()
        return wanted if there else wanted | {"term": None}

    eventually(page, lambda: look(page), written)


def part(page: Page, selector: str) -> Any:
    return page.locator(f".attention-picture {selector}")


def cell_at(page: Page, query: int, key: int) -> tuple[float, float]:
    """Where the middle of a cell of the heatmap is."""
    box = part(page, ".attention-cells").bounding_box()
    rows, columns = (part(page, f".{name} .token").count() for name in ("queries", "keys"))
    down, across = box["height"] * (query + 0.5) / rows, box["width"] * (key + 0.5) / columns
    return box["x"] + across, box["y"] + down


CHOOSE_WHILE_AWAY = """option => {
  const choose = (_, observer) => {
    observer.disconnect()
    option.click()
  }
  const attributeFilter = ["data-test-connection-state"]
  const app = document.querySelector("[data-testid=stApp]")
  new MutationObserver(choose).observe(app, { attributeFilter })
}"""


def nearest(page: Page) -> Any:
    """The word nearest to the chosen token, which is that token."""
    return page.locator(".st-key-before strong").first


def stage(page: Page, name: str) -> Any:
    return part(page, ".stages").get_by_role("radio", name=name, exact=True)


def expect_stage(page: Page, name: str) -> None:
    """Until the heatmap is of that stage, and the menu says so."""
    expect(part(page, ".stages [aria-checked=true]")).to_have_text(name)
    expect(page.get_by_label(f"Heatmap of the {name}: queries down")).to_be_visible()


# Pointing


def test_what_is_pointed_at_in_one_part_is_shown_by_all_for_as_long(open_page: Open) -> None:
    page = open_page("/?" + urlencode(LINK | {"query": "2"}))
    expect_heatmap(page)
    expect_showing(page, 2)
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
    expect_search(page, LINK | {"query": "2"})


# Choosing


def test_what_is_chosen_in_one_part_is_held_by_all_and_at_once_by_the_address(
    open_page: Open,
) -> None:
    page = open_page("/?" + urlencode(LINK))
    expect_heatmap(page)

    def expect_chosen(query: int) -> None:
        expect_showing(page, query)
        expect_search(page, LINK | ({"query": str(query)} if query else {}))
        expect(nearest(page)).to_have_text(WORDS[query])

    click = "element => { element.click(); return location.search }"
    sentence = "?" + urlencode(LINK)
    token = part(page, ".queries .token >> nth=4")
    assert token.evaluate(click) == f"{sentence}&query=4", "before the server knows"
    assert look(page) == showing(4)
    expect_chosen(4)
    page.mouse.click(*cell_at(page, 1, 5))
    expect_chosen(1)
    page.mouse.move(5, 5)
    part(page, ".queries").focus()
    for key, query in {"ArrowDown": 2, "End": 5, "ArrowUp": 4, "Home": 0}.items():
        page.keyboard.press(key)
        expect_chosen(query)

    cells = part(page, ".attention-cells[data-version]")
    painted = cells.evaluate("canvas => canvas.toDataURL()")
    assert stage(page, "scores").evaluate(click) == f"{sentence}&stage=scores"
    expect_stage(page, "scores")
    assert cells.evaluate("canvas => canvas.toDataURL()") != painted
    stage(page, "scores").focus()
    for key, name in {"ArrowRight": "scaled", "ArrowLeft": "scores", "ArrowUp": "weights"}.items():
        page.keyboard.press(key)
        expect_stage(page, name)
        expect(stage(page, name)).to_be_focused()
    expect_search(page, LINK)
    assert cells.evaluate("canvas => canvas.toDataURL()") == painted


def test_late_answers_of_the_server_neither_undo_a_choice_nor_fill_the_history(
    open_page: Open,
) -> None:
    link = "/?" + urlencode(LINK | {"mask": "causal"})
    page = open_page(link, before=lambda page: page.add_init_script(LATE))
    expect_heatmap(page)
    before = page.evaluate("history.length")
    page.evaluate("""() => {
      window.seen = []
      const note = () => {
        const query = new URLSearchParams(location.search).get("query")
        if (window.seen.at(-1) !== query) window.seen.push(query)
        requestAnimationFrame(note)
      }
      note()
    }""")
    part(page, ".queries").focus()
    for query in range(1, 6):
        page.keyboard.press("ArrowDown")
        expect_showing(page, query)
        page.wait_for_function(TOLD, arg=f'"query":{query}')  # and has not answered
    expect(nearest(page)).to_have_text(WORDS[5])
    assert page.evaluate("window.seen") == [None, "1", "2", "3", "4", "5"]
    assert page.evaluate("history.length") == before


def test_every_number_in_a_cell_can_be_read_in_every_theme_on_paper_and_only_where_it_has_room(
    open_page: Open,
) -> None:
    page = open_page("/?mask=length&mask=window")
    expect_heatmap(page)
    weights = result_of("the cat walks on the street", mask=("length", "window")).trace.weights
    shown = {"contrast": True, "size": True, "fit": True, "numbers": int((weights > 0).sum())}
    for change in ({}, {"color_scheme": "dark"}, {"media": "print"}, {"media": "screen"}):
        page.emulate_media(**change)
        eventually(page, lambda: page.evaluate(WRITTEN), shown)
    told = part(page, ".attention-entropy div:not(.title)")
    attends = [bool(row.any()) for row in weights]
    assert [text != "—" for text in told.all_text_contents()] == attends
    assert not all(attends)
    page.set_viewport_size({"width": 250, "height": 900})
    expect(part(page, ".attention-written span")).to_have_count(0)


def test_what_a_link_names_that_is_not_here_is_the_nearest_with_a_word(open_page: Open) -> None:
    page = open_page("/?" + urlencode(LINK | {"query": "77", "stage": "mixed"}))
    expect_heatmap(page)
    expect_showing(page, 5)
    expect_stage(page, "weights")
    note = part(page, ".lines .note")
    expect(note).to_have_text("That word is gone; the last one is selected.")
    part(page, ".queries .token >> nth=5").click()
    expect(note).to_be_hidden()
    expect_search(page, LINK | {"query": "5", "stage": "mixed"})


# Numbers


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("%", "").replace("‖y‖", ""))


def near(texts: list[str], numbers: Tensor, digits: int) -> bool:
    """True if the texts on the page are these numbers, rounded."""
    found = torch.tensor([read(text) for text in texts], dtype=torch.float64)
    apart = 0.51 * 10.0**-digits + 1e-5
    return found.shape == numbers.shape and bool(((found - numbers).abs() <= apart).all())


def check_numbers(page: Page, result: Result, query: int) -> None:
    """The weights and the terms that the page has written out are torch's own; what is out of sight
    is written a moment later."""
    trace, keys = result.trace, result.key_tokens
    weights, applied = trace.weights[query].double(), trace.applied[query].double()
    allowed = weights >= 0 if trace.mask is None else trace.mask[query]

    def every_weight_is_told() -> bool:
        told = part(page, ".keys .token small").all_inner_texts()
        numbers = [text for text in told if text != "masked"]
        seen = [text != "masked" for text in told] == allowed.tolist()
        return seen and near(numbers, weights[allowed], 2)

    def equation_is_right() -> bool:
        terms = part(page, ".equation .term")
        written = [int(term.get_attribute("data-key")) for term in terms.all()]
        sizes = [text.lstrip("−") for text in terms.locator("b").all_inner_texts()]
        return near(sizes, applied[written].abs(), 2)

    expected = [
        (contributions(trace, query).double().norm(dim=1), 2),
        (100 * shares(trace, query), 1),
    ]

    def terms_are_right() -> bool:
        lines = part(page, ".terms tbody tr")
        shown = lines.locator("td.weight span:last-child").all_inner_texts()
        cells = [line.locator("td.number").all_inner_texts() for line in lines.all()]
        *_, length, _ = part(page, ".terms tfoot td.number").all_inner_texts()
        columns = zip(map(list, zip(*cells, strict=True)), expected, strict=True)
        return (
            lines.locator("bdi").all_inner_texts() == [*keys]
            and near(shown, applied, 2)
            and all(near(column, numbers.double(), digits) for column, (numbers, digits) in columns)
            and near([length], trace.output[query].double().norm()[None], 2)
        )

    for is_right in (every_weight_is_told, equation_is_right, terms_are_right):
        eventually(page, is_right, True)
    check_readout(page, result, query)


def check_readout(page: Page, result: Result, query: int) -> None:
    """Pointing at the strip tells a number of a term with both its factors."""
    trace = result.trace
    strip = part(page, ".terms tbody canvas")
    box = strip.bounding_box()
    rows, width = trace.values.shape
    strip.hover(position={"x": box["width"] * 1.5 / width, "y": box["height"] * 1.5 / rows})
    weight, value = trace.applied[query, 1], trace.values[1, 1]
    readout = part(page, ".terms .readout")
    expect(readout).to_contain_text(f"{result.key_tokens[1]}, dimension 1: ")
    told = readout.inner_text().split(": ")[1].replace("=", "·").split(" · ")
    expected = weight * value, weight, value
    assert [read(text) for text in told] == pytest.approx([float(x) for x in expected], rel=1e-4)


LONG = " ".join(f"w{number}" for number in range(40))
MASKED: dict[str, Any] = {"mask": ("causal", "length"), "valid_len": 2, "positions": "alibi"}


def test_the_numbers_worked_out_in_the_browser_are_torchs_own(open_page: Open) -> None:
    """All other settings: `tests/app/test_worked_out.py`."""
    settings = MASKED | {"variant": "talking", "head": 2, "d_model": 10}
    page = open_page("/?" + urlencode({"s": "a b c d e", "vectors": "random"} | settings, True))
    result = result_of("a b c d e", **settings)
    for query in (0, 4):
        part(page, f".queries .token >> nth={query}").click()
        page.mouse.move(5, 5)
        expect(part(page, ".equation bdi").first).to_have_text(result.tokens[query])
        check_numbers(page, result, query)


def test_the_diagram_is_folded_by_keys_and_follows_what_is_chosen_and_pointed_at(
    open_page: Open,
) -> None:
    page = open_page("/?" + urlencode(LINK))
    expect_heatmap(page)
    flow = part(page, ".flow")
    expect(flow.locator(".end bdi")).to_have_text("she")
    for folded in (True, False):
        part(page, "summary").focus()
        page.keyboard.press("Enter")
        expect(flow).to_be_visible(visible=not folded)
    part(page, ".queries .token >> nth=4").click()
    expect(flow.locator(".end bdi")).to_have_text("river")
    flow.locator("div.weight").nth(2).hover()
    expect_showing(page, 4, key=2)
    expect(flow.locator(".key.pointed bdi")).to_have_text("by")
    page.mouse.move(5, 5)
    expect(flow.locator(".pointed")).to_have_count(0)


def test_of_many_keys_the_diagram_shows_the_strongest_and_fits_a_phone(open_page: Open) -> None:
    phone = {"viewport": {"width": 390, "height": 800}}
    page = open_page("/?" + urlencode({"s": LONG, "vectors": "random"}), **phone)
    expect_heatmap(page)
    flow = part(page, ".flow")
    expect(flow.locator(".key")).to_have_count(12)
    expect(part(page, ".diagram .more")).to_contain_text("28 more keys, together of weight ")
    expect_to_fit(page)
    assert flow.evaluate("flow => flow.scrollWidth <= flow.clientWidth")


def test_a_token_chosen_while_the_server_is_away_is_known_to_it_later(
    open_page: Open, server: str
) -> None:
    with cutting(server) as (address, cut):
        page = open_page(address=address)
        expect(nearest(page)).to_have_text("the")
        expect_rest(page)
        page.get_by_role("option").nth(5).evaluate(CHOOSE_WHILE_AWAY)
        cut()
        expect(nearest(page)).to_have_text("street")
        expect_search(page, {"query": "5"})
