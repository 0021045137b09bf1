"""Where heads look: counted by hand on planted heads, and on models that are known whole."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.analysis.heads import MEASURES, NAMINGS
from attention.atlas import patterns
from attention.atlas.corpus import corpus_of
from attention.atlas.passport import CHECKED
from attention.atlas.patterns import Pattern, Patterns, chance_of, spread
from attention.atlas.stages import Subject
from attention.atlas.twin import untrained
from attention.trained import sources
from attention.trained.models import Model
from tests.atlas.planted import even, noise, on, subject
from tests.properties import given, settings, strategies

WORDS = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr"]
TEXTS = [" ".join(WORDS[at % 3 : 5 + at % 5]) for at in range(40)]
NOISE = [noise(seed) for seed in range(4)]


def summary(it: Any) -> list[Pattern]:
    """Patterns of all heads of a subject."""
    stage = Patterns()
    raw = [stage.measure(it, asked) for asked in stage.texts(it.corpus)]
    return [*patterns.summarised(it, raw).values()]


def some_of(model: Model) -> Subject:
    """A model with the first of its sentences."""
    corpus = corpus_of(model)
    return Subject(model, replace(corpus, sentences=corpus.sentences[:40]))


def names(of: Pattern) -> dict[str, bool]:
    return {one.name: one.holds for one in of.names}


def test_a_sentence_is_measured_as_by_hand():
    """[CLS] x y x: the head has .7 on the piece before, .1 on each other one; its first row is
    even."""
    it = subject([on(-1, 0.7)], [even], ["x y x", "x y x"])
    found = Patterns().measure(it, it.corpus.sentences[0])
    measured, shuffled, untrained = (
        dict(zip(MEASURES, found[of][:, 0].tolist(), strict=True))
        for of in ("measures", "shuffled", "untrained")
    )
    assert measured["previous"] == pytest.approx((0.25 * 0 + 0.7 * 3) / 4)
    assert (shuffled["previous"], untrained["previous"]) == pytest.approx((3 / 16, 3 / 16))
    assert measured["special"] == pytest.approx((0.25 + 0.7 + 0.1 + 0.1) / 4)
    assert shuffled["special"] == pytest.approx(0.25)
    assert shuffled["distance"] == pytest.approx((6 + 4 + 4 + 6) / 16)
    assert measured["induction"] == pytest.approx(0.7)  # y followed the first x
    place = [*NAMINGS].index
    assert found["right"][place("previous"), 0] == 1  # rows y and x
    assert found["right_untrained"][place("previous"), 0] == 0
    assert found["weight"][place("previous"), 0] == pytest.approx(0.7)
    assert found["right"][place("same word"), 0] == 0
    assert found["right"][place("separator")].isnan().all()
    assert found["chance"][place("previous"), 0] == pytest.approx(1 / 9)  # both of two rows
    assert found["sink"][0] == pytest.approx((0.7 + 0.1 + 0.1) / 3)
    assert found["by_set"].sum() == pytest.approx(1)
    previous, first = 1 << place("previous"), 1 << place("first")
    both = {
        int(key): float(share)
        for key, share in zip(found["sets"], found["by_set"][:, 0], strict=True)
    }
    assert both[previous | first] == pytest.approx(0.7 / 3)  # of the row behind [CLS]
    assert both[previous] == pytest.approx(0.7 / 3)
    assert both[previous | 1 << place("induction")] == pytest.approx(0.7 / 3)


def test_a_head_that_looks_one_back_is_named_so_and_one_that_is_even_or_anywhere_is_not():
    found = summary(subject([on(-1), even, noise(9), on(1)], NOISE, TEXTS))
    assert [names(of) for of in found] == [{"previous": True}, {}, {}, {"next": True}]
    (one,) = found[0].names
    assert one.found.mean == one.checked.mean == 1
    assert one.found.count == one.checked.count == 20
    assert one.weight.mean == pytest.approx(0.9)
    assert one.counter is None
    assert max(one.shuffled, one.untrained) < one.found.low
    row = one.example
    assert row.sentence % 2 == 1  # of the checked half
    assert row.weights[row.query - 1] == max(row.weights) == pytest.approx(0.9)


def test_a_name_that_fails_on_the_other_half_is_given_as_failed_with_a_row_that_shows_it():
    """It looks back in sentences of the found half, which are the longer ones."""
    texts = [" ".join(WORDS[: 7 - at % 2]) for at in range(40)]
    back, ahead = on(-1, 0.8), on(1, 0.8)
    found = summary(subject([lambda many: (back if many == 8 else ahead)(many)], [even], texts))
    assert names(found[0]) == {"previous": False}
    (one,) = found[0].names
    assert (one.found.mean, one.checked.mean) == (1, 0)
    assert one.counter.weights[one.counter.query - 1] == pytest.approx(0.2 / 6)
    assert found[0].unexplained.mean == pytest.approx(1)  # a name that fails foretells nothing


def test_a_name_that_a_head_of_the_twin_earns_as_often_is_not_given():
    found = summary(subject([on(-1)], [on(-1), even], TEXTS))
    assert names(found[0]) == {}


def test_what_no_name_foretells_is_the_weight_beside_all_of_them():
    """Of [CLS] and three words each word has .7 on the piece before; .3 lies elsewhere."""
    texts = [" ".join(WORDS[at % 6 : at % 6 + 3]) for at in range(40)]
    found = summary(subject([on(-1, 0.7), even], NOISE[:2], texts))
    assert names(found[0]) == {"previous": True}
    assert found[0].unexplained.mean == pytest.approx(0.3)
    assert found[1].unexplained.mean == pytest.approx(1)
    assert found[0].sink.mean == pytest.approx((0.7 + 0.1 + 0.1) / 3)


def test_a_head_without_a_special_piece_rests_on_the_first():
    texts = [" ".join(WORDS[at % 4 :]) for at in range(40)]

    def rests(many: int) -> Tensor:
        rows = torch.full((many, many), 0.2 / (many - 1))
        rows[:, 0] = 0.8
        return rows

    found = summary(subject([rests], NOISE[:1], texts, causal=True, special=False))
    assert names(found[0]) == {"first": True}
    assert 0.8 < found[0].sink.mean < 1


def test_rows_are_spread_over_the_range_of_their_greatest_weights():
    values = torch.tensor([[0.1, 0.9, 0.5, 0.52, 0.11, 0.3]])
    assert spread(values, 3) == [[1, 2, 0]]  # nearest to .9, .5, .1
    assert spread(values, 9)[0][:1] == [1]
    assert sorted(spread(values, 9)[0]) == [*range(6)]
    found = summary(subject([noise(3)], NOISE[:1], TEXTS))[0].rows
    assert len({(row.sentence, row.query) for row in found}) == len(found) == 8
    greatest = [max(row.weights[1:]) for row in found]  # [CLS] is set aside
    assert greatest == sorted(greatest, reverse=True)
    assert all(row.sentence % 2 == 1 for row in found)
    steps = [one - other for one, other in itertools.pairwise(greatest)]
    assert max(steps) < (greatest[0] - greatest[-1]) / 2


@given(strategies.lists(strategies.floats(0, 1), max_size=6))
@settings(max_examples=30)
def test_the_chance_of_more_than_half_of_uneven_coins_is_that_of_all_their_throws(shares):
    expected = 0.0
    for heads in itertools.product((True, False), repeat=len(shares)):
        if sum(heads) * 2 > len(shares):
            chances = [p if head else 1 - p for p, head in zip(shares, heads, strict=True)]
            expected += float(torch.tensor(chances, dtype=torch.float64).prod())
    assert chance_of(shares) == pytest.approx(expected, abs=1e-12)


def test_the_model_built_by_hand_earns_the_names_it_was_built_for():
    it = some_of(sources.load("constructed"))
    stage = Patterns()
    raw = [stage.measure(it, asked) for asked in stage.texts(it.corpus)]
    found = patterns.summarised(it, raw)
    assert {head: [*names(of)] for head, of in found.items() if head != (0, 1)} == {
        (0, 0): ["previous"],
        (1, 0): ["induction", "first"],
        (1, 1): ["first"],
    }
    assert {*names(found[0, 1])} == {"itself", "same word"}
    assert all(one.holds for of in found.values() for one in of.names)
    assert max(of.unexplained.mean for of in found.values()) < 0.01
    halves = [asked.half for asked in it.corpus.sentences]
    for of in found.values():
        assert {halves[row.sentence] for row in of.rows} == {CHECKED}
        for row in of.rows:
            assert sum(row.weights) == pytest.approx(1)


def test_no_name_that_heads_of_a_twin_earn_holds():
    """A twin of the model built by hand as if it were trained, held against others of its sizes."""
    it = some_of(untrained(sources.load("constructed"), seed=1009))
    assert [one for of in summary(it) for one in of.names if one.holds] == []
