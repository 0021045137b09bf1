"""Step by step: what every step says about a cell recomputes from the numbers it shows."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.core import masks
from attention.core.positions import Rotary, alibi, sinusoidal
from attention.core.variants import Variant
from attention.core.weighing import SOFTMAX
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.figures.working import Working
from attention.subjects.play.how import STEPS, Computation, Step, StepSettings, step
from attention.subjects.play.how.step import REFINED, ROLES
from attention.trained.checkpoints import load_folder
from attention.trained.models import About
from tests.cases import over
from tests.subjects.play.how.making import HEADS, LAYERS, drawn, layer_of, matrices
from tests.trained.conftest import checkpoint, each_checkpoint

__all__ = ["checkpoint", "each_checkpoint"]

TOKENS, D_MODEL, HEAD, GROUP = 7, 12, 2, 1
WIDTH = D_MODEL // HEADS
WORDS = ("the", "cat", "walks", "on", "the", "street", "now")
COLUMNS = (0, 3, TOKENS - 1)
CAUSAL = {"causal": masks.causal(TOKENS, TOKENS)}
CELLS = {"cells": masks.parse_cells("0:1,3-5 2:* 6:0", TOKENS, TOKENS)}
ALL_HIDDEN = {"cells": masks.parse_cells("*:*", TOKENS, TOKENS)}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "masked and dropped": {"hidden": CAUSAL | CELLS, "scale": 3.0, "dropout": 0.5},
    "all hidden": {"hidden": ALL_HIDDEN, "dropout": 0.2},
    "sinusoidal": {"positions": "sinusoidal"},
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi", "hidden": CAUSAL},
}
RUNS = [(layer, case) for layer in LAYERS for case in ("plain", "masked and dropped")]
RUNS += [(layer, "rotary") for layer in ("dot", "qkv", "grouped", "biased")]
RUNS += [(layer, "alibi") for layer in ("dot", "additive", "biased", "talking")]
RUNS += [("rotating", "plain"), ("rotating", "masked and dropped"), ("normed", "plain")]
RUNS += [("dot", "sinusoidal"), ("qkv", "all hidden"), ("talking", "all hidden")]


def computed(
    layer: Variant,
    *,
    hidden: Mapping[str, Tensor] | None = None,
    positions: str = "",
    scale: float | None = None,
    **settings: Any,
) -> Computation:
    d_model: int = layer.config.d_model
    vectors = drawn(TOKENS, d_model, seed=3)
    encoding = sinusoidal(TOKENS, d_model) if positions == "sinusoidal" else None
    with torch.no_grad():
        trace = layer(
            vectors if encoding is None else vectors + encoding,
            masks.combine((hidden or {}).values()),
            scale=scale,
            rotate=True if positions == "rotary" else None,
            bias=alibi(layer.heads, TOKENS, TOKENS) if positions == "alibi" else None,
        )
    return Computation(
        layer,
        trace,
        WORDS,
        vectors,
        StepSettings(**settings),
        head=min(HEAD, layer.heads - 1),
        positions=encoding,
        masks=hidden,
    )


@functools.cache
def done(layer: str, case: str = "plain") -> Computation:
    return computed(layer_of(layer, D_MODEL), **CASES[case])


def worked(made: Step) -> list[tuple[int, int, Working]]:
    """Cells of a step with their workings."""
    rows, columns = made.result.numbers.shape
    some = sorted({min(column, columns - 1) for column in (*COLUMNS, columns)})
    return [(row, column, made.working(row, column)) for row in range(rows) for column in some]


def close(value: float, expected: float, terms: Sequence[float] = ()) -> bool:
    """Equal but for rounding in float32, which grows with the terms that are added."""
    sizes = math.fsum(map(abs, terms))
    return math.isclose(value, expected, rel_tol=1e-6, abs_tol=1e-6 * max(1.0, sizes))


def numbers_of(cells: Sequence[float | str]) -> list[float]:
    return [float(cell) for cell in cells]


def parts(made: Step) -> list[Matrix]:
    return matrices(made.parts)


# Every cell recomputes


@pytest.mark.parametrize(("layer", "case"), RUNS)
def test_every_cell_recomputes_from_the_numbers_beside_it(layer, case):
    check_workings(done(layer, case))
    check_links(done(layer, case))


@torch.no_grad()
def test_every_cell_of_a_trained_layer_recomputes(each_checkpoint):
    model = load_folder(each_checkpoint.folder, About("tiny", "Tiny", "nobody"))
    inputs = model.run("the cat sat on it").inputs
    for layer_input in (each for each in inputs if each.memory is None):
        layer, x = layer_input.layer, layer_input.layer.attention_input(layer_input.x)
        trace, tokens = layer_input.trace(), layer_input.pieces.texts
        hidden, head = layer.masks(len(x), len(x)), layer.attention.heads - 1
        check_workings(
            Computation(layer.attention, trace, tokens, x, StepSettings(), head, masks=hidden)
        )


def check_workings(run: Computation) -> None:
    """Every step's cells recompute from their workings."""
    for name in run.steps:
        made = step(name, run)
        result = made.result
        assert r"\\ y_i" not in made.formula, "the output's formula belongs to the last step"
        for row, column, work in worked(made):
            cell = float(result.numbers[row, column])
            if work.columns:
                assert {len(cells) for cells in work.columns.values()} == {len(work.names)}
                check_total(work)
                assert work.total == cell or name in ("weights", "dropout")
            elif name == "weights" and run.trace.weighing == SOFTMAX:
                assert ("may look at nothing" in work.text, cell) == (True, 0)
            elif result.allowed is None or result.allowed[row, column]:
                assert work.text.rstrip(".").endswith(number(cell))
            else:
                assert "hidden" in work.text
            if work.columns and name == "weights" and run.trace.weighing == SOFTMAX:
                check_softmax(run, made, row, column, work)
            if name == "dropout":
                check_dropout(run, cell, column, work)


