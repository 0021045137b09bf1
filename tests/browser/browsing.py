"""A page in Chromium, as the tests here look at it: until it is as expected, never just once."""

from __future__ import annotations

import difflib
import itertools
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from attention.inputs.text import tokenize
from tests.hostile import HOSTILE

api = pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
expect = api.expect

Page = Any
Open = Callable[..., Page]
Show = Callable[[Path], Page]  # opens a file, see `offline`

SECONDS = 30
expect.set_options(timeout=1000 * SECONDS)

NEXT_FRAME = "() => new Promise(requestAnimationFrame)"

# A run may follow the one before at once, or a click that has not been told yet. It is looked for
# by a timer: a tab behind another one has no frames where the machine is busy.
LOOK_EVERY = 16  # ms
LOOKS_AT_REST = 6
RESTS = """looks => {
  const rests = "[data-testid=stApp][data-test-script-state=notRunning]"
  const address = document.querySelector(rests) && location.href
  const { atRest } = window
  const count = address && atRest?.address === address ? atRest.count + 1 : 0
  window.atRest = count < looks ? { address, count } : undefined
  return count >= looks
}"""

# The state of the app, then all that is to be seen, inside the components too: words, what fields
# hold, what is chosen, and a number for each picture. What Streamlit says of a field one has just
# typed into goes away by itself.
EVERYTHING = """() => {
  const seen = [document.querySelector("[data-testid=stApp]").dataset.testScriptState]
  const states = ["aria-checked", "aria-selected", "aria-pressed", "aria-invalid", "aria-valuenow"]
  // An element with no box of its own is none that is hidden.
  const unseen = (node) =>
    getComputedStyle(node).display !== "contents" && !node.checkVisibility()
  const number = (text) => [...text].reduce((sum, c) => (31 * sum + c.charCodeAt(0)) | 0, 0)
  const look = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.data.trim()) seen.push(node.data)
    if (node.nodeType !== Node.ELEMENT_NODE) return
    if (unseen(node) || node.matches("style, [data-testid=InputInstructions]")) return
    if ("value" in node && node.value) seen.push(`${node.localName}: ${node.value}`)
    for (const state of states)
      if (node.hasAttribute(state)) seen.push(`${state}: ${node.getAttribute(state)}`)
    if (node.localName === "canvas")
      seen.push(`${node.width} × ${node.height}: ${number(node.toDataURL())}`)
    for (const child of (node.shadowRoot ?? node).childNodes) look(child)
  }
  for (const part of document.querySelectorAll("[data-testid=stSidebar], [data-testid=stMain]"))
    look(part)
  return seen
}"""

FITS = """() => {
  const main = document.querySelector("[data-testid=stMain]")
  return main.scrollWidth <= main.clientWidth
}"""

# Streamlit unfolds by an animation, under which no click counts.
UNFOLDED = """() => {
  const folded = document.querySelector(".st-key-more_settings details")
  return folded.open && !folded.getAnimations({ subtree: true }).length
}"""

WORKED_OUT = 120_000  # milliseconds
DROPDOWN = re.compile("st(SelectboxVirtual|MultiSelect)Dropdown")
FOREIGN = "img, script, iframe, a[href*='//evil'], a[href^=javascript]"


def eventually(page: Page, read: Callable[[], Any], expected: Any) -> None:
    """Until what is read is what is expected, read anew after each frame of the page.

    expected: what to compare with, or a function that reads it anew too.
    """
    give_up = time.monotonic() + SECONDS
    while True:
        now, wanted = read(), expected() if callable(expected) else expected
        if now == wanted or time.monotonic() > give_up:
            break
        page.wait_for_function(NEXT_FRAME)
    if now != wanted:
        raise AssertionError(difference(wanted, now))


def difference(expected: Any, seen: Any) -> str:
    """Both; of two lists the lines in which they differ, with some of those around."""
    if not (isinstance(expected, list) and isinstance(seen, list)):
        return f"expected {expected!r}, got {seen!r}"[:2000]
    lines = difflib.unified_diff(expected, seen, "expected", "got", n=3, lineterm="")
    return "\n".join(line[:200] for line in itertools.islice(lines, 40))


def search(page: Page) -> dict[str, str]:
    """The settings in the address bar; those of one name with commas between."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True):
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def with_messages(through: str) -> str:
    """A script after which each message of the server comes by way of a function.

    through: the function, in JavaScript: it gets what handles a message, and gives what is to.
    """
    return f"""
