"""Compare in Chromium: side B, swaps, the slider, and pairs of sentences."""

from __future__ import annotations

from attention.analysis import sweeps
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
