"""Street maps: a tile has the greatest weight of each block, and links are those of all cells."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import attention
from attention.analysis.token_texts import Texts
from attention.capture import Recording
from attention.figures import head_map
from attention.figures.head_map import EXACT, HeadMap, greatest_of, shades
from tests.capture.making import OwnAttention, inputs, model
from tests.cases import over

TOKENS = 37


@pytest.fixture(params=[True, False], ids=["causal", "whole"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """A run in which blocks of the map have four queries and keys, and its top level eight."""
    sizes = {"SIDE": 5, "EXACT_SIDE": 3, "FEW": 11, "MANY": 11, "AT_ONCE": 200, "ROWS_AT_ONCE": 1}
    for name, number in sizes.items():
        monkeypatch.setattr(head_map, name, number)
    with attention.capture() as run:
        model(OwnAttention(is_causal=request.param))(inputs(1, TOKENS))
    return run.one()


def filled(run: Recording) -> HeadMap:
    shown = HeadMap(run, 0, 1)
    shown.fill(lambda done, of: None)
    return shown


def blocks_by_hand(weights: Tensor, size: int) -> Tensor:
    rows = [part.split(size, 1) for part in weights.split(size, 0)]
    return torch.tensor([[float(block.max()) for block in row] for row in rows])


def test_a_tile_of_each_level_has_the_greatest_weight_of_each_block(run):
    shown, whole = filled(run), run.weights(0, 1)
    assert (shown.base, shown.top) == (2, 3)
    for level in range(4):
        expected = shades(blocks_by_hand(whole, 2**level), shown.least)
        side = -(-len(expected) // 5)
        assert not shown.has(level, 0, side)
        rows = [
            torch.cat([shown.tile(level, row, at) for at in range(side)], 1) for row in range(side)
        ]
        apart = torch.cat(rows).int() - expected.int()
        assert int(apart.abs().max()) <= 1, level  # by the last bit of a weight


def test_weights_and_rows_are_those_of_the_run(run):
    shown, whole = filled(run), run.weights(0, 1)
    assert_close(shown.weights(2, 12), whole[6:9, 36:])
    assert shown.has(EXACT, 12, 12)
    assert not shown.has(EXACT, 13, 0)
    assert_close(shown.row(36), whole[36])


def test_a_block_leads_to_its_greatest_weight(run):
    shown, whole = filled(run), run.weights(0, 1)
    for level, row, column in [(3, 4, 4), (2, 8, 3), (0, 20, 6), (1, 18, 18)]:
        size = 2**level
        down, across = row * size, column * size
        query, key, weight = shown.greatest_in(level, row, column)
        block = whole[down : down + size, across : across + size]
        assert_close(torch.tensor([weight, whole[query, key]]), block.max().expand(2))
        assert (query // size, key // size) == (row, column)


@over("without_first", [True, False])
@over("apart", [0, 1, 6, 30])
def test_far_links_are_the_greatest_of_all_cells_that_are_far_apart(run, apart, without_first):
    whole, at = run.weights(0, 1).clone(), torch.arange(TOKENS)
    whole[(at[:, None] - at).abs() < apart] = 0
    if without_first:
        whole[:, 0] = 0
    found = filled(run).far_links(apart, without_first, most=7)
    expected = whole.flatten().topk(7)[0]
    weights = torch.tensor([link.weight for link in found])
    assert_close(weights, expected[expected > 0])
    assert_close(torch.stack([whole[query, key] for query, key, _ in found]), weights)


def test_a_first_look_says_no_more_than_there_is_and_reading_goes_on_where_it_was_left(
    run, monkeypatch
):
    monkeypatch.setattr(head_map, "SAMPLE", 3)
    shown, whole = HeadMap(run, 0, 1), greatest_of(run.weights(0, 1), 4)
    shown.look()
    assert shown.done == 0
    assert bool(shown.greatest[0].any())
    assert bool((shown.greatest[::4] <= whole[::4] + 1e-6).all())
    assert not shown.is_final(3, 0)

    class Stopped(Exception):
        pass

    def stop(done: int, of: int) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        shown.fill(stop)
    left = shown.done
    assert 0 < left < TOKENS
    told: list[int] = []
    HeadMap(run, 0, 1, shown.blocks).fill(lambda done, of: told.append(done))
    assert left < told[0] < told[-1] == TOKENS
    assert_close(shown.greatest, whole)
    assert shown.is_final(3, 0)


def test_shades_go_by_equal_ratios_from_an_even_share_to_all():
    weights = torch.tensor([0, 1 / 64, 1 / 16, 1 / 4, 1])
    assert shades(weights, 1 / 16).tolist() == [0, 1, 1, 1 + 127, 255]


WALK, ANIMAL = "the walk ##ing king", "The Ġani mal Ċ"
FOUND: dict[tuple[str, str], list[int]] = {
    **{("the cat The catfish", "THE"): [0, 2], ("the cat The catfish", "the cat"): [0, 2]},
    **{(WALK, "walking"): [1], (WALK, "ing"): [2, 3], (ANIMAL, "animal"): [1]},
    **{(ANIMAL, "the animal"): [0], ("▁a ▁b", " "): [], ("a<b> .*", ".*"): [1]},
}


def test_words_are_found_across_the_tokens_that_write_them():
    assert {case: Texts(case[0].split()).find(case[1]) for case in FOUND} == FOUND


def test_texts_are_read_with_blanks_and_cut_to_a_length():
    assert Texts(["The", "Ġani", "mal", "x" * 1000]).chunk(0) == ["The", " ani", "mal", "x" * 40]
    assert Texts(["the", "walk", "##ing"]).chunk(0) == [" the", " walk", "ing"]
    assert Texts(["a"] * 1025).chunk(1) == [" a"]
