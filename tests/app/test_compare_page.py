"""The page "Compare" as Streamlit runs it, and as a person sees it in Chromium."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest
from torchtext.vocab import Vectors

from attention.core.settings import Declared, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.lessons import compare
from attention.pipeline import Result, Settings, compute
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
