"""Associations as they are shown: shares, pairs, links, small cases, the study."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import study
from attention.analysis.associations import METHODS
from attention.analysis.associations.two_words import ROW
from attention.figures.arcs import arcs
from attention.figures.matrix import Matrix
from attention.subjects.model import association_words
from attention.subjects.model.association_words import Association, AssociationSettings
from attention.trained.models import Pieces
from tests.cases import over
from tests.trained.packaged import packaged

LAST = [[5.0, 1, 2, 3], [4, 8, 3, 1], [1, 2, 7, 0], [torch.nan, 1, 1, 2]]
FOUND = torch.tensor([[[9.0] * 4] * 4, LAST])
# [CLS], "un" + "##do", "it": two pieces of one word
PIECES = Pieces(torch.arange(4), ("[CLS]", "un", "##do", "it"), (None, 0, 0, 1))
ALONE = Association(METHODS["raw"], ("a",), torch.zeros(1, 1), torch.zeros(1, 1), None, 1, 1)


def shown(
    found: Tensor = FOUND, *, aside: bool = False, words: bool = False, **settings: object
) -> Association:
    chosen = AssociationSettings(**settings)  # type: ignore[arg-type]
    return association_words.association("alti", found, PIECES, chosen, aside, words, causal=False)


def test_each_row_is_divided_by_its_sum_and_the_word_itself_is_left_out() -> None:
    found = shown()
    assert (found.layers, found.of) == (2, 2)
    expected = [[0, 1 / 6, 2 / 6, 3 / 6], [0.5, 0, 3 / 8, 1 / 8], [1 / 3, 2 / 3, 0, 0]]
    assert_close(found.shares, torch.tensor([*expected, [0, 0.5, 0.5, 0]]))
    assert_close(found.numbers[0], torch.tensor([0.0, 1, 2, 3]))
    assert_close(shown(itself="shown").shares[2], torch.tensor([0.1, 0.2, 0.7, 0]))
    signed = shown(torch.tensor([[[0.0, -1, 3, 0]] * 4]))
    assert signed.signed
    assert_close(signed.shares[0], torch.tensor([0, -0.25, 0.75, 0]))
    assert signed.words.endswith("Each row is divided by the sum of its sizes.")


def test_special_pieces_are_left_out_before_pieces_become_words() -> None:
    found = shown(aside=True, words=True)
    assert found.tokens == ("undo", "it")
    # "undo": rows (8, 3, 1) and (2, 7, 0) averaged, columns added up: 10 itself, 0.5 to "it"
    assert_close(found.numbers, torch.tensor([[0, 0.5], [2, 0]]))
    with_itself = shown(aside=True, words=True, itself="shown")
    assert_close(with_itself.numbers, torch.tensor([[10, 0.5], [2, 2]]))


@over("after", [0, 1, 2, 64])
def test_the_layer_is_the_chosen_one_or_the_last(after: int) -> None:
    found, layer = shown(after=after), "layer 0" if after == 1 else "the last layer"
    assert found.layers == (1 if after == 1 else 2)
    assert found.words.startswith(f"ALTI after {layer}.")
    alone = replace(found, method=METHODS["norm"])
    assert alone.words.startswith(f"Norm-based of {layer} alone.")


def test_pairs_are_ranked_and_links_end_where_they_hold_their_share() -> None:
    found = shown()
    pairs = association_words.pairs(found)
    assert [(pair.query, pair.key) for pair in pairs[:3]] == [(2, 1), (0, 3), (1, 0)]
    names, columns = association_words.pairs_table(found)
    assert (names[0], columns["has to do with"][0], columns["number"][0]) == ("##do", "un", 2.0)
    # all shares together are 4; the first three hold 2/3 + 1/2 + 1/2
    graph = association_words.graph(found, 0.4)
    assert [(one.query, one.key) for one in graph.links] == [(2, 1), (0, 3), (1, 0)]
    assert graph.held == pytest.approx((2 / 3 + 1) / 4)
    assert graph.words == (
        f"3 of {len(pairs)} links, the strongest; together they hold 42 % of all."
    )
    assert len(association_words.graph(found, 1.0).links) == len(pairs)
    assert association_words.graph(ALONE, 0.4).words == "There are no links to draw."


def test_arcs_lead_to_the_right_back_and_to_the_left_forward() -> None:
    figure = arcs(["a", "b", "c"], [(2, 0, 0.5), (0, 1, 0.25)], query=2)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    back, forward = sorted(lines, key=lambda trace: -max(x for x in trace.x if x is not None))
    assert min(x for x in back.x if x is not None) > 0 > max(x for x in forward.x if x is not None)
    assert (back.y[0], back.y[-2]) == pytest.approx((2, 0))
    assert back.line.width == 2 * forward.line.width
    hostile = arcs(["<b>", "c"], [(0, 1, 1.0)], query=1)
    assert "<b>" not in hostile.data[-1].text[0]


def test_the_answer_names_the_words_without_which_it_changes_most() -> None:
    erased = shown()
    words = association_words.answer(erased, {"raw": 0.25, "alti": 0.5, "flow": float("nan")}, 1)
    most = "“un” changes most without “[CLS]” (by 4.000), “##do” (by 3.000) and “it” (by 1.000). Of"
    assert words.startswith(f"By erasure, {most} the other methods ALTI ranks the words")
    assert words.endswith("(ρ = 0.50).")
    tied = association_words.answer(erased, {"raw": 0.504, "alti": 0.496, "norm": 0.4}, 1)
    assert tied.endswith(
        "Raw weights and ALTI rank the words of this sentence most as erasure does (ρ = 0.50)."
    )
    beyond = association_words.answer(erased, {}, 99)
    assert beyond.startswith("By erasure, “it” changes most without “un”")
    assert association_words.answer(ALONE, {}, 0).startswith("There is no other word")


def test_a_sentence_is_too_long_for_a_method_where_that_would_take_minutes() -> None:
    assert association_words.is_quick("alti", 128, 30)
    assert association_words.is_quick("erasure", 14, 6)
    assert not association_words.is_quick("erasure", 14, 30)
    assert association_words.too_long("erasure", 64, 30) == ""
    assert association_words.too_long("erasure", 65, 30).startswith("Erasure is worked out here")
    assert association_words.most_pieces("flow", 30) == 64
    assert association_words.most_pieces("alti", 30) == association_words.MAX_PIECES


def result(method: str, step: int = -1, part: int = -1) -> Tensor:
    found = METHODS[method].by_hand[step].parts[part]
    assert isinstance(found, Matrix)
    return found.numbers


# layer 1: (3/7, 4/7) and (1/5, 4/5); layer 2: 5.25 of 7.125 and 1.75 of 7.375
ALTI = [
    [(5.25 * 3 / 7 + 1.875 / 5) / 7.125, (5.25 * 4 / 7 + 1.875 * 0.8) / 7.125],
    [(1.75 * 3 / 7 + 5.625 / 5) / 7.375, (1.75 * 4 / 7 + 5.625 * 0.8) / 7.375],
]
BY_HAND: dict[str, list[list[float]]] = {
    "raw": [[0.5, 0.5], [0.625, 0.375]],  # (3/4 + 1/2) / 2 = .625
    "norm": [[0.75], [2]],  # head 0: 3/4 · 1; head 1: 1/2 · 4
    "norm-residual": [[0.75], [3]],  # "cat" keeps 1 of its own
    # (.375, -.375) / 1.125 is √2 / 3 long, (-1.5, 1.5) / 1.125 four times that
    "norm-layer-norm": [[2**0.5 / 3], [4 * 2**0.5 / 3]],
    # (1/4, 3/4) times ((3/4, 1/4), (5/16, 11/16))
    "rollout": [[0.640625, 0.359375], [0.421875, 0.578125]],
    # to "the" min(1/4, 3/4) + min(3/4, 5/16) = 9/16, to "cat" 1/4 + 11/16 = 15/16
    "flow": [[2 / 3, 1 / 3], [0.375, 0.625]],
    "alti": ALTI,
    # after layer 1 "cat" is (3/4, 3): 3 of its own; layer 2 adds 1.5, a fifth of it from "the"
    "alti-logit": [[4, 0], [0.3, 4.2]],
}


@over("method", BY_HAND)
def test_a_small_case_comes_out_as_by_hand(method: str) -> None:
    assert_close(result(method), torch.tensor(BY_HAND[method]), atol=1e-5, rtol=1e-5)


def test_value_zeroing_and_erasure_by_hand() -> None:
    """Cosines of (3/4, 3) with (0, 3) and (3/4, 1); of (15/8, 11/2) with (0, 11/2) and (3/2, 0)."""
    distances = result("value-zeroing", 0, 2).flatten()
    expected = [1 - 3 / 9.5625**0.5, 1 - 3.5625 / (9.5625 * 1.5625) ** 0.5]
    assert_close(distances.float(), torch.tensor(expected), atol=1e-6, rtol=1e-5)
    length = (1.875**2 + 5.5**2) ** 0.5
    assert_close(
        result("erasure"), torch.tensor([[1 - 5.5 / length, 1 - 1.875 / length]]), atol=1e-6, rtol=0
    )


@over("method", [*METHODS])
def test_the_last_matrix_of_a_small_case_is_what_the_method_gives(method: str) -> None:
    found = METHODS[method](METHODS[method].case)
    row = found[0 if METHODS[method].alone else 1][ROW]
    shown_last = result(method)
    last = shown_last.flatten() if 1 in shown_last.shape else shown_last[ROW]
    assert_close(last, row)


def test_weights_mislead_in_the_example() -> None:
    example = association_words.misleading()
    assert "with weight 0.625 and at itself with 0.375" in example.told
    assert example.choices[example.answer] == "cat"
    assert "a vector of length 0.75, “cat” one of 2:" in example.because


def test_a_page_opens_with_the_method_that_the_study_trusts_most_for_its_model() -> None:
    assert AssociationSettings().method == association_words.TRUSTED
    for name, other in (("minilm", "ALTI-Logit"), ("smollm2", "no such method")):
        model, trusted = packaged(name), study.most_trusted(name)
        assert trusted is not None
        for title in (association_words.TRUSTED, other):
            assert association_words.method_of(title, model).name == trusted.method
        assert association_words.method_of("Flow", model).name == "flow"


def test_the_table_of_agreement_has_the_study_beside_it() -> None:
    here = {"raw": 0.25, "flow": float("nan"), "alti": 0.75}
    names, columns = association_words.agreement_table(here, "minilm")
    assert names == ["ALTI", "Raw weights", "Flow"]
    main = study.STUDIES["minilm"].main().agreement
    assert columns == {
        "on this sentence": ["0.75", "0.25", "–"],
        "over 100 sentences": [study.share(main[name].value) for name in ("alti", "raw", "flow")],
    }
    assert [*association_words.agreement_table(here, "nobody")[1]] == ["on this sentence"]
