"""The page of the building blocks: as Streamlit runs it, and as a person sees it."""

from __future__ import annotations

import html
import math
import re
from itertools import cycle
from typing import Any

import numpy
import pytest
from streamlit.testing.v1 import AppTest

from attention.core.settings import settings_of
from attention.lessons.operations import OPERATIONS, OperationSettings
from attention.lessons.operations.settings import CHANGES
from tests.browsing import Page
from tests.hostile import HOSTILE
from tests.running import messages, said, take

SCHEMA = settings_of(OperationSettings)
Array = Any


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    return app.switch_page("pages/blocks.py").run()


def again(app: AppTest) -> None:
    """Run after an input; for AppTest each run is a cold start, which would set the link anew."""
    app.query_params.clear()
    app.run()
    assert not app.exception


def pictures(app: AppTest) -> list[list[tuple[str, Array]]]:
    """The names and numbers, as float64, of all matrices the browser is sent, row by row."""
    rows = []
    for header, data in messages(app):
        if "parts" not in header:
            continue
        floats = numpy.frombuffer(data, numpy.float32).astype(numpy.float64)
        row, start = [], 0
        for part in header["parts"]:
            end = start + part["rows"] * part["columns"]
            cells = floats[start:end].reshape(part["rows"], part["columns"])
            row.append((part["name"], cells))
            start = end
        assert start == len(floats)
        rows.append(row)
    return rows


def table(app: AppTest) -> tuple[dict[str, list[str]], list[str], str]:
    """The working's columns as shown, its totals, and its sentence."""
    (body,) = [item.proto.body for item in app.get("html") if "class='working'" in item.proto.body]
    heads = [html.unescape(head) for head in re.findall(r"scope='col'>(.*?)</th>", body)][1:]
    inner = body.split("<tbody>")[1].split("</tbody>")[0]
    lines = [re.findall(r"<td>(.*?)</td>", line) for line in inner.split("</tr>")[:-1]]
    foot = re.findall(r"<td>(.*?)</td>", body.split("<tfoot>")[1]) if "<tfoot>" in body else []
    columns = {head: [line[at] for line in lines] for at, head in enumerate(heads)}
    return columns, foot, html.unescape(re.findall(r"<p>(.*?)</p>", body)[0])


def number(text: str) -> float:
    return {"∞": math.inf, "−∞": -math.inf}.get(text) or float(text.replace("−", "-"))


def difference(app: AppTest) -> float:
    (line,) = [item.value for item in app.text if "difference from ours" in item.value]
    return number(line.split(": ")[1])


def shares(x: Array, axis: int) -> Array:
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


# As Streamlit runs it


def test_the_page_opens_on_a_product_one_can_follow() -> None:
    app = opened()
    assert not app.exception
    assert app.title[0].value == "Building blocks"
    assert app.text_input(key="bmm_a").value == SCHEMA["bmm_a"][0]
    columns, total, words = table(app)
    assert columns["product"] == ["4.0000", "0.0000", "12.0000"]
    assert total[-1] == "16.0000"
    assert words.startswith("C[0] in row 1, column 0: row 1 of A[0] meets column 0 of B[0]")
    assert any("(2, 2, 3) × (2, 3, 2) → (2, 2, 2)" in item.value for item in app.text)


@pytest.mark.parametrize("block", OPERATIONS)
def test_every_block_shows_its_formula_its_call_and_torchs_own_answer(block: str) -> None:
    app = opened(block=block)
    assert not app.exception
    assert app.get("button_group")[0].value == block
    assert len(app.latex) == 1
    assert len(app.code) == 1
    shown = {item.key for item in app.text_input}
    assert shown == {
        name for name in OPERATIONS[block].inputs if name in CHANGES and name != "valid_lens_2d"
    }
    assert difference(app) <= 1e-6
    assert len(pictures(app)) >= 2


