"""Explore in Chromium: what one sees, points at, chooses, types, saves and sends."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy
import pandas
import pytest
import torch
from PIL import Image

from attention.core.printing import distinct_names
from attention.core.settings import Setting, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.pipeline import Settings
from tests.browser.browsing import (
    Open,
    Page,
    check_link,
    choice,
    eventually,
    expect,
    expect_harmless,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
    expect_to_fit,
    hostile,
    search,
    unfolded,
)
from tests.hostile import HOSTILE

CELLS = ".attention-cells[data-version]"
PLOTLYS = ".hm image"
MOST_LABELLED = 32

# What is set by hand in one visit: a variant, and for these settings one of their choices.
VISITS: dict[str, dict[str, str]] = {
    "grouped": {"scale": "none", "vectors": "random", "mask": "causal"},
    "qkv": {"mask": "cells", "positions": "rotary"},
    "talking": {"mask": "causal,length", "positions": "sinusoidal"},
    "gaussian": {"scale": "factor", "mask": "length,window", "positions": "alibi"}
    | {"stage": "scaled"},
}
OTHER_VARIANTS = [name for name in VARIANTS if name not in VISITS]


def equation(page: Page) -> Any:
    return page.locator(".equation")


def cells(page: Page) -> Any:
    return page.locator(CELLS)


def weights(page: Page) -> Any:
    """The keys, each with its weight."""
    return page.get_by_test_id("stMain").get_by_role("listitem")


def version(page: Page) -> int:
    """Number of times the heatmap's cells have been painted."""
    return int(cells(page).get_attribute("data-version"))


def set_by_hand(page: Page, about: Setting) -> None:
    """Change one setting as a person would, to something that is not its default."""
    name, default = about.name, about.default
    expect_rest(page)
    field = unfolded(page, name)
    others = [option for option in about.choices if option != default]
    if others:
        choice(page, name, others[-1]).click()
    elif (isinstance(default, float) and not about.exact) or about.divides:
        field.get_by_role("slider").press("ArrowRight")
    else:
        typed = {"s": "he said she said", "cells": "0:1,2 2:*", "factor": "0.1414213562373095"}
        wanted = typed.get(name)
        box = field.get_by_role("textbox" if isinstance(default, str) else "spinbutton")
        box.fill(wanted or str(2 if default != 2 else 3))
        box.press("Enter")
    expect_in_search(page, name)


def set_all_by_hand(page: Page, variant: str) -> None:
    """Choose a variant, and set by hand whatever is its own."""
    choice(page, "variant", variant).click()
    expect(page.get_by_text(VARIANTS[variant].title, exact=True)).to_be_visible()
    expect_rest(page)
    for about in settings_of(VARIANTS[variant].Config).values():
        set_by_hand(page, about)


def test_the_page_opens_on_the_sentence_and_follows_pointer_and_typing(open_page: Open) -> None:
    page = open_page()
    street = tokenize("the cat walks on the street")
    expect(page.get_by_role("option")).to_have_text(distinct_names(street))
    expect(cells(page)).to_have_count(1)
    expect(equation(page)).to_contain_text(re.compile("^ythe"))
    expect(page.get_by_label("Heatmap of the weights: queries down, keys across.")).to_be_visible()
    expect(page.get_by_role("columnheader").nth(0)).to_contain_text(re.compile(r"^key\b"))
    expect(page.get_by_role("columnheader").nth(1)).to_contain_text(re.compile(r"^weight\b"))
    expect_search(page, {})

    page.get_by_role("option").nth(5).hover()
    expect(page.get_by_role("status")).to_contain_text("“street” looks most at itself")
    choice(page, "mask", "causal").click()
    expect(weights(page).last).to_contain_text("masked")
    expect_search(page, {"mask": "causal"})
    expect(equation(page)).to_contain_text(re.compile("^ythe"))

    box = page.get_by_label("Sentence")
    box.click()
    box.press("End")
    box.press_sequentially(" slowly", delay=30)
    expect(page.get_by_role("option").last).to_have_text("slowly")


