"""Changes in a random direction: as large as the step to a head's mean, and nothing else."""

from __future__ import annotations

import pytest
import torch

from attention.atlas import effects, turned
from attention.atlas.corpus import EVERYDAY, Corpus, corpus_of
from attention.atlas.stages import Subject
from attention.changing.change import Change, part_of
from attention.trained import sources
from tests.analysis.conftest import Case, each_model
from tests.properties import given, settings
from tests.properties import strategies as st


@settings(max_examples=30)
@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 23))
def test_a_vector_that_is_turned_is_as_long(layer: int, heads: int, width: int) -> None:
    turns = turned.rotations(layer, heads, width)
    step = torch.randn(heads, 7, width, generator=torch.Generator().manual_seed(layer))
    torch.testing.assert_close((step @ turns).norm(dim=-1), step.norm(dim=-1))
    torch.testing.assert_close(turns @ turns.mT, torch.eye(width).expand_as(turns))
    turned.rotations.cache_clear()
    assert torch.equal(turned.rotations(layer, heads, width), turns)


def test_a_vector_is_turned_to_all_sides_alike() -> None:
    at = torch.cat([turned.rotations(layer, 101, 2)[:, 0] for layer in range(11)])
    # of 1111 directions in a plane the mean is 1 / sqrt(1111) = .03 long, that of their doubles too
    doubled = torch.stack([at[:, 0] ** 2 - at[:, 1] ** 2, 2 * at[:, 0] * at[:, 1]], -1)
    for directions in (at, doubled):
        assert directions.mean(0).norm() < 0.12


@each_model
def test_the_change_is_as_large_as_that_to_the_mean_and_none_at_the_first_position(
    case: Case,
) -> None:
    outputs = [part_of(case.run, layer, "output") for layer in range(len(case.model.layers))]
    means = [output.mean(1, keepdim=True) for output in outputs]
    to = turned.turned(case.run, means)
    for layer, output in enumerate(outputs):
        head = output.shape[0] - 1
        after = output.clone()
        Change(layer, to=to, heads=[head]).write(after)
        step = (means[layer] - output)[head, 1:]
        assert torch.equal(after[:head], output[:head])
        assert torch.equal(after[:, 0], output[:, 0])
        found = (after - output)[head, 1:].norm(dim=-1)
        torch.testing.assert_close(found, step.norm(dim=-1), rtol=1e-3, atol=1e-5)


def test_a_step_that_is_not_turned_is_the_one_to_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sources.load("grammar")
    texts = corpus_of(model)
    asked = texts.prompts[0]
    subject = Subject(model, Corpus(texts.sentences[:2], (asked,), texts.means_over))
    random = turned.OnTurned().measure(subject, asked)["turned"]
    monkeypatch.setattr(turned, "rotations", lambda layer, heads, width: torch.eye(width))
    straight = turned.OnTurned().measure(subject, asked)["turned"]
    by_mean = effects.OnAnswers().measure(subject, asked)["mean"]
    torch.testing.assert_close(straight, by_mean, rtol=1e-4, atol=1e-6)
    assert not torch.allclose(random, by_mean, atol=1e-4)


def test_prompts_of_all_kinds_but_everyday_ones_are_measured() -> None:
    texts = corpus_of(sources.load("grammar"))
    asked = turned.OnTurned().texts(texts)
    assert [*asked] == [one for one in texts.prompts if one.kind != EVERYDAY]
    assert len({one.kind for one in asked}) == 3
