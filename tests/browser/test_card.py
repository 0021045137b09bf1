"""The card of what is shown, as it is saved: nothing beyond it, nothing over another."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import segno

from attention.trained import sources
from tests.browser.browsing import expect, expect_rest
from tests.hostile import HOSTILE
from tests.trained.packaged import packaged

WIDTHS = (390, 1280, 1440)
LONG = "the dog that ran along the bank of the river to the town and the house " * 9
TRANSLATION = {"cross": "translated", "model": "en-pt", "query": "3"}
TEAM = {"s": "Anna met Tom at the park. Anna gave the ball to", "off": "0.7 23.3 24.4"}
PAGES = {
    "Play": "/",
    "many words": "/?" + urlencode({"s": LONG}),
    "hostile words": "/?" + urlencode({"s": " ".join(HOSTILE[4:7]) + " " + "W" * 300 + " end"}),
    "Arabic": "/?" + urlencode({"s": "القطة لم تعبر الشارع لأنها كانت متعبة جدا"}),
    "a real model": "/model?model=smollm2&s=The+sun+rises+in+the+east+and+sets+in+the",
    "many words of a model": "/model?model=smollm2&s=" + LONG.replace(" ", "+"),
    "two sequences": "/cross?" + urlencode(TRANSLATION),
    "a team": "/model?model=smollm2&" + urlencode(TEAM),
}

# What is saved is drawn as SVG first, which is kept here.
KEEP = """() => {
  const { createObjectURL } = URL
  URL.createObjectURL = (blob) => {
    if (blob.type === "image/svg+xml") window.card = blob.text()
    return createObjectURL(blob)
  }
}"""
# The parts of the card: kind, box and words of each. Pills and bars are rectangles.
PARTS = """async () => {
  const host = document.createElement("div")
  host.style = "position: fixed; inset: 0 auto auto 0"
  host.innerHTML = await window.card
  document.body.append(host)
  const parts = [...host.firstChild.children].slice(1).map((part) => {
    const { left, top, right, bottom } = part.getBoundingClientRect()
    return [part.localName, [left, top, right, bottom], part.textContent]
  })
  const code = host.querySelector("svg svg .qrline")?.getAttribute("d") ?? ""
  host.remove()
  return [parts, code]
}"""

Part = tuple[str, list[float], str]


def meet(one: Part, other: Part) -> bool:
    """True if two parts lie over each other by more than letters stand beyond their lines."""
    (left, top, right, bottom), (west, north, east, south) = one[1], other[1]
    return min(right, east) - max(left, west) > 1 and min(bottom, south) - max(top, north) > 4


def holds(box: list[float], inner: list[float], beyond: float) -> bool:
    low, high = [one - beyond for one in box[:2]], [one + beyond for one in box[2:]]
    return all(a <= b for a, b in zip(low, inner[:2], strict=True)) and all(
        a >= b for a, b in zip(high, inner[2:], strict=True)
    )


def check(parts: list[Part]) -> None:
    """All is on the card, and nothing lies over another but the word of a pill over that."""
    for at, part in enumerate(parts):
        assert holds([0, 0, 600, 315], part[1], 0.5), part
        for other in parts[at + 1 :]:
            in_pill = part[0] == "rect" and (
                other[0] == "rect" or (other[0] == "text" and holds(part[1], other[1], 3))
            )
            assert in_pill or not meet(part, other), (part, other)


@pytest.mark.parametrize("link", PAGES.values(), ids=PAGES)
def test_on_the_card_of_a_page_nothing_lies_beyond_it_or_over_another(open_page: Any, link: str):
    packaged("smollm2")
    if "en-pt" not in sources.names():
        packaged("en-pt")
    page = open_page(link)
    page.evaluate(f"({KEEP})()")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        expect_rest(page)
        with page.expect_download() as saved:
            if "off=" in link:
                page.locator(".st-key-team").get_by_role("button", name="Save card").click()
            else:
                item = page.get_by_role("menuitem", name="Save card as PNG")
                while not item.is_visible():  # the menu has it once the figure is drawn
                    page.get_by_role("button", name="More ways to share").click()
                    page.wait_for_timeout(500)
                item.click()
        data = Path(saved.value.path()).read_bytes()
        assert (data[:4], struct.unpack(">II", data[16:24])) == (b"\x89PNG", (1200, 630))
        parts, code = page.evaluate(PARTS)
        check(parts)
        said = " ".join(words for *_, words in parts)
        assert "%" in said
        assert ("Next word" in said) == (link.startswith("/model") and "off=" not in link)
        drawn = segno.make_qr(page.url, error="L", boost_error=False) if code else None
        assert bool(code) == (len(page.url) <= 425)
        if drawn:
            assert f'd="{code}"' in drawn.svg_inline(border=4, omitsize=True)
    expect(page.get_by_test_id("stException")).to_have_count(0)