def test_products_recompute_from_the_matrices_beside_them() -> None:
    app = opened(bmm_a="1.5 -2.25; 0.125 3 | 7 8; 1e3 -4", bmm_b="2; 0.5 | -1; 0.3")
    *rows, torchs = pictures(app)
    for (_, a), (_, b), (_, c) in rows:
        numpy.testing.assert_allclose(c, a @ b, rtol=1e-6)
    ours = numpy.stack([row[-1][1] for row in rows])
    theirs = numpy.stack([cells for _, cells in torchs])
    assert difference(app) == pytest.approx(numpy.abs(ours - theirs).max())
    columns, total, _ = table(app)
    left, right, products = ([number(cell) for cell in cells] for cells in columns.values())
    assert products == pytest.approx([a * b for a, b in zip(left, right, strict=True)], abs=1e-3)
    assert number(total[-1]) == pytest.approx(sum(products), abs=1e-3)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_and_the_sums_of_its_slices_recompute_along_every_dim(dim: int) -> None:
    app = opened(
        block="softmax", softmax_dim=str(dim), softmax_x="1 -2; 3 0.5; 0 0 | 9 1; 2 2; -4 7"
    )
    *rows, torchs = pictures(app)
    x = numpy.array([[[1, -2], [3, 0.5], [0, 0]], [[9, 1], [2, 2], [-4, 7]]])
    cells = [part for row in rows for part in row]
    weights = numpy.stack([part for name, part in cells if name.startswith("weights")])
    sums = numpy.concatenate([part.ravel() for name, part in cells if name == "sums"])
    numpy.testing.assert_allclose(weights, shares(x, dim), atol=1e-6)
    numpy.testing.assert_allclose(numpy.sort(weights.sum(dim).ravel()), numpy.sort(sums), atol=1e-6)
    theirs = numpy.stack([part for _, part in torchs])
    assert difference(app) == pytest.approx(numpy.abs(weights - theirs).max(), rel=1e-3)
    assert difference(app) <= 1e-6


def test_weights_and_entropy_recompute_for_the_temperature_and_for_1() -> None:
    app = opened(block="temperature", temperature="0.25", temperature_x="0.5 1 -1")
    ((_, divided), (_, weights), (_, bits)), ((_, theirs),) = pictures(app)
    numpy.testing.assert_allclose(divided, [[0.5, 1, -1], [2, 4, -4]])
    numpy.testing.assert_allclose(weights, shares(divided, 1), atol=1e-6)
    entropy = -(weights * numpy.log2(weights)).sum(1, keepdims=True)
    numpy.testing.assert_allclose(bits, entropy, atol=1e-6)
    numpy.testing.assert_allclose(weights, theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("link", "lens"),
    [({}, [[2, 2], [3, 3]]), ({"lens_dim": "2-D"}, [[1, 3], [2, 4]])],
)
def test_masked_softmax_recomputes_from_the_scores_that_are_not_hatched(
    link: dict[str, str], lens: list[list[int]]
) -> None:
    app = opened(block="masked_softmax", **link)
    *rows, torchs = pictures(app)
    for ((_, scores), (_, weights), (_, sums)), (_, theirs), per_query in zip(
        rows, torchs, lens, strict=True
    ):
        assert (~numpy.isnan(scores)).sum(1).tolist() == per_query
        expected = shares(numpy.where(numpy.isnan(scores), -numpy.inf, scores), 1)
        numpy.testing.assert_allclose(weights, expected, atol=1e-6)
        numpy.testing.assert_allclose(theirs, expected, atol=1e-6)
        numpy.testing.assert_allclose(weights.sum(1, keepdims=True), sums, atol=1e-6)


def test_a_mask_recomputes_from_positions_and_lengths() -> None:
    app = opened(block="sequence_mask", valid_lens="0 2 9", mask_keys="5")
    ((_, positions), (_, lengths), (_, mask)), ((_, theirs),) = pictures(app)
    numpy.testing.assert_array_equal(mask, positions < lengths)
    numpy.testing.assert_array_equal(mask, theirs)