def check_total(work: Working) -> None:
    """The last column comes to the total, and holds the products of the two before it."""
    *_, (title, last) = work.columns.items()
    terms = numbers_of(last)
    come_to = math.prod(terms) if work.total_name == "product" else math.fsum(terms)
    assert close(work.total, come_to, terms), work
    if title == "product":
        for left, right, both in zip(*work.columns.values(), strict=True):
            assert left == "" or close(float(both), float(left) * float(right))


def check_softmax(run: Computation, made: Step, row: int, column: int, work: Working) -> None:
    """Weights are the softmax of the scores beside them."""
    scores, powers, weights = map(numbers_of, work.columns.values())
    expected = [math.exp(score - max(scores)) for score in scores]
    assert all(map(close, powers, expected))
    assert all(map(close, weights, [power / math.fsum(expected) for power in expected]))
    assert close(work.total, 1)
    allowed = made.result.allowed
    may = [True] * len(run.names) if allowed is None else allowed[row].tolist()
    assert list(work.names) == [*itertools.compress(run.names, may)]


def check_dropout(run: Computation, cell: float, column: int, work: Working) -> None:
    """Dropped weights are nothing and kept ones have grown."""
    left = 1 - run.dropout
    before, fates, after = work.columns.values()
    assert after[column] == cell
    for weight, fate, now in zip(before, fates, after, strict=True):
        assert close(float(now), float(weight) / left if fate == "kept" else 0.0)
        assert (fate == "—") == (weight == 0)


def check_links(run: Computation) -> None:
    """Each step starts from what earlier ones gave."""
    made = {name: step(name, run) for name in run.steps}
    results = {name: made[name].result.numbers for name in made}
    for name, same in run.alike.items():
        made[name], results[name] = made[same], results[same]
    forms = {role: [*run.forms(role)] for role in ("queries", "keys", "values")}
    aside = ("x", "joined", *(form for steps in forms.values() for form in steps))
    chain = ["queries", *forms["queries"][1:], *(name for name in run.steps if name not in aside)]
    links = [pair for steps in (chain, forms["keys"]) for pair in itertools.pairwise(steps)]
    for before, after in (("x", "queries"), ("x", "keys"), ("x", "values"), *links):
        assert torch.equal(parts(made[after])[0].numbers, results[before]), after
    assert torch.equal(parts(made["scores"])[1].numbers, results[forms["keys"][-1]])
    assert torch.equal(parts(made["output"])[1].numbers, results["values"])
    if "joined" in made:
        columns = slice(run.head * WIDTH, (run.head + 1) * WIDTH)
        assert torch.equal(parts(made["joined"])[0].numbers[:, columns], results["output"])


