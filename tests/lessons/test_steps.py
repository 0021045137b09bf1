"""Step by step: what every step says about a cell recomputes from the numbers it shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attention.core import masks
from attention.core.functional import dot_scores, masked_softmax
from attention.core.positions import sinusoidal
from attention.core.settings import Config, settings_of
from attention.core.variants import VARIANTS, Variant
from attention.display.matrix import Matrix
from attention.display.tables import Working, number
from attention.lessons.steps import STEPS, Computation, Step, StepSettings, compute, step, verdict
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st

TOKENS, D_MODEL = 7, 5
WORDS = ("the", "cat", "walks", "on", "the", "street", "now")
SOME_HIDDEN = "0:1,3-5 2:* 6:0"
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "masked": {"cells": SOME_HIDDEN},
    "all hidden": {"cells": "*:*"},
    "with positions": {"positions": True},
    "scaled by 3, nothing dropped": {"scale": 3.0, "dropout": 0.0, "cells": SOME_HIDDEN},
}
each_variant = pytest.mark.parametrize("name", VARIANTS)
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
CELLS = [(row, column) for row in range(TOKENS) for column in (0, 3, TOKENS - 1)]


def done(
    variant: str | Variant = "dot",
    *,
    cells: str | None = None,
    positions: bool = False,
    scale: float | None = None,
    **settings: Any,
) -> Computation:
    if isinstance(variant, str):
        maker = VARIANTS[variant]
        variant = maker(maker.Config(D_MODEL)).head(0)
    return compute(
        variant,
        WORDS,
        torch.randn(TOKENS, D_MODEL, generator=torch.Generator().manual_seed(3)),
        None if cells is None else masks.parse_cells(cells, TOKENS, TOKENS),
        StepSettings(**settings),
        positions=sinusoidal(TOKENS, D_MODEL) if positions else None,
        scale=scale,
    )


def worked(made: Step) -> list[tuple[int, int, Working]]:
    """Cells of a step with their workings."""
    columns = made.result.numbers.shape[1]
    cells = sorted({(row, min(column, columns - 1)) for row, column in CELLS})
    return [(row, column, made.working(row, column)) for row, column in cells]


def close(value: float, expected: float, terms: Sequence[float | str] = ()) -> bool:
    """Equal but for rounding in float32, which grows with the terms that are added."""
    sizes = math.fsum(abs(float(term)) for term in terms)
    return math.isclose(value, expected, rel_tol=1e-6, abs_tol=1e-6 * max(1.0, sizes))


def parts(made: Step) -> list[Matrix]:
    return [part for part in made.parts if isinstance(part, Matrix)]


# Every cell recomputes


@each_variant
@each_case
@pytest.mark.parametrize("which", STEPS)
def test_the_last_column_comes_to_the_total(name: str, case: dict[str, Any], which: str) -> None:
    for _, _, work in worked(step(which, done(name, **case))):
        if not work.columns:
            assert work.total is None
            continue
        assert {len(column) for column in work.columns.values()} == {len(work.names)}
        last = [float(term) for term in [*work.columns.values()][-1]]
        expected = math.prod(last) if work.total_name == "product" else math.fsum(last)
        assert work.total is not None
        assert close(work.total, expected, last), work


@each_variant
@each_case
@pytest.mark.parametrize(
    "which", ["x", "queries", "keys", "values", "scores", "scaled", "masked", "output"]
)
def test_the_total_or_the_sentence_is_the_cell(name: str, case: dict[str, Any], which: str) -> None:
    made = step(which, done(name, **case))
    for row, column, work in worked(made):
        cell = float(made.result.numbers[row, column])
        allowed = made.result.allowed
        if work.columns:
            assert work.total == cell
        elif allowed is not None and not allowed[row, column]:
            assert "hidden" in work.words
        else:
            assert work.words.rstrip(".").endswith(number(cell))


@each_variant
@each_case
@pytest.mark.parametrize("which", ["queries", "keys", "values", "output"])
def test_products_are_products_of_the_columns_before(
    name: str, case: dict[str, Any], which: str
) -> None:
    for _, _, work in worked(step(which, done(name, **case))):
        if work.columns:
            left, right, product = work.columns.values()
            for one, other, both in zip(left, right, product, strict=True):
                assert close(float(both), float(one) * float(other))


@each_variant
@each_case
def test_weights_are_the_softmax_of_the_scores_beside_them(name: str, case: dict[str, Any]) -> None:
    computation = done(name, **case)
    made = step("weights", computation)
    for row, column, work in worked(made):
        cell = float(made.result.numbers[row, column])
        if not work.columns:
            assert "may attend to nothing" in work.words
            assert cell == 0
            continue
        scaled, powers, weights = ([float(n) for n in c] for c in work.columns.values())
        expected = [math.exp(score - max(scaled)) for score in scaled]
        assert all(map(close, powers, expected))
        assert all(map(close, weights, [power / math.fsum(expected) for power in expected]))
        assert work.total is not None
        assert close(work.total, 1)
        assert f"“{WORDS[column]}”: {number(cell)}" in work.words
        assert f"over the sum of them all, {number(math.fsum(powers))};" in work.words
        assert f"greatest score, {number(max(scaled))}," in work.words
        allowed = [True] * TOKENS if made.result.allowed is None else made.result.allowed[row]
        assert list(work.names) == [w for w, may in zip(WORDS, allowed, strict=True) if may]
        assert ("since it is hidden" in work.words) == (not allowed[column])


@each_variant
@each_case
def test_dropped_weights_are_nothing_and_kept_ones_have_grown(
    name: str, case: dict[str, Any]
) -> None:
    computation = done(name, **case)
    made = step("dropout", computation)
    growth = f"1 / (1 − {computation.rate:g}) = {1 / (1 - computation.rate):.4f},"
    assert growth in made.working(0, 0).words
    for row, column, work in worked(made):
        before, fates, after = work.columns.values()
        assert close(float(after[column]), float(made.result.numbers[row, column]))
        for weight, fate, left in zip(before, fates, after, strict=True):
            grown = float(weight) / (1 - computation.rate)
            assert close(float(left), grown if fate == "kept" else 0.0)
            assert (fate == "—") == (weight == 0)


@each_variant
@each_case
def test_the_steps_follow_from_each_other(name: str, case: dict[str, Any]) -> None:
    """What one step gives is what a later one starts from, and the end is what the variant says."""
    computation = done(name, **case)
    given_by = {which: step(which, computation).result.numbers for which in STEPS}
    starts = {which: [part.numbers for part in parts(step(which, computation))] for which in STEPS}
    for which, before in (
        *(("queries", "x"), ("keys", "x"), ("values", "x"), ("scores", "queries")),
        *(("scaled", "scores"), ("masked", "scaled"), ("weights", "masked")),
        *(("dropout", "weights"), ("output", "dropout")),
    ):
        assert torch.equal(starts[which][0], given_by[before]), which
    assert torch.equal(starts["scores"][1], given_by["keys"])
    assert torch.equal(starts["output"][1], given_by["values"])
    with torch.no_grad():
        alone = computation.variant(computation.x, computation.trace.mask, scale=case.get("scale"))
    assert torch.equal(given_by["weights"], alone.weights)
    if computation.trace.dropped is None:
        assert torch.equal(given_by["output"], alone.output)


@pytest.mark.parametrize("which", ["queries", "keys", "values", "output"])
def test_what_is_lit_is_what_is_multiplied(which: str) -> None:
    made = step(which, done("qkv", cells=SOME_HIDDEN))
    left, right = parts(made)[:2]
    assert (left.lights, right.lights) == ("row", "column")
    for row, column, work in worked(made):
        first, second, _ = work.columns.values()
        assert first == left.numbers[row].tolist()
        assert second == right.numbers[:, column].tolist()


def test_a_score_is_made_from_the_lit_query_and_the_lit_key() -> None:
    made = step("scores", done("qkv"))
    queries, keys, _ = parts(made)
    assert (queries.lights, keys.lights) == ("row", "row of the column")
    for row, column, work in worked(made):
        assert work.columns["q"] == queries.numbers[row].tolist()
        assert work.columns["k"] == keys.numbers[column].tolist()


# What a variant brings along


@each_variant
@torch.no_grad()
def test_the_terms_of_a_score_add_up_to_it(name: str) -> None:
    computation = done(name)
    trace = computation.trace
    for row, column in CELLS:
        terms = computation.variant.score_terms(trace.queries[row], trace.keys[column])
        if not terms:
            continue
        assert len({len(numbers) for numbers in terms.values()}) == 1
        last = [*terms.values()][-1].double()
        assert close(float(last.sum()), float(trace.scores[row, column]), last.tolist())


Columns = dict[str, list[float]]
TERMS: dict[str, Callable[[Columns, int], float]] = {
    "dot": lambda c, i: c["q"][i] * c["k"][i],
    "qkv": lambda c, i: c["q"][i] * c["k"][i],
    "additive": lambda c, i: c["v"][i] * math.tanh(c["q W_q"][i] + c["k W_k"][i]),
    "bilinear": lambda c, i: c["q W"][i] * c["k"][i],
    "cosine": lambda c, i: c["q / ‖q‖"][i] * c["k / ‖k‖"][i],
    "gaussian": lambda c, i: -((c["q"][i] - c["k"][i]) ** 2) / 2,
}


@pytest.mark.parametrize("name", TERMS)
def test_each_term_recomputes_from_the_columns_before_it(name: str) -> None:
    made = step("scores", done(name))
    for _, _, work in worked(made):
        columns = {title: [float(n) for n in numbers] for title, numbers in work.columns.items()}
        for row, term in enumerate([*columns.values()][-1]):
            assert close(term, TERMS[name](columns, row))


def test_additive_attention_shows_its_tanh() -> None:
    work = step("scores", done("additive")).working(1, 2)
    sums = [
        float(left) + float(right)
        for left, right in zip(work.columns["q W_q"], work.columns["k W_k"], strict=True)
    ]
    shown = [float(number) for number in work.columns["tanh(q W_q + k W_k)"]]
    assert len(shown) == 16
    assert all(map(close, shown, map(math.tanh, sums)))


def test_cosine_attention_shows_vectors_of_length_one() -> None:
    work = step("scores", done("cosine")).working(1, 2)
    for title in ("q / ‖q‖", "k / ‖k‖"):
        assert close(math.hypot(*map(float, work.columns[title])), 1)


@each_variant
@torch.no_grad()
def test_projections_name_the_parameters_that_make_queries_keys_and_values(name: str) -> None:
    computation = done(name)
    variant = computation.variant
    assert variant.projections.keys() <= {"queries", "keys", "values"}
    for role in ("queries", "keys", "values"):
        made = getattr(computation.trace, role)
        if role not in variant.projections:
            assert torch.equal(made, computation.x)
            continue
        parameter = dict(variant.named_parameters())[variant.projections[role]]
        assert isinstance(parameter, nn.Parameter)
        assert torch.equal(made, computation.x @ parameter)
        assert parts(step(role, computation))[1].name == variant.projections[role]


class Plain(Variant):
    """A variant that brings nothing but what it must."""

    title = "Plain"
    formula = r"s_{ij} = x_i \cdot x_j \\ y_i = \sum_j w_{ij}\, x_j"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return dot_scores(queries, keys)


@each_case
def test_a_variant_without_terms_or_projections_has_all_steps(case: dict[str, Any]) -> None:
    computation = done(Plain(Config(D_MODEL)), **case)
    for which in STEPS:
        assert worked(step(which, computation))
    score = number(float(computation.trace.scores[1, 2]))
    work = step("scores", computation).working(1, 2)
    words = f"How well the query “cat” matches the key “walks”: {score}."
    assert work == Working(words, ())
    assert step("keys", computation).formula == "K = X"


@each_variant
@pytest.mark.parametrize("which", STEPS)
def test_a_step_says_what_it_is_and_why(name: str, which: str) -> None:
    made = step(which, done(name))
    assert made.title
    assert made.formula
    assert "\\\\ y_i" not in made.formula, "the output's formula belongs to the last step"
    assert made.why.endswith(".")
    assert made.result is made.parts[-1]


def test_shapes_are_told_before_and_after() -> None:
    variant = VARIANTS["qkv"](VARIANTS["qkv"].Config(D_MODEL, d_k=3, d_v=2))
    computation = done(variant)
    assert step("queries", computation).shapes == "X (7, 5) × W_q (5, 3) = Q (7, 3)"
    assert step("scores", computation).shapes == "Q (7, 3) and K (7, 3) → scores (7, 7)"
    assert step("output", computation).shapes == "after dropout (7, 7) × V (7, 2) = Y (7, 2)"


def test_a_step_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"step must be one of x, queries, .*, got 'nope'"):
        step("nope", done())


def test_the_menu_offers_every_step_in_order() -> None:
    assert settings_of(StepSettings)["step"][1].choices() == STEPS


# Positions


def test_x_is_its_vector_plus_its_position() -> None:
    computation = done(positions=True)
    made = step("x", computation)
    assert [part.name for part in parts(made)] == ["vectors", "positions", "X"]
    work = made.working(3, 2)
    vector, position = float(computation.vectors[3, 2]), float(sinusoidal(TOKENS, D_MODEL)[3, 2])
    assert work.columns == {"number": [vector, position]}
    assert work.total == float(computation.x[3, 2])
    assert [part.name for part in parts(step("x", done()))] == ["X"]
    assert step("x", done()).why != made.why


# Masks


@each_variant
def test_a_hidden_cell_gets_no_weight_and_the_page_says_why(name: str) -> None:
    computation = done(name, cells=SOME_HIDDEN)
    hidden, weights = step("masked", computation), step("weights", computation)
    mask = computation.trace.mask
    assert mask is not None
    assert hidden.result.allowed is mask
    assert f"{int((~mask).sum())} cells are hidden." in hidden.why
    for row, column, work in worked(hidden):
        assert ("the softmax gets −∞" in work.words) == (not mask[row, column])
        assert (float(weights.result.numbers[row, column]) == 0) == (not mask[row, column])
    assert "Nothing is hidden now." in step("masked", done(name)).why


def test_a_row_with_nothing_to_attend_to_is_all_zero() -> None:
    computation = done("qkv", cells=SOME_HIDDEN)
    assert "may attend to nothing" in step("weights", computation).working(2, 0).words
    assert set(step("dropout", computation).working(2, 0).columns[""]) == {"—"}
    work = step("output", computation).working(2, 1)
    assert work.total == 0
    assert set(work.columns["product"]) == {0}


# Dropout


def test_dropout_repeats_with_its_seed_and_no_other() -> None:
    first, again, other = (done(dropout=0.5, drop_seed=seed).trace for seed in (7, 7, 8))
    assert first.dropped is not None
    assert again.dropped is not None
    assert other.dropped is not None
    assert torch.equal(first.dropped, again.dropped)
    assert torch.equal(first.output, again.output)
    assert not torch.equal(first.dropped, other.dropped)
    assert torch.equal(first.weights, other.weights)


def test_the_global_seed_does_not_decide_what_is_dropped() -> None:
    torch.manual_seed(1)
    first = done(dropout=0.5).trace.dropped
    torch.manual_seed(2)
    second = done(dropout=0.5).trace.dropped
    assert first is not None
    assert second is not None
    assert torch.equal(first, second)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.9])
def test_kept_weights_have_grown_by_exactly_what_the_average_loses(rate: float) -> None:
    traces = [done(dropout=rate, drop_seed=seed).trace for seed in range(200)]
    kept = torch.stack([trace.dropped != 0 for trace in traces if trace.dropped is not None])
    assert len(kept) == 200
    for trace, keeps in zip(traces, kept, strict=True):
        assert trace.dropped is not None
        assert torch.equal(trace.dropped, torch.where(keeps, trace.weights / (1 - rate), 0.0))
    share = float((kept & (traces[0].weights > 0)).double().mean())
    deviation = math.sqrt(rate * (1 - rate) / kept.numel())
    assert abs(share - (1 - rate)) < 4 * deviation


def test_at_rate_0_nothing_is_dropped() -> None:
    computation = done("qkv", dropout=0.0)
    assert computation.trace.dropped is None
    assert torch.equal(step("dropout", computation).result.numbers, computation.trace.weights)
    output = step("output", computation)
    assert parts(output)[0].name == "weights"
    assert "tilde" not in output.formula
    assert "Dropout" not in output.why
    assert parts(step("output", done("qkv")))[0].name == "after dropout"


@given(rate=st.sampled_from([step / 20 for step in range(19)]), seed=st.integers(0, 9999))
@hypothesis_settings(deadline=None, max_examples=40)
def test_the_output_is_the_sum_over_what_dropout_left(rate: float, seed: int) -> None:
    computation = done("qkv", dropout=rate, drop_seed=seed, cells=SOME_HIDDEN)
    left = step("dropout", computation).result.numbers.double()
    expected = left @ computation.trace.values.double()
    torch.testing.assert_close(computation.trace.output.double(), expected, atol=1e-5, rtol=1e-5)


# Guessing the greatest cell


def shown(numbers: list[list[float]], **more: Any) -> Step:
    names = ("ant", "bee", "cow")[: len(numbers)]
    result = Matrix("S", torch.tensor(numbers), names, **more)
    return Step("A step", "", "", [result], lambda row, column: Working("", ()))


GUESSED = [[1.0, 5.0], [5.0, -2.0], [0.0, 3.0]]


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        ((0, 1), "Right: “ant” and dimension 1 is the greatest, 5.0000."),
        ((1, 0), "Right: “bee” and dimension 0 is the greatest, 5.0000."),
        (
            (1, 1),
            "Not “bee” and dimension 1, it holds −2.0000; “ant” and dimension 1 holds 5.0000.",
        ),
        ((2, 1), "Not “cow” and dimension 1, it holds 3.0000; “ant” and dimension 1 holds 5.0000."),
    ],
)
def test_a_guess_is_right_wherever_the_greatest_number_stands(
    guess: tuple[int, int], words: str
) -> None:
    assert verdict(shown(GUESSED), *guess) == words


def test_numbers_that_read_the_same_are_both_the_greatest() -> None:
    third = 1 / 3
    made = shown([[third, third + 1e-7]])
    assert verdict(made, 0, 0) == "Right: “ant” and dimension 0 is the greatest, 0.3333."


def test_a_hidden_cell_is_never_the_greatest() -> None:
    allowed = torch.tensor([[True, False], [False, True], [True, True]])
    made = shown(GUESSED, allowed=allowed, column_names=("red", "blue"))
    assert verdict(made, 2, 1) == "Right: “cow” and “blue” is the greatest, 3.0000."
    words = "Not “ant” and “blue”, it is hidden; “cow” and “blue” holds 3.0000."
    assert verdict(made, 0, 1) == words


def test_where_all_is_hidden_there_is_no_greatest_cell() -> None:
    made = shown(GUESSED, allowed=torch.zeros(3, 2, dtype=torch.bool))
    assert verdict(made, 0, 1) == "Every cell is hidden: there is no greatest one."


@each_variant
@each_case
def test_the_greatest_cell_of_every_step_is_right(name: str, case: dict[str, Any]) -> None:
    for which in STEPS:
        made = step(which, done(name, **case))
        numbers, allowed = made.result.numbers, made.result.allowed
        if allowed is not None and not allowed.any():
            assert "Every cell is hidden" in verdict(made, 0, 0)
            continue
        numbers = numbers if allowed is None else numbers.masked_fill(~allowed, -torch.inf)
        row, column = divmod(int(numbers.argmax()), numbers.shape[1])
        assert verdict(made, row, column).startswith("Right: ")
        row, column = divmod(int(numbers.argmin()), numbers.shape[1])
        right = number(float(numbers.min())) == number(float(numbers.max()))
        assert verdict(made, row, column).startswith("Right: ") == right


# Whether a guess still stands


def test_a_step_is_the_same_while_its_numbers_are() -> None:
    for which in STEPS:
        assert step(which, done()).identity == step(which, done()).identity


def test_a_step_changes_with_its_numbers_its_mask_its_shape_and_its_name() -> None:
    identities = [
        shown([[1.0, 2.0]]).identity,
        shown([[1.0, 2.5]]).identity,
        shown([[1.0], [2.0]]).identity,
        shown([[1.0, 2.0]], allowed=torch.tensor([[True, True]])).identity,
        shown([[1.0, 2.0]], allowed=torch.tensor([[True, False]])).identity,
        *(step(which, done()).identity for which in STEPS),
        step("masked", done(cells=SOME_HIDDEN)).identity,
        step("dropout", done(drop_seed=1)).identity,
    ]
    assert len(set(identities)) == len(identities)


def test_weights_are_the_masked_softmax_here_too() -> None:
    computation = done("qkv", cells=SOME_HIDDEN)
    trace = computation.trace
    assert torch.equal(trace.weights, masked_softmax(trace.scaled, trace.mask))
