"""Sentences of the window of a model, held to the numbers that they stand beside."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attention.analysis import continuing
from attention.analysis.associations import BASELINES, METHODS
from attention.analysis.losses_on_corpus import LOSSES_OVER, Elsewhere
from attention.analysis.study import SURE, Comparison, Difference, Figure, Trusted
from attention.core.printing import fixed
from attention.subjects.model import words as model_words
from attention.subjects.model.words import Answered
from attention.trained.models import Transformer
from tests.cases import over
from tests.properties import given
from tests.properties import settings as given_settings
from tests.properties import strategies as st
from tests.trained.packaged import packaged

shares = st.floats(0, 1, width=32)
heads = st.tuples(st.integers(0, 29), st.integers(0, 8))


def answer(before: float, now: float, kind: str = "piece") -> Answered:
    likeliest = [("Paris", before, 3), ("the", 1 - before, 5)]
    after = sorted([("Paris", now, 3), ("the", 1 - now, 5)], key=lambda one: -one[1])
    return Answered(kind, 4, "Paris", before, now, (likeliest, after))


@given(shares)
def test_a_share_is_read_as_what_it_is(share: float) -> None:
    words = model_words.percent(share)
    if words.startswith("<"):
        assert 0 < share < 0.0005
    else:
        read = float(words.removesuffix(" %")) / 100
        assert read == pytest.approx(share, abs=0.0051 if share >= 0.0995 else 0.00051)


middle = st.integers(-40, 40).map(lambda step: 0.5 + step / 8000)  # of two that share all
near = st.one_of(shares, st.integers(0, 40).map(lambda step: 0.15 + step / 4000))


@given(near, near, st.integers(0, 3))
def test_an_answer_falls_rises_or_stays_as_its_shares_are_read(
    before: float, after: float, least: int
) -> None:
    words = model_words.fall_words(answer(before, after), after, "head 23.4", least)
    told = re.findall(r"(?:< )?[\d.]+ %", words)
    plain = [model_words.percent(share) for share in (before, after)]
    finer = [model_words.percent(share, least + 1) for share in (before, after)]
    if "stays at" in words:
        assert told == [model_words.percent(after, least)]
        assert finer[0] == finer[1]
    else:
        whole = [model_words.percent(share, least) for share in (before, after)]
        if plain[0] != plain[1]:
            assert told == [plain[0], whole[1]]
        else:
            assert told == (finer if whole[0] == whole[1] else whole)
        assert told[0] != told[1]
        assert ("falls" in words) == (after < before)


@given(near, near)
def test_two_shares_are_told_with_the_fewest_decimals_that_tell_them_apart(
    one: float, other: float
) -> None:
    least = model_words.decimals(one, other)
    for digits in range(least):
        assert model_words.percent(one, digits) == model_words.percent(other, digits)
    alike = model_words.percent(one, least) == model_words.percent(other, least)
    assert not alike or least == model_words.MOST_DECIMALS


@given(st.lists(shares, min_size=1, max_size=7), st.data())
def test_a_head_looks_most_at_the_key_with_the_greatest_weight(
    some: list[float], data: st.DataObject
) -> None:
    row = torch.tensor(some)
    keys = [f"key{at}" for at in range(len(some))]
    itself = data.draw(st.integers(-1, len(some) - 1))
    drawn = data.draw(st.sets(st.integers(0, len(some) - 1)))
    seen = data.draw(st.none() | st.integers(1, len(some)))
    words = model_words.looks_words("word", keys, row, itself, seen, drawn)
    if not row.any():
        assert words.endswith("looks at nothing.")
        return
    most = row.topk(min(2, len(row)))
    first = int(most.indices[0])
    assert ("can see no" in words) == ((len(some) if seen is None else seen) == 1)
    if "can see no" in words:
        assert (f"“key{first}”" in words) == (itself != first)
        return
    named = [
        "itself" if at == itself else f"“key{at}”" + ", an attention sink" * (at in drawn)
        for at in most.indices.tolist()
    ]
    assert f"{named[0]} ({model_words.percent(float(most.values[0]))})" in words
    near = len(some) > 1 and float(most.values[0]) - float(most.values[1]) < model_words.NEAR
    assert (" and " in words) == near


@given(st.integers(0, 99), st.floats(0, 9), st.integers(2, 7))
def test_a_sink_is_a_mark_that_all_heads_together_look_at_more_than_twice_an_even_spread(
    seed: int, more: float, seen: int
) -> None:
    scores = torch.randn(3, seen, generator=torch.Generator().manual_seed(seed))
    scores[:, 0] += more
    rows = scores.softmax(-1)
    found = model_words.sinks(rows, [0, seen - 1], seen)
    for key in range(seen):
        share = sum(float(row[key]) for row in rows) / len(rows)
        assert (key in found) == (key in (0, seen - 1) and share * seen >= 2)


costs = st.floats(-0.25, 3, width=32)
errors = st.floats(0, 0.125, width=32)


@given(costs, errors, st.sampled_from(["piece", "vector"]))
def test_elsewhere_a_loss_is_told_with_its_error_and_no_surer_than_that(
    cost: float, error: float, kind: str
) -> None:
    there = Elsewhere([], {"mean": torch.tensor([[cost]])}, {"mean": torch.tensor([[error]])}, {})
    words = model_words.elsewhere_words(kind, there, (0, 0), "mean")
    needed = bool(model_words.needed_heads(kind, there, "mean"))
    scale, digits = (100, 1) if kind == "vector" else (1, 3)
    told = re.findall(r"[−\d.]+ ± [\d.]+", words)
    gains, harder = "easier" in words, "harder" in words
    size = abs(cost) if gains or harder else cost
    assert told == [f"{fixed(scale * size, digits)} ± {fixed(scale * error, digits)}"]
    assert f"{LOSSES_OVER} other sentences" in words
    assert ("need it too" in words) == needed
    if needed:
        assert cost - 2 * error > 0
        assert cost >= model_words.NEEDED["moves" if kind == "vector" else "nats"]
    assert not harder or cost > 2 * error
    if gains:
        assert cost + 2 * error < 0
        assert not told[0].startswith("0.000 ")
    assert model_words.elsewhere_words(kind, None, (0, 0), "mean") == ""


@given_settings(max_examples=80)
@given(st.lists(heads, min_size=1, max_size=9, unique=True), shares, shares | middle, st.data())
def test_the_sentence_on_all_that_is_off_holds_for_its_numbers(
    off: list[tuple[int, int]], before: float, now: float, data: st.DataObject
) -> None:
    singles = data.draw(st.lists(st.floats(-1, 1), min_size=len(off), max_size=len(off)))
    answered = answer(before, now)
    words = model_words.off_words(answered, sorted(off), model_words.MEAN, singles)
    said, leads = re.findall(r"(?:< )?[\d.]+ %", words), answered.leader[0] == "the"
    least = model_words.decimals(now, answered.leader[1]) if leads else 0
    assert model_words.fall_words(answered, now, "x", least)[9:].strip() in words
    assert ("now says “the”" in words) == leads
    if leads and f"{100 * now:.3f}" != f"{100 * answered.leader[1]:.3f}":
        fallen, leader = said[0 if "stays at" in words else 1], said[2 - ("stays at" in words)]
        assert fallen != leader, "the two are told apart"
    differ = abs((before - now) + sum(singles)) >= 0.01
    assert ("Alone they" in words) == (1 < len(off) <= 6 and differ)
    if "Alone they" in words:
        verbs = re.findall(r"(take|add|together) (\d+(?:\.\d)?)", words)
        alone, together = -sum(singles), before - now
        assert verbs[0] == ("take" if alone >= 0 else "add", model_words.points(abs(alone)))
        assert verbs[1][1] == model_words.points(abs(together))
        assert verbs[1][0] in ("together", "take" if together >= 0 else "add")
        pairs = zip(sorted(off), singles, strict=True)
        helping = [head for head, single in pairs if single >= model_words.HELPS]
        assert ("alone even" in words) == bool(helping)
        assert all(f"{model_words.name_of(head)}" in words.split("; ")[1] for head in helping)
    assert model_words.off_words(answered, [], model_words.MEAN, []) == ""
    assert "Zero also" in model_words.off_words(answered, off, model_words.ZERO, [])


@given(st.lists(shares, min_size=6, max_size=6))
def test_heads_that_link_two_words_are_counted_and_the_first_named_is_the_strongest(
    some: list[float],
) -> None:
    weights = torch.tensor(some).reshape(2, 3)
    words = model_words.link_words("it", "animal", weights)
    passing = int((weights >= model_words.LINKS).sum())
    strongest = model_words.name_of(divmod(int(weights.argmax()), 3))
    if not passing:
        assert words.startswith("No head links")
        given = re.findall(r"(?:< )?[\d.]+ %", words)
        assert given[0] == model_words.percent(model_words.LINKS)
        alike = f"{100 * weights.max():.3f}" == f"{100 * model_words.LINKS:.3f}"
        assert given[1] != given[0] or alike
    else:
        assert words.startswith(f"From “it” {passing} head")
        assert f"first {strongest} (" in words


@pytest.mark.parametrize("name", ["minilm", "en-pt"])
def test_heads_are_written_and_read_back_and_a_whole_layer_is_its_number(name: str) -> None:
    model = packaged(name)
    count = model.layers[0].attention.heads
    whole = [(1, head) for head in range(count)]
    assert model_words.write_off([(2, 3), *whole, (0, 0), (2, 3)], model) == "2.3 1 0.0"
    assert model_words.read_off("2.3, 1 0.0 2.3", model) == [(2, 3), *whole, (0, 0)]
    assert model_words.read_off("99.0 0.99 <b> 1.x ٣.1 " + "9" * 500, model) == []


def test_each_head_is_told_in_each_lens_by_its_own_numbers() -> None:
    answered = answer(0.75, 0.75)
    looks = "From “is” it looks most at “France” (90 %)."

    def told(lens: str, effect: float = -0.5, says: float | None = 2.0) -> str:
        return model_words.head_words(lens, answered, (23, 4), looks, effect, says, "the", "There.")

    assert told(model_words.LOST) == (
        f"Without head 23.4 “Paris” falls from 75 % to 25 %. {looks} There."
    )
    assert "being worked out" in told(model_words.LOST, math.nan)
    assert "adds 2.00 to the score of “Paris” over “the”" in told(model_words.SAYS)
    assert "adds 2.00 to the score of “the” over “Paris”" in told(model_words.SAYS, says=-2.0)
    assert told(model_words.LOOKS) == f"Head 23.4: f{looks[1:]} There."


@over(
    "case",
    [
        (2.0, 0.5, "that lead falls by 0.50: later parts make up for 1.50"),
        (2.0, -0.25, "that lead grows by 0.25: later parts make up for 2.25"),
        (2.0, 3.0, "that lead falls by 3.00: later parts add 1.00"),
        (-2.0, -0.5, "that lead falls by 0.50: later parts make up for 1.50"),
    ],
)
def test_the_gap_between_a_heads_vote_and_what_is_lost_without_it_is_named(
    case: tuple[float, float, str],
) -> None:
    says, lost, words = case
    told = model_words.head_words(
        model_words.SAYS, answer(0.75, 0.75), (23, 4), "Looks.", 0.0, says, "the", "", lost
    )
    assert f"; with it at zero {words}. Looks." in told


def test_a_vector_that_moves_is_told_by_how_far() -> None:
    moved = answer(0.0, 0.25, "vector")
    assert model_words.fall_words(moved, 0.25, "head 3.1").endswith("moves by 25 %.")
    assert model_words.fall_words(moved, 0.0, "head 3.1").endswith("stays as it is.")
    assert "has no next word" in model_words.answer_words(packaged("minilm"))
    assert [*model_words.lenses_of(packaged("minilm"), False)] == ["looks", "lost"]


methods = st.lists(st.sampled_from([*METHODS]), min_size=2, max_size=2, unique=True)


@given(methods, st.sampled_from([*BASELINES]), st.floats(0, 1))
def test_what_colours_words_is_not_called_best_and_a_surely_better_method_is_named(
    names: list[str], baseline: str, p: float
) -> None:
    (method, better), title = names, BASELINES[baseline].title.lower()
    means = {method: 0.25, better: 0.5, baseline: 0.125}
    figures = {name: Figure(rho, rho - 0.1, rho + 0.1) for name, rho in means.items()}
    less = {method: Difference(-0.25, -0.5, -0.125, p)}
    one = Comparison("fall", "hidden", False, 11, (0, 0), means, figures, {}, less)
    words = model_words.trusted_words(Trusted("smollm2", 7, method, [one]))
    assert words.startswith(f"The words are coloured by {METHODS[method].title}, over all heads")
    assert f"with erasure: {figures[method]} hidden" in words
    named = f"(less than {METHODS[better].title}, {figures[better]})"
    assert (named in words) == ("less than" in words) == (p < SURE)
    assert words.endswith(f"of the model: {figures[baseline]} ({title}).")


def test_a_sentence_ends_with_its_point_and_with_no_comma() -> None:
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    texts = (".", "!", "?", ",", " Paris")
    ends = [continuing.ends_sentence(model, int(model.pieces(text).ids[-1])) for text in texts]
    assert ends == [True, True, True, False, False]
