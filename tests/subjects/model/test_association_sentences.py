"""Associations as they are shown: shares, pairs, links, small cases, the study."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import study
from attention.analysis.associations import METHODS
from attention.analysis.associations.two_words import ROW
from attention.figures.matrix import Matrix
from attention.subjects.model import association_numbers, association_sentences, options
from attention.subjects.model.association_numbers import Association
from attention.subjects.model.options import AssociationSettings
from attention.trained.models import Pieces
from tests.cases import over
from tests.trained.packaged import packaged

SHOWN = "shown"
LAST = [[5.0, 1, 2, 3], [4, 8, 3, 1], [1, 2, 7, 0], [torch.nan, 1, 1, 2]]
FOUND = torch.tensor([[[9.0] * 4] * 4, LAST])
# [CLS], "un" + "##do", "it": two pieces of one word
PIECES = Pieces(torch.arange(4), ("[CLS]", "un", "##do", "it"), (None, 0, 0, 1))
ALONE = Association(METHODS["raw-mean"], ("a",), torch.zeros(1, 1), torch.zeros(1, 1), None, 1, 1)


def shown(
    found: Tensor = FOUND, *, aside: bool = False, words: bool = False, **settings: object
) -> Association:
    chosen = AssociationSettings(**settings)
    return association_numbers.association_of(
        "alti", found, PIECES, chosen, aside, words, causal=False
    )


@over("words", [False, True])
def test_attention_sinks_get_no_share_and_are_in_no_pair_but_where_they_are_shown(words):
    found = shown(words=words)
    assert found.sinks == (0,)
    assert association_sentences.shown_words(found) == (
        "ALTI after the last layer. Left out as attention sinks: “[CLS]”. "
        "Each row is divided by its sum."
    )
    pairs = association_numbers.pairs(found)
    assert pairs
    assert not any(0 in (pair.query, pair.key) for pair in pairs)
    assert [0, 1] in [
        [pair.key, pair.query] for pair in association_numbers.pairs(shown(sinks=SHOWN))
    ]
    first = Pieces(torch.arange(3), ("The", "·cat", "·is"), (0, 1, 2))
    decoder = association_numbers.association_of(
        "alti", torch.ones(1, 3, 3).tril(), first, AssociationSettings(), False, words, causal=True
    )
    assert_close(decoder.shares[:, 0], torch.zeros(3))
    assert [pair.key for pair in association_numbers.pairs(decoder)] == [1]


def test_each_row_is_divided_by_its_sum_and_the_word_itself_is_left_out():
    found = shown(sinks=SHOWN)
    assert (found.layers, found.of) == (2, 2)
    expected = [[0, 1 / 6, 2 / 6, 3 / 6], [0.5, 0, 3 / 8, 1 / 8], [1 / 3, 2 / 3, 0, 0]]
    assert_close(found.shares, torch.tensor([*expected, [0, 0.5, 0.5, 0]]))
    assert_close(found.numbers[0], torch.tensor([0.0, 1, 2, 3]))
    assert_close(shown(itself=SHOWN, sinks=SHOWN).shares[2], torch.tensor([0.1, 0.2, 0.7, 0]))


def test_special_pieces_are_left_out_before_pieces_become_words():
    found = shown(aside=True, words=True)
    assert found.tokens == ("undo", "it")
    # "undo": rows (8, 3, 1) and (2, 7, 0) averaged, columns added up: 10 itself, 0.5 to "it"
    assert_close(found.numbers, torch.tensor([[0, 0.5], [2, 0]]))
    with_itself = shown(aside=True, words=True, itself="shown")
    assert_close(with_itself.numbers, torch.tensor([[10, 0.5], [2, 2]]))


@over("after", [0, 1, 2, 64])
def test_the_layer_is_the_chosen_one_or_the_last(after):
    found, layer = shown(after=after, sinks=SHOWN), "layer 0" if after == 1 else "the last layer"
    assert found.layers == (1 if after == 1 else 2)
    assert (
        association_sentences.shown_words(found)
        == f"ALTI after {layer}. Each row is divided by its sum."
    )


def test_pairs_are_ranked_by_their_share():
    found = shown(sinks=SHOWN)
    pairs = association_numbers.pairs(found)
    assert [(pair.query, pair.key) for pair in pairs[:3]] == [(2, 1), (0, 3), (1, 0)]
    names, columns = association_numbers.pairs_table(found)
    assert (names[0], columns["has to do with"][0], columns["number"][0]) == ("##do", "un", 2.0)
    assert association_numbers.pairs(ALONE) == []


def test_the_answer_names_the_words_without_which_it_changes_most():
    erased = shown(sinks=SHOWN)
    here = {"raw-mean": 0.25, "alti": 0.5, "rollout": float("nan")}
    words = association_sentences.answer(erased, here, 1)
    most = "“un” changes most without “[CLS]” (by 4.000), “##do” (by 3.000) and “it” (by 1.000). Of"
    assert words.startswith(f"By erasure, {most} the other methods ALTI ranks the words")
    assert words.endswith("(ρ = 0.50).")
    tied = association_sentences.answer(
        erased, {"rollout": 0.504, "alti": 0.496, "gradient": 0.4}, 1
    )
    assert tied.endswith(
        "Rollout and ALTI rank the words of this sentence most as erasure does (ρ = 0.50)."
    )
    beyond = association_sentences.answer(erased, {}, 99)
    assert beyond.startswith("By erasure, “it” changes most without “un”")
    assert association_sentences.answer(ALONE, {}, 0).startswith("There is no other word")


def test_a_sentence_is_too_long_for_a_method_where_that_would_take_minutes():
    assert association_numbers.is_quick("alti", 128, 30)
    assert association_numbers.is_quick("erasure", 14, 6)
    assert not association_numbers.is_quick("erasure", 14, 30)
    assert association_sentences.too_long("erasure", 64, 30) == ""
    assert association_sentences.too_long("erasure", 65, 30).startswith(
        "Erasure is worked out here"
    )
    assert association_sentences.too_long("alti", 128, 30) == ""


# layer 1: (3/7, 4/7) and (1/5, 4/5); layer 2: 5.25 of 7.125 and 1.75 of 7.375
ALTI = [
    [(5.25 * 3 / 7 + 1.875 / 5) / 7.125, (5.25 * 4 / 7 + 1.875 * 0.8) / 7.125],
    [(1.75 * 3 / 7 + 5.625 / 5) / 7.375, (1.75 * 4 / 7 + 5.625 * 0.8) / 7.375],
]
# of (15/8, 11/2) with (0, 11/2) and (3/2, 0)
LENGTH = (1.875**2 + 5.5**2) ** 0.5
BY_HAND: dict[str, list[list[float]]] = {
    "raw-mean": [[0.5, 0.5], [0.5, 0.5]],
    # (1/4, 3/4) times ((3/4, 1/4), (5/16, 11/16))
    "rollout": [[0.640625, 0.359375], [0.421875, 0.578125]],
    "alti": ALTI,
    "erasure": [[1 - 5.5 / LENGTH, 1 - 1.875 / LENGTH]],
}


@over("method", [*METHODS])
def test_a_small_case_comes_out_as_by_hand_and_ends_in_what_the_method_gives(method):
    one = METHODS[method]
    last = one.by_hand[-1].parts[-1]
    assert isinstance(last, Matrix)
    if method in BY_HAND:
        assert_close(last.numbers, torch.tensor(BY_HAND[method]), atol=1e-5, rtol=1e-5)
    assert_close(last.numbers[-1], one(one.case)[1][ROW])


def test_weights_mislead_in_the_example():
    example = association_sentences.misleading()
    assert "with weight 0.625 and at itself with 0.375" in example.before
    assert example.choices[example.answer] == "cat"
    # 1 - cosine of (3/4, 3) with (0, 3), and with (1/2, 0): the mask has neither key nor value
    assert "moves by 0.03 without “the” and by 0.76 without “cat”" in example.because


def test_a_page_opens_with_the_method_that_the_study_trusts_most_for_its_model():
    assert AssociationSettings().method == options.TRUSTED
    for name in ("minilm", "smollm2"):
        model, trusted = packaged(name), study.most_trusted(name)
        for title in (options.TRUSTED, "no such method"):
            assert association_numbers.method_of(title, model).name == trusted.method
        assert association_numbers.method_of("Rollout", model).name == "rollout"


def test_the_table_of_agreement_has_the_study_beside_it():
    here = {"gradient": 0.25, "rollout": float("nan"), "alti": 0.75}
    names, columns = association_numbers.agreement_table(here, "minilm")
    assert names == ["ALTI", "Gradient × attention", "Rollout"]
    main = study.STUDIES["minilm"].main().agreement
    expected = [study.share(main[name].value) for name in ("alti", "gradient", "rollout")]
    assert columns == {"on this sentence": ["0.75", "0.25", "–"], "over 100 sentences": expected}
    assert [*association_numbers.agreement_table(here, "nobody")[1]] == ["on this sentence"]
