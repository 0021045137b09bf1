"""Circuits of heads: copying through the vocabulary, directions, and subspaces that are near."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attention.analysis import causes
from attention.atlas import circuits, matrices, subspaces
from attention.atlas.matrices import EMBEDDING, HeadMatrices, Place
from attention.atlas.passport import Circuit
from attention.trained import sources
from attention.trained.models import Model
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.trained import run_by_transformers
from tests.trained.making import FAMILIES, write_checkpoint
from tests.trained.packaged import packaged, read

VOCABULARY, D_MODEL, D_HEAD = 41, 13, 3
HERE = Place("encoder", "encoder", first=True)
seeds = st.integers(0, 1000)


def drawn(seed: int, *shapes: tuple[int, int]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for shape in shapes]


def vocabulary(embedding: Tensor) -> circuits.Vocabulary:
    """A vocabulary whose pieces are raised by what is like their embedding."""
    pieces = torch.arange(len(embedding))
    texts = [f"w{at}" for at in range(len(embedding))]
    return circuits.Vocabulary(EMBEDDING, embedding, embedding.T, pieces, pieces, texts)


def head(W_V: Tensor, W_O: Tensor, at: int = 0) -> HeadMatrices:
    return HeadMatrices(0, at, at, HERE, W_V, W_O)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_head_that_writes_what_it_reads_copies_and_its_negative_suppresses(sign) -> None:
    E, W_V = drawn(0, (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    (found,) = circuits.circuits_at([vocabulary(E)], [head(W_V, sign * W_V.T)])
    assert found.copying.value == pytest.approx(sign, abs=1e-6)
    assert not found.copying.low <= found.copying.value <= found.copying.high
    copied, suppressed = found.copied, found.suppressed
    more, less = (copied, suppressed) if sign > 0 else (suppressed, copied)
    assert more.value > more.high
    assert less.value < less.mean


def test_heads_of_random_weights_lie_within_the_interval_of_random_matrices() -> None:
    E, *weights = drawn(1, (211, 53), *[(53, 7), (7, 53)] * 40)
    heads = [head(*pair) for pair in zip(weights[::2], weights[1::2], strict=True)]
    found = circuits.circuits_at([vocabulary(E)], heads)
    within = [one.copying.low <= one.copying.value <= one.copying.high for one in found]
    assert sum(within) >= 34
    assert abs(sum(one.copying.value for one in found)) / len(found) < 0.1


@settings(deadline=None, max_examples=25)
@given(seeds)
def test_copying_is_that_of_the_eigenvalues_over_the_whole_vocabulary(seed: int) -> None:
    E, U, W_V, W_O = (
        each.double()
        for each in drawn(
            seed, (VOCABULARY, D_MODEL), (D_MODEL, VOCABULARY), (D_MODEL, D_HEAD), (D_HEAD, D_MODEL)
        )
    )
    values = torch.linalg.eigvals(E @ W_V @ W_O @ U)
    whole = float(values.real.sum() / values.abs().sum())
    assert circuits.copying(W_O @ U @ E @ W_V) == pytest.approx(whole, abs=1e-6)


def test_a_head_of_zeros_copies_nothing_and_has_no_direction() -> None:
    E, W_V = drawn(2, (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    (found,) = circuits.circuits_at([vocabulary(E)], [head(W_V, torch.zeros(D_HEAD, D_MODEL))])
    for each in (found.copying, found.copied, found.suppressed):
        assert (each.value, each.mean, each.low, each.high) == (0, 0, 0, 0)
    assert found.directions == ()


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 30))
def test_shares_raised_and_lowered_are_those_of_the_whole_table_of_scores(seed, pieces) -> None:
    read, write = drawn(seed, (pieces, D_HEAD), (D_HEAD, 2503))
    which = torch.arange(pieces) * 83
    scores = read @ write
    places = (-scores).argsort(-1).argsort(-1).gather(1, which[:, None])
    expected = (places < 10).sum() / pieces, (places >= 2493).sum() / pieces
    assert circuits.raised(read, write, which) == pytest.approx([float(each) for each in expected])


def test_a_spectrum_is_that_of_the_product_and_a_random_one_has_the_same() -> None:
    W_V, W_O = drawn(3, (D_MODEL, D_HEAD), (D_HEAD, D_MODEL))
    found = circuits.spectrum(W_V, W_O)
    made = found.reads @ found.strengths.diag() @ found.writes.T
    torch.testing.assert_close(made, (W_V @ W_O).double())
    generator = torch.Generator().manual_seed(0)
    X, Y = (circuits.orthonormal(D_MODEL, D_HEAD, generator).double() for _ in range(2))
    random = torch.linalg.svdvals(X @ found.strengths.diag() @ Y.T)[:D_HEAD]
    torch.testing.assert_close(random, found.strengths, rtol=1e-5, atol=1e-5)


def test_a_planted_direction_is_read_and_written_as_it_was_planted() -> None:
    E = 0.01 * drawn(4, (VOCABULARY, D_MODEL))[0]
    E[5, 0] = E[7, 1] = 9.0
    E[6, 0] = E[8, 1] = -4.0
    W_V, W_O = 0.01 * torch.eye(D_MODEL, D_HEAD), 0.01 * torch.eye(D_HEAD, D_MODEL).roll(4, 1)
    W_V[0, 0], W_O[0, 0], W_O[0, 1], W_O[0, 4] = -2.0, 0.0, 3.0, 0.0
    W_V[1, 1] = 0.02
    (found,) = circuits.circuits_at([vocabulary(E)], [head(W_V, W_O)])
    strongest = found.directions[0]
    assert strongest.strength > 0.99
    assert (strongest.reads[0], strongest.reads_not[0]) == ("w5", "w6")
    assert (strongest.writes[0], strongest.writes_not[0]) == ("w8", "w7")
    assert strongest.tells.value > strongest.tells.mean
    strengths = [one.strength for one in found.directions]
    assert strengths == sorted(strengths, reverse=True)


def test_directions_that_are_equally_strong_are_not_told_apart() -> None:
    E, W_V = drawn(5, (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    basis = torch.linalg.qr(W_V)[0]
    assert circuits.circuits_at([vocabulary(E)], [head(basis, basis.T)])[0].directions == ()


def test_that_of_two_vocabularies_is_taken_which_copying_is_further_from_0_in() -> None:
    E, other, W_V = drawn(6, (VOCABULARY, D_MODEL), (VOCABULARY, D_MODEL), (D_MODEL, D_HEAD))
    plain = vocabulary(E)
    fed = replace(plain, by=matrices.FED, read=other)
    found = circuits.circuits_at([fed, plain], [head(W_V, W_V.T)])[0]
    assert found.by == EMBEDDING
    alone = circuits.circuits_at([plain], [head(W_V, W_V.T)])[0]
    assert found.copying.value == alone.copying.value
    assert found.copying.high - found.copying.low > alone.copying.high - alone.copying.low


@settings(deadline=None, max_examples=25)
@given(seeds)
def test_overlaps_are_mean_squared_cosines_of_principal_angles(seed: int) -> None:
    ones = [subspaces.basis_of(each) for each in drawn(seed, (13, 3), (13, 5))]
    others = [subspaces.basis_of(each) for each in drawn(seed + 1, (13, 7), (13, 2))]
    found = subspaces.overlaps(ones, others)
    for (i, one), (j, other) in itertools.product(enumerate(ones), enumerate(others)):
        cosines = torch.linalg.svdvals(one.T @ other).double()
        assert float(found[i, j]) == pytest.approx(float(cosines.square().mean()), abs=1e-5)


def test_random_subspaces_overlap_by_the_greater_rank_over_the_dimension() -> None:
    generator = torch.Generator().manual_seed(0)
    ones, others = (
        [circuits.orthonormal(53, rank, generator) for _ in range(40)] for rank in (5, 11)
    )
    assert float(subspaces.overlaps(ones, others).mean()) == pytest.approx(11 / 53, rel=0.05)


def test_planted_subspaces_are_found_and_random_ones_are_not(monkeypatch) -> None:
    weights = drawn(7, *[(97, 11), (11, 97)] * 14)
    heads = [
        HeadMatrices(at // 2, at % 2, at % 2, HERE, W_V, W_O)
        for at, (W_V, W_O) in enumerate(zip(weights[::2], weights[1::2], strict=True))
    ]
    at_random = found_near(heads, monkeypatch)
    assert not any(at_random.values())
    mixed = drawn(8, (11, 11))[0]
    heads[9] = replace(heads[9], W_V=heads[2].W_V @ mixed)
    heads[11] = replace(heads[11], W_O=mixed @ heads[4].W_O)
    heads[13] = replace(heads[13], W_V=heads[0].W_O.T @ mixed)
    found = found_near(heads, monkeypatch)
    for one, (side, layer, number) in {
        (1, 0): ("reads", 4, 1),
        (4, 1): ("reads", 1, 0),
        (2, 0): ("writes", 5, 1),
        (0, 0): ("feeds", 6, 1),
    }.items():
        near = found[one][0]
        assert (near.side, near.layer, near.head) == (side, layer, number)
        assert near.overlap.value == pytest.approx(1, abs=1e-5)
        assert near.overlap.low < near.overlap.mean < near.overlap.high < 0.5
    assert not any(near.side == "feeds" for near in found[6, 1])  # none is later


def scoring(at: int, head: int, group: int, W_Q: Tensor, W_K: Tensor) -> HeadMatrices:
    """A head of weights drawn at random, but for those of its scores."""
    W_V, W_O = drawn(100 * at + head, (97, 11), (11, 97))
    return HeadMatrices(at, head, group, HERE, W_V, W_O, W_Q, W_K)


def test_heads_that_match_alike_are_found_and_shared_keys_alone_make_none(monkeypatch) -> None:
    Q, K = drawn(9, *[(97, 11)] * 9), drawn(10, *[(97, 11)] * 3)
    heads = [scoring(at, one, 0, Q[3 * at + one], K[at]) for at in range(3) for one in range(3)]
    assert not any(near.side in ("matches", "asks") for near in all_near(heads, monkeypatch))
    mixed = drawn(11, (11, 11))[0]
    heads[5] = replace(heads[5], W_Q=heads[4].W_Q + 0.5 * Q[5])
    heads[7] = replace(heads[7], group=1, W_Q=Q[0] @ mixed.inverse().T, W_K=K[0] @ mixed)
    found = found_near(heads, monkeypatch)
    for one, (side, name, least) in {
        (0, 0): ("matches", "2.1", 0.9999),
        (2, 1): ("matches", "0.0", 0.9999),
        (1, 1): ("asks", "1.2", 0.7),
        (1, 2): ("asks", "1.1", 0.7),
    }.items():
        (near,) = (near for near in found[one] if near.side in ("matches", "asks"))
        assert (near.side, near.name) == (side, name)
        assert least < near.overlap.value < 1.0001
        assert near.overlap.low < near.overlap.mean == 0 < near.overlap.high < 0.3


def test_what_queries_and_keys_of_later_heads_read_is_found_by_the_composition_score(
    monkeypatch,
) -> None:
    Q, K = drawn(12, *[(97, 11)] * 6), drawn(13, *[(97, 11)] * 6)
    heads = [scoring(at, 0, 0, Q[at], K[at]) for at in range(6)]
    assert not any(near.side in ("queries", "keys") for near in all_near(heads, monkeypatch))
    mixed = drawn(14, (11, 11))[0]
    heads[3] = replace(heads[3], W_Q=heads[1].W_O.T @ mixed)
    heads[4] = replace(heads[4], W_K=heads[2].W_O.T @ mixed)
    found = found_near(heads, monkeypatch)
    for writer, reader, side in ((1, 3, "queries"), (2, 4, "keys")):
        (near,) = (near for near in found[writer, 0] if near.side == side)
        assert near.place == (reader, 0)
        moves, scores = (
            heads[writer].W_V @ heads[writer].W_O,
            heads[reader].W_Q @ heads[reader].W_K.T,
        )
        read = scores if side == "queries" else scores.T
        score = (moves @ read).norm() / moves.norm() / read.norm()
        assert near.overlap.value == pytest.approx(float(score), rel=1e-4)
        assert near.overlap.mean == pytest.approx(97**-0.5)
        assert near.overlap.low < near.overlap.mean < near.overlap.high < 0.2


@settings(deadline=None, max_examples=25)
@given(seeds)
def test_inner_products_are_those_of_whole_matrices(seed: int) -> None:
    A, B, C, D, E, F = drawn(seed, *[(13, 3)] * 2, *[(13, 5)] * 2, *[(13, 2)] * 2)
    found = subspaces.inner([(A, B), (C, D)], [(C, D), (E, F), (A, B)])
    whole = [
        [((W @ X.T) * (Y @ Z.T)).sum() for Y, Z in ((C, D), (E, F), (A, B))]
        for W, X in ((A, B), (C, D))
    ]
    torch.testing.assert_close(found.float(), torch.tensor(whole), rtol=1e-4, atol=1e-4)


def all_near(heads: list[HeadMatrices], monkeypatch: pytest.MonkeyPatch):
    return [*itertools.chain(*found_near(heads, monkeypatch).values())]


def found_near(heads: list[HeadMatrices], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subspaces, "matrices_of", lambda model: heads)
    return subspaces.near_of(read("constructed"))


def test_the_constructed_head_of_induction_copies_each_word_and_no_other_head_does() -> None:
    found = circuits.circuits_of(packaged("constructed"))
    induction = found.pop((1, 0))
    assert induction.copying.value == pytest.approx(1, abs=1e-6)
    assert (induction.copied.value, induction.suppressed.value) == (1, 0)
    for other in found.values():
        assert (other.copying.value, other.copied.value, other.suppressed.value) == (0, 0, 0)
    near = subspaces.near_of(packaged("constructed"))
    kin = {place: [(one.side, one.name) for one in found] for place, found in near.items()}
    assert kin[1, 0] == [("reads", "0.0"), ("matches", "1.1")]
    assert ("keys", "1.0") in kin[0, 0]  # it writes each word where induction seeks it
    assert kin[1, 1] == [("matches", "1.0")]  # it moves nothing


@pytest.mark.parametrize("name", ["grammar", "en-pt"])
def test_numbers_of_heads_lie_in_their_ranges_and_come_again(name: str, monkeypatch) -> None:
    few_draws(monkeypatch)
    model = packaged(name)
    found = circuits.circuits_of(model)
    assert [*found] == [
        (layer, one)
        for layer, each in enumerate(model.layers)
        for one in range(each.attention.heads)
    ]
    for one in found.values():
        check(one)
    for at, again in circuits.circuits_of(model).items():
        assert numbers(again) == pytest.approx(numbers(found[at]), abs=1e-5)
    near = subspaces.near_of(model)
    assert near.keys() == found.keys()
    for one in itertools.chain(*near.values()):
        assert one.overlap.mean < one.overlap.value <= 1 + 1e-6


def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuits, "DRAWS", 5)
    monkeypatch.setattr(circuits, "DRAWS_OF_PIECES", 2)


def numbers(one: Circuit) -> list[float]:
    beside = (one.copying, one.copied, one.suppressed, *(each.tells for each in one.directions))
    return [
        *(each.strength for each in one.directions),
        *itertools.chain(*((each.value, each.mean, each.low, each.high) for each in beside)),
    ]


def check(one: Circuit) -> None:
    assert -1 <= one.copying.value <= 1
    for each in (one.copying, one.copied, one.suppressed):
        assert each.low <= each.mean <= each.high
    assert 0 <= one.copied.value + one.suppressed.value <= 1
    assert 1 <= len(one.directions) <= 3
    for direction in one.directions:
        assert 0 < direction.strength <= 1
        for texts in (direction.reads, direction.reads_not, direction.writes, direction.writes_not):
            assert len(texts) == 6
            assert all(texts)


def known(model: Model, layer: int, heads: list[int]) -> dict[int, Circuit]:
    """Circuits of some heads of one layer."""
    some = [one for one in matrices.matrices_of(model) if one.layer == layer and one.head in heads]
    at = circuits.vocabularies_of(model, some[0].place)
    return dict(zip(heads, circuits.circuits_at(at, some), strict=True))


def test_heads_of_smollm2_that_suppress_and_copy_are_told_by_their_weights(monkeypatch) -> None:
    few_draws(monkeypatch)
    model = packaged("smollm2")
    found = known(model, 23, [3, 4])
    assert found[3].copying.value < -0.9  # east is looked at, and west is said
    assert found[3].suppressed.value > 0.3
    run = model.run("The sun rises in the east and sets in the")
    votes = causes.votes(model, run, " east").heads
    assert float(votes[23, 3]) == float(votes.min()) < -1
    assert found[4].copying.value > 0.8
    assert {one.by for one in found.values()} == {matrices.FED}
    assert all(one.copying.low > -0.5 and one.copying.high < 0.5 for one in found.values())


LAYOUTS = ("bert", "gpt2 untied", "llama", "gemma2", "t5", "bart")
BY_TRANSFORMERS = ("gpt_neox", "mixtral", "granite", "modernbert")


@over("name", [*LAYOUTS, *BY_TRANSFORMERS])
def test_values_and_additions_are_those_of_the_matrices_but_for_spreads_and_biases(
    name: str, tmp_path: Path, monkeypatch
) -> None:
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
        x, heads = drawn(one.head, (5, d_model), (5, width))
        group = one.head * layer.attention.groups // layer.attention.heads
        plus, minus = (
            layer.projected(each, each if layer.crosses else None).values[group] for each in (x, -x)
        )
        parallel(plus - minus, x @ one.W_V)
        alone = [
            layer.projected(each, each if layer.crosses else None)
            for each in (x[:, None], -x[:, None])
        ]
        for role, at, W in (("queries", one.head, one.W_Q), ("keys", group, one.W_K)):
            assert W is not None
            plus, minus = (getattr(each, role)[:, at, 0] for each in alone)
            parallel(plus - minus, x @ W)
        W_o, _ = layer.attention.projection("output")
        rows = W_o[one.head * width : (one.head + 1) * width]
        behind = layer.attention_norms.added
        if behind is None:
            torch.testing.assert_close(one.W_O, rows)
        else:
            parallel(behind(heads @ rows), heads @ one.W_O)
    for each in circuits.circuits_of(model).values():
        assert -1 <= each.copying.value <= 1
        assert each.directions


def parallel(made: Tensor, expected: Tensor) -> None:
    """Each row of one is a row of the other, but for a factor above 0."""
    cosines = torch.cosine_similarity(made, expected, dim=-1)
    torch.testing.assert_close(cosines, torch.ones_like(cosines), atol=1e-4, rtol=0)


def test_a_path_that_is_no_sum_of_known_parts_has_no_circuits(tmp_path: Path) -> None:
    run_by_transformers.write(tmp_path, "electra")  # norms stand on its path
    model = sources.load(tmp_path)
    assert not model.adds_up
    assert circuits.circuits_of(model) == {}
    assert subspaces.near_of(model) == {}
