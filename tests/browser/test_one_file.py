"""A run as one file of HTML, opened without a network."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

import attention
from attention.capture import Recording
from attention.figures.image_patches import Patches
from attention.notebook import heads, page
from attention.notebook.heads import MEAN
from tests.browser.browsing import expect
from tests.capture.making import OwnAttention, inputs, model
from tests.hostile import HOSTILE

TOKENS = 61


@pytest.fixture(scope="module")
def run() -> Recording:
    with attention.capture() as captured:
        model(OwnAttention(is_causal=True), OwnAttention(is_causal=True))(inputs(1, TOKENS))
    return captured.one()


@pytest.fixture(scope="module")
def tokens() -> list[str]:
    hostile = [*HOSTILE, "</script><script>alert(1)</script>"]
    return [hostile[at % len(hostile)] if at % 2 else f"word{at}" for at in range(TOKENS)]


@pytest.mark.parametrize("made", [False, True], ids=["held", "made of queries and keys"])
def test_the_file_shows_the_weights_of_every_head_without_a_network(
    made, run, tokens, offline, tmp_path, monkeypatch
):
    if made:
        monkeypatch.setattr(page, "MOST_CELLS", TOKENS * TOKENS - 1)
    run.save_html(tmp_path / "run.html", tokens, layer=1, head=2, query=TOKENS - 1)
    assert ('"made"' in (tmp_path / "run.html").read_text("utf-8")) == made
    shown = offline(tmp_path / "run.html")
    told = shown.locator(".told")
    for layer, head in [(1, 2), (0, 1)]:
        shown.get_by_role("radio").nth(3 * layer + head).click()
        name = f"run {layer} {head}"
        expect(shown.get_by_role("application")).to_have_attribute("data-map", name)
        row = run.weights(layer, head, TOKENS - 1)[0]
        expect(told).to_contain_text(f"key {int(row.argmax())} ")
        (weight,) = re.findall(r"weight (0\.\d+)", told.inner_text())
        assert float(weight) == pytest.approx(float(row.max()), abs=1e-4)
    expect(shown.locator("img, iframe")).to_have_count(0)


def test_a_head_without_room_is_shown_by_blocks_and_the_others_are_said_to_be_absent(
    run, tokens, offline, tmp_path
):
    first = heads.First(1, 2, 41)
    shown, chosen = heads.heads_of(run, tokens, None, None, first, heads.Pictured())
    whole = page.page_of(shown, chosen)
    packed = len(page._packed(run.weights(1, 2)))
    least = len(whole) - 6 * packed
    text = page.page_of(shown, chosen, least + packed // 2)
    assert len(text) < len(whole)
    (tmp_path / "run.html").write_text(text, "utf-8")
    opened = offline(tmp_path / "run.html")
    expect(opened.get_by_text("each weight is the greatest of 2 × 2.")).to_be_visible()
    row = run.blocks(1, 2, 2, 2)[20]
    expect(opened.locator(".told")).to_contain_text(f"weight {row.max():.4f}")
    opened.get_by_role("radio").first.click()
    expect(opened.get_by_text("Layer 0, head 0: it is not in this file")).to_be_visible()
    expect(opened.get_by_role("application")).to_be_hidden()


def test_a_click_on_a_patch_of_a_picture_asks_where_it_looks(run, tokens, offline, tmp_path):
    grid = Patches(5, 7, 3)
    photo = numpy.random.default_rng(5).random((50, 70, 3))
    asked = {"image": photo, "patches": grid, "query": 3 + 34}
    run.save_html(tmp_path / "run.html", tokens, **asked)
    opened = offline(tmp_path / "run.html")
    mean = (run.weights(1, 0) + run.weights(1, 1) + run.weights(1, 2)) / 3

    def expect_told(query: str, row: Any) -> None:
        best = int(row[3:38].argmax())
        place = f"row {best // 7 + 1}, column {best % 7 + 1} ({row[3 + best]:.4f})"
        told = opened.locator(".told")
        expect(told).to_contain_text(f"how much {query} looks at each patch: most at {place}")
        marked = opened.locator(".greatest").evaluate("one => [one.style.top, one.style.left]")
        shares = [100 * (best // 7) / 5, 100 * (best % 7) / 7]
        assert [float(one.removesuffix("%")) for one in marked] == pytest.approx(shares, abs=0.01)

    expect_told("row 5, column 7", mean[37])
    over = opened.get_by_role("application")
    box = over.bounding_box()
    over.click(position={"x": box["width"] * 2.5 / 7, "y": box["height"] * 3.5 / 5})
    expect_told("row 4, column 3", mean[3 + 3 * 7 + 2])
    over.press("ArrowRight")
    expect_told("row 4, column 4", mean[3 + 3 * 7 + 3])
    opened.get_by_role("radio").nth(4).click()
    expect(opened.get_by_text("Layer 1, head 1", exact=True)).to_be_visible()
    expect_told("row 4, column 4", run.weights(1, 1, 3 + 3 * 7 + 3)[0])
    opened.get_by_role("option").nth(60 - 35).click()
    expect_told(f"“{tokens[60].strip()}” (60)", run.weights(1, 1, 60)[0])
    opened.get_by_label("Mean of its heads").check()
    expect_told(f"“{tokens[60].strip()}” (60)", mean[60])
    expect(opened.locator("script")).to_have_count(2)


def test_a_picture_without_room_is_led_to_the_nearest_row_it_has(run, tokens, offline, tmp_path):
    pictured = heads.Pictured(numpy.zeros((6, 6, 3)), None, Patches(6, 6, 3))
    first = heads.First(1, None, 4)
    shown, chosen = heads.heads_of(run, tokens, None, None, first, pictured)
    assert chosen == (1, MEAN, 4)
    whole = page.page_of(shown, chosen)
    text = page.page_of(shown, chosen, len(whole) - 7 * len(page._packed(shown.weights(1, MEAN))))
    (tmp_path / "run.html").write_text(text, "utf-8")
    opened = offline(tmp_path / "run.html")
    expect(opened.get_by_text("which holds 35 of 61: a click leads to the nearest")).to_be_visible()
    over = opened.get_by_role("application")
    box = over.bounding_box()
    over.click(position={"x": box["width"] * 4.9 / 6, "y": box["height"] * 3.2 / 6})
    expect(opened.locator(".told")).to_contain_text("how much row 3, column 5 looks")


def test_a_saved_notebook_keeps_the_picture_of_a_widget(run, tokens, offline, tmp_path):
    pytest.importorskip("anywidget", reason="needs anywidget (requirements-dev.txt)")
    nbformat = pytest.importorskip("nbformat.v4", reason="needs JupyterLab (requirements-dev.txt)")
    nbconvert = pytest.importorskip("nbconvert", reason="needs JupyterLab (requirements-dev.txt)")
    from attention.notebook.widget import RunWidget

    pictured = heads.Pictured(numpy.zeros((5, 7, 3)), None, Patches(5, 7, 3))
    said = []
    for of in (heads.Pictured(), pictured):
        shown, chosen = heads.heads_of(run, tokens, None, None, heads.First(1), of)
        data, _ = RunWidget(shown, chosen)._repr_mimebundle_()
        assert len(data["text/html"]) < 1_000_000
        said.append(nbformat.new_output("display_data", data))
    cell = nbformat.new_code_cell("run.show()", outputs=said)
    exporter = nbconvert.HTMLExporter(template_name="basic")
    text, _ = exporter.from_notebook_node(nbformat.new_notebook(cells=[cell]))
    (tmp_path / "notebook.html").write_text(text, "utf-8")
    opened = offline(tmp_path / "notebook.html")
    pictures = opened.get_by_role("img")
    expect(pictures).to_have_count(2)
    widths = "all => all.map(one => one.complete && one.naturalWidth)"
    assert pictures.evaluate_all(widths) == [61, 512]
    expect(pictures.first).to_have_accessible_name(re.compile("Layer 1, head 0: 61 queries down"))
    expect(pictures.last).to_have_accessible_name(re.compile(r"^Layer 1, mean of heads\. Blue"))
