"""Two sequences in Chromium: two boxes, two lists of tokens, and batches."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.browser.browsing import eventually, expect


def test_the_shorter_sequence_stays_in_view_while_the_longer_one_scrolls(open_page):
    page = open_page("/cross?" + urlencode({"target": "cat " * 60, "query": "50"}))
    expect(page.get_by_role("option", selected=True)).to_be_in_viewport()

    def line_ends_at_its_key() -> bool:
        scroll, key = (
            page.locator(name).first.bounding_box() for name in (".scroll", ".keys .token")
        )
        line = page.locator(".joined path").first.get_attribute("d")
        top = page.locator(".scroll").first.evaluate("scroll => scroll.scrollTop")
        end = float(line.split(",")[-1]) if line else 0.0
        inside = scroll["y"] <= key["y"] <= scroll["y"] + scroll["height"]
        middle = key["y"] + key["height"] / 2 - scroll["y"] + top
        return bool(inside and top > 100 and abs(end - middle) < 1.5)

    eventually(page, line_ends_at_its_key, True)
