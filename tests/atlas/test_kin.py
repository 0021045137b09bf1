"""Heads that are alike: word by word by hand, and heads that are planted in two models."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attention.atlas import kin
from attention.atlas.blocks import blocks_of
from attention.atlas.kin import Kin, about_mean, by_word, words_of
from attention.atlas.passport import Alike
from attention.trained.models import Pieces
from tests.atlas.planted import Looks, even, noise, on, subject

WORDS = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr"]
TEXTS = [" ".join([f"{at}", *WORDS[at % 3 : 5 + at % 5]]) for at in range(40)]
NOISE = [noise(seed) for seed in range(4)]


def pieces(texts: str, *words: int | None) -> Pieces:
    shown = texts.split()
    return Pieces(torch.arange(len(shown)), tuple(shown), words)


def measured(it: Any) -> dict[str, kin.Raw]:
    """All that the stage finds, by text."""
    stage = Kin()
    return {asked.text: stage.measure(it, asked) for asked in stage.texts(it.corpus)}


def alike(it: Any, *others: Any) -> list[tuple[Alike, ...]]:
    """Kin of each head of a subject, in itself and in other ones."""
    found = kin.summarised(
        it, [*measured(it).values()], {other.model.about.name: measured(other) for other in others}
    )
    return [*found.values()]


def test_pieces_of_all_kinds_are_of_the_words_that_blanks_part():
    bert = pieces("[CLS] un ##happy cat . [SEP]", None, 0, 0, 1, 2, None)
    assert words_of(bert, "Unhappy cat.") == [None, 0, 0, 1, 1, None]
    bytes_ = pieces("Un happy ·cat .", 0, 0, 1, 2)
    assert words_of(bytes_, "Unhappy cat.") == [0, 0, 1, 1]
    marian = pieces("·Unhappy ·c at. </s>", 0, 1, 1, None)
    assert words_of(marian, "Unhappy cat.") == [0, 1, 1, None]
    unknown = pieces("[start] the [unknown]", None, 0, 1)
    assert words_of(unknown, "the platypus") == [None, 0, 1]
    assert words_of(pieces("[unknown] .", 0, 1), "platypus.") == [None, None]
    assert words_of(pieces("the c", 0, 1), "the cat sat") == [0, 1]  # as many as fit


def test_weights_go_from_word_to_word_as_the_sum_over_keys_and_the_mean_over_queries():
    it = subject([lambda many: torch.arange(16.0).reshape(4, 4)], [even], [])
    block = next(blocks_of(it.model.run("un happy cat")))
    found = by_word(block, [None, 0, 0, 1])
    # rows of [CLS], un, happy, cat begin with 0, 4, 8, 12
    assert found["weights"].tolist() == [[[(5 + 6 + 9 + 10) / 2, (7 + 11) / 2], [13 + 14, 15]]]
    assert found["seen"].all()


def test_the_first_word_is_set_aside_where_no_piece_is_special_and_none_behind_is_seen():
    it = subject([even], [even], [], causal=True, special=False)
    block = next(blocks_of(it.model.run("ab cd ef")))
    found = by_word(block, [0, 1, 2])
    assert found["seen"].int().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert found["weights"][0].tolist()[2] == pytest.approx([0, 1 / 3, 1 / 3])


def test_each_row_counts_about_its_mean_over_what_is_seen():
    seen = torch.tensor([[True, True], [True, False]])
    weights = torch.tensor([[[0.2, 0.6], [0.3, 0.1]], [[0.5, 0.1], [0.9, 0.1]], [[0.4, 0.4]] * 2])
    one, opposite, flat = about_mean(weights, seen)
    half = 2**-0.5
    assert one.tolist() == pytest.approx([-half, half, 0, 0])
    assert float(one @ opposite) == pytest.approx(-1)
    assert flat.tolist() == [0, 0, 0, 0]


def test_heads_that_look_one_back_are_alike_in_a_model_and_in_another_one():
    one = subject([on(-1), on(1), even, on(-1, 0.6)], NOISE, TEXTS, "one")
    other = subject([even, on(-1, 0.8)], NOISE[:2], TEXTS, "other")
    found = alike(one, other)
    assert [[(each.model, each.head) for each in of] for of in found] == [
        [("one", 3), ("other", 1)],
        [],
        [],
        [("one", 0), ("other", 1)],
    ]
    (near, far) = found[0]
    assert near.found.mean == pytest.approx(1)
    assert far.checked.mean == pytest.approx(1)
    assert near.found.count == near.checked.count == 20
    assert far.chance < 0.5


def test_what_a_head_of_the_other_twin_does_too_is_not_alike():
    one = subject([on(-1)], NOISE[:1], TEXTS, "one")
    other = subject([on(-1)], [on(-1)], TEXTS, "other")
    assert alike(one, other) == [()]


def test_kin_that_is_alike_on_one_half_of_the_sentences_alone_is_not_told():
    texts = [" ".join([f"{at}", *WORDS[: 6 - at % 2]]) for at in range(40)]

    def changes(many: int) -> torch.Tensor:
        looks: Looks = on(-1) if many == 8 else on(2)
        return looks(many)

    assert alike(subject([on(-1), changes], NOISE, texts)) == [(), ()]


def test_across_a_causal_model_only_keys_that_both_see_count():
    """The head of the other one looks ahead as well, which this one cannot."""
    one = subject([on(-1)], NOISE, TEXTS, "one", causal=True, special=False)
    other = subject([lambda many: (on(-1)(many) + 3 * on(1)(many)) / 4], NOISE, TEXTS, "other")
    ((found,),) = alike(one, other)
    assert (found.model, found.layer, found.head) == ("other", 0, 0)
    assert found.checked.mean > 0.9


def test_models_that_have_no_sentences_in_common_have_no_kin():
    one = subject([on(-1)], NOISE, TEXTS, "one")
    assert alike(one, subject([on(-1)], NOISE, ["x y z", "y z x"] * 2, "other")) == [()]
