"""The fold "Against": B differs from A in one thing; two rows, their difference, one sentence."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.app.cached import runs
from attention.app.state.openings import ALL_WORDS, OPENINGS
from attention.core.functional import masked_softmax
from attention.pipeline import Settings
from attention.subjects.play.against import numbers, scene, words
from attention.subjects.play.against.words import DIFFERENCES
from tests.cases import over
from tests.running import App, opened
from tests.trained.packaged import packaged

S = "the cat sat on a mat"
MINILM = OPENINGS["minilm"]
# What B is set to, and the settings of B that are then others than those of A.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "word": ({"s2": "the cat sat on a rug"}, {"s": "the cat sat on a rug"}),
    "head": ({"b_head": 3}, {"head": 3}),
    "variant": ({"b_variant": "gaussian"}, {"variant": "gaussian", "head": 0, "config": ()}),
    "scale": ({"b_factor": 2.0}, {"scale": "factor", "factor": 2 * 10**-0.5}),
    "mask": ({"b_mask": ["window"]}, {"mask": ("window",)}),
}
A: dict[str, Any] = {"variant": "multihead", "head": 1}
OF_A = Settings(S, **A, config=(("heads", 5),))


def against(differs: str, **link: Any) -> App:
    return opened("explore", **{"fold": "against", "s": S, "query": 5, "differs": differs} | link)


def rows(app: App) -> dict[str, Tensor]:
    """The rows by their names, (queries, keys) each."""
    sent = app.sent["rows"]
    width = len(sent.header["tokens"])
    heights = [row["queries"] * width for row in sent.header["rows"]]
    names = [row["name"] for row in sent.header["rows"]]
    parts = sent.numbers.split(heights)
    return {name: part.reshape(-1, width) for name, part in zip(names, parts, strict=True)}


def sentence(app: App) -> str:
    return next(
        words for words in app.told if words.startswith(("With", "At ×", "A and B", "This word"))
    )


@over("differs", DIFFERENCES)
def test_b_is_a_but_for_one_thing_and_the_difference_is_b_less_a(differs):
    given, changed = CHANGES[differs]
    chosen = {**words_of_b(), **given, "differs": differs}
    a = runs.result_of(OF_A)
    b = words.settings_of_b(a.settings, a.trace.scale, chosen)
    assert {name: value for name, value in vars(b).items() if value != getattr(OF_A, name)} == (
        pytest.approx(changed) if differs == "scale" else changed
    )
    first, second = a.trace.applied, runs.result_of(b).trace.applied
    app = against(differs, **A, **given)
    *_, of_a, of_b, change = rows(app).values()
    assert_close(of_a, first)
    assert_close(of_b.nan_to_num(), second)
    assert_close(change, second - first)
    query, key = 5, int((second - first)[5].abs().argmax())
    before, after = f"{100 * first[query, key]:.0f}", f"{100 * second[query, key]:.0f} %"
    assert f"{before} → {after}" in sentence(app), "the greatest change of the chosen word"
    assert app.sent["picture"].header["tokens"] == S.split(), "A stays above"
    told = [words for words in app.said.split("<") if "Its new vector moves by" in words]
    assert bool(told) == (differs in ("scale", "mask")), "else of another head or sentence"
    if told:
        of_a, of_b = a.trace.output[query], runs.result_of(b).trace.output[query]
        moved = float((of_b - of_a).norm() / of_a.norm())
        assert f" {100 * moved:.1f} % of its length" in told[0]


def words_of_b() -> dict[str, Any]:
    """The settings of B as they begin."""
    return vars(words.AgainstSettings())


@over("differs", [name for name in DIFFERENCES if name != "variant"])
def test_b_begins_as_a(differs):
    app = against(differs, **A)
    assert not rows(app)["difference"].any()
    assert sentence(app) == scene.SAME
    expected = {"word": {"s2": S}, "head": {"b_head": 1}, "mask": {"b_mask": []}}
    assert expected.get(differs, {}).items() <= app.values.items()
    assert not app.controls.keys() & ({f"b_{name}" for name in DIFFERENCES} - {f"b_{differs}"})


def test_of_an_opening_b_is_its_other_ending():
    packaged("minilm")
    link = MINILM.chosen | {"s": MINILM.sentences[0], "query": MINILM.query}
    app = opened("explore", **link, fold="against")
    assert (app.values["s2"], app.values["s"]) == (MINILM.sentences[1], MINILM.sentences[0])
    assert [*rows(app)] == ["tired", "wide", "difference"]
    words = sentence(app)
    assert words.startswith("With “wide” “it” looks less at animal, 76 → 46 %, and more at street")
    app.choose("s2", "it was too wide")
    assert "animal" in app.sent["rows"].header["tokens"], "a word of one sentence alone stays"


@over("variant, absent", [("linear", "scale"), ("qkv", "head")])
def test_what_a_layer_does_not_have_cannot_differ(variant, absent):
    app = against(absent, variant=variant)
    assert absent not in app.controls["differs"].options
    assert "s2" in app.controls, "a word differs in its place"


@over("factor", [0.0, 0.5, 3.0])
def test_at_any_factor_b_is_the_softmax_of_the_scores_times_it(factor):
    app = against("scale", mask="causal", b_factor=factor)
    slider, shown = app.sent["rows"].header["slider"], rows(app)
    scores, of_b = (list(shown.values())[slider[at]] for at in ("of", "to"))
    masked = scores.isnan()
    expected = masked_softmax(scores.nan_to_num() * factor, ~masked)
    assert_close(of_b.nan_to_num(), expected, atol=1e-6, rtol=1e-5)
    app.tell("rows", "factor", 1.25)
    assert (app.query_params["b_factor"], app.sent["rows"].header["slider"]["at"]) == ("1.25", 1.25)


@over("link", [{"positions": "alibi"}, {"variant": "talking"}])
def test_where_the_scale_alone_does_not_make_the_weights_the_server_works_them_out(link):
    app = against("scale", b_factor=2.0, **link)
    assert app.sent["rows"].header["slider"] is None
    a = runs.result_of(Settings(S, **link))
    b = numbers.sides(a, words_of_b() | {"differs": "scale", "b_factor": 2.0}).b
    assert b.trace.scale == pytest.approx(2 * a.trace.scale)
    assert_close(rows(app)["× 2"], b.trace.applied)
    assert not rows(app.choose("b_factor", 1.0))["difference"].any()


def test_all_words_are_three_maps_of_the_same_numbers():
    app = against("mask", b_mask=["causal"], words=ALL_WORDS)
    header = app.sent["comparison"].header
    assert [each["title"] for each in header["maps"]] == ["A · no mask", "B · causal", "B − A"]
    a, b, difference = app.sent["comparison"].numbers[: 3 * 36].reshape(3, 6, 6)
    assert torch.equal(a, runs.result_of(Settings(S)).trace.weights)
    assert torch.equal(b.isnan(), torch.ones(6, 6).triu(1).bool())
    assert torch.equal(difference, b.nan_to_num(0) - a), "what one side hides has weight 0 there"
    most = [each["most"] for each in header["maps"]]
    assert most == [1.0, 1.0, float(difference.abs().max())], "the scale of both, and of it"
    assert not any(app.sent["comparison"].rest)


def test_a_difference_needs_a_token_on_both_sides():
    app = against("word", s="a big cat", s2="a cat today", words=ALL_WORDS)
    sent = app.sent["comparison"]
    absent = torch.frombuffer(bytearray(sent.rest), dtype=torch.uint8).reshape(3, 4, 4)
    assert sent.header["names"] == ["a", "big", "cat", "today"]
    assert absent[:, 0].tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 1]]
    assert torch.equal(sent.numbers[:48].isnan(), absent.flatten().bool())


def test_a_word_of_one_sentence_alone_has_no_number_in_the_other():
    app = against("word", s="a big cat", s2="a cat today", query=1)
    assert app.sent["rows"].header["tokens"] == ["a", "big", "cat", "today"]
    assert sentence(app) == "This word stands in one of the sentences alone."
    assert against("word", s2="\x00").missing == [scene.NO_WORDS]


def test_b_begins_as_a_again_where_a_has_another_sentence():
    app = opened("explore", s="the cat sat", fold="against")
    assert app.values["s2"] == "the cat sat"
    assert app.choose("s2", "the cat ran").values["s"] == "the cat sat"
    assert app.choose("s", "a dog slept").values["s2"] == "a dog slept"
    linked = opened("explore", s="the cat sat", s2="the cat ran", fold="against")
    assert linked.values["s2"] == "the cat ran"


def test_b_of_another_variant_keeps_a_scale_that_was_chosen_on_purpose():
    usual, chosen = Settings("the cat"), Settings("the cat", scale="none")
    assert words.on_word_vectors(usual, "cosine").scale == "factor"
    assert words.on_word_vectors(chosen, "cosine").scale == "none"


def test_settings_of_b_leave_the_address_with_their_fold_and_come_back_with_it():
    app = opened("explore", s="the cat sat", fold="against", s2="the dog sat")
    assert "s2" not in app.choose("fold", "map").query_params
    assert app.choose("fold", "against").query_params["s2"] == "the dog sat"
