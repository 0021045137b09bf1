"""A run that is changed: nothing changes nothing, everything gives the other run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.changing import known
from attention.changing.change import PARTS, PATH, Change, Intervention, Token, part_of
from attention.changing.effects import means
from attention.changing.known import changed_runs, check_same_length, hidden
from attention.trained.models import Run
from tests.analysis.conftest import CLOSE, each_model, each_tiny
from tests.cases import over
from tests.trained.making import doubled


def tokens_of(run: Run) -> list[Token]:
    return [Token(position, int(piece)) for position, piece in enumerate(run.pieces.ids)]


@each_model
@torch.no_grad()
def test_nothing_changed_changes_nothing_to_the_bit(case):
    assert torch.equal(hidden(case.model, case.run, [[]])[0], case.run.hidden)
    for part in (*PARTS, *PATH):
        same = [Change(layer, part, case.run) for layer in range(len(case.model.layers))]
        assert torch.equal(hidden(case.model, case.run, [same])[0], case.run.hidden)
    same = tokens_of(case.run)
    assert torch.equal(hidden(case.model, case.run, [same])[0], case.run.hidden)


@each_model
@torch.no_grad()
def test_all_tokens_exchanged_give_the_run_of_the_other_sentence(case):
    changed = hidden(case.model, case.run, [tokens_of(case.other)])[0]
    batch = replace(case.other.batch, output=case.run.batch.output)
    assert_close(changed, case.model.hidden(batch), **CLOSE)
    assert (changed - case.run.hidden).abs().max() > 1e-2


@each_model
@torch.no_grad()
def test_the_residual_path_exchanged_gives_the_other_run_from_there_on(case):
    for layer in range(len(case.model.layers)):
        if case.model.layers[layer].crosses:
            continue  # keys and values are still those of the first sentence
        for part in ("x", "middle"):
            several = [[Change(layer, part, case.other)]]
            if not any(one.crosses for one in case.model.layers):
                assert_close(hidden(case.model, case.run, several)[0], case.other.hidden, **CLOSE)
            some = [Change(layer, part, case.other, positions=[1, -1])]
            found = dict(changed_runs(case.model, case.run, [some]))[layer]
            for position, of in ((0, case.run), (1, case.other), (-1, case.other)):
                assert_close(getattr(found, part)[position], part_of(of, layer, part)[position])
    (mean, *_) = means(case.model, ["the cat on the mat", "the other cat"], "fed")
    assert mean.shape == (1, case.run.hidden.shape[-1])


@over("part", PARTS)
@each_tiny
@torch.no_grad()
def test_every_intervention_changes_something_in_every_layer(case, part):
    """Each head by itself, to zero and to its part in the other sentence."""
    for layer in range(len(case.model.layers)):
        heads = range(case.model.layers[layer].attention.heads)
        several: list[Intervention] = [[Change(layer, part, heads=[head])] for head in heads]
        several += [[Change(layer, part, case.other, [head])] for head in heads]
        moved = (hidden(case.model, case.run, several) - case.run.hidden).abs().amax((1, 2))
        # what was written is the same, so the first layer that crosses gets the same queries
        same = part == "queries" and case.model.layers[layer].crosses
        assert (moved[: len(heads)] > 1e-6).all(), (part, layer)
        assert (moved[len(heads) :] > 1e-6).all() or same, (part, layer)


@each_tiny
@torch.no_grad()
def test_a_mean_changes_something_and_leaves_other_positions_as_they_are(case):
    for part in ("output", "queries", "keys", "values"):
        numbers = means(case.model, ["the cat on the mat", "the other cat"], part)
        for layer, mean in enumerate(numbers):
            some = Change(layer, part, mean, positions=slice(1, None))
            runs = dict(changed_runs(case.model, case.run, [[some]]))
            found, was = getattr(runs[layer].trace, part), part_of(case.run, layer, part)
            assert torch.equal(found[:, 0], was[:, 0])
            assert_close(found[:, 1:], mean.expand_as(found[:, 1:]))
            assert not torch.equal(runs[layer].output, case.run.inputs[layer].entered)


@pytest.mark.parametrize("most", [31, 0], ids=["some", "one by one"])
@each_tiny
@torch.no_grad()
def test_several_interventions_in_a_batch_are_each_by_itself(case, monkeypatch, most):
    """Other queries of one run stay where another run of the batch is given its output."""
    several: list[Intervention] = [
        [Change(0, "queries", heads=[1])],
        [Change(0, "output", heads=[0], positions=[2])],
        [Change(0, "weights", heads=[2], positions=[-1]), Change(1, "values", positions=[1])],
        [],
        [Token(2, 5), Change(1, "keys", 0.5)],
        [Change(1, "output", heads=[0]), Change(1, "queries", heads=[1])],
        [Change(1, "values", heads=[0]), Change(1, "weights", heads=[1], positions=[-1])],
        [Change(0, "fed"), Change(1, "x", 0.5, positions=[1]), Change(1, "output", heads=[0])],
        [Change(1, "attended", positions=[2]), Change(1, "middle", positions=[1])],
    ]
    alone = [hidden(case.model, case.run, [some])[0] for some in several]
    for one, found in zip(alone, several, strict=True):
        assert bool(found) == ((one - case.run.hidden).abs().max() > 1e-6)
    monkeypatch.setattr(known, "MAX_PIECES_AT_ONCE", most)
    reported = []
    together = hidden(
        case.model, case.run, several, progress=lambda *counts: reported.append(counts)
    )
    assert_close(together, torch.stack(alone), **CLOSE)
    assert reported[-1] == (9, 9)
    assert [done for done, _ in reported] == sorted({done for done, _ in reported})


@each_tiny
def test_gradients_reach_the_numbers_that_are_put_in(case):
    model, run = doubled(case.model), doubled(case.run)
    value = part_of(run, 1, "output")[:1].detach().requires_grad_()

    def last(value: Tensor) -> Tensor:
        return hidden(model, run, [[Change(1, to=value, heads=[0])]])[0, -1]

    assert last(value).dtype == torch.float64
    assert torch.autograd.gradcheck(last, value, fast_mode=True)


@pytest.mark.parametrize("case", ["gpt2"], indirect=True)
def test_a_run_that_is_stopped_raises_what_its_progress_raised(case):
    def stop(done: int, of: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        hidden(case.model, case.run, [[Change(0)]], progress=stop)


@pytest.mark.parametrize("case", ["minilm", "gpt2"], indirect=True)
def test_what_does_not_fit_is_refused(case):
    longer = case.model.run("the cat sat on the mat and looked at it, and at the other")
    lengths = len(case.run.pieces.ids), len(longer.pieces.ids)
    said = f"the first has {lengths[0]}, the second {lengths[1]}"
    with pytest.raises(ValueError, match=said):
        check_same_length(case.run, longer)
    with pytest.raises(ValueError, match=said):
        hidden(case.model, case.run, [[Change(0, to=longer)]])
    with pytest.raises(ValueError, match=r"part must be one of output, .* got 'scores'"):
        Change(0, "scores")
    with pytest.raises(ValueError, match=r"fed is that of all heads together, got heads \[1\]"):
        Change(0, "fed", heads=[1])
    wrong = {
        "layer must be one of": Change(99),
        "heads must be among": Change(0, heads=[99]),
        "positions must be among": Change(0, positions=[-99]),
        "must be among": Token(99, 0),
    }
    for words, change in wrong.items():
        with pytest.raises(ValueError, match=words):
            hidden(case.model, case.run, [[change]])
    with pytest.raises(ValueError, match="at least one"):
        hidden(case.model, case.run, [])
