"""Circuits of heads: copying through the vocabulary, beside random matrices."""

from __future__ import annotations

from dataclasses import astuple

import pytest
import torch
from torch import Tensor

from attention.atlas import circuits, files, matrices
from attention.atlas.matrices import HeadMatrices, Place
from attention.trained import sources
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.trained import run_by_transformers
from tests.trained.making import FAMILIES, write_checkpoint
from tests.trained.packaged import packaged

VOCABULARY, D_MODEL, D_HEAD = 41, 13, 3
HERE = Place("encoder", "encoder")
seeds = st.integers(0, 1000)


def drawn(seed: int, *shapes: tuple[int, int]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for shape in shapes]


def vocabulary(embedding: Tensor) -> circuits.Vocabulary:
    """A vocabulary whose pieces are raised by what is like their embedding."""
    pieces = torch.arange(len(embedding))
    return circuits.Vocabulary(embedding, embedding.T, pieces)


def head(W_V: Tensor, W_O: Tensor, at: int = 0) -> HeadMatrices:
    return HeadMatrices(0, at, HERE, W_V, W_O)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_head_that_writes_what_it_reads_copies_and_its_negative_suppresses(sign):
    E, W_V = drawn(0, (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    (found,) = circuits.circuits_at(vocabulary(E), [head(W_V, sign * W_V.T)])
    assert found.copying.value == pytest.approx(sign, abs=1e-6)
    assert not found.copying.low <= found.copying.value <= found.copying.high
    copied, suppressed = found.copied, found.suppressed
    more, less = (copied, suppressed) if sign > 0 else (suppressed, copied)
    assert more.value > more.high
    assert less.value < less.mean


def test_heads_of_random_weights_lie_within_the_interval_of_random_matrices():
    E, *weights = drawn(1, (211, 53), *[(53, 7), (7, 53)] * 40)
    heads = [head(*pair) for pair in zip(weights[::2], weights[1::2], strict=True)]
    found = circuits.circuits_at(vocabulary(E), heads)
    within = [one.copying.low <= one.copying.value <= one.copying.high for one in found]
    assert sum(within) >= 34
    assert abs(sum(one.copying.value for one in found)) / len(found) < 0.1


@settings(deadline=None, max_examples=25)
@given(seeds)
def test_copying_is_that_of_the_eigenvalues_over_the_whole_vocabulary(seed):
    E, U, W_V, W_O = (
        each.double()
        for each in drawn(
            seed, (VOCABULARY, D_MODEL), (D_MODEL, VOCABULARY), (D_MODEL, D_HEAD), (D_HEAD, D_MODEL)
        )
    )
    values = torch.linalg.eigvals(E @ W_V @ W_O @ U)
    whole = float(values.real.sum() / values.abs().sum())
    assert circuits.copying(W_O @ U @ E @ W_V) == pytest.approx(whole, abs=1e-6)


def test_a_head_of_zeros_copies_nothing():
    E, W_V = drawn(2, (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    (found,) = circuits.circuits_at(vocabulary(E), [head(W_V, torch.zeros(D_HEAD, D_MODEL))])
    for each in (found.copying, found.copied, found.suppressed):
        assert (each.value, each.mean, each.low, each.high) == (0, 0, 0, 0)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 30))
def test_shares_raised_and_lowered_are_those_of_the_whole_table_of_scores(seed, pieces):
    read, write = drawn(seed, (pieces, D_HEAD), (D_HEAD, 2503))
    which = torch.arange(pieces) * 83
    scores = read @ write
    places = (-scores).argsort(-1).argsort(-1).gather(1, which[:, None])
    expected = (places < 10).sum() / pieces, (places >= 2493).sum() / pieces
    assert circuits.raised(read, write, which) == pytest.approx([float(each) for each in expected])


def test_a_spectrum_is_that_of_the_product_and_a_random_one_has_the_same():
    W_V, W_O = drawn(3, (D_MODEL, D_HEAD), (D_HEAD, D_MODEL))
    strengths = circuits.spectrum(W_V, W_O)
    whole = torch.linalg.svdvals((W_V @ W_O).double())[:D_HEAD]
    torch.testing.assert_close(strengths, whole)
    generator = torch.Generator().manual_seed(0)
    X, Y = (circuits.orthonormal(D_MODEL, D_HEAD, generator).double() for _ in range(2))
    random = torch.linalg.svdvals(X @ strengths.diag() @ Y.T)[:D_HEAD]
    torch.testing.assert_close(random, strengths, rtol=1e-5, atol=1e-5)


def test_copying_has_one_definition_by_the_embedding_behind_the_first_layer_too():
    model = packaged("minilm")
    E = circuits.vocabulary_of(model, Place("encoder", "encoder"))
    rows = matrices.embedded(model, "encoder")[: len(E.read)]
    expected = torch.nn.functional.rms_norm(rows, rows.shape[1:])
    torch.testing.assert_close(E.read, expected, atol=1e-4, rtol=1e-3)
    one = next(each for each in matrices.matrices_of(model) if each.layer)
    through = circuits.copying(one.W_O @ E.written @ (E.read - E.read.mean(0)) @ one.W_V)
    (found,) = circuits.circuits_at(E, [one])
    assert found.copying.value == pytest.approx(through, abs=1e-4)


def test_the_constructed_head_of_induction_copies_each_word_and_no_other_head_does():
    found = circuits.circuits_of(packaged("constructed"))
    induction = found.pop((1, 0))
    assert induction.copying.value == pytest.approx(1, abs=1e-6)
    assert (induction.copied.value, induction.suppressed.value) == (1, 0)
    for other in found.values():
        assert (other.copying.value, other.copied.value, other.suppressed.value) == (0, 0, 0)


def test_packaged_circuits_are_read_again():
    found = circuits.circuits_of(packaged("grammar"))
    for one in files.read(files.packaged()["grammar"]).passports:
        assert one.circuit is not None
        again = found[one.place]
        for name in ("copying", "copied", "suppressed"):
            expected = astuple(getattr(one.circuit, name))
            assert astuple(getattr(again, name)) == pytest.approx(expected, abs=1e-5)


def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuits, "DRAWS", 5)
    monkeypatch.setattr(circuits, "DRAWS_OF_PIECES", 2)


LAYOUTS = ("bert", "gpt2 untied", "llama")
BY_TRANSFORMERS = ("gpt_neox", "mixtral", "granite", "modernbert")


@over("name", [*LAYOUTS, *BY_TRANSFORMERS])
def test_values_and_additions_are_those_of_the_matrices_but_for_spreads_and_biases(
    name, tmp_path, monkeypatch
):
    few_draws(monkeypatch)
    (tmp_path / name).mkdir()
    write = write_checkpoint if name in FAMILIES else run_by_transformers.write
    write(tmp_path / name, name)
    model = sources.load(tmp_path / name)
    found = matrices.matrices_of(model)
    assert len(found) == sum(layer.attention.heads for layer in model.layers)
    for one in found:
        layer = model.layers[one.layer]
        d_model, width = len(one.W_V), one.W_O.shape[0]
        (x,) = drawn(one.head, (5, d_model))
        group = one.head * layer.attention.groups // layer.attention.heads
        plus, minus = (
            layer.projected(each, each if layer.crosses else None).values[group] for each in (x, -x)
        )
        parallel(plus - minus, x @ one.W_V)
        W_o, _ = layer.attention.projection("output")
        rows = W_o[one.head * width : (one.head + 1) * width]
        torch.testing.assert_close(one.W_O, rows)
    for each in circuits.circuits_of(model).values():
        assert -1 <= each.copying.value <= 1


def parallel(made: Tensor, expected: Tensor) -> None:
    """Each row of one is a row of the other, but for a factor above 0."""
    cosines = torch.cosine_similarity(made, expected, dim=-1)
    torch.testing.assert_close(cosines, torch.ones_like(cosines), atol=1e-4, rtol=0)


def test_a_path_that_is_no_sum_of_known_parts_has_no_circuits(tmp_path):
    run_by_transformers.write(tmp_path, "electra")  # norms stand on its path
    model = sources.load(tmp_path)
    assert not model.adds_up
    assert circuits.circuits_of(model) == {}
