"""Tables of all heads of a run: measures, links and weights are those worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import attention
from attention.analysis import whole_runs
from attention.analysis.heads import Keys, measures
from attention.capture import Recording
from tests.capture.making import OwnAttention, inputs, model
from tests.cases import over

TOKENS = 37
WORDS = [f"word{at}" if at % 5 else "Needle" for at in range(TOKENS)]


def recorded(tmp_path: Path, words: list[str] | None = WORDS, tokens: int = TOKENS) -> Recording:
    """A run of two layers of three heads, the first of them causal."""
    with attention.capture() as captured:
        model(OwnAttention(is_causal=True), OwnAttention())(inputs(1, tokens))
    captured.save(tmp_path / "run.safetensors", tokens=words)
    return Recording.open(tmp_path / "run.safetensors")


def whole(run: Recording, layer: int) -> torch.Tensor:
    return torch.stack([run.weights(layer, head) for head in range(3)])


def test_measures_have_a_row_for_each_head_and_are_exact_where_that_is_quick(tmp_path):
    run = recorded(tmp_path)
    found = run.measures()
    assert found["layer"].tolist() == [0, 0, 0, 1, 1, 1]
    assert found["module"].tolist() == 3 * ["0.mix"] + 3 * ["1.mix"]
    assert found["head"].tolist() == [0, 1, 2, 0, 1, 2]
    assert found["exact"].all()
    assert (found["rows"] == TOKENS).all()
    expected = [measures(whole(run, layer), Keys(ids=WORDS)) for layer in (0, 1)]
    assert "induction" in expected[0], "equal words are told by their texts"
    for name in expected[0]:
        numbers = torch.cat([of_layer[name] for of_layer in expected]).tolist()
        assert found[name].tolist() == pytest.approx(numbers, rel=1e-5, abs=1e-7), name
        assert (found[f"± {name}"] == 0).all()


def test_a_sample_says_so_and_its_error_holds_the_whole(tmp_path):
    run = recorded(tmp_path, None, 601)
    exact, sample = run.measures(rows="all"), run.measures(rows=97)
    assert not sample["exact"].any()
    assert (sample["rows"] == 97).all()
    assert "induction" not in sample, "of a run without tokens equal ones are not known"
    apart = (sample["entropy"] - exact["entropy"]).abs()
    assert (sample["± entropy"] > 0).all()
    assert (apart < 5 * sample["± entropy"]).all()


def test_a_run_that_is_long_is_sampled_unasked(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_runs, "QUICK_CELLS", 33 * 6 * TOKENS)
    run = recorded(tmp_path)
    assert run.measures()["rows"].tolist() == 6 * [33]
    assert not run.links()["exact"].any()
    assert run.links(rows="all")["exact"].all()


def by_hand(run: Recording, queries: list[int], keys: list[int], apart: int) -> list[tuple]:
    """The two strongest links of each head, all sorted."""
    found = []
    for layer in (0, 1):
        weights = whole(run, layer)
        for head in range(3):
            cells = [
                (float(weights[head, query, key]), layer, head, query, key)
                for query in queries
                for key in keys
                if key and abs(query - key) >= apart
            ]
            found += sorted(cells, reverse=True)[:2]
    return sorted((cell for cell in found if cell[0] > 0), reverse=True)


EVERY = [*range(TOKENS)]
NEEDLES = [*range(0, TOKENS, 5)]


@pytest.mark.parametrize(
    ("asked", "queries", "keys", "apart"),
    [
        ({}, EVERY, EVERY, 0),
        ({"apart": 11}, EVERY, EVERY, 11),
        ({"queries": "needle"}, NEEDLES, EVERY, 0),
        ({"keys": "NEEDLE", "apart": 3}, EVERY, NEEDLES, 3),
        ({"queries": [7, -1], "keys": slice(2, 5)}, [7, TOKENS - 1], [2, 3, 4], 0),
    ],
    ids=["any", "far", "from a word", "far to a word", "positions"],
)
def test_links_are_the_strongest_of_each_head(tmp_path, monkeypatch, asked, queries, keys, apart):
    monkeypatch.setattr(whole_runs, "BLOCK_CELLS", 3 * 5 * TOKENS)  # several blocks of rows
    run = recorded(tmp_path)
    found = run.links(each=2, **asked)
    cells = found[["layer", "head", "query", "key"]].to_numpy().tolist()
    expected = by_hand(run, queries, keys, apart)
    assert cells == [list(cell[1:]) for cell in expected]
    assert found["weight"].tolist() == pytest.approx([cell[0] for cell in expected], rel=1e-5)
    assert found["key token"].str.strip().tolist() == [WORDS[cell[4]] for cell in expected]
    assert found["exact"].all()


def test_the_first_key_counts_if_asked_for(tmp_path):
    run = recorded(tmp_path)
    found = run.links(queries=[1], keys=[0], without_first=False, each=1)
    assert found["key"].tolist() == 6 * [0]
    assert run.links(queries=[1], keys=[0]).empty


def test_a_decoder_over_another_sequence_has_no_far_links_and_the_texts_of_its_own(tmp_path):
    class Crosses(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cross_attn = OwnAttention()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.cross_attn(x, inputs(1, 5))

    with attention.capture() as captured:
        Crosses()(inputs(1, 3))
    captured.save(tmp_path / "run.safetensors", tokens=[*"abc"], keys=[*"vwxyz"])
    run = Recording.open(tmp_path / "run.safetensors")
    assert run.attentions[0].kind == "cross"
    assert run.links(apart=1).empty
    assert set(run.links(queries="b", keys="z")["key token"].str.strip()) == {"z"}
    assert "distance" not in run.measures()


def test_a_row_and_a_tile_are_tables_of_their_weights_and_a_layer_has_a_mean(tmp_path):
    run = recorded(tmp_path)
    tile = run.frame(1, 2, slice(3, 5), [0, 7, 11])
    assert tile["query"].tolist() == [3, 3, 3, 4, 4, 4]
    assert tile["key"].tolist() == 2 * [0, 7, 11]
    assert tile["query token"].str.strip().tolist() == 3 * ["word3"] + 3 * ["word4"]
    assert (tile["weight"] == run.weights(1, 2, [3, 4], [0, 7, 11]).flatten().numpy()).all()
    mean = run.frame("1.mix", rows=-1)
    assert mean["head"].tolist() == TOKENS * ["mean"]
    torch.testing.assert_close(torch.tensor(mean["weight"]), whole(run, 1)[:, -1].mean(0))


WRONG = {
    "measures, rows=0": "rows must be 1 or more",
    "measures, rows=few": "rows must be a whole number, got 'few'",
    "measures, entry=1": "entry must lie below 1, got 1",
    "links, keys=absent": "keys must be words of the run, got 'absent', which is not there",
    "links, each=many": "each must be a whole number, got 'many'",
}


@over("case", WRONG)
def test_wrong_calls_say_what_was_expected_and_what_came(tmp_path, case):
    method, _, said = case.partition(", ")
    name, _, value = said.partition("=")
    asked, call = int(value) if value.isdigit() else value, getattr(recorded(tmp_path), method)
    with pytest.raises(ValueError, match=WRONG[case]):
        call(**{name: asked})


def test_a_table_of_no_such_rows_or_of_too_many_weights_is_refused(tmp_path, monkeypatch):
    run = recorded(tmp_path)
    with pytest.raises(ValueError, match=r"rows must lie below 37, got 37"):
        run.frame(0, 0, 37)
    monkeypatch.setattr(whole_runs, "MOST_CELLS", TOKENS)
    with pytest.raises(ValueError, match="a table must have at most 37 weights, got 2 rows of 37"):
        run.frame(0, 0, [1, 2])
    with attention.capture() as without:
        model(OwnAttention())(inputs(1, 5))
    with pytest.raises(ValueError, match="queries must be positions, since the run has no tokens"):
        without.links(queries="word")
