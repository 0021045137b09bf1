"""The operations: our answers against torch's, workings that recompute, input of any kind."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention.core.settings import settings_of
from attention.figures.matrix import read_stack, write_matrix
from attention.figures.stacks import STACK, resized, typed_stack
from attention.figures.working import Working
from attention.subjects.operations import (
    OPERATIONS,
    Made,
    OperationSettings,
    Refused,
    clamped,
    prepare,
)
from attention.subjects.operations.settings import CHANGES, PARITY
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st
from tests.subjects.play.how.making import GOLDENS, drawn, matrices, shown

SCHEMA = settings_of(OperationSettings)
CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "transpose": {"transpose_dims": ("1-2", "0-1", "0-2")},
    "softmax": {"softmax_dim": ("0", "1", "2")},
    "temperature": {"temperature": (0.05, 0.5, 1.0, 10.0)},
    "sequence_mask": {"lens_dim": ("1-D", "2-D")},
    "masked_softmax": {"lens_dim": ("1-D", "2-D")},
    "parity": {"dropout": (0.0, 0.5)},
}
EVERY_CASE = [
    {"operation": name, **example, choice: value}
    for name, operation in OPERATIONS.items()
    for example in ({}, *operation.examples.values())
    for choice, values in CHOICES.get(name, {"operation": (name,)}).items()
    for value in values
]
LENGTHS = (torch.arange(5) < torch.tensor([[[3]], [[5]]])).expand(2, 3, 5).float()
MENUS = ("operation", "lens_dim", "transpose_dims", "softmax_dim")
SEQUENCES = drawn(2, 3, 7), drawn(2, 5, 7, seed=1), drawn(2, 5, 11, seed=2), LENGTHS
chosen = {name: st.sampled_from(SCHEMA[name].choices) for name in MENUS}
anything = st.text("0123456789 .;|,-_e", max_size=30) | st.sampled_from(HOSTILE)
sizes = st.integers(1, 5)


def made(**settings: Any) -> Made:
    answer = prepare(OperationSettings(**settings))
    assert isinstance(answer, Made), answer
    return answer


def refused(**settings: Any) -> str:
    answer = prepare(OperationSettings(**settings))
    assert isinstance(answer, Refused)
    return " ".join(answer.words)


def text_of(stack: Tensor) -> str:
    return " | ".join(map(write_matrix, stack))


# Numbers worked out with a pencil


def test_bmm_of_the_first_example_is_what_pencil_and_paper_give():
    answer = made(operation="bmm")
    assert answer.ours.tolist() == [[[7, -1], [16, -1]], [[2, 0], [6, 6]]]
    assert answer.shapes.startswith("(2, 2, 3) × (2, 3, 2) → (2, 2, 2)")
    work = answer.working(0, 1, 0)
    assert [*work.columns] == ["row 1 of A", "column 0 of B", "product"]
    assert [*work.columns.values()] == [[4, 5, 6], [1, 0, 2], [4, 0, 12]]
    assert work.totals[-1] == "16"
    for row in answer.pictures:
        assert [part.lights for part in matrices(row)] == ["row", "column", ""]


def test_weights_times_values_are_the_published_output_of_the_classic_toy():
    example = OPERATIONS["bmm"].examples["weights and values"]
    published = torch.tensor(GOLDENS["d2l_classic_toy"]["output"]).float()
    torch.testing.assert_close(made(operation="bmm", **example).ours, published)


@pytest.mark.parametrize(("chosen", "wrong"), [("2", 1), ("1", 1), ("0", 0)])
def test_a_softmax_over_the_wrong_dimension_stands_beside_the_right_one_with_its_sums(
    chosen, wrong
):
    text = "1 2 3; 3 2 1 | 0 0 4; 1 1 1"
    contrast = made(operation="softmax", softmax_dim=chosen, softmax_x=text).contrast
    assert contrast
    x = read_stack(text)
    for batch, row in enumerate(contrast.pictures):
        other = 1 if chosen == "2" else 2  # the chosen one is seen already
        weights, *sums = matrices(row)
        torch.testing.assert_close(weights.numbers, x.softmax(other)[batch])
        for dim, its in zip((2, wrong), sums, strict=True) if other == 2 else ((wrong, *sums),):
            torch.testing.assert_close(its.numbers, x.softmax(dim)[batch].sum(1, keepdim=True))
    right, other = contrast.columns.values()
    assert [cell == "all 1" for cell in right] == [False, False, True]
    assert [cell == "all 1" for cell in other] == [dim == wrong for dim in range(3)]
    low, high = map(shown, str(other[2]).split(" to "))
    sums = x.softmax(wrong).sum(2)
    assert (low, high) == (approx(float(sums.min())), approx(float(sums.max())))


@pytest.mark.parametrize("dim", ["1-D", "2-D"])
def test_masked_softmax_opens_on_the_published_numbers(dim):
    published = GOLDENS[f"masked_softmax_{dim[0]}d_lens"]
    answer = made(operation="masked_softmax", lens_dim=dim)
    assert read_stack(OperationSettings.masked_scores).tolist() == published["scores"]
    expected = torch.tensor(published["weights"], dtype=torch.float32)
    torch.testing.assert_close(answer.ours, expected, atol=1e-6, rtol=1e-3)


def test_a_query_with_nothing_to_attend_to_gets_zeros_where_torch_has_no_number():
    answer = made(operation="masked_softmax", valid_lens="0 3")
    assert answer.ours[0].tolist() == [[0.0] * 4] * 2
    assert answer.torchs[0].isnan().all()
    torch.testing.assert_close(answer.ours[1], answer.torchs[1])
    (note,) = answer.notes
    for words in ("query 0 of sequence 0, query 1 of sequence 0", "zeros", "NaN"):
        assert words in note
    assert answer.difference <= 1e-6
    assert made(operation="masked_softmax", valid_lens="0 0").difference is None


def test_lengths_of_0_and_beyond_the_keys_hide_everything_and_nothing():
    answer = made(operation="sequence_mask", valid_lens="0 2 4 99")
    assert answer.ours.int().tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    lens = "1 3 0; 2 7 1"
    answer = made(operation="sequence_mask", lens_dim="2-D", valid_lens_2d=lens, mask_keys=5)
    assert answer.ours.sum(-1).tolist() == [[1, 3, 0], [2, 5, 1]]
    assert answer.sizes == (2, 3, 5)


def test_an_entropy_near_0_is_that_of_float64():
    answer = made(operation="temperature", temperature_x="0 -13 -15", temperature=1.0)
    exact = torch.tensor([0.0, -13, -15], dtype=torch.float64).softmax(-1)
    bits = float((-exact * exact.log2()).sum())
    assert matrices(answer.pictures[0])[-1].numbers[1].item() == pytest.approx(bits, rel=1e-6)
    assert shown(answer.working(0, 1, 0).totals[-1]) == pytest.approx(bits, rel=2e-4)
    assert answer.difference <= 1e-6


def attended(**settings: Any) -> Made:
    """Parity of 2 sequences, with 3 queries and 5 keys each, d_k 7 and d_v 11."""
    texts = dict(zip(PARITY, map(text_of, SEQUENCES), strict=True))
    return made(operation="parity", **texts | settings)


@pytest.mark.parametrize("temperature", [0.0, 0.7, 3.0])
def test_the_reference_and_ours_are_torchs_attention_at_any_temperature(temperature):
    q, k, v, mask = SEQUENCES
    for text, allowed in ((text_of(mask), mask == 1), ("", None)):
        answer = attended(parity_mask=text, parity_temperature=temperature)
        how = {"attn_mask": allowed, "scale": 1 / temperature if temperature else None}
        expected = scaled_dot_product_attention(q, k, v, **how)
        for found in (answer.ours, answer.torchs):
            torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
        assert answer.compared.startswith("The reference’s answer is the same. Greatest difference")


def test_dropout_of_one_seed_drops_the_same_weights_in_the_reference_and_ours():
    one, other = (attended(dropout=0.5, dropout_seed=seed) for seed in (3, 5))
    torch.testing.assert_close(one.ours, one.torchs, atol=1e-6, rtol=0)
    assert not torch.allclose(one.ours, other.ours)
    assert ["the same seed, 3, both drop the same weights" in note for note in one.notes] == [True]


def test_a_query_that_sees_nothing_gets_the_mean_from_the_reference_and_0_from_ours():
    mask = SEQUENCES[3].index_put((torch.tensor(1), torch.tensor(2)), torch.tensor(0.0))
    answer = attended(parity_mask=text_of(mask))
    assert answer.ours[1, 2].eq(0).all()
    torch.testing.assert_close(answer.torchs[1, 2], SEQUENCES[2][1].mean(0))
    torch.testing.assert_close(answer.ours[0], answer.torchs[0])
    assert [
        "for query 2 of sequence 1: the reference, with −10⁹" in note for note in answer.notes
    ] == [True]
    assert not answer.agrees


def test_the_codes_of_parity_run_alone_and_give_both_answers():
    known: dict[str, Any] = {}
    for code in attended().codes:
        exec(code, known)
    inputs = [part[:, None] for part in SEQUENCES]
    reference = known["ScaledDotProductAttention"](7**0.5, 0.0, 0)(*inputs)
    torch.testing.assert_close(reference[:, 0], attended().torchs)
    torch.testing.assert_close(known["ours"](inputs, 7**0.5, 0.0, 0).output[:, 0], attended().ours)


@given(b=st.integers(1, 4), n=sizes, m=sizes, p=sizes, seed=st.integers(0, 99), data=st.data())
@hypothesis_settings(max_examples=40)
def test_our_answers_are_torchs_for_any_shape_wherever_torch_has_a_number(b, n, m, p, seed, data):
    a, x = drawn(b, n, m, seed=seed), drawn(b, m, p, seed=seed + 1)
    lens = data.draw(st.lists(st.integers(0, m + 2), min_size=b, max_size=b))
    settings = dict.fromkeys(("bmm_a", "masked_scores", "softmax_x", "transpose_x"), text_of(a))
    settings |= {"bmm_b": text_of(x), "temperature_x": write_matrix(a[0, :1])}
    settings |= {name: data.draw(chosen[name]) for name in ("softmax_dim", "transpose_dims")}
    settings["valid_lens"] = " ".join(map(str, lens))
    answers = {name: made(operation=name, mask_keys=m, **settings) for name in OPERATIONS}
    for answer in answers.values():
        assert answer.ours.shape == answer.torchs.shape
        assert answer.difference is None or answer.difference <= 1e-5
    torch.testing.assert_close(answers["bmm"].ours, torch.bmm(a, x))
    dims = map(int, settings["transpose_dims"].split("-"))
    torch.testing.assert_close(answers["softmax"].ours, a.softmax(int(settings["softmax_dim"])))
    assert torch.equal(answers["transpose"].ours, a.transpose(*dims))


# Every number recomputes from what is shown beside it


@over("case", EVERY_CASE)
def test_every_working_of_every_example_recomputes(case):
    answer = prepare(OperationSettings(**case))
    refusing = {"1 0; 0 1; 2 -1; 5 5 | 3 1; 0 2; 1 1; 5 5", "1 0; 0 1; 2 -1"}
    assert isinstance(answer, Refused) == (case.get("bmm_b") in refusing)
    if isinstance(answer, Made):
        hidden = "0 0 0 0 0" in case.get("parity_mask", "")
        assert hidden or answer.difference is None or answer.difference <= 1e-6
        for index in product(*map(range, answer.sizes)):
            recompute(case["operation"], answer, index)


def recompute(operation: str, answer: Made, index: tuple[int, ...]) -> None:
    work = answer.working(*index)
    columns: dict[str, list[Any]] = {name: list(cells) for name, cells in work.columns.items()}
    match operation:
        case "bmm" | "parity":
            left, right, products = columns.values()
            assert products == pytest.approx([a * b for a, b in zip(left, right, strict=True)])
            assert totals(work)["product"] == approx(sum(products))
            assert totals(work)["product"] == approx(float(answer.ours[index]))
        case "transpose":
            for start in (0, 3):
                indices, stride, walked = (
                    [int(columns[d][row]) for d in ("batch", "row", "column")]
                    for row in range(start, start + 3)
                )
                assert walked == [i * s for i, s in zip(indices, stride, strict=True)]
                assert columns["position"][start + 2] == str(sum(walked))
            assert columns["position"][2] == columns["position"][5]
            line = torch.tensor([]).set_(answer.torchs.untyped_storage())
            assert line[int(columns["position"][2])] == answer.ours[index]
        case "sequence_mask":
            limit = int(found(r"position < (\d+)", work.text))
            inside = [int(position) < limit for position in columns["position"]]
            assert [cell == "yes" for cell in columns[f"position < {limit}"]] == inside
            assert [cell == "1" for cell in columns["mask"]] == inside
            assert totals(work)["mask"] == sum(inside)
        case _:
            recompute_softmax(work, columns)


def recompute_softmax(work: Working, columns: dict[str, list[Any]]) -> None:
    numbers = next(iter(columns.values()))
    weights = columns.get("weight") or columns["w"]
    finite = [x for x in numbers if math.isfinite(x)]
    if not finite:
        assert columns["exp"] == weights == [0.0] * len(numbers)
        return
    assert shown(found(r"max = ([−\d.e]+\d)", work.text)) == approx(max(finite))
    powers = [math.exp(x - max(finite)) for x in numbers]
    assert columns["exp"] == pytest.approx(powers, rel=1e-5)
    assert totals(work)["exp"] == approx(sum(columns["exp"]))
    expected = [power / sum(columns["exp"]) for power in columns["exp"]]
    assert weights == pytest.approx(expected, rel=1e-5)
    assert list(totals(work).values())[1] == approx(1)
    if bits := columns.get("−w log₂ w"):
        assert bits == pytest.approx([-w * math.log2(w) if w else 0 for w in weights], abs=1e-6)
        assert totals(work)["−w log₂ w"] == approx(sum(bits))


def totals(work: Working) -> dict[str, float]:
    return {
        name: shown(cell)
        for name, cell in zip(work.columns, work.totals[1:], strict=True)
        if cell not in ("", "not a number")
    }


def approx(number: float) -> Any:
    """The number, as far as four digits tell."""
    return pytest.approx(number, rel=2e-4, abs=1e-4)


def found(pattern: str, words: str) -> str:
    match = re.search(pattern, words)
    assert match
    return match[1]


# What cannot be used


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bmm_b": "1 0; 0 1; 2 -1"}, "A has 2, B has 1"),
        ({"bmm_a": "1 2", "bmm_b": "1 | 2"}, r"A has 1, B has 2.* row of A has 2 .* B has 1"),
        ({"bmm_a": ""}, "A: there are no numbers yet"),
        ({"bmm_a": "1 2 | 3 x"}, r"A\[1\]: row 0, column 1 holds 'x', which is no number"),
        ({"bmm_a": "|".join("1" * 11)}, "A: a stack has at most 10 matrices here, got 11"),
        ({"bmm_a": " ".join(["1"] * 145)}, "A has at most 144 numbers here, got 145"),
        ({"operation": "temperature", "temperature_x": "1 | 3"}, r"one row .*\(2, 1, 1\)"),
        ({"operation": "sequence_mask", "valid_lens": "2 1.5"}, "whole number from 0 up, got 1.5"),
        ({"operation": "sequence_mask", "valid_lens": "-2"}, "whole number from 0 up, got -2"),
        ({"operation": "sequence_mask", "valid_lens": "1; 2"}, "valid_lens is one row of numbers"),
        (
            {"operation": "sequence_mask", "lens_dim": "2-D", "valid_lens_2d": "1 | 2"},
            "leave out the |",
        ),
        ({"operation": "masked_softmax", "valid_lens": "2 3 4"}, r"valid_lens \(2,\), got \(3,\)"),
        (
            {"operation": "masked_softmax", "lens_dim": "2-D", "valid_lens_2d": "1 2 3; 1 2 3"},
            r"each query .* valid_lens \(2, 2\), got \(2, 3\)",
        ),
        ({"operation": "parity", "parity_k": "1"}, r"k must have shape \(1, 1, 2\) .*\(1, 1, 1\)"),
        (
            {"operation": "parity", "parity_v": "1 2"},
            r"v must have shape \(1, 5, 2\) .*\(1, 1, 2\)",
        ),
        ({"operation": "parity", "parity_mask": "1 1"}, r"mask .* \(1, 3, 5\) .*got \(1, 1, 2\)"),
        (
            {"operation": "parity", "parity_mask": "1 1 1 1 0; 1 1 2 1 0; 1 1 1 1 0"},
            r"mask must hold 1 \(may attend\) and 0 \(hidden\) alone, got 2",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(settings, words):
    assert re.search(words, refused(**settings)), refused(**settings)


def test_a_product_that_cannot_be_is_refused_by_torch_in_its_own_words_too():
    answer = prepare(OperationSettings(**OPERATIONS["bmm"].examples["sizes that do not meet"]))
    assert isinstance(answer, Refused)
    with pytest.raises(RuntimeError) as error:
        torch.bmm(torch.zeros(2, 2, 3), torch.zeros(2, 4, 2))
    assert answer.torch_says == str(error.value)
    assert answer.worked.columns["product"] == [1, 0, 6, "no partner"]
    assert answer.worked.columns["row 0 of A"] == [1, 2, 3, None]


cells = {f"operation_{name}": st.integers(0, 143) for name in ("batch", "row", "column")}


@given(asked=st.fixed_dictionaries(chosen | cells, optional=dict.fromkeys(CHANGES, anything)))
@hypothesis_settings(max_examples=200)
def test_any_text_is_answered_or_refused_and_can_be_edited_without_failing(asked):
    for text in (asked[name] for name in CHANGES if name in asked):
        edited = filter(None, (resized(text, change) for change in STACK))
        assert all(typed_stack("x", new) for new in edited)
    settings = OperationSettings(**asked)
    answer = prepare(settings)
    if isinstance(answer, Refused):
        assert all(answer.words)
        return
    at = clamped(answer, settings)
    assert all(index < size for index, size in zip(at, answer.sizes, strict=True))
    assert answer.working(*at).text
    assert answer.compared


# Editing


def test_every_change_of_size_applies_to_all_matrices_of_the_stack():
    text = "1 2; 3 4 | 5 6; 7 8"
    assert resized(text, "+ row") == "1 2; 3 4; 0 0 | 5 6; 7 8; 0 0"
    assert resized(text, "− row") == "1 2 | 5 6"
    assert resized(text, "+ column") == "1 2 0; 3 4 0 | 5 6 0; 7 8 0"
    assert resized(text, "− column") == "1; 3 | 5; 7"
    assert resized(text, "+ matrix") == "1 2; 3 4 | 5 6; 7 8 | 5 6; 7 8"
    assert resized(text, "− matrix") == "1 2; 3 4"


def test_a_stack_keeps_a_row_a_column_and_a_matrix_and_stays_small():
    assert [resized("1", change) for change in STACK if change[0] == "−"] == [None] * 3
    assert resized("|".join("1" * 9), "+ matrix") == " | ".join("1" * 10)
    assert resized("|".join("1" * 10), "+ matrix") is None
    assert resized(" ".join(["1"] * 144), "+ column") is None
    assert resized(" ".join(["1"] * 144), "− column") == " ".join(["1"] * 143)
