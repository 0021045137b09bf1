"""Sentences of the window of a model, held to the numbers that they stand beside."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attention.analysis import continuing
from attention.analysis.associations import BASELINES, METHODS
from attention.analysis.study import SURE, Comparison, Difference, Figure, Trusted
from attention.atlas.sentences import MOST_DECIMALS, decimals, percent
from attention.subjects.model import head_sentences, numbers, options
from attention.subjects.model.answers import Answered, lenses_of
from attention.trained.models import Transformer
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.packaged import packaged

shares = st.floats(0, 1, width=32)


def answer(before: float, now: float, kind: str = "piece") -> Answered:
    likeliest = [("Paris", before, 3), ("the", 1 - before, 5)]
    after = sorted([("Paris", now, 3), ("the", 1 - now, 5)], key=lambda one: -one[1])
    return Answered(kind, 4, "Paris", before, now, (likeliest, after))


@given(shares)
def test_a_share_is_read_as_what_it_is(share):
    words = percent(share)
    if words.startswith("<"):
        assert 0 < share < 0.0005
    else:
        read = float(words.removesuffix(" %")) / 100
        assert read == pytest.approx(share, abs=0.0051 if share >= 0.0995 else 0.00051)


@over("way", [*head_sentences.SET_TO])
def test_a_way_to_set_heads_that_is_not_usual_is_told_behind_their_names(way):
    words = head_sentences.fall_words(replace(answer(0.75, 0.25), way=way), 0.25, "head 23.4")
    how = "" if way == options.MEAN else f" ({head_sentences.SET_TO[way]})"
    assert words == f"Without head 23.4{how} “Paris” falls from 75 % to 25 %."


near = st.one_of(shares, st.integers(0, 40).map(lambda step: 0.15 + step / 4000))
FALLS = {
    (0.75, 0.25, 0): "falls from 75 % to 25 %",
    (0.25, 0.75, 0): "rises from 25 % to 75 %",
    (0.5, 0.5, 0): "stays at 50 %",
    (0.754, 0.751, 0): "falls from 75.4 % to 75.1 %",
    (0.75, 0.2512, 1): "falls from 75 % to 25.1 %",
    (0.05, 0.0, 0): "falls from 5.0 % to 0 %",
}


@over("case", FALLS)
def test_an_answer_falls_rises_or_stays_as_its_shares_are_read(case):
    before, after, least = case
    words = head_sentences.fall_words(answer(before, after), after, "head 23.4", least)
    assert words == f"Without head 23.4 “Paris” {FALLS[case]}."


@given(near, near)
def test_two_shares_are_told_with_the_fewest_decimals_that_tell_them_apart(one, other):
    least = decimals(one, other)
    for digits in range(least):
        assert percent(one, digits) == percent(other, digits)
    alike = percent(one, least) == percent(other, least)
    assert not alike or least == MOST_DECIMALS


LOOKS = {
    ((0.0, 0.0), -1, None): "it looks at nothing.",
    ((1.0, 0.0), 0, 1): "it can see no other word.",
    ((1.0, 0.0), 1, 1): "it can see no word but “key0”.",
    ((0.75, 0.25), -1, None): "it looks most at “key0”, an attention sink (75 %).",
    ((0.25, 0.75), 1, None): "it looks most at itself (75 %).",
    ((0.48, 0.52), -1, None): "it looks at “key1” (52 %) and “key0”, an attention sink (48 %).",
}


@over("case", LOOKS)
def test_a_head_looks_most_at_the_key_with_the_greatest_weight(case):
    row, itself, seen = case
    words = head_sentences.attention_words(
        "word", ["key0", "key1"], torch.tensor(row), itself, seen, {0}
    )
    assert words == f"From “word” {LOOKS[case]}"


@given(st.integers(0, 99), st.floats(0, 9), st.integers(2, 7))
def test_a_sink_is_a_mark_that_all_heads_together_look_at_more_than_twice_an_even_spread(
    seed, more, seen
):
    scores = torch.randn(3, seen, generator=torch.Generator().manual_seed(seed))
    scores[:, 0] += more
    rows = scores.softmax(-1)
    found = numbers.sinks(rows, [0, seen - 1], seen)
    for key in range(seen):
        share = sum(float(row[key]) for row in rows) / len(rows)
        assert (key in found) == (key in (0, seen - 1) and share * seen >= 2)


OFF: dict[tuple[float, tuple[float, ...], str], str] = {
    (0.75, (-0.25,), ""): "Without head 0.1 “Paris” stays at 75 %.",
    (0.5, (-0.125, -0.125), ""): "Without heads 0.1 and 1.1 “Paris” falls from 75 % to 50 %.",
    (0.625, (), "cat"): "Without the word “cat” “Paris” falls from 75 % to 63 %.",
    (0.25, (-0.125, 0.0), ""): "Without heads 0.1 and 1.1 “Paris” falls from 75 % to 25 %. The "
    "model now says “the” (75 %). Alone they take 13 points in sum, together 50.",
    (0.5, (0.25, 0.0), ""): "Without heads 0.1 and 1.1 “Paris” falls from 75 % to 50 %. Alone they "
    "add 25 points in sum, together they take 25.",
}


@over("case", OFF)
def test_the_sentence_on_all_that_is_off_holds_for_its_numbers(case):
    now, singles, erased = case
    off = [(layer, 1) for layer in range(len(singles))]
    assert head_sentences.off_words(answer(0.75, now), off, singles, erased) == OFF[case]
    assert head_sentences.off_words(answer(0.75, now), [], []) == ""


LINKED = {
    (
        0.05,
        0.08,
    ): "No head links “it” with “animal” by 10 % of its weight: the most gives 1.0 (8.0 %).",
    (0.75, 0.05): "From “it” 1 head gives “animal” at least 10 %: first 0.0 (75 %).",
    (0.25, 0.75): "From “it” 2 heads give “animal” at least 10 %: first 1.0 (75 %) and 0.0 (25 %).",
}


@over("case", LINKED)
def test_heads_that_link_two_words_are_counted_and_the_first_named_is_the_strongest(case):
    assert head_sentences.link_words("it", "animal", torch.tensor(case)[:, None]) == LINKED[case]


@pytest.mark.parametrize("name", ["minilm", "en-pt"])
def test_heads_are_written_and_read_back_and_a_whole_layer_is_its_number(name):
    model = packaged(name)
    count = model.layers[0].attention.heads
    whole = [(1, head) for head in range(count)]
    assert options.write_off([(2, 3), *whole, (0, 0), (2, 3)], model) == "2.3 1 0.0"
    assert options.read_off("2.3, 1 0.0 2.3", model) == [(2, 3), *whole, (0, 0)]
    assert options.read_off("99.0 0.99 <b> 1.x ٣.1 " + "9" * 500, model) == []


def test_each_head_is_told_in_each_lens_by_its_own_numbers():
    answered = answer(0.75, 0.75)
    looks = "From “is” it looks most at “France” (90 %)."

    def told(lens: str, effect: float = -0.5, says: float | None = 2.0) -> str:
        return head_sentences.head_words(lens, answered, (23, 4), looks, effect, says, "There.")

    assert told(options.LOST) == (
        f"Without head 23.4 “Paris” falls from 75 % to 25 %. {looks} There."
    )
    assert "being worked out" in told(options.LOST, math.nan)
    assert "adds 2.00 to the score of “Paris” over “the”" in told(options.SAYS)
    assert "adds 2.00 to the score of “the” over “Paris”" in told(options.SAYS, says=-2.0)
    assert told(options.LOOKS) == f"Head 23.4: f{looks[1:]} There."


@over(
    "says, lost, words",
    [
        (2.0, 0.5, "that lead falls by 0.50: later parts make up for 1.50"),
        (2.0, -0.25, "that lead grows by 0.25: later parts make up for 2.25"),
        (2.0, 3.0, "that lead falls by 3.00: later parts add 1.00"),
        (-2.0, -0.5, "that lead falls by 0.50: later parts make up for 1.50"),
    ],
)
def test_the_gap_between_a_heads_vote_and_what_is_lost_without_it_is_named(says, lost, words):
    told = head_sentences.head_words(
        options.SAYS, answer(0.75, 0.75), (23, 4), "Looks.", 0.0, says, "", lost
    )
    assert f"; with it at zero {words}. Looks." in told


def test_a_vector_that_moves_is_told_by_how_far():
    moved = answer(0.0, 0.25, "vector")
    assert head_sentences.fall_words(moved, 0.25, "head 3.1").endswith("moves by 25 %.")
    assert head_sentences.fall_words(moved, 0.0, "head 3.1").endswith("stays as it is.")
    assert "has no next word" in head_sentences.answer_words(packaged("minilm"))
    assert [*lenses_of(packaged("minilm"), False, False)] == ["looks", "lost"]


methods = st.lists(st.sampled_from([*METHODS]), min_size=2, max_size=2, unique=True)


@given(methods, st.sampled_from([*BASELINES]), st.floats(0, 1))
def test_what_colours_words_is_not_called_best_and_a_surely_better_method_is_named(
    names, baseline, p
):
    (method, better), title = names, BASELINES[baseline].title.lower()
    means = {method: 0.25, better: 0.5, baseline: 0.125}
    figures = {name: Figure(rho, rho - 0.1, rho + 0.1) for name, rho in means.items()}
    less = {method: Difference(-0.25, -0.5, -0.125, p)}
    one = Comparison("fall", "hidden", False, 11, means, figures, {}, less)
    words = head_sentences.trusted_words(Trusted("smollm2", 7, method, [one]))
    assert words.startswith(f"The words are coloured by {METHODS[method].title}, over all heads")
    assert f"with erasure: {figures[method]} hidden" in words
    named = f"(less than {METHODS[better].title}, {figures[better]})"
    assert (named in words) == ("less than" in words) == (p < SURE)
    assert words.endswith(f"of the model: {figures[baseline]} ({title}).")


def test_a_sentence_ends_with_its_point_and_with_no_comma():
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    texts = (".", "!", "?", ",", " Paris")
    ends = [continuing.ends_sentence(model, int(model.pieces(text).ids[-1])) for text in texts]
    assert ends == [True, True, True, False, False]
