"""Arguments of a wrong kind: each is answered in a sentence of what was expected and what came."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention.analysis.associations import associate
from attention.changing.answers import answer_at, metric_of_states, movement, piece_id
from attention.changing.change import Change, Token, part_of
from attention.changing.effects import effects, means
from attention.changing.known import Known, hidden, states_without
from attention.changing.residual import guesses, lengths, residual_parts
from attention.changing.votes import votes
from attention.trained import sources
from attention.trained.models import Padded, Run
from tests.cases import over

TEXT = "x b c d the x b"
anything: Any = functools.partial(lambda value: value)  # what mypy would refuse as well


@functools.cache
def model() -> Any:
    """The model built by hand: two layers of two heads of width 127, 78 pieces."""
    return sources.load("constructed")


@functools.cache
def run() -> Run:
    ran: Run = model().run(TEXT)
    return ran


def metric(states: torch.Tensor) -> torch.Tensor:
    return states.sum((-1, -2))


def hide(*changes: Any) -> torch.Tensor:
    return hidden(model(), run(), [[*changes]])


NO_RUN = r"run must be a Run \(model\.run\(text\) gives one\), got 'x' \(str\)"
NO_LAYER = "layer must be one of 2, counted from 0, got 99"
NO_POSITION = "position must be one of 8, counted from 0, got 99"
NUMBERS = "must be a list, each a whole number, as "
REFUSED: dict[str, list[Callable[[], Any]]] = {
    r"text must be a str, got \['x'\] \(list\)": [lambda: model().run(["x"])],
    r"text must be a str, got None": [lambda: model().all_pieces(None)],
    r"text must be a str, got b'x' \(bytes\)": [lambda: model().pieces(b"x")],
    rf"ids {NUMBERS}\[0\], got 3 \(int\)": [lambda: model().shown(3), lambda: model().text_of(3)],
    r"pieces must be Pieces \(model\.pieces\(text\) gives them\), got 'x b' \(str\)": [
        lambda: model().run_pieces("x b"),
        lambda: associate(model(), anything("x b"), "raw-mean"),
    ],
    r"batch must be a Padded \(as Padded\(pieces\.ids\)\), got 'x'": [
        lambda: [*model().forward("x")]
    ],
    rf"layers {NUMBERS}\[0\], got 1 \(int\)": [
        lambda: [*model().forward(Padded(run().pieces.ids), layers=1)]
    ],
    r"model must be a Model.*, got 'smollm2' \(str\)": [
        lambda: associate(anything("smollm2"), run().pieces, "raw-mean"),
        lambda: hidden(anything("smollm2"), run(), [[Change(0)]]),
    ],
    r"method must be one of raw-mean, .*, got \['rollout'\]": [
        lambda: associate(model(), run().pieces, anything(["rollout"]))
    ],
    rf"words {NUMBERS}the ids of two pieces, \(5, 8\), got \('a', 'b'\)": [
        lambda: associate(model(), run().pieces, "gradient", anything(("a", "b")))
    ],
    NO_RUN: [
        lambda: hidden(model(), anything("x"), [[Change(0)]]),
        lambda: Known(model(), anything("x"), metric),
        lambda: part_of(anything("x"), 0, "output"),
        lambda: movement(anything("x")),
    ],
    r"interventions must be a list, each a list, as \[\[Change\(0\)\]\], one .*, got .*Change\(": [
        lambda: hidden(model(), run(), anything([Change(0)])),
        lambda: hidden(model(), run(), anything(Change(0))),
    ],
    r"intervention must be a list, each a Change or a Token, as \[Change\(0\)\], got \[3\]": [
        lambda: hide(3)
    ],
    "layer must be a whole number, got '0'": [lambda: part_of(run(), anything("0"), "output")],
    NO_LAYER: [
        lambda: hide(Change(99)),
        lambda: part_of(run(), 99, "output"),
        lambda: lengths(run(), 99),
    ],
    "layer must be one of 3, counted from 0, got 99": [lambda: residual_parts(model(), run(), 99)],
    "part must be one of output, .*, got 'nope'": [
        lambda: Change(0, "nope"),
        lambda: part_of(run(), 0, "nope"),
        lambda: effects(model(), run(), metric, part="nope"),
    ],
    rf"heads {NUMBERS}\[0\], or a slice, got 1 \(int\)": [lambda: Change(0, heads=anything(1))],
    rf"heads {NUMBERS}\[0\], or a slice, got '1' \(str\)": [lambda: Change(0, heads=anything("1"))],
    rf"heads {NUMBERS}\[0\], or a slice, got \[0\.5\]": [lambda: Change(0, heads=anything([0.5]))],
    rf"positions {NUMBERS}\[0\], or a slice, got 1 \(int\)": [
        lambda: Change(0, positions=anything(1)),
        lambda: effects(model(), run(), metric, to="zero", positions=anything(1)),
    ],
    "positions must be among 8, counted from 0, got 99": [
        lambda: effects(model(), run(), metric, to=run(), positions=[99])
    ],
    r"to must broadcast to \(heads, positions, width\) = \(2, 8, 127\) of the output of layer 0, "
    r"got \(3, 5, 7\)": [lambda: hide(Change(0, to=torch.ones(3, 5, 7)))],
    r"to must broadcast to \(positions, d_model\) = \(8, 330\) of the fed of layer 1, got \(1, 8, "
    r"330\)": [lambda: hide(Change(1, "fed", torch.ones(1, 8, 330)))],
    "means must be tensors, got 1": [lambda: Change(0, to=[1, 2])],
    'to must be "zero", "text", a number, .*, got None': [lambda: Change(0, to=None)],
    'to must be "zero", "text", a number, .*, got True': [lambda: Change(0, to=True)],
    r"piece must be a whole number \(answers\.piece_id gives that of a text\), got 'x'": [
        lambda: Token(0, anything("x"))
    ],
    "piece must be one of 78, counted from 0, got 1000000": [lambda: hide(Token(0, 10**6))],
    "positions must be among 8, counted from 0, got -9": [lambda: hide(Token(-9, 1))],
    r"several must be a list, each a str or a Run, as .*, got \'x b\' \(str\)": [
        lambda: means(model(), "x b", "output")
    ],
    r"several must be a list, .* got \[1\]": [lambda: means(model(), anything([1]), "output")],
    r"metric must be a function \(as movement\(run\) gives one\), got 3": [
        lambda: Known(model(), run(), anything(3))
    ],
    r"means must have head 0 of layer 1, got \[\(2, 1, 127\)\]": [
        lambda: effects(model(), run(), metric, to=[torch.ones(2, 1, 127)])
    ],
    r"to must broadcast to \(heads, positions, width\) = \(1, 7, 127\) .*, got \(1, 1, 5\)": [
        lambda: effects(model(), run(), metric, to=[torch.ones(2, 1, 5)] * 2)
    ],
    "a word must be a whole number or a str, got 1.5": [lambda: piece_id(model(), anything(1.5))],
    NO_POSITION: [
        lambda: metric_of_states(model(), ("x", "b"), 99)(run().hidden),
        lambda: votes(model(), run(), ("x", "b"), position=99),
        lambda: guesses(model(), run(), 99),
        lambda: answer_at(model(), run(), 99),
    ],
    r"heads that are off must be a list, each a tuple, as \[\(layer, head\)\], got \(0, 1\)": [
        lambda: states_without(model(), run(), anything((0, 1)), "zero")
    ],
    r"must be one of .*, or the Path of a folder or GGUF file \(a text names none\), got '/'": [
        lambda: sources.load("/")
    ],
    r"model must be one of .*, got \['a'\]": [lambda: sources.about(anything(["a"]))],
    "must be a folder or a GGUF file": [lambda: sources.load(Path("/no such folder"))],
}


@over("words", REFUSED)
def test_arguments_of_a_wrong_kind_are_answered_in_a_sentence(words):
    for call in REFUSED[words]:
        with pytest.raises(ValueError, match=words) as refused:
            call()
        assert len(str(refused.value)) < 300


@over("chosen", [[1], (1,), range(1, 2), {1}, torch.tensor([1]), np.array([1]), [np.int64(-7)]])
def test_positions_are_any_list_of_whole_numbers(chosen):
    found = hide(Change(np.int64(0), positions=chosen))
    assert torch.equal(found, hide(Change(0, positions=[1])))
    assert not torch.equal(found[0], run().hidden)


@over("to", [2, np.float32(2), torch.tensor(2.0), torch.full((8, 1), 2.0), torch.full((127,), 2.0)])
def test_what_a_part_is_set_to_is_any_number_or_tensor_that_broadcasts(to):
    assert torch.equal(hide(Change(0, to=to)), hide(Change(0, to=2.0)))
