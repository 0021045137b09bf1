"""Two sequences in Chromium: two boxes, two lists of tokens, and batches."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.browser.browsing import (
    Open,
    eventually,
    expect,
)


def test_hovering_tells_query_and_key_of_their_own_sentences_and_what_hides_a_cell(
    open_page: Open,
) -> None:
    page = open_page("/cross?mask=causal&mask=length&valid_len=1")
    page.locator(".attention-heatmap .xtick").last.wait_for()

    def told() -> list[str]:
        """Lines told of a hidden cell."""
        box = page.locator(".attention-cells").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.5 / 3)
        lines = str(page.locator(".attention-tip").inner_text()).splitlines()
        return [*lines[:2], *lines[-1:]]

    hidden = "hidden by the causal mask and the valid length"
    eventually(page, told, ["query  bonjour (0)", "key  world (1)", hidden])


def test_the_shorter_sequence_stays_in_view_while_the_longer_one_scrolls(open_page: Open) -> None:
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


def test_faint_lines_come_from_every_word_of_two_sentences(open_page: Open) -> None:
    page = open_page("/cross?target=one+two+red&memory=three+four")
    curves = "paths => paths.flatMap((path) => path.getAttribute('d').match(/M0,[\\d.]+/g))"
    starts = page.locator(".woven path")
    expect(starts.first).to_be_attached()
    eventually(page, lambda: len(set(starts.evaluate_all(curves))), 3)
