"""Claims on heads: what each threshold takes, and the head that is shown for an answer."""

from __future__ import annotations

import gzip
import math

import pytest
import torch

from attention.analysis.sentences import SENTENCES
from attention.atlas import claims, files
from attention.atlas.claims import elsewhere
from attention.atlas.deciding import Deciding, deciding, failed, in_each_way, surviving
from attention.atlas.earned import costs_of, names_of
from attention.atlas.passport import Cost, Mean
from attention.atlas.sentences import claim_words
from attention.changing.answers import answer_at
from attention.changing.change import part_of
from attention.changing.corpus import on_corpus
from attention.changing.effects import effects
from attention.changing.known import Known
from tests.atlas.test_packaged import atlas_of
from tests.cases import over
from tests.trained.packaged import packaged, run_model

NEEDED, MOVED = claims.NEEDED_ELSEWHERE, claims.MOVED_ELSEWHERE
# Means and widths of both halves, and if the answer is a vector.
COSTS = {
    ((0.04, 0.05), 0.01, False): "needs",
    ((0.04, 0.02), 0.01, False): "is open",  # one half alone
    ((0.04, 0.05), 0.06, False): "is open",  # an interval that holds 0
    ((0.02, 0.02), 0.005, False): "loses nothing",
    ((0.02, 0.02), 0.015, False): "is open",  # that ends above
    ((-0.04, -0.05), 0.01, False): "gains",
    ((-0.01, 0.0), 0.01, False): "loses nothing",
    ((0.025, 0.025), 0.001, False): "loses nothing",
    ((0.025, 0.025), 0.001, True): "needs",
}


@over("case", COSTS)
def test_a_claim_on_other_sentences_needs_both_halves_their_intervals_and_its_threshold(case):
    means, width, vectors = case
    cost = Cost(*(Mean(mean, mean - width, mean + width, 40) for mean in means))
    assert elsewhere(cost, vectors) == COSTS[case]


def test_one_statistic_says_which_heads_other_sentences_need():
    costs = costs_of("smollm2")
    found = {head: elsewhere(one.elsewhere, False) for head, one in costs.items()}
    assert [found[head] for head in ((1, 0), (23, 5), (11, 5))] == ["needs"] * 3
    assert found[23, 4] == found[24, 7] == "loses nothing"
    assert claim_words(costs[23, 3].elsewhere, False).startswith("It is open")  # up to .057
    assert list(found.values()).count("needs") == 6


def changes(*each: tuple[float, float]) -> torch.Tensor:
    """Of so many heads of one layer."""
    return torch.tensor([each])


# Changes of the answer and of the likeliest piece, from .6; weights on a word; the head, those that
# cost about as much, and if one decides.
SHOWN = {
    ("alone", ((-0.4, -0.2), (-0.1, -0.1)), (0.1, 0.9)): (0, 0, True),
    ("as much", ((-0.31, -0.31), (-0.29, -0.29)), (0.5, 0.96)): (1, 1, True),
    ("none", ((-0.1, -0.1), (-0.09, -0.09)), (0.5, 0.1)): (0, 1, False),
    ("another leads", ((-0.2, -0.1), (-0.1, -0.1)), (0.0, 0.9)): (0, 0, True),
    ("gains", ((0.1, 0.1), (0.05, 0.05)), (0.1, 0.9)): (1, 0, False),
}


@over("case", SHOWN)
def test_the_head_shown_costs_about_as_much_as_any_and_looks_most_at_a_word(case):
    _, each, looks = case
    found = deciding(changes(*each), 0.6, 1, torch.tensor([looks]))
    assert (found.head[1], len(found.costs) - 1, found.decides) == SHOWN[case]
    expected = sorted((-each[head][0] for (_, head), _ in found.costs), reverse=True)
    assert [cost for _, cost in found.costs] == pytest.approx(expected)
    assert found.head in dict(found.costs)


