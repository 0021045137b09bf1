"""Compare in Chromium: side B, swaps, the slider, and pairs of sentences."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import numpy
import pytest
from torchtext.vocab import Vectors

from attention.analysis import sweeps
from attention.pipeline import Settings, compute
from tests.browser.browsing import (
    Open,
    check_link,
    choice,
    eventually,
    expect,
    expect_in_search,
    expect_rest,
    expect_search,
    search,
)


def test_changes_of_b_and_a_swap_are_painted_and_live_in_the_link(open_page: Open) -> None:
    page = open_page("/compare?mask=causal")
    choice(page, "b_variant", "gaussian").click()
    expect_in_search(page, "b_variant")
    sigma = page.locator(".st-key-b_sigma").get_by_role("slider")
    expect(sigma).to_be_visible()
    expect_rest(page)
    sigma.press("ArrowRight")
    expect_in_search(page, "b_sigma")
    link = {"mask": "causal", "b_variant": "gaussian", "b_sigma": "1.1"}
    assert link.items() <= search(page).items()
    expect(page.locator(".differs")).to_contain_text("σ: — → 1.1")
    check_link(page, open_page)

    page.get_by_role("button", name="Swap A and B").click()
    expect_in_search(page, "variant", "gaussian")
    expect_in_search(page, "b_mask", "causal")


@pytest.mark.parametrize(("factor", "written"), [("0.1414", False), ("0.2", True)])
def test_differences_too_small_for_the_decimals_of_a_cell_are_left_to_the_colours(
    open_page: Open, factor: str, written: bool
) -> None:
    page = open_page("/compare?" + urlencode({"b_scale": "factor", "b_factor": factor}))
    filled = "all => all.map(each => each.childElementCount > 0)"
    numbers = page.locator(".box:not(.bits) .written")
    eventually(page, lambda: numbers.evaluate_all(filled), [True, True, written])


def test_pointing_tells_both_weights_and_their_difference_and_keys_choose_a_row(
    open_page: Open,
) -> None:
    page = open_page("/compare?query=1")
    row = page.locator(".numbers").first.locator("tbody tr").first.locator("td")
    a, b, change = (row.nth(cell).inner_text() for cell in (0, 1, 2))
    cells = page.locator(".box").nth(1)

    def pointed_at() -> str:
        box = cells.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 1.5 / 6, box["y"] + box["height"] * 1.5 / 6)
        words: str = page.locator(".readout").inner_text()
        return words

    eventually(page, pointed_at, f"“cat” to “cat”: A {a} · B {b} · B − A +{change}")
    page.get_by_role("application").focus()
    page.keyboard.press("End")
    expect_search(page, {"query": "5"})
    expect(page.locator(".readout")).to_contain_text("“street”")


def test_the_slider_shows_the_numbers_torch_works_out(open_page: Open, glove: Vectors) -> None:
    """All other settings and values: `tests/app/test_worked_out.py`."""
    link = {"positions": "alibi", "mask": "causal", "query": "3"}
    page = open_page("/compare?" + urlencode({"compare": "sweep", "sweep": "scale"} | link))
    result = compute(Settings(positions="alibi", mask=("causal",)), lambda name: glove)
    swept = sweeps.sweep(result.trace, "scale", 1.0, result.masks)
    slider = page.locator(".slider input")

    def as_torch_has_it() -> bool:
        weights = swept.weights(swept.values[int(slider.input_value())])[3]
        texts = page.locator(".line small").all_inner_texts()
        numbers = [0.0 if text == "masked" else float(text) for text in texts]
        return numpy.allclose(numbers, weights, atol=1e-5)

    expect(slider).to_have_attribute("aria-valuetext", re.compile("."))
    for press in ("End", "PageDown", "ArrowLeft"):
        before, kept = slider.input_value(), search(page).get("sweep_at")
        slider.press(press)
        eventually(page, lambda before=before: slider.input_value() != before, True)
        eventually(page, as_torch_has_it, True)
        eventually(page, lambda kept=kept: search(page).get("sweep_at") != kept, True)


def test_the_slider_moves_without_a_round_trip_and_its_value_is_kept_when_let_go(
    open_page: Open,
) -> None:
    page = open_page("/compare?compare=sweep")
    slider, lines = page.locator(".slider input"), page.locator(".line small")
    expect(lines).to_have_count(6)
    expect_rest(page)
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    before = lines.all_inner_texts()
    page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    eventually(page, lambda: lines.all_inner_texts() != before, True)
    assert "sweep_at" not in search(page)
    page.mouse.up()
    expect_in_search(page, "sweep_at")
    kept = float(search(page)["sweep_at"])
    assert kept == sweeps.sweep_values("scale", 6)[int(slider.input_value())]
    button = page.get_by_role("button", name="scores × 0.2")
    button.click()
    expect_search(page, {"compare": "sweep", "sweep_at": "0.2"})
    expect(button).to_have_attribute("aria-pressed", "true")