const through = {through}
const listen = WebSocket.prototype.addEventListener
WebSocket.prototype.addEventListener = function (name, task, ...more) {{
  return listen.call(this, name, name === "message" ? through(task) : task, ...more)
}}
const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage")
const set = function (task) {{ own.set.call(this, through(task)) }}
Object.defineProperty(WebSocket.prototype, "onmessage", {{ ...own, set }})
"""


LATENCY = 150  # milliseconds each way
FAR_AWAY = f"""
const {{ send }} = WebSocket.prototype
WebSocket.prototype.send = function (data) {{ setTimeout(() => send.call(this, data), {LATENCY}) }}
""" + with_messages(
    f"(task) => function (event) {{ setTimeout(() => task.call(this, event), {LATENCY}) }}"
)


def expect_search(page: Page, settings: dict[str, str]) -> None:
    """Until the address bar holds these settings and no others."""
    eventually(page, lambda: search(page), settings)


def expect_in_search(page: Page, name: str, value: str | None = None) -> None:
    """Until the address bar holds that setting, and with that value if one is given."""
    if value is None:
        eventually(page, lambda: name in search(page), True)
    else:
        eventually(page, lambda: search(page).get(name), value)


def expect_heatmap(page: Page) -> None:
    """Until the heatmap is whole: its labels come last."""
    expect(page.locator(".attention-heatmap .xtick").last).to_be_attached()


def expect_rest(page: Page, most: float = WORKED_OUT, latency: float = 0) -> None:
    """Until no run of the app has been under way for some looks: what the last made has come.

    most: milliseconds, as many as all heads of a model take on a busy machine; latency: each way,
    of messages.
    """
    looks = LOOKS_AT_REST + 2 * latency // LOOK_EVERY
    page.wait_for_function(RESTS, arg=looks, polling=LOOK_EVERY, timeout=most)


def go_back(page: Page) -> None:
    """Take the browser's step back once the page rests: the end of a run may undo one before."""
    expect_rest(page)
    page.go_back()


def go_forward(page: Page) -> None:
    """Take the browser's step forward, see `go_back`."""
    expect_rest(page)
    page.go_forward()


def expect_the_same(page: Page, other: Page) -> None:
    """Until one sees the same on both pages, and neither has more to run."""
    for each in (page, other):
        each.mouse.move(5, 5)
        expect_rest(each)  # before, what is folded may be on its way out
        folded = each.locator(".st-key-more_settings details:not([open])").locator("visible=true")
        if folded.count():
            folded.locator("summary").click()
        expect_rest(each)
    eventually(page, lambda: page.evaluate(EVERYTHING), lambda: other.evaluate(EVERYTHING))


def values(page: Page, label: str) -> list[str]:
    """The text of a field; of the one before it too, while the run that makes it anew goes on."""
    fields = page.get_by_label(label, exact=True)
    return [*fields.evaluate_all("fields => fields.map((field) => field.value)")]


def check_link(page: Page, open_page: Open) -> Page:
    """Whoever opens the page's address sees what the page shows."""
    expect_rest(page)
    other = open_page(page.evaluate("location.pathname + location.search"), beside=page)
    expect_the_same(other, page)
    return other


def expect_to_fit(page: Page) -> None:
    """Until nothing reaches beyond the right edge; to be asked once all is drawn."""
    expect_rest(page)
    page.wait_for_function(FITS)


def expect_harmless(page: Page) -> None:
    """Nothing a sentence could have smuggled in stands on the page, once all is drawn."""
    expect_rest(page)
    assert page.get_by_test_id("stMain").locator(FOREIGN).count() == 0


def unfolded(page: Page, name: str) -> Any:
    """The widget of a setting, with those folded away unfolded where it is one of them."""
    field = page.locator(f".st-key-{name}")
    if page.get_by_test_id(DROPDOWN).count():  # a list of several, which hides all else
        page.keyboard.press("Escape")
        expect(page.get_by_test_id(DROPDOWN)).to_have_count(0)
    more = page.get_by_role("button", name="More", exact=True)
    closed = more.count() and more.get_attribute("aria-expanded") != "true"
    if closed and not field.locator("visible=true").count():
        more.click()
    field.wait_for(state="attached")
    folded = page.locator(".st-key-more_settings details:not([open])").filter(has=field)
    if folded.count():
        folded.locator("summary").click()
        page.wait_for_function(UNFOLDED)
    return field


def _named(option: str) -> re.Pattern[str]:
    """An option, with or without words on it behind a dot."""
    return re.compile(rf"^{re.escape(option)}( · |$)")


def expect_listed(page: Page, name: str, option: str) -> None:
    """Until that option of a list to open is the chosen one."""
    expect(page.locator(f".st-key-{name} input[role=combobox]")).to_have_value(_named(option))


def choice(page: Page, name: str, option: str) -> Any:
    """One of the choices of a setting: of one or several, or of a list, which is opened."""
    field = unfolded(page, name)
    listed = field.get_by_role("combobox")
    field.locator("[role=radiogroup], [role=toolbar], [role=combobox]").first.wait_for()
    if listed.count():
        taken_out = field.get_by_role("button", name=f"Remove {option}")
        if taken_out.count():
            return taken_out
        options = page.get_by_test_id(DROPDOWN).get_by_role("option")

        def opened() -> bool:
            """A list that moves while it is unfolded closes again."""
            if listed.get_attribute("aria-expanded") != "true":
                listed.press("ArrowDown")
            return bool(options.count())

        eventually(page, opened, True)
        return options.get_by_text(_named(option))
    group = field.locator("[role=radiogroup], [role=toolbar]")
    # Focus scrolls to what is chosen, away from under the pointer, where that is out of sight.
    group.evaluate("group => group.scrollIntoView({ block: 'center' })")
    return group.get_by_text(option, exact=True)


def hostile(most: int) -> list[str]:
    """The hostile sentences, as many joined by spaces as have no more tokens than that."""
    joined: list[str] = []
    for sentence in HOSTILE:
        longer = f"{joined[-1]} {sentence}" if joined else sentence
        if joined and len(tokenize(longer)) <= most:
            joined[-1] = longer
        else:
            joined.append(sentence)
    return joined