@pytest.mark.parametrize("variant", VISITS)
def test_a_link_shows_the_same_view_for_all_that_is_set_by_hand(
    variant: str, open_page: Open
) -> None:
    page = open_page()
    expect_heatmap(page)
    shared, given = settings_of(Settings), VISITS[variant]
    for other in OTHER_VARIANTS if variant == "gaussian" else []:
        set_all_by_hand(page, other)
    set_all_by_hand(page, variant)
    for name, values in given.items():
        for value in values.split(","):
            expect_rest(page)
            if name == "stage":
                page.get_by_role("radio", name=value, exact=True).click()
            else:
                choice(page, name, value).click()
        expect_in_search(page, name, values)
    for about in shared.values():
        if about.when and set(about.when[1:]) & {*given.get(about.when[0], "").split(",")}:
            set_by_hand(page, about)
    page.get_by_role("listbox", name="Choose a query token").get_by_role("option").nth(2).click()
    expect_in_search(page, "query", "2")
    expect_rest(page)
    if variant == "gaussian":
        expect_in_search(page, "factor")
        assert search(page)["factor"] == "0.1414213562373095", "to the last digit"
        expect(page.locator(".st-key-factor input")).to_have_value("0.1414213562373095")
    if variant == "talking":
        set_by_hand(page, shared["s"])
        expect(page.get_by_role("option")).to_have_text(["he", "said (1)", "she", "said (3)"])
    link = search(page)
    assert link["variant"] == variant
    assert link["query"] == "2"
    assert given.items() <= link.items()
    check_link(page, open_page)


def test_the_nearest_words_follow_the_chosen_token_after_notes_above_them_went_away(
    open_page: Open,
) -> None:
    page = open_page()
    nearest, tokens = page.locator(".nearest"), page.locator(".queries .token")
    for query in (1, 2, 3, 5):
        choice(page, "variant", "multihead").click()
        expect(nearest).to_contain_text("cannot be compared")
        choice(page, "variant", "gaussian").click()
        expect(nearest).to_contain_text("before")
        tokens.nth(query).click()
        word = tokenize("the cat walks on the street")[query]
        expect(nearest.locator("dd").first).to_contain_text(re.compile(f"^{word}"))


def test_masked_cells_are_hidden_by_click_drag_and_keyboard_and_outlive_another_mask(
    open_page: Open,
) -> None:
    page = open_page("/?mask=cells")
    expect_heatmap(page)

    def cell_at(query: int, key: int) -> Any:
        return page.locator(f"[data-query='{query}'][data-key='{key}']")

    cell_at(0, 1).click()
    expect_search(page, {"mask": "cells", "cells": "0:1"})
    cell_at(1, 2).hover()
    page.mouse.down()
    cell_at(2, 2).hover()
    cell_at(3, 2).hover()
    page.mouse.up()
    expect_search(page, {"mask": "cells", "cells": "0:1 1:2 2:2 3:2"})
    cell_at(0, 1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    hidden = {"mask": "cells", "cells": "0:1-2 1:2 2:2 3:2"}
    expect_search(page, hidden)
    expect(weights(page).nth(1)).to_have_text(re.compile(r"^cat\s*masked$"))
    choice(page, "mask", "cells").click()
    expect_search(page, {"query": "0"})  # the bare address leads to another view
    expect(cell_at(0, 1)).to_have_count(0)
    expect_rest(page)
    choice(page, "mask", "cells").click()
    expect_search(page, hidden)
    expect(cell_at(0, 1)).to_have_attribute("aria-pressed", "true")
    expect(cell_at(0, 0)).to_have_attribute("aria-pressed", "false")


def test_a_touch_that_scrolls_and_another_button_hide_no_cell(open_page: Open) -> None:
    page = open_page("/?mask=cells&cells=0%3A0")
    expect_heatmap(page)
    hidden = page.locator("[data-query][aria-pressed=true]")
    first = page.locator("[data-query='0'][data-key='1']")
    first.dispatch_event("pointerdown", {"button": 0, "buttons": 1})
    expect(hidden).to_have_count(2)
    first.dispatch_event("pointercancel", {})
    expect(hidden).to_have_count(1)
    first.click(button="right")
    expect(hidden).to_have_count(1)
    page.locator("[data-query='1'][data-key='2']").click()
    expect(hidden).to_have_count(2)
    expect_search(page, {"mask": "cells", "cells": "0:0 1:2"})


def test_a_stroke_ends_where_the_button_is_up_though_nobody_saw_it_go_up(open_page: Open) -> None:
    page = open_page("/?mask=cells")
    expect_heatmap(page)
    first = page.locator("[data-query='0'][data-key='1']")
    first.dispatch_event("pointerdown", {"button": 0, "buttons": 1})
    page.locator("[data-query='3'][data-key='3']").hover()
    expect_search(page, {"mask": "cells", "cells": "0:1"})
    expect(page.locator("[data-query][aria-pressed=true]")).to_have_count(1)


def test_pointing_at_the_heatmap_while_its_labels_are_on_their_way_loses_none(
    open_page: Open,
) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    link = "/?" + urlencode({"s": many_words(16)})
    page = open_page(link, before=lambda page: page.route("**/plotly.min.js", hold))
    heatmap = page.locator(".attention-heatmap")
    heatmap.hover()
    cells(page).wait_for(state="attached")
    heatmap.hover(position={"x": 90, "y": 60})
    eventually(page, lambda: len(held), 1)
    assert heatmap.locator(".xtick").count() == 0
    for mask in ("causal", "window", "causal"):  # draws that wait for plotly.js
        painted = version(page)
        choice(page, "mask", mask).click()
        expect(cells(page)).not_to_have_attribute("data-version", str(painted))
    held[0].continue_()
    expect(heatmap.locator(".xtick")).to_have_text(distinct_names(many_words(16).split()))
    check_cells(page)


def test_a_long_sentence_can_be_zoomed_into_and_seen_whole_again(open_page: Open) -> None:
    page = open_page("/?" + urlencode({"s": many_words(64)}))
    check_cells(page)
    plotly = page.locator(PLOTLYS)
    expect(cells(page)).to_be_visible()
    expect(plotly).not_to_be_visible()
    expect_rest(page)
    box = cells(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.25)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=5)
    page.mouse.up()
    expect(plotly).to_be_visible()
    expect(cells(page)).not_to_be_visible()

    def seen_whole() -> bool:  # two clicks are one double click within 300 ms alone
        page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
        return bool(cells(page).is_visible())

    eventually(page, seen_whole, True)
    expect(plotly).not_to_be_visible()


