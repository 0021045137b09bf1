"""The graph of operations: its boxes are the steps there are, its shapes those of the trace."""

from __future__ import annotations

import pytest
from torch import Tensor

from attention.lessons.steps import Computation, Graph, graph
from tests.cases import over
from tests.lessons.making import LAYERS
from tests.lessons.test_steps import D_MODEL, TOKENS, WIDTH, done

SQUARE = (TOKENS, TOKENS)


def joined(made: Graph) -> dict[tuple[str, str], tuple[str, tuple[int, ...]]]:
    """Tensors that arrows bring, by the names of the steps they go from and to; y has no name."""
    names = [box.step for box in made.boxes]
    return {(names[a.start], names[a.end]): (a.name, a.shape) for a in made.arrows}


def titles(run: Computation) -> dict[str, tuple[str, str]]:
    return {box.step: (box.title, box.note) for box in graph(run).boxes}


@over("layer", [*LAYERS, "rotating", "normed"])
@pytest.mark.parametrize("case", ["plain", "masked and dropped"])
def test_there_is_a_box_for_each_step_and_one_for_y(layer: str, case: str) -> None:
    run = done(layer, case)
    made = graph(run)
    assert tuple(box.step for box in made.boxes) == (*run.steps, "")
    assert made.boxes[-1].title == "y"
    cells = [(box.column, box.lane) for box in made.boxes]
    assert len(set(cells)) == len(cells)


@pytest.mark.parametrize("layer", LAYERS)
def test_every_box_is_reached_and_leads_on_to_y(layer: str) -> None:
    made = graph(done(layer))
    assert {arrow.end for arrow in made.arrows} == {*range(1, len(made.boxes))}
    assert {arrow.start for arrow in made.arrows} == {*range(len(made.boxes) - 1)}
    assert all(arrow.start < arrow.end for arrow in made.arrows)


def test_queries_and_keys_meet_in_the_scores_and_values_wait_for_the_weights() -> None:
    assert joined(graph(done("qkv"))) == {
        ("x", "queries"): ("", (TOKENS, D_MODEL)),
        ("x", "keys"): ("", (TOKENS, D_MODEL)),
        ("x", "values"): ("", (TOKENS, D_MODEL)),
        ("queries", "scores"): ("Q", (TOKENS, 3)),
        ("keys", "scores"): ("K", (TOKENS, 3)),
        ("values", "output"): ("V", (TOKENS, 5)),
        ("scores", "scaled"): ("", SQUARE),
        ("scaled", "masked"): ("", SQUARE),
        ("masked", "weights"): ("", SQUARE),
        ("weights", "dropout"): ("", SQUARE),
        ("dropout", "output"): ("", SQUARE),
        ("output", ""): ("", (TOKENS, 5)),
    }


def test_norms_and_rotations_stand_between_what_is_made_and_the_scores() -> None:
    run, square = done("normed"), (TOKENS, WIDTH)
    arrows, boxes = joined(graph(run)), {box.step: box for box in graph(run).boxes}
    for role, letter in (("queries", "Q"), ("keys", "K")):
        assert arrows["x", role] == ("", (TOKENS, D_MODEL))
        assert arrows[role, f"normed {role}"] == ("", square)
        assert arrows[f"normed {role}", f"rotated {role}"] == ("", square)
        assert arrows[f"rotated {role}", "scores"] == (letter, square)
        lanes = {boxes[f"{how}{role}"].lane for how in ("", "normed ", "rotated ")}
        assert len(lanes) == 1
    assert arrows["values", "output"] == ("V", square)
    columns = [boxes[name].column for name in ("x", *run.forms("keys"), "scores", "scaled")]
    assert columns == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("layer", "word"),
    [
        ("dot", "matmul"),
        ("qkv", "matmul"),
        ("additive", "tanh, v"),
        ("bilinear", "matmul W"),
        ("cosine", "cosine"),
        ("gaussian", "distance"),
        ("plain", "score"),
    ],
)
def test_a_variant_says_itself_what_makes_its_scores(layer: str, word: str) -> None:
    assert titles(done(layer))["scores"] == (word, "scores")


def test_the_boxes_tell_the_scale_what_is_hidden_and_what_is_dropped() -> None:
    run = done("qkv", "masked and dropped")
    mask: Tensor | None = run.trace.mask
    assert mask is not None
    said = titles(run)
    assert said["scaled"] == ("scale", "× 3")
    assert said["masked"] == ("mask", f"{int((~mask).sum())} hidden")
    assert said["dropout"] == ("dropout", "p = 0.5")
    assert titles(done("qkv"))["masked"] == ("mask", "0 hidden")
