"""The page "Compare" as Streamlit runs it, and as a person sees it in Chromium."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import numpy
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torchtext.vocab import Vectors

from attention.core.functional import masked_softmax
from attention.core.settings import Declared, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.lessons import compare
from attention.pipeline import Result, Settings, compute
from tests.browsing import Open, Page, search, settle
from tests.hostile import HOSTILE
from tests.running import choice, messages, offer, said


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    app.session_state["asked_for"] = "pages/compare.py"
    return app.run()


def sent(app: AppTest, field: str) -> tuple[dict[str, Any], Any]:
    """What the component with that field in its header receives: the header and its numbers."""
    for header, data in messages(app):
        if field in header:
            floats = data[: 4 * header["floats"]]
            return header, torch.frombuffer(bytearray(floats), dtype=torch.float32)
    raise AssertionError(f"the page has no component with {field}")


def sides(app: AppTest) -> tuple[Any, Any]:
    """The weights of A and B as they are sent, nan where hatched."""
    header, numbers = sent(app, "titles")
    n = header["size"]
    return numbers[: n * n].view(n, n), numbers[n * n : 2 * n * n].view(n, n)


def same(shown: Any, expected: Any) -> None:
    """The same numbers but for the last digit, in which one product may differ from the next."""
    torch.testing.assert_close(shown, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


def press(app: AppTest, label: str) -> AppTest:
    app.query_params.clear()  # as in a browser, the widgets have taken the link over
    return next(button for button in app.button if button.label == label).click().run()


def result_of(glove: Vectors, **settings: Any) -> Result:
    return compute(Settings(**settings), lambda name: glove)


# Two settings


def test_the_page_opens_on_a_difference_worth_seeing(glove: Vectors) -> None:
    app = opened()
    assert not app.exception
    a, b = sides(app)
    same(a, result_of(glove).trace.weights)
    same(b, result_of(glove, scale="none").trace.weights)
    assert "scale: 1/√d_k → none" in said(app)


def test_a_link_holds_both_sides(glove: Vectors) -> None:
    app = opened(
        s="the cat walks",
        mask="causal",
        b_variant="qkv",
        b_scale="factor",
        b_factor="0.35",
        b_d_k="7",
        b_seed="3",
        b_positions="rotary",
    )
    assert not app.exception
    a, b = sides(app)
    ours = result_of(glove, s="the cat walks", mask="causal").trace
    same(a.nan_to_num(0.0), ours.weights)
    assert torch.equal(a.isnan(), ~ours.mask)
    theirs = result_of(
        glove,
        s="the cat walks",
        variant="qkv",
        scale="factor",
        factor=0.35,
        seed=3,
        positions="rotary",
        config=(("parameters", "seeded"), ("d_k", 7), ("d_v", 50)),
    )
    same(b, theirs.trace.weights)
    for words in ("variant: dot → qkv", "factor: — → 0.35", "mask: causal → none", "d_k: — → 7"):
        assert words in said(app)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_may_stand_on_the_other_side(name: str, glove: Vectors) -> None:
    app = opened(b_variant=name)
    assert not app.exception
    config = {
        field.removeprefix("b_"): app.session_state[field]
        for field in compare.other_side(compare_fields(name))
    }
    expected = result_of(glove, variant=name, scale="none", config=tuple(config.items()))
    same(sides(app)[1], expected.trace.weights)


def compare_fields(name: str) -> Declared:
    """The settings that variant has for itself."""
    return {k: v for k, v in settings_of(VARIANTS[name].Config).items() if k != "seed"}


def test_the_same_setting_on_both_sides_is_said_to_be_the_same() -> None:
    app = opened(b_scale="1/√d_k")
    assert "A and B are the same setting, so nothing differs." in said(app)
    a, b = sides(app)
    assert torch.equal(a, b)


def test_swapping_exchanges_all_settings_and_twice_is_as_before() -> None:
    app = opened(variant="gaussian", sigma="2.5", mask="window", radius="2", b_variant="additive")
    before = sides(app)
    press(app, "Swap A and B")
    assert not app.exception
    swapped = sides(app)
    assert torch.equal(swapped[0], before[1])
    torch.testing.assert_close(swapped[1], before[0], rtol=0, atol=0, equal_nan=True)
    assert choice(app, "variant").value == "additive"
    assert choice(app, "scale").value == "none"
    assert choice(app, "b_variant").value == "gaussian"
    assert app.session_state["b_sigma"] == 2.5
    press(app, "Swap A and B")
    for now, then in zip(sides(app), before, strict=True):
        torch.testing.assert_close(now, then, rtol=0, atol=0, equal_nan=True)


def test_only_settings_of_b_that_mean_something_are_drawn() -> None:
    app = opened(b_mask="window", b_variant="gaussian")
    keys = {item.key for kind in ("slider", "number_input") for item in app.get(kind)}
    assert {"b_radius", "b_sigma"} <= keys
    assert not keys & {"b_valid_len", "b_seed", "b_head", "b_factor", "b_d_model", "sigma"}


@pytest.mark.parametrize(("width", "offered"), [("50", [1, 2, 5, 10, 25, 50]), ("7", [1, 7])])
def test_heads_that_do_not_divide_the_width_of_b_are_not_offered(
    width: str, offered: list[int]
) -> None:
    app = opened(b_variant="multihead", b_vectors="random", b_d_model=width)
    assert not app.exception
    slider = next(item for item in app.select_slider if item.key == "b_heads")
    assert [int(option) for option in slider.options] == offered


def test_the_cells_of_b_are_hidden_on_its_side_alone() -> None:
    app = opened(s="cat sat here", b_mask="custom", b_cells="0:1 2:*", b_scale="1/√d_k", query="2")
    a, b = sides(app)
    assert not a.isnan().any()
    assert b.isnan().nonzero().tolist() == [[0, 1], [2, 0], [2, 1], [2, 2]]
    assert any("may attend to nothing in B" in text.value for text in app.text)


def test_bad_cells_of_b_are_answered_with_a_word() -> None:
    app = opened(b_mask="custom", b_cells="<img src=x>")
    assert not app.exception
    assert "B: Nothing is hidden: hidden cells are written" in said(app)
    assert "<img" not in said(app)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"b_variant": "foo"}, "b_variant must be one of"),
        ({"b_seed": "-1"}, "b_seed must lie between 0 and 9999, got -1"),
        ({"b_scale": "factor", "b_factor": "nan"}, "b_factor must lie between"),
        ({"b_factor": "1e400"}, "b_factor must lie between 0.0 and 10.0, got inf"),
        ({"b_heads": "7", "b_variant": "multihead"}, "b_heads must divide 50 dimensions, got 7."),
        ({"b_d_model": "inf", "b_vectors": "random"}, "b_d_model must be a whole number"),
        ({"b_bogus": "<b>"}, "“b_bogus” is not a setting"),
        ({"b_s": "x"}, "“b_s” is not a setting"),
        ({"compare": "everything"}, "compare must be one of settings, sweep, pair"),
        ({"compare": "sweep", "sweep": "<b>"}, "sweep must be one of"),
        ({"compare": "sweep", "sweep_at": "-1"}, "sweep_at must lie between 0.0 and 512.0"),
        ({"compare": "sweep", "sweep_at": "nan"}, "sweep_at must lie between 0.0 and 512.0"),
        ({"compare": "pair", "s2": "cat " * 1300}, "s2 must have at most 5000 characters"),
        ({"query": "77"}, "There is no token 77 here; showing the last, 5."),
    ],
)
def test_a_bad_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    app = opened(**link)
    assert not app.exception
    assert words in said(app)


@pytest.mark.parametrize("kind", ["settings", "sweep", "pair"])
def test_an_empty_sentence_is_met_with_a_word(kind: str) -> None:
    app = opened(s="", compare=kind)
    assert not app.exception
    assert "sentence" in app.info[0].value.lower()


@pytest.mark.parametrize("kind", ["settings", "sweep", "pair"])
def test_one_token_is_compared_with_itself(kind: str) -> None:
    app = opened(s="cat", s2="dog", compare=kind)
    assert not app.exception
    assert sent(app, "size")[0]["size"] == 1


@pytest.mark.parametrize("kind", ["settings", "sweep", "pair"])
def test_of_600_tokens_512_are_compared(kind: str) -> None:
    app = opened(s="cat " * 600, s2="cat " * 600, compare=kind)
    assert not app.exception
    assert sent(app, "size")[0]["size"] == 512
    assert "600 tokens, the last 88 left out" in offer(app)["words"]


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_sentences_are_shown_as_they_are_in_both_boxes(sentence: str) -> None:
    app = opened(s=sentence, s2=f"{sentence} cat", compare="pair", b_cells=sentence)
    assert not app.exception
    tokens = tokenize(sentence)
    if not tokens:
        assert app.info
        return
    names = sent(app, "titles")[0]["names"]
    assert [name.split(" (")[0] for name in names] == [*tokens, "cat"]
    markdown = [item.value for item in (*app.markdown, *app.caption)]
    for token in tokens:
        if len(token) > 3 and not token.isalpha():
            assert not [text for text in markdown if token in text]
            assert token not in said(app) or "<" not in token


# Two sentences


def test_a_pair_shows_the_words_that_differ_and_compares_the_rest(glove: Vectors) -> None:
    app = opened(compare="pair")
    header, _ = sent(app, "titles")
    assert header["names"] == ["the (0)", "cat", "walks / sleeps", "on", "the (4)", "street"]
    assert header["changed"] == [False, False, True, False, False, False]
    a, b = sides(app)
    same(a, result_of(glove).trace.weights)
    same(b, result_of(glove, s="the cat sleeps on the street").trace.weights)


def test_words_of_one_sentence_alone_are_hatched() -> None:
    app = opened(compare="pair", s="a big cat", s2="a cat")
    header, _ = sent(app, "titles")
    assert header["both"] == [True, False, True]
    a, b = sides(app)
    assert not a.isnan().any()
    assert b.isnan().tolist() == [[False, True, False], [True] * 3, [False, True, False]]


def test_an_empty_second_sentence_is_met_with_a_word() -> None:
    app = opened(compare="pair", s2="  ")
    assert not app.exception
    assert "Both sentences need a word" in app.info[0].value


def test_swapping_sentences_exchanges_them() -> None:
    app = opened(compare="pair", s="a dog", s2="a cat")
    press(app, "Swap the sentences")
    assert (app.text_input(key="s").value, app.text_input(key="s2").value) == ("a cat", "a dog")
    assert sent(app, "titles")[0]["names"] == ["a", "cat / dog"]


# Sweeps


@pytest.mark.parametrize("kind", compare.SWEEPS)
def test_a_sweep_sends_what_its_numbers_are_worked_out_from(kind: str, glove: Vectors) -> None:
    app = opened(compare="sweep", sweep=kind, mask="causal", positions="alibi", sweep_at="2")
    assert not app.exception
    header, numbers = sent(app, "values")
    trace = result_of(glove, mask="causal", positions="alibi").trace
    base = trace.scores if kind == "scale" else trace.scaled
    base = base.masked_fill(~trace.mask, torch.nan)
    biased = [trace.bias.flatten()] if kind == "scale" else []
    expected = torch.cat([base.flatten(), *biased])
    same(numbers, expected)
    assert (header["kind"], header["at"], header["biased"]) == (kind, 2.0, kind == "scale")


def test_a_window_swept_is_not_hidden_by_the_window_of_the_mask() -> None:
    _, numbers = sent(opened(compare="sweep", sweep="window", mask="window", radius="0"), "values")
    assert not numbers.isnan().any()


def test_a_value_beyond_a_sweep_is_answered_with_a_word() -> None:
    app = opened(compare="sweep", sweep="window", sweep_at="400")
    assert sent(app, "values")[0]["at"] == 5.0
    assert any("There is no window 400 here; showing 5." in item.value for item in app.caption)


# In Chromium


def fingerprint(page: Page) -> dict[str, Any]:
    """Everything on the page that a person could compare."""
    return {
        "chosen": page.get_by_role("radio", checked=True).all_inner_texts(),
        "numbers": [box.input_value() for box in page.get_by_role("spinbutton").all()],
        "texts": [box.input_value() for box in page.get_by_role("textbox").all()],
        "tables": page.locator(".numbers").all_inner_texts(),
        "differs": page.locator(".differs").all_inner_texts(),
        "lines": page.locator(".line").all_inner_texts(),
        "pictures": page.locator("canvas").evaluate_all("all => all.map(c => c.toDataURL())"),
    }


def check_link(page: Page, open_page: Open) -> None:
    shown = fingerprint(page)
    other = open_page("/compare?" + urlencode(search(page)))
    for _ in range(40):
        if fingerprint(other) == shown:
            break
        other.wait_for_timeout(250)  # a busy machine paints the page piece by piece
    assert fingerprint(other) == shown


def test_a_change_of_b_is_painted_and_lives_in_the_link(open_page: Open) -> None:
    page = open_page("/compare?mask=causal")
    page.locator(".st-key-b_variant").get_by_role("radio", name="gaussian").click()
    settle(page)
    page.locator(".st-key-b_sigma").get_by_role("slider").press("ArrowRight")
    settle(page)
    page.locator(".st-key-b_mask").get_by_role("radio", name="window").click()
    settle(page)
    assert search(page) == {
        "mask": "causal",
        "b_variant": "gaussian",
        "b_sigma": "1.1",
        "b_mask": "window",
    }
    assert "σ: — → 1.1" in page.locator(".differs").inner_text()
    check_link(page, open_page)


def test_a_swap_is_written_into_the_link(open_page: Open) -> None:
    page = open_page("/compare")
    page.get_by_role("button", name="Swap A and B").click()
    settle(page)
    assert search(page) == {"scale": "none", "b_scale": "1/√d_k"}
    assert "scale: none → 1/√d_k" in page.locator(".differs").inner_text()
    check_link(page, open_page)


def test_pointing_tells_both_weights_and_their_difference_and_keys_choose_a_row(
    open_page: Open,
) -> None:
    page = open_page("/compare?query=1")
    box = page.locator(".box.cells").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 1.5 / 6, box["y"] + box["height"] * 1.5 / 6)
    told = page.locator(".readout").inner_text()
    row = page.locator(".numbers").first.locator("tbody tr").first.locator("td")
    a, b, change = (row.nth(cell).inner_text() for cell in (0, 1, 2))
    assert told == f"“cat” to “cat”: A {a} · B {b} · B − A +{change}"
    page.get_by_role("application").focus()
    page.keyboard.press("End")
    settle(page)
    assert search(page) == {"query": "5"}
    assert "“street”" in page.locator(".readout").inner_text()


@pytest.mark.parametrize(
    ("kind", "link"),
    [
        ("scale", {"positions": "alibi", "mask": "causal"}),
        ("temperature", {"scale": "none", "query": "3"}),
        ("window", {"mask": "length", "valid_len": "4", "query": "5"}),
    ],
)
def test_the_slider_shows_the_numbers_torch_works_out(
    kind: str, link: dict[str, str], open_page: Open, glove: Vectors
) -> None:
    page = open_page("/compare?" + urlencode({"compare": "sweep", "sweep": kind} | link))
    wanted = {name: int(v) if v.isdigit() else v for name, v in link.items() if name != "query"}
    trace = result_of(glove, **wanted).trace
    swept = compare.sweep(trace, kind, 1.0, trace.mask)
    slider = page.locator(".slider input")
    for press in ("End", "PageDown", "ArrowLeft", "ArrowLeft"):
        slider.press(press)
        page.wait_for_timeout(60)
        value = swept.values[int(slider.input_value())]
        weights = swept.weights(value)[int(link.get("query", 0))]
        shown = page.locator(".line small").all_inner_texts()
        numbers = [0.0 if text == "masked" else float(text) for text in shown]
        numpy.testing.assert_allclose(numbers, weights, atol=1e-5)
        bits = float(-torch.xlogy(weights, weights).sum() / numpy.log(2))
        told = re.search(r"entropy of ([\d.]+) bits", page.locator(".list p").inner_text())
        assert told is not None
        assert float(told[1]) == pytest.approx(bits, abs=1e-5)
    if kind == "scale":
        plain = masked_softmax(trace.scores * value + trace.bias, trace.mask)[0]
        numpy.testing.assert_allclose(numbers, plain, atol=1e-5)


def test_the_slider_moves_without_a_round_trip_and_its_value_is_kept_when_let_go(
    open_page: Open,
) -> None:
    page = open_page("/compare?compare=sweep")
    slider = page.locator(".slider input")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    before = page.locator(".line small").all_inner_texts()
    page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    page.wait_for_timeout(400)
    assert page.locator(".line small").all_inner_texts() != before
    assert "sweep_at" not in search(page)
    page.mouse.up()
    settle(page)
    kept = float(search(page)["sweep_at"])
    assert kept == compare.sweep_values("scale", 6)[int(slider.input_value())]
    check_link(page, open_page)


def test_a_small_multiple_is_a_way_to_its_value(open_page: Open) -> None:
    page = open_page("/compare?compare=sweep")
    button = page.get_by_role("button", name="scores × 0.2")
    button.click()
    settle(page)
    assert search(page) == {"compare": "sweep", "sweep_at": "0.2"}
    assert button.get_attribute("aria-pressed") == "true"


def test_the_pair_follows_as_one_types_and_is_in_the_link(open_page: Open) -> None:
    page = open_page("/compare?compare=pair")
    box = page.get_by_label("Second sentence")
    box.press("End")
    box.press_sequentially(" today", delay=30)
    page.locator(".across .changed", has_text="today").first.wait_for()
    box.press("Enter")
    settle(page)
    assert search(page)["s2"] == "the cat sleeps on the street today"
    check_link(page, open_page)


@pytest.mark.parametrize("kind", ["settings", "sweep", "pair"])
def test_nothing_is_cut_off_at_phone_width(kind: str, open_page: Open) -> None:
    page = open_page(f"/compare?compare={kind}", viewport={"width": 390, "height": 800})
    overflow = "main => main.scrollWidth - main.clientWidth"
    assert page.get_by_test_id("stMain").evaluate(overflow) <= 0
    hidden = ".frame, .box"
    for right in page.locator(hidden).evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    ):
        assert right <= 390


@pytest.mark.parametrize("kind", ["settings", "sweep"])
def test_pictures_follow_the_theme_while_the_page_stands(kind: str, open_page: Open) -> None:
    page = open_page(f"/compare?compare={kind}", color_scheme="light")
    light = fingerprint(page)["pictures"]
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(800)
    dark = fingerprint(page)["pictures"]
    assert len(light) == len(dark) > 0
    assert not set(light) & set(dark)


def test_hostile_sentences_do_nothing(open_page: Open) -> None:
    page = open_page("/compare")
    for sentence in HOSTILE[4:9:2]:
        link = {"compare": "pair", "s": sentence, "s2": f"{sentence} cat"}
        page.goto(page.url.split("?")[0] + "?" + urlencode(link))
        settle(page)
        names = page.locator(".down").first.locator("span")
        names.nth(len(tokenize(sentence))).wait_for(state="attached")
        shown = names.evaluate_all("all => all.map(name => name.title)")
        assert [name.split(" (")[0] for name in shown] == [*tokenize(sentence), "cat"]
        assert page.locator("img[src*='evil'], a[href*='evil'], a[href^='javascript']").count() == 0