def check_cells(page: Page) -> None:
    """The cells painted after a change are those that plotly draws to zoom into."""
    plotly = page.locator(PLOTLYS)
    plotly.wait_for(state="attached")
    page.locator(".attention-heatmap .xtick").last.wait_for()
    painted, drawn = version(page), plotly.get_attribute("xlink:href")
    choice(page, "mask", "causal").click()
    expect(cells(page)).not_to_have_attribute("data-version", str(painted))
    page.mouse.move(5, 5)
    box = cells(page).bounding_box()
    ours = pixels(page, box)
    assert numpy.ptp(ours) > 100
    plotly.dispatch_event("pointermove", {"bubbles": True})
    expect(plotly).not_to_have_attribute("xlink:href", drawn)
    page.locator(".attention-frame").evaluate("frame => frame.classList.add('zoomed')")
    eventually(page, lambda: numpy.abs(pixels(page, box) - ours).mean() < 2.0, True)
    page.locator(".attention-frame").evaluate("frame => frame.classList.remove('zoomed')")


def many_words(count: int) -> str:
    """16 or 64 different words."""
    return " ".join(f"{one} {two}" for one in "abcdefgh" for two in "ijkl"[: count // 16])


def pixels(page: Page, box: Any) -> Any:
    picture = Image.open(io.BytesIO(page.screenshot(clip=box)))
    return numpy.asarray(picture.convert("RGB"), dtype=numpy.float64)


def test_the_link_and_the_files_one_takes_along_hold_what_is_on_the_page(
    open_page: Open, browser: Any, tmp_path: Path
) -> None:
    page = open_page(
        "/?variant=qkv&mask=causal&query=2&vectors=random&d_model=7",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")

    expect(page.locator(".modebar-btn[data-title='Save as SVG']")).to_have_count(1)
    titles = page.locator(".modebar-btn").evaluate_all("all => all.map(b => b.dataset.title)")
    assert not [title for title in titles if "cloud" in title.lower() or "share" in title.lower()]
    drawn = {}
    for name, button in {
        "attention-weights.svg": page.locator(".st-key-picture [data-title='Save as SVG']"),
        "weighted-sum.svg": page.get_by_text("Save as SVG"),
    }.items():
        with page.expect_download() as download:
            button.click(force=True)
        assert download.value.suggested_filename == name
        drawn[name] = Path(download.value.path()).read_text("utf-8")
        assert drawn[name].startswith("<svg")
    numbers = page.locator(".attention-written span:not(:empty)").all_text_contents()
    assert len(numbers) == 21
    assert all(f">{number}</text>" in drawn["attention-weights.svg"] for number in numbers)

    files = {}
    page.get_by_role("button", name="Download").click()
    row, html = "Row 2 term by term, CSV", "Heatmaps and weighted sum, HTML"
    scripts = ("PyTorch script of every step", "PyTorch in a few lines")
    for name in ("Weights, CSV", row, html, *scripts):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    numbers = pandas.read_csv(files["Weights, CSV"], index_col=0).to_numpy()
    trace = runpy.run_path(str(files[scripts[0]]))["trace"]
    torch.testing.assert_close(torch.tensor(numbers).float(), trace.weights)
    short = runpy.run_path(str(files[scripts[1]]))
    torch.testing.assert_close(short["output"], trace.output)
    table = pandas.read_csv(files[row])
    torch.testing.assert_close(torch.tensor(table["weight"]).float(), trace.weights[2])
    figures = files[html]
    written = figures.read_text("utf-8")
    assert len(written) > 1_000_000
    assert "grey cells are hidden" in written
    check_alone(browser, figures)


def check_alone(browser: Any, figures: Path) -> None:
    """The file draws without a network."""
    requests: list[str] = []
    alone = browser.new_page()
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(figures.as_uri())
    expect(alone.locator(".js-plotly-plot .hm image")).to_have_count(5)
    alone.close()
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


# Of the map: each word that lies across the dot of another one, with that one's.
ACROSS = """() => {
  const layer = document.querySelector(".attention-chart .scatterlayer")
  const seen = (selector) => [...layer.querySelectorAll(selector)]
  return seen(".text text").flatMap((text) => {
    const word = text.getBoundingClientRect()
    const name = text.parentNode.__data__.tx
    return seen(".points path").flatMap((dot) => {
      const box = dot.getBoundingClientRect()
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]
      const across = Math.max(word.left - x, 0, x - word.right)
      const down = Math.max(word.top - y, 0, y - word.bottom)
      const other = dot.__data__.data?.[0]
      const meet = Math.hypot(across, down) < box.width / 2
      return meet && other && !name.includes(other.split(" ")[0]) ? [`${name}: ${other}`] : []
    })
  })
}"""


def test_on_the_map_no_word_lies_across_anothers_dot_and_those_of_the_table_are_written(
    open_page: Open,
) -> None:
    page = open_page("/?map=shown", viewport={"width": 390, "height": 900})
    words = page.locator(".attention-chart .scatterlayer text")
    expect(words.filter(has_text="which")).to_have_count(1)
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        expect_rest(page)
        eventually(page, lambda: page.evaluate(ACROSS), [])
        assert {"which", "in", "on", "."} <= {*words.all_text_contents()}


def test_hostile_sentences_do_nothing(open_page: Open) -> None:
    first, *others = hostile(MOST_LABELLED)
    page = open_page("/?" + urlencode({"s": first}))
    check_harmless(page, first)
    box = page.get_by_label("Sentence")
    for sentence in others:
        box.fill(sentence)
        check_harmless(page, sentence)
    page.reload()
    check_harmless(page, others[-1])
    for wordless in (sentence for sentence in HOSTILE if not tokenize(sentence)):
        box.fill(wordless)
        expect(page.get_by_text("Type a sentence above")).to_be_visible()
        box.fill("cat")
        expect(page.get_by_role("option")).to_have_text(["cat"])


def check_harmless(page: Page, sentence: str) -> None:
    tokens = tokenize(sentence)
    names = distinct_names(tokens)
    options = page.get_by_role("option")
    eventually(page, options.all_text_contents, names)
    named = page.locator(".keys bdi, .terms tbody bdi")
    eventually(page, named.all_text_contents, [*names, *tokens])
    expect(page.locator(".attention-heatmap .xtick").first).to_be_attached()
    expect_harmless(page)


def test_what_is_cited_is_a_link_that_opens_beside_the_app_and_asks_no_other_host(
    open_page: Open,
) -> None:
    page = open_page("/?variant=gaussian")
    beside = page.get_by_test_id("stSidebar")
    for name, address in (
        ("Nadaraya 1964", "https://doi.org/10.1137/1109020"),
        ("Watson 1964", "https://www.jstor.org/stable/25049340"),
    ):
        link = beside.get_by_role("link", name=name)
        expect(link).to_have_attribute("href", address)
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", re.compile("noopener"))


def test_all_fits_a_phone_and_figures_follow_the_theme(open_page: Open) -> None:
    page = open_page("/?query=1", color_scheme="dark", viewport={"width": 390, "height": 800})
    expect(weights(page).first).to_be_in_viewport()
    page.locator(PLOTLYS).wait_for(state="attached")
    expect_to_fit(page)
    painted = version(page)
    page.set_viewport_size({"width": 360, "height": 800})
    expect(cells(page)).not_to_have_attribute("data-version", str(painted))
    expect_to_fit(page)
    expect(weights(page).first).to_be_in_viewport()
    picture = "canvas => canvas.toDataURL()"
    dark = cells(page).evaluate(picture)
    page.emulate_media(color_scheme="light")
    eventually(page, lambda: cells(page).evaluate(picture) != dark, True)
