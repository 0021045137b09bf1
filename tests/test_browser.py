"""What a person really sees: links, components and pages in Chromium."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy
import pandas
import pytest
import torch
from PIL import Image

from attention.core.settings import Setting, Value, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.pipeline import Selection, Settings
from tests.browsing import Open, Page, search, settle
from tests.hostile import HOSTILE
from tests.serving import serving

api = pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")


CELLS = ".st-key-weights_heatmap canvas[data-version]"


def fingerprint(page: Page) -> dict[str, Any]:
    """Everything on the page that a person could compare."""
    return {
        "chosen": page.get_by_role("radio", checked=True).all_inner_texts(),
        "numbers": [box.input_value() for box in page.get_by_role("spinbutton").all()],
        "texts": [box.input_value() for box in page.get_by_role("textbox").all()],
        "sliders": [
            slider.get_attribute("aria-valuenow") for slider in page.get_by_role("slider").all()
        ],
        "tokens": page.get_by_role("option").all_inner_texts(),
        "weights": page.get_by_test_id("stMain").get_by_role("listitem").all_inner_texts(),
        "equation": page.locator(".equation").inner_text(),
        "nearest": page.locator(".nearest").all_inner_texts(),
        "heatmap": page.locator(CELLS).evaluate("canvas => canvas.toDataURL()"),
        "terms": page.locator("tbody tr").all_inner_texts(),
        "strip": page.locator(".st-key-terms canvas").first.evaluate(
            "canvas => canvas.toDataURL()"
        ),
    }


def set_by_hand(page: Page, name: str, about: Setting, default: Value) -> None:
    """Change one setting as a person would, to something that is not its default."""
    field = page.locator(f".st-key-{name}")
    choices = [choice for choice in about.choices() if choice != default]
    if choices:
        field.get_by_role("radio", name=choices[-1], exact=True).click()
    elif isinstance(default, float) or about.divides:
        field.get_by_role("slider").press("ArrowRight")
    else:
        wanted = {"s": "he said she said", "cells": "0:1,2 2:*"}.get(name)
        box = field.get_by_role("textbox" if isinstance(default, str) else "spinbutton")
        box.fill(wanted or str(2 if default != 2 else 3))
        box.press("Enter")
    settle(page)
    assert name in search(page)


def check_link(page: Page, open_page: Open) -> None:
    link = "/?" + urlsplit(page.url).query
    assert fingerprint(open_page(link)) == fingerprint(page)


def test_the_page_opens_on_the_sentence_and_its_heatmap(open_page: Open) -> None:
    page = open_page()
    assert page.get_by_role("option").all_inner_texts() == tokenize("the cat walks on the street")
    assert page.locator(CELLS).count() == 1
    assert search(page) == {}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_link_shows_the_same_view_for_every_field_of_a_variant(
    variant: str, open_page: Open
) -> None:
    page = open_page(f"/?variant={variant}" if variant != "dot" else "/")
    for name, (default, about) in settings_of(VARIANTS[variant].Config).items():
        set_by_hand(page, name, about, default)
    check_link(page, open_page)


@pytest.mark.parametrize(
    "given",
    [
        {"scale": "factor"},
        {"scale": "none", "vectors": "random"},
        {"mask": "causal", "positions": "sinusoidal"},
        {"mask": "length", "positions": "rotary"},
        {"mask": "window", "positions": "alibi"},
        {"mask": "custom"},
    ],
    ids=str,
)
def test_a_link_shows_the_same_view_for_every_shared_setting(
    given: dict[str, str], open_page: Open
) -> None:
    page = open_page("/")
    shared = settings_of(Settings)
    for name, value in given.items():
        page.locator(f".st-key-{name}").get_by_role("radio", name=value, exact=True).click()
        settle(page)
    for name, (default, about) in shared.items():
        if about.when and given.get(about.when[0]) == about.when[1]:
            set_by_hand(page, name, about, default)
    check_link(page, open_page)


def test_a_link_carries_sentence_stage_and_query(open_page: Open) -> None:
    page = open_page()
    set_by_hand(page, "s", *reversed(settings_of(Settings)["s"]))
    set_by_hand(page, "stage", settings_of(Selection)["stage"][1], "weights")
    set_by_hand(page, "query", *reversed(settings_of(Selection)["query"]))
    page.get_by_role("radio", name="scaled", exact=True).click()
    settle(page)
    assert search(page) == {"s": "he said she said", "stage": "scaled", "query": "2"}
    check_link(page, open_page)


def test_the_sentence_updates_while_one_types(open_page: Open) -> None:
    page = open_page()
    box = page.get_by_label("Sentence")
    box.click()
    box.press("End")
    box.press_sequentially(" slowly", delay=30)
    api.expect(page.get_by_role("option").last).to_have_text("slowly")


def test_hovering_previews_without_choosing(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("option").nth(5).hover()
    api.expect(page.get_by_role("status")).to_contain_text("“street” attends most to itself")
    assert "query" not in search(page)
    assert page.locator(".equation").inner_text().startswith("ythe")


def test_hovering_over_a_cell_tells_the_numbers_that_stand_in_the_table(open_page: Open) -> None:
    page = open_page("/?query=2")
    box = page.locator(CELLS).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 1.5 / 6, box["y"] + box["height"] * 2.5 / 6)
    told = page.locator(".attention-tip").inner_text().splitlines()
    row = page.locator("tbody tr").nth(1).locator("td")
    weight, score, scaled = (row.nth(cell).inner_text() for cell in (0, 1, 2))
    assert told[:2] == ["query  walks (2)", "key  cat (1)"]
    assert told[2:] == [f"score  {score}", f"scaled  {scaled}", f"weight  {weight}"]


def test_both_figures_save_themselves_as_svg(open_page: Open) -> None:
    page = open_page()
    buttons = {
        "attention-weights.svg": page.locator(".st-key-weights_heatmap [data-title='Save as SVG']"),
        "weighted-sum.svg": page.get_by_text("Save as SVG"),
    }
    titles = page.locator(".modebar-btn").evaluate_all("all => all.map(b => b.dataset.title)")
    assert not [title for title in titles if "cloud" in title.lower() or "share" in title.lower()]
    for name, button in buttons.items():
        with page.expect_download() as download:
            button.click(force=True)
        assert download.value.suggested_filename == name
        assert Path(download.value.path()).read_text("utf-8").startswith("<svg")


def test_pointing_at_the_heatmap_while_its_labels_are_on_their_way_loses_none(
    browser: Any, server: str
) -> None:
    page = browser.new_page()
    faults: list[str] = []
    held: list[Any] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route("**/plotly.min.js", lambda route: held.append(route))
    page.goto(server)
    page.locator(".attention-heatmap").hover()
    page.locator(CELLS).wait_for(state="attached")
    page.locator(".attention-heatmap").hover(position={"x": 90, "y": 60})
    assert page.locator(".xtick").count() == 0
    held[0].continue_()
    page.locator(".attention-heatmap .xtick").get_by_text("street").wait_for()
    assert faults == []
    page.close()


@pytest.mark.parametrize("words", [16, 64])
def test_the_cells_painted_are_those_that_plotly_draws_to_zoom_into(
    words: int, open_page: Open
) -> None:
    page = open_page("/?" + urlencode({"s": many_words(words)}))
    before = page.locator(CELLS).get_attribute("data-version")
    page.get_by_role("radiogroup", name="Mask").get_by_role("radio", name="causal").click()
    cells = page.locator(CELLS)
    api.expect(cells).not_to_have_attribute("data-version", str(before))
    page.mouse.move(5, 5)
    box = cells.bounding_box()
    ours = pixels(page, box)
    page.locator(".hm image").dispatch_event("pointermove", {"bubbles": True})
    page.wait_for_timeout(500)
    page.locator(".attention-frame").evaluate("frame => frame.classList.add('zoomed')")
    assert numpy.abs(pixels(page, box) - ours).mean() < 2.0
    assert numpy.ptp(ours) > 100


def test_a_long_sentence_can_be_zoomed_into_and_seen_whole_again(open_page: Open) -> None:
    page = open_page("/?" + urlencode({"s": many_words(64)}))
    cells, plotly = page.locator(CELLS), page.locator(".hm image")
    assert cells.is_visible()
    assert not plotly.is_visible()
    box = cells.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.25)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=5)
    page.mouse.up()
    api.expect(plotly).to_be_visible()
    assert not cells.is_visible()
    page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    api.expect(cells).to_be_visible()
    assert not plotly.is_visible()


def many_words(count: int) -> str:
    """16 or 64 different words."""
    return " ".join(f"{one} {two}" for one in "abcdefgh" for two in "ijkl"[: count // 16])


def pixels(page: Page, box: Any) -> Any:
    picture = Image.open(io.BytesIO(page.screenshot(clip=box)))
    return numpy.asarray(picture.convert("RGB"), dtype=numpy.float64)


def test_clicking_chooses_a_query_and_leaves_the_settings_alone(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("option").nth(4).click()
    api.expect(page.locator(".equation")).to_contain_text("ythe 4 =")
    assert search(page) == {"query": "4"}


def test_arrow_keys_choose_a_query(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("listbox").focus()
    page.keyboard.press("ArrowDown")
    api.expect(page.locator(".equation")).to_contain_text("ycat =")
    page.keyboard.press("End")
    api.expect(page.locator(".equation")).to_contain_text("ystreet =")
    assert search(page) == {"query": "5"}


def test_the_browsers_back_button_undoes_a_choice(open_page: Open) -> None:
    page = open_page()
    for position in (1, 3):
        page.get_by_role("option").nth(position).click()
        settle(page)
    page.go_back()
    api.expect(page.locator(".equation")).to_contain_text("ycat =")


def test_masked_cells_are_hidden_by_click_drag_and_keyboard(open_page: Open) -> None:
    page = open_page("/?mask=custom")

    def cell_at(query: int, key: int) -> Any:
        return page.locator(f"[data-query='{query}'][data-key='{key}']")

    cell_at(0, 1).click()
    settle(page)
    assert search(page)["cells"] == "0:1"
    cell_at(1, 2).hover()
    page.mouse.down()
    cell_at(3, 2).hover()
    page.mouse.up()
    settle(page)
    assert search(page)["cells"] in ("0:1 1:2 3:2", "0:1 1:2 2:2 3:2")
    cell_at(0, 1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    settle(page)
    assert search(page)["cells"].startswith("0:1-2 ")
    assert page.get_by_test_id("stMain").get_by_role("listitem").nth(1).inner_text().split() == [
        "cat",
        "masked",
    ]


def test_the_custom_mask_survives_a_look_at_another_mask(open_page: Open) -> None:
    page = open_page("/?mask=custom&cells=0:1")
    masks = page.locator(".st-key-mask")
    for name in ("causal", "custom"):
        masks.get_by_role("radio", name=name).click()
        settle(page)
    assert search(page) == {"mask": "custom", "cells": "0:1"}


def test_copy_link_copies_the_address(open_page: Open) -> None:
    page = open_page("/?mask=causal&query=2", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    api.expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_downloads_hold_the_numbers_on_the_page(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/?variant=qkv&mask=causal&query=2&vectors=random&d_model=7")
    files = {}
    page.get_by_role("button", name="Download").click()
    for name in ("Weights, CSV", "Table, CSV", "Figures, one HTML file", "PyTorch script"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    weights = pandas.read_csv(files["Weights, CSV"], index_col=0).to_numpy()
    trace = runpy.run_path(str(files["PyTorch script"]))["trace"]
    torch.testing.assert_close(torch.tensor(weights).float(), trace.weights)
    table = pandas.read_csv(files["Table, CSV"])
    torch.testing.assert_close(torch.tensor(table["weight"]).float(), trace.weights[2])
    assert len(files["Figures, one HTML file"].read_text("utf-8")) > 1_000_000


def test_the_standalone_file_draws_without_a_network(
    open_page: Open, browser: Any, tmp_path: Path
) -> None:
    page = open_page()
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Figures, one HTML file").click()
    download.value.save_as(tmp_path / "figures.html")
    requests: list[str] = []
    alone = browser.new_page()
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto((tmp_path / "figures.html").as_uri())
    api.expect(alone.locator(".js-plotly-plot .hm image")).to_have_count(5)
    alone.close()
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("path", ["/explore", "/"])
def test_a_cold_server_shows_a_deep_link_in_its_frame(path: str, open_page: Open) -> None:
    with serving() as address:
        page = open_page(f"{path}?{urlencode({'variant': 'qkv', 'query': 2})}", address=address)
        api.expect(page.locator(".equation")).to_contain_text("ywalks =")
        chosen = page.locator(".st-key-variant").get_by_role("radio", checked=True)
        assert chosen.inner_text() == "qkv"
        assert page.get_by_role("dialog").count() == 0
        page.context.close()


def test_hostile_sentences_do_nothing(open_page: Open) -> None:
    page = open_page()
    for sentence in HOSTILE:
        page.goto(f"{page.url.split('?')[0]}?{urlencode({'s': sentence})}")
        settle(page)
        tokens = tokenize(sentence)
        if tokens:
            shown = page.get_by_role("option").all_text_contents()
            assert shown == tokens
        else:
            api.expect(page.get_by_text("Type a sentence above")).to_be_visible()
        assert page.get_by_test_id("stException").count() == 0
        assert page.locator("img[src*='evil'], a[href*='evil'], a[href^='javascript']").count() == 0


def test_a_bad_link_says_what_it_could_not_have(open_page: Open) -> None:
    page = open_page("/?variant=foo&query=99&nonsense=1")
    notes = page.locator(".note").all_inner_texts()
    assert any(note.startswith("variant must be one of dot, qkv") for note in notes)
    assert "“nonsense” is not a setting; it was left out." in notes
    assert "There is no token 99 in this sentence; showing the last, 5." in notes


@pytest.mark.parametrize("width", [360, 390])
def test_nothing_is_cut_off_at_phone_width(width: int, open_page: Open) -> None:
    page = open_page("/?query=1", viewport={"width": width, "height": 800})
    overflow = page.evaluate(
        """() => {
            const main = document.querySelector('[data-testid=stMain]')
            return main.scrollWidth - main.clientWidth
        }"""
    )
    assert overflow <= 0
    api.expect(page.get_by_test_id("stMain").get_by_role("listitem").first).to_be_in_viewport()


def test_figures_follow_the_theme(open_page: Open) -> None:
    images = {
        scheme: fingerprint(open_page("/?query=1", color_scheme=scheme))["heatmap"]
        for scheme in ("light", "dark")
    }
    assert images["light"] != images["dark"]


def test_figures_have_text_alternatives(open_page: Open) -> None:
    page = open_page()
    html = page.content()
    assert re.search(r"Heatmap of the weights: queries down, keys across", html)
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert [head.split()[0] for head in heads[:2]] == ["key", "weight"]