def test_where_torch_has_no_number_the_page_shows_that_beside_our_zeros() -> None:
    app = opened(block="masked_softmax", valid_lens="0 3")
    first, _, torchs = pictures(app)
    assert not first[1][1].any()
    assert numpy.isnan(torchs[0][1]).all()
    assert "our weights are zeros" in said(app)
    assert "NaN" in said(app)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"bmm_b": "1 2; 3 4 | 1 2; 3 4"}, "a row of A has 3 (its columns), a column of B has 2"),
        ({"bmm_b": "1; 2; 3"}, "A has 2, B has 1"),
        ({"bmm_a": ""}, "A: there are no numbers yet"),
        ({"bmm_a": "1 x"}, "A: row 0, column 1 holds &#x27;x&#x27;, which is no number"),
        ({"block": "softmax", "softmax_x": "1 _"}, "x: row 0, column 1 is empty"),
        ({"block": "masked_softmax", "valid_lens": "1"}, "got (1,)"),
        ({"block": "conv"}, "block must be one of bmm"),
        ({"block": "softmax", "softmax_dim": "3"}, "softmax_dim must be one of 0, 1, 2"),
        ({"block": "temperature", "temperature": "0"}, "temperature must lie between 0.05"),
        ({"block_row": "-1"}, "block_row must lie between 0 and 143"),
    ],
)
def test_what_cannot_be_used_is_met_with_a_word_in_place(link: dict[str, str], words: str) -> None:
    app = opened(**link)
    assert not app.exception
    assert words in said(app)
    assert len(app.expander) == 1


def test_sizes_that_do_not_meet_show_torchs_own_words_beside_ours_and_mend() -> None:
    app = opened()
    take(app, "sizes that do not meet")
    assert "must be the same" in said(app)
    assert "Expected size for first two dimensions of batch2 tensor" in said(app)
    assert "no partner" in said(app)
    app.button(key="− row bmm_b").click()
    again(app)
    assert table(app)[1][-1] == "16.0000"


@pytest.mark.parametrize("block", OPERATIONS)
def test_every_example_can_be_taken_and_left_again(block: str) -> None:
    app = opened(block=block)
    for words, values in OPERATIONS[block].examples.items():
        take(app, words)
        for name, value in values.items():
            assert app.session_state[name] == value
    take(app, "the first example")
    for name in OPERATIONS[block].inputs:
        if name in CHANGES:
            assert app.session_state[name] == SCHEMA[name][0]


def test_a_stack_grows_and_shrinks_by_buttons_that_offer_only_what_can_be() -> None:
    app = opened(block="softmax", softmax_x="1")
    assert app.button(key="− row softmax_x").disabled
    for change in ("+ column", "+ matrix"):
        app.button(key=f"{change} softmax_x").click()
        again(app)
    assert app.text_input(key="softmax_x").value == "1 0 | 1 0"
    assert not app.button(key="− matrix softmax_x").disabled


@pytest.mark.parametrize(("text", "block"), [*zip(HOSTILE, cycle(OPERATIONS), strict=False)])
def test_hostile_text_is_neither_interpreted_nor_fatal(text: str, block: str) -> None:
    app = opened(block=block, **dict.fromkeys(CHANGES, text))
    assert not app.exception
    assert {box.value for box in app.text_input} == {text}
    markdown = [item.value for item in (*app.markdown, *app.caption, *app.text)]
    labels = [item.label for item in app.button]
    if len(text) > 5 and not text.isspace():
        assert not [shown for shown in (*markdown, *labels) if text[:20] in shown]
    if "<" in text:
        assert not re.search(r"<(script|img|b|a)\b", said(app))
    take(app, "the first example")
    assert len(app.code) == 1
    assert pictures(app)


def test_a_chosen_cell_that_another_block_does_not_have_is_the_nearest_there() -> None:
    app = opened(block="temperature", block_batch="5", block_row="9", block_column="9")
    assert not app.exception
    assert table(app)[2].startswith("T = 0.5")


# As a person sees it


def working(page: Page) -> str:
    return str(page.locator(".working").inner_text())
