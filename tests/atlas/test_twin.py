"""Untrained twins: the same shapes and sizes of weights, other numbers, memory of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attention.atlas.twin import untrained
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.marian import Quantised
from attention.trained.models import About, Model
from tests.analysis.conftest import Case, each_model
from tests.trained.built import writer
from tests.trained.packaged import packaged
from tests.trained.run_by_transformers import write


def weights(model: Model) -> Iterator[tuple[str, Tensor]]:
    """The matrices of attention, and gains of the norms around it."""
    for at, layer in enumerate(model.layers):
        yield from ((f"{at} {name}", each) for name, each in layer.attention.named_buffers())


@each_model
def test_a_twin_of_any_layout_has_the_same_shapes_and_sizes_and_other_numbers(case: Case) -> None:
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


def test_a_twin_is_the_same_for_the_same_seed_alone(tmp_path: Path) -> None:
    model = writer(tmp_path)
    one, same, other = (untrained(model, seed).run("the cat").hidden for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.allclose(one, other, atol=0.01)


def test_making_and_running_a_twin_leaves_the_model_as_it_is(tmp_path: Path) -> None:
    model = writer(tmp_path)
    before = {name: each.clone() for name, each in weights(model)}
    hidden = model.run("the cat").hidden
    twin = untrained(model)
    for _, each in weights(twin):
        each.zero_()
    assert all(torch.equal(before[name], each) for name, each in weights(model))
    assert torch.equal(hidden, model.run("the cat").hidden)


def test_matrices_that_are_tied_are_tied_in_the_twin(tmp_path: Path) -> None:
    twin = untrained(writer(tmp_path))
    pieces, unembedding = twin.parts.embedding.pieces, twin.unembedding
    assert isinstance(pieces, Tensor)
    assert torch.equal(pieces.T, unembedding)
    assert pieces.data_ptr() == unembedding.data_ptr()


def test_the_twin_of_a_translator_keeps_its_sines_and_its_eight_bits() -> None:
    model = packaged("en-pt")
    twin = untrained(model)
    assert isinstance(model, EncoderDecoder)
    assert isinstance(twin, EncoderDecoder)
    one, other = model.parts.embedding, twin.parts.embedding
    assert one.positions is not None
    assert other.positions is not None
    assert torch.equal(one.positions, other.positions)
    assert isinstance(one.pieces, Quantised)
    assert isinstance(other.pieces, Quantised)
    assert other.pieces.numbers.dtype == torch.int8
    assert not torch.equal(one.pieces.numbers, other.pieces.numbers)
    assert isinstance(twin.decoder.table, Quantised)
    assert twin.decoder.table.numbers.data_ptr() == other.pieces.numbers.data_ptr()


def test_a_model_that_transformers_runs_has_a_twin_too(tmp_path: Path) -> None:
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
