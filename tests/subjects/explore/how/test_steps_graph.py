"""The graph of operations: its boxes are the steps there are, its shapes those of the trace."""

from __future__ import annotations

from itertools import pairwise

import pytest

from attention.subjects.explore.how import Graph, graph
from tests.cases import over
from tests.subjects.explore.how.making import LAYERS
from tests.subjects.explore.how.test_steps import D_MODEL, TOKENS, WIDTH, done

SQUARE = (TOKENS, TOKENS)


def joined(made: Graph) -> dict[tuple[str, str], tuple[str, tuple[int, ...]]]:
    """Tensors that arrows bring, by the names of the steps they go from and to; y has no name."""
    names = [box.step for box in made.boxes]
    return {(names[a.start], names[a.end]): (a.name, a.shape) for a in made.arrows}


@over("layer", [*LAYERS, "rotating", "normed"])
@pytest.mark.parametrize("case", ["plain", "masked and dropped"])
def test_each_step_has_a_box_that_is_reached_and_leads_on_to_y(layer: str, case: str) -> None:
    run = done(layer, case)
    boxes, arrows = graph(run).boxes, graph(run).arrows
    assert tuple(box.step for box in boxes) == (*run.steps, "")
    assert boxes[-1].title == "y"
    assert len({(box.column, box.lane) for box in boxes}) == len(boxes)
    assert {arrow.end for arrow in arrows} == {*range(1, len(boxes))}
    assert {arrow.start for arrow in arrows} == {*range(len(boxes) - 1)}
    assert all(arrow.start < arrow.end for arrow in arrows)


def test_queries_and_keys_meet_in_the_scores_and_values_wait_for_the_weights() -> None:
    line = ("scores", "scaled", "masked", "weights", "dropout", "output")
    assert joined(graph(done("qkv"))) == {
        **{("x", role): ("", (TOKENS, D_MODEL)) for role in ("queries", "keys", "values")},
        **dict.fromkeys(pairwise(line), ("", SQUARE)),
        ("queries", "scores"): ("Q", (TOKENS, 3)),
        ("keys", "scores"): ("K", (TOKENS, 3)),
        ("values", "output"): ("V", (TOKENS, 5)),
        ("output", ""): ("", (TOKENS, 5)),
    }


def test_norms_and_rotations_stand_between_what_is_made_and_the_scores() -> None:
    made, square = graph(done("normed")), (TOKENS, WIDTH)
    arrows, boxes = joined(made), {box.step: box for box in made.boxes}
    for role, letter in (("queries", "Q"), ("keys", "K")):
        forms = [f"{how}{role}" for how in ("", "normed ", "rotated ")]
        path = ["x", *forms, "scores", "scaled"]
        brought = [arrows[pair] for pair in pairwise(path[:-1])]
        assert brought == [("", (TOKENS, D_MODEL)), ("", square), ("", square), (letter, square)]
        assert len({boxes[name].lane for name in forms}) == 1
        assert [boxes[name].column for name in path] == [0, 1, 2, 3, 4, 5]
    assert arrows["values", "output"] == ("V", square)


def test_boxes_tell_what_makes_the_scores_the_scale_and_what_is_hidden_and_dropped() -> None:
    def notes(layer: str, case: str = "plain") -> dict[str, tuple[str, str]]:
        return {box.step: (box.title, box.note) for box in graph(done(layer, case)).boxes}

    of_scores = {
        **{"dot": "matmul", "qkv": "matmul", "additive": "tanh, v", "bilinear": "matmul W"},
        **{"cosine": "cosine", "gaussian": "distance", "plain": "score"},
    }
    assert {layer: notes(layer)["scores"][0] for layer in of_scores} == of_scores
    said, hidden = notes("qkv", "masked and dropped"), ~done("qkv", "masked and dropped").trace.mask
    assert said["scaled"] == ("scale", "× 3")
    assert said["masked"] == ("mask", f"{int(hidden.sum())} hidden")
    assert said["dropout"] == ("dropout", "p = 0.5")
    assert notes("qkv")["masked"] == ("mask", "0 hidden")
