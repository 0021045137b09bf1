"""Untrained twins, of the same shapes and sizes, and changes in a random direction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from attention.atlas import effects, random_rotation
from attention.atlas.corpus import ANSWERS, EVERYDAY, Corpus, corpus_of, of_english
from attention.atlas.stages import Subject
from attention.atlas.twin import untrained
from attention.changing.change import Change, part_of
from attention.trained import sources
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.marian import Quantised
from attention.trained.models import About, Model
from tests.analysis.conftest import each_model
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.trained.built import writer
from tests.trained.packaged import packaged
from tests.trained.run_by_transformers import write


def weights(model: Model) -> Iterator[tuple[str, Tensor]]:
    """The matrices of attention, and gains of the norms around it."""
    for at, layer in enumerate(model.layers):
        yield from ((f"{at} {name}", each) for name, each in layer.attention.named_buffers())


@each_model
def test_a_twin_of_any_layout_has_the_same_shapes_and_sizes_and_other_numbers(case):
    model, again = case.model, untrained(case.model)
    pairs = zip(weights(model), weights(again), strict=True)
    for (name, trained), (other, drawn) in pairs:
        assert (name, trained.shape, trained.dtype) == (other, drawn.shape, drawn.dtype)
        if trained.dim() > 1:
            assert trained.mT.is_contiguous() <= drawn.mT.is_contiguous()
        assert trained.data_ptr() != drawn.data_ptr()
        if "g_" in name:
            assert torch.equal(trained, drawn)
        elif trained.dim() == 2 and trained.numel() > 1000:
            assert not torch.equal(trained, drawn)
            assert float(drawn.std()) == pytest.approx(float(trained.std()), rel=0.15)
    output = case.run.inputs[-1].pieces if isinstance(model, EncoderDecoder) else None
    ran = again.run_pieces(case.run.pieces, output)
    assert ran.hidden.shape == case.run.hidden.shape
    assert ran.hidden.isfinite().all()
    assert not torch.allclose(ran.hidden, case.run.hidden, atol=0.1)


def test_a_twin_is_the_same_for_the_same_seed_alone(tmp_path):
    model = writer(tmp_path)
    one, same, other = (untrained(model, seed).run("the cat").hidden for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.allclose(one, other, atol=0.01)


def test_making_and_running_a_twin_leaves_the_model_as_it_is(tmp_path):
    model = writer(tmp_path)
    before = {name: each.clone() for name, each in weights(model)}
    hidden = model.run("the cat").hidden
    twin = untrained(model)
    for _, each in weights(twin):
        each.zero_()
    assert all(torch.equal(before[name], each) for name, each in weights(model))
    assert torch.equal(hidden, model.run("the cat").hidden)


def test_matrices_that_are_tied_are_tied_in_the_twin(tmp_path):
    twin = untrained(writer(tmp_path))
    pieces, unembedding = twin.parts.embedding.pieces, twin.unembedding
    assert isinstance(pieces, Tensor)
    assert torch.equal(pieces.T, unembedding)
    assert pieces.data_ptr() == unembedding.data_ptr()


def test_the_twin_of_a_translator_keeps_its_sines_and_its_eight_bits():
    model = packaged("en-pt")
    twin = untrained(model)
    one, other = model.parts.embedding, twin.parts.embedding
    assert torch.equal(one.positions, other.positions)
    assert isinstance(one.pieces, Quantised)
    assert isinstance(other.pieces, Quantised)
    assert other.pieces.numbers.dtype == torch.int8
    assert not torch.equal(one.pieces.numbers, other.pieces.numbers)
    assert isinstance(twin.decoder.table, Quantised)
    assert twin.decoder.table.numbers.data_ptr() == other.pieces.numbers.data_ptr()


def test_a_model_that_transformers_runs_has_a_twin_too(tmp_path):
    name = "gpt_neox"
    write(tmp_path, name)
    model = load_folder(tmp_path, About(name, name, "nobody"))
    before = model.run("the cat sat on the mat").hidden
    twin = untrained(model)
    after = twin.run("the cat sat on the mat").hidden
    assert after.shape == before.shape
    assert not torch.allclose(before, after, atol=0.1)
    assert torch.equal(before, model.run("the cat sat on the mat").hidden)
    assert torch.equal(after, untrained(model).run("the cat sat on the mat").hidden)


# Changes in a random direction: as large as the step to a head's mean, and nothing else


@settings(max_examples=30)
@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 23))
def test_a_vector_that_is_turned_is_as_long(layer, heads, width):
    turns = random_rotation.rotations(layer, heads, width)
    step = torch.randn(heads, 7, width, generator=torch.Generator().manual_seed(layer))
    torch.testing.assert_close((step @ turns).norm(dim=-1), step.norm(dim=-1))
    torch.testing.assert_close(turns @ turns.mT, torch.eye(width).expand_as(turns))
    random_rotation.rotations.cache_clear()
    assert torch.equal(random_rotation.rotations(layer, heads, width), turns)


def test_a_vector_is_turned_to_all_sides_alike():
    at = torch.cat([random_rotation.rotations(layer, 101, 2)[:, 0] for layer in range(11)])
    # of 1111 directions in a plane the mean is 1 / sqrt(1111) = .03 long, that of their doubles too
    doubled = torch.stack([at[:, 0] ** 2 - at[:, 1] ** 2, 2 * at[:, 0] * at[:, 1]], -1)
    for directions in (at, doubled):
        assert directions.mean(0).norm() < 0.12


@each_model
def test_the_change_is_as_large_as_that_to_the_mean_and_none_at_the_first_position(case):
    outputs = [part_of(case.run, layer, "output") for layer in range(len(case.model.layers))]
    means = [output.mean(1, keepdim=True) for output in outputs]
    to = random_rotation.random_rotation(case.run, means)
    for layer, output in enumerate(outputs):
        head = output.shape[0] - 1
        after = output.clone()
        Change(layer, to=to, heads=[head]).write(after)
        step = (means[layer] - output)[head, 1:]
        assert torch.equal(after[:head], output[:head])
        assert torch.equal(after[:, 0], output[:, 0])
        found = (after - output)[head, 1:].norm(dim=-1)
        torch.testing.assert_close(found, step.norm(dim=-1), rtol=1e-3, atol=1e-5)


def test_a_step_that_is_not_turned_is_the_one_to_the_mean(monkeypatch):
    model = sources.load("constructed")
    texts = corpus_of(model)
    asked = texts.prompts[0]
    subject = Subject(model, Corpus(texts.sentences[:2], (asked,), texts.means_over))
    random = random_rotation.OnRandomRotation().measure(subject, asked)["turned"]
    monkeypatch.setattr(random_rotation, "rotations", lambda layer, heads, width: torch.eye(width))
    straight = random_rotation.OnRandomRotation().measure(subject, asked)["turned"]
    by_mean = effects.OnAnswers().measure(subject, asked)["corpus"]
    torch.testing.assert_close(straight, by_mean, rtol=1e-4, atol=1e-6)
    assert not torch.allclose(random, by_mean, atol=1e-4)


def test_prompts_of_all_kinds_but_everyday_ones_are_measured():
    texts = of_english(answers=True)
    asked = random_rotation.OnRandomRotation().texts(texts)
    assert [*asked] == [one for one in texts.prompts if one.kind != EVERYDAY]
    assert {one.kind for one in asked} == {*ANSWERS}