def test_a_head_decides_where_each_test_takes_five_points_and_another_gives_way_to_it():
    both = Deciding((0, 1), (((0, 0), 0.4), ((0, 1), 0.35)), True)
    after = {"corpus": 0.2, "zero": 0.3, "others": 0.551, "text": 0.6}
    assert failed(0.6, after) == ("others",)
    assert failed(0.6, {**after, "others": 0.549}) == ()
    looks = torch.tensor([[0.9, 0.1]])
    found = surviving(both, {(0, 0): ("others",), (0, 1): ()}, looks)
    assert (found.head, found.costs, found.fails) == ((0, 1), both.costs[1:], ())
    assert dict(found.tests) == {(0, 0): ("others",), (0, 1): ()}
    none = surviving(both, {(0, 0): ("others",), (0, 1): ("zero",)}, looks)
    assert (none.head, none.costs, none.fails) == (both.head, both.costs, ("others",))


def test_the_tests_of_a_head_are_its_effects_by_each_way():
    model, layer, head = packaged("smollm2"), 0, 6
    runs = [run_model("smollm2", text) for text in SENTENCES[:3]]
    others = torch.stack([part_of(run, layer, "output")[head, -1] for run in runs])
    run = run_model("smollm2", "Two plus three equals")
    metric, _ = answer_at(model, run, -1)
    there = on_corpus("smollm2")
    assert there is not None
    found = in_each_way(Known(model, run, metric), (layer, head), there.means, others)

    def after(to, **at):
        return float(effects(model, run, metric, to=to, layers=[layer], **at).after[0, head])

    for way in ("corpus", "zero", "text"):
        assert found[way] == pytest.approx(after(way), abs=1e-6)
    at_end = sorted(after(other, positions=[-1]) for other in others)
    assert found["others"] == pytest.approx(at_end[1], abs=1e-6)


def test_no_head_is_shown_before_all_are_tried_and_a_vector_is_decided_by_its_movement():
    looks = torch.tensor([[0.5, 0.5]])
    assert deciding(changes((-0.5, 0.0), (math.nan, math.nan)), 0.6, 1, looks) is None
    for moved, decides in ((0.06, True), (0.04, False)):
        found = deciding(changes((moved, moved), (0.0, 0.0)), 0.0, -1, looks)
        assert (found.head, found.decides) == ((0, 0), decides)


# Names that hold for heads, read from passports without all else in these


@pytest.mark.parametrize("model", [*files.packaged()])
def test_the_names_of_a_model_are_those_that_hold_in_its_passports_and_no_other(model):
    atlas, found = atlas_of(model), names_of(model)
    of_passports = {
        (name.name, *one.place): name for one in atlas.passports for name in one.names if name.holds
    }
    assert {(one.name, one.layer, one.head) for one in found} == {*of_passports}
    assert len(found) == len(of_passports)
    for one in found:
        name = of_passports[one.name, one.layer, one.head]
        times = one.share * one.sentences
        assert times == pytest.approx(sum(half.mean * half.count for half in name.halves), abs=1e-3)
        assert times == pytest.approx(round(times), abs=1e-9)
        assert one.sentences == name.found.count + name.checked.count
    costs = {one.place: one.effects.elsewhere for one in atlas.passports}
    assert {head: one.elsewhere for head, one in costs_of(model).items()} == costs
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_a_model_without_passports_or_with_broken_ones_has_no_names(tmp_path, monkeypatch):
    assert names_of("nobody") == ()
    monkeypatch.setenv(files.OWN_ATLAS_VARIABLE, str(tmp_path))
    whole = files.packaged()["minilm"].read_bytes()
    path = files.path_of(tmp_path, "minilm")
    for broken in (b"", whole[:99], gzip.compress(b'{"sentences": [], "passports": [{}]}')):
        path.write_bytes(broken)
        assert names_of("minilm") == ()
        assert costs_of("minilm") == {}
