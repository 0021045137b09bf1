"""The measured facts that the window opens on: they recompute, and say what is said of them."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from attention.analysis.means_on_corpus import LOSSES_OVER, MEANS_OVER
from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.atlas.earned import costs_of
from attention.changing.answers import answer_at, beside_likeliest
from attention.changing.change import Head, changes
from attention.changing.corpus import on_corpus
from attention.changing.effects import effects, losses_after, means
from attention.changing.known import Known, states_without
from attention.changing.team import CANDIDATES, other_teams
from tests.changing.searching import searched
from tests.trained.packaged import packaged, run_model

OTHERS = SENTENCES[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
ANNA = "Anna met Tom at the park. Anna gave the ball to"
FOUR: list[Head] = [(0, 7), (23, 3), (24, 4), (29, 0)]
MARY = "When Mary and John went to the store, John gave a drink to"
BERLIN = "My sister lives in Berlin, so she speaks"


def said_without(text: str, off: list[Head], way: str = "mean") -> tuple[str, float, float]:
    """The likeliest word without heads, its share, and that of the answer there was."""
    model, run = packaged("smollm2"), run_model("smollm2", text)
    to = on_corpus("smollm2").means if way == "mean" else way
    states = states_without(model, run, off, to)
    shares = model.scores(states[-1]).softmax(-1)
    (word,) = model.shown([int(shares.argmax())])
    metric, _ = answer_at(model, run, -1)
    return word.strip("·"), float(shares.max()), float(metric(states))


def test_two_heads_at_zero_look_like_a_discovery_and_at_their_means_are_none():
    off = [(1, 3), (1, 5)]
    zero, mean = (said_without(MARY, off, way)[2] for way in ("zero", "mean"))
    assert zero < 0.07 < 0.9 < mean
    cost = costs_of("smollm2")[1, 5]
    assert cost.elsewhere_by_zero.found.low > 0.2
    assert cost.elsewhere.found.mean < 0.03


def test_what_is_packaged_recomputes_from_its_sentences():
    model, there = packaged("minilm"), on_corpus("minilm")
    mean = means(model, SENTENCES[:MEANS_OVER], "output")
    assert_close(torch.stack(there.means), torch.stack(mean), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(("name", "text"), ANSWERED)
def test_packaged_effects_recompute(name, text):
    model, run, there = packaged(name), run_model(name, text), on_corpus(name)
    metric = beside_likeliest(model, answer_at(model, run, -1)[0], -1)
    layers = [len(model.layers) - 1, len(model.layers) - 7]
    found = effects(model, run, metric, to=there.means, layers=layers).change
    assert_close(there.effects[text][layers], found, atol=1e-4, rtol=1e-2)


def test_four_heads_turn_tom_into_anna():
    share = pytest.approx(0.271, abs=2e-3)
    assert said_without(ANNA, []) == ("Tom", share, share)
    assert said_without(ANNA, FOUR[:1])[2] == pytest.approx(0.006, abs=1e-3)
    assert said_without(ANNA, FOUR[:2])[0] == "Anna"
    assert said_without(ANNA, FOUR)[:2] == ("Anna", pytest.approx(0.928, abs=5e-3))


def test_the_candidates_lead_from_the_first_head_to_the_four_of_the_whole_search():
    model, run = packaged("smollm2"), run_model("smollm2", ANNA)
    metric, _ = answer_at(model, run, -1)
    found = searched(4, model, run, metric, to=on_corpus("smollm2").means)
    assert [one.head for one in found] == FOUR
    assert [one.tried for one in found] == [270, *[CANDIDATES] * 3]


def test_the_four_cost_little_elsewhere_and_chance_takes_as_much_once():
    model, run = packaged("smollm2"), run_model("smollm2", ANNA)
    there = on_corpus("smollm2")
    costs = losses_after(model, OTHERS, [changes(FOUR, there.means)])[:, 0]
    assert float(costs.mean()) == pytest.approx(0.055, abs=3e-3)
    asked = Known(model, run, answer_at(model, run, -1)[0])
    points = asked.after([changes(each, there.means) for each in other_teams(FOUR, 9)])
    points = points - asked.before
    assert len(points) == 20
    assert float(points.min()) < -0.2
    assert float(points.max()) > 0.1


def test_one_head_turns_german_into_spanish_and_no_other_of_its_layer_does():
    assert said_without(BERLIN, [])[::2] == ("German", pytest.approx(0.176, abs=2e-3))
    assert said_without(BERLIN, [(23, 4)])[::2] == ("Spanish", pytest.approx(0.036, abs=2e-3))
    before = said_without(BERLIN, [])[2]
    others = [said_without(BERLIN, other)[2] for other in other_teams([(23, 4)], 9)]
    assert len(others) == 8
    assert all(abs(before - after) <= 0.06 for after in others)


FIVE = "Two plus three equals"
KEYS = "The keys to the old wooden cabinet"


@pytest.mark.parametrize(
    ("text", "answer", "head", "with_all", "left"),
    [
        (KEYS, " are", (26, 0), 0.156, {None: 0.059, "zero": 0.066, "text": 0.108}),
        (FIVE, " five", (0, 6), 0.187, {None: 0.008, "zero": 0.002, "text": 0.180}),
    ],
)
def test_a_packaged_model_begins_with_its_means_over_packaged_sentences(
    text, answer, head, with_all, left
):
    model, layer = packaged("smollm2"), head[0]
    for to, expected in left.items():
        found = effects(model, text, answer, to=to, layers=[layer])
        assert found.to == (to or "corpus")
        assert float(found.before) == pytest.approx(with_all, abs=6e-4)
        assert float(found.after[0, head[1]]) == pytest.approx(expected, abs=6e-4)


def test_a_model_without_packaged_means_asks_for_the_way_by_name():
    with pytest.raises(
        ValueError, match='"corpus" of heads of en-pt, minilm and smollm2, got None'
    ):
        effects(packaged("constructed"), "the dog", 5)
    with pytest.raises(ValueError, match=r"to must be .* got 'mean'"):
        effects(packaged("smollm2"), KEYS, " are", to="mean")
    with pytest.raises(ValueError, match=r"to must be .* got 'corpus'"):
        effects(packaged("smollm2"), KEYS, " are", to="corpus", part="values")