# What a variant brings along


@pytest.mark.parametrize(
    ("layer", "missing"),
    [
        ("qkv", {"erased", *REFINED, "mixed scores", "mixed weights", "joined"}),
        ("grouped", {"erased", *REFINED, "mixed scores", "mixed weights"}),
        ("rotating", {"erased", *REFINED[:2], "mixed scores", "mixed weights"}),
        ("normed", {"erased", "mixed scores", "mixed weights"}),
        ("talking", {"erased", *REFINED}),
    ],
)
def test_a_computation_has_the_steps_its_layer_takes(layer, missing):
    assert done(layer).steps == tuple(name for name in STEPS if name not in missing)
    for name in (*missing, "nope"):
        with pytest.raises(ValueError, match=f"step must be one of x, queries, .*, got '{name}'"):
            step(name, done(layer))


def test_without_a_matrix_queries_keys_and_values_are_one_step_and_the_vectors_themselves():
    run, rotated = done("dot"), done("dot", "rotary")
    assert run.steps[:3] == ("x", "queries", "scores")
    assert {step(name, run).formula for name in ROLES} == {"Q = K = V = X"}
    said = step("queries", run).working(1, 2).text
    assert said.endswith(f"dimension 2, is x itself: {number(float(run.x[1, 2]))}.")
    assert rotated.steps[:7] == ("x", *ROLES, "rotated queries", "rotated keys", "scores")
    assert step("values", rotated).formula == "V = X"


@over("layer", LAYERS)
def test_a_projection_shows_the_columns_that_its_head_or_group_uses(layer):
    run = done(layer)
    several, grouped = run.layer.heads > 1, layer == "grouped"
    for role in ROLES:
        made, (W, b) = step(role, run), run.layer.projection(role)
        if W is None:
            assert made.formula.endswith("= X")
            assert torch.equal(made.result.numbers, run.x)
            continue
        what, at = ("group", GROUP) if grouped and role != "queries" else ("head", HEAD)
        columns = slice(at * WIDTH, (at + 1) * WIDTH) if several else slice(None)
        name = run.layer.projections[role] + (f", {what} {at}" if several else "")
        shown = {part.name: part.numbers for part in parts(made)[1:-1]}
        assert list(shown) == ([name] if b is None else [name, name.replace("W", "b")])
        assert torch.equal(shown[name], W[:, columns])


Columns = dict[str, list[float]]
TERMS: dict[str, Callable[[Columns, int], float]] = {
    "dot": lambda c, i: c["q"][i] * c["k"][i],
    "additive": lambda c, i: c["v"][i] * math.tanh(c["q W_q"][i] + c["k W_k"][i]),
    "bilinear": lambda c, i: c["q W"][i] * c["k"][i],
    "cosine": lambda c, i: c["q / ‖q‖"][i] * c["k / ‖k‖"][i],
    "gaussian": lambda c, i: -((c["q"][i] - c["k"][i]) ** 2) / 2,
}


@over("layer", TERMS)
def test_each_term_of_a_score_recomputes_from_the_lit_query_and_the_lit_key(layer):
    made = step("scores", done(layer))
    queries, keys, _ = parts(made)
    assert (queries.lights, keys.lights) == ("row", "row of the column")
    for row, column, work in worked(made):
        columns = {name: numbers_of(cells) for name, cells in work.columns.items()}
        *_, last = columns.values()
        assert all(close(TERMS[layer](columns, i), term) for i, term in enumerate(last))
        if layer in ("dot", "gaussian"):
            assert columns["q"] == queries.numbers[row].tolist()
            assert columns["k"] == keys.numbers[column].tolist()


# Positions, masks, dropout


LLAMA = Rotary(700.0, halves=True)


@pytest.mark.parametrize(
    ("layer", "d_model", "rotary", "pair", "angle"),
    [
        *((layer, D_MODEL, Rotary(), (0, 1), 4) for layer in ("dot", "qkv", "biased")),
        ("rotating", 20, LLAMA, (1, 3), 4 / 700 ** (2 / 5)),
    ],
)
def test_rotary_positions_turn_a_dimension_with_its_partner(layer, d_model, rotary, pair, angle):
    own = {} if layer == "rotating" else CASES["rotary"]
    run = computed(layer_of(layer, d_model), **own)
    cosine, sine = math.cos(angle), math.sin(angle)
    for index, role in enumerate(ROLES[:2]):
        made, before = step(f"rotated {role}", run), run.trace.unrotated[index]
        assert torch.equal(step(role, run).result.numbers, before)
        torch.testing.assert_close(made.result.numbers, rotary(before))
        first, second = (made.working(4, at) for at in pair)
        assert first.columns["before"] == second.columns["before"][::-1]
        assert first.columns["before"] == before[4, [*pair]].tolist()
        assert first.columns["times"] == pytest.approx([cosine, -sine])
        assert second.columns["times"] == pytest.approx([cosine, sine])
        assert f"{rotary.base:g}^{{2i/" in made.formula
    width = run.trace.keys.shape[1]
    assert ("no partner to turn with" in made.working(4, width - 1).text) == (width % 2 == 1)
    assert [part.name for part in parts(step("scores", run))[:2]] == ["Q, rotated", "K, rotated"]


@torch.no_grad()
def test_a_norm_divides_by_the_root_of_its_head_and_gives_each_dimension_its_gain():
    run = done("normed")
    for role in ROLES[:2]:
        before, made = step(role, run).result.numbers, step(f"normed {role}", run)
        norm = run.layer.norm(role)
        roots = (before.square().mean(-1, keepdim=True) + norm.eps).sqrt()
        torch.testing.assert_close(made.result.numbers, before / roots * norm.weight)
        work = made.working(2, 1)
        assert f"over {number(float(roots[2]))}, the root" in work.text
        expected = [before[2, 1].item(), 1 / roots[2].item(), norm.weight[1].item()]
        assert work.columns["number"] == pytest.approx(expected)
    assert [*run.forms("queries")] == ["queries", "normed queries", "rotated queries"]


def test_alibi_takes_the_distance_times_the_slope_off_the_scaled_score():
    run = done("biased", "alibi")
    made = step("scaled", run)
    bias = alibi(HEADS, TOKENS, TOKENS)[HEAD]
    assert torch.equal(parts(made)[1].numbers, bias)
    for row, column, work in worked(made):
        scaled, penalty = numbers_of(work.columns["number"])
        assert close(scaled, float(run.trace.scores[row, column]) / WIDTH**0.5)
        assert penalty == float(bias[row, column])


@over("layer", ["dot", "talking"])
def test_a_hidden_cell_gets_no_weight_and_the_working_says_by_which_masks(layer):
    run = done(layer, "masked and dropped")
    hidden, weights = step("masked", run), step("weights", run).result
    named = {"the causal mask": CAUSAL["causal"], "the cell mask": CELLS["cells"]}
    assert torch.equal(hidden.result.allowed, CAUSAL["causal"] & CELLS["cells"])
    for row, column, work in worked(hidden):
        by = [name for name, mask in named.items() if not mask[row, column]]
        words = f"hidden by {' and '.join(by)}, so the softmax gets −∞" if by else "not hidden"
        assert words in work.text
        assert (float(weights.numbers[row, column]) == 0) == bool(by)


def test_what_dropout_leaves_can_be_worked_out_from_what_was_drawn():
    run = done("dot", "masked and dropped")
    weights, drawn, after = (
        part for part in step("dropout", run).parts if isinstance(part, Matrix)
    )
    growth = 1 / (1 - run.dropout)
    torch.testing.assert_close(weights.numbers * drawn.numbers * growth, after.numbers)
    assert torch.equal(drawn.allowed, weights.numbers != 0)
