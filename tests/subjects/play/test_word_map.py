"""Where a word goes, and how scores spread: on numbers that can be checked by hand."""

from __future__ import annotations

import pytest
import torch
from torchtext.vocab import Vectors

from attention.analysis.planes import cosines, plane_of
from attention.analysis.spread import WIDTHS, spread_of_scores
from attention.inputs.vectors import Neighbours
from attention.pipeline import Result, Settings, compute
from attention.subjects.play.word_map import MOST_TOKENS, where_it_goes, why_nowhere


@pytest.fixture(scope="module")
def nearest(glove: Vectors) -> Neighbours:
    return Neighbours(glove)


def result_of(glove: Vectors, sentence: str, **settings: object) -> Result:
    return compute(Settings(sentence, **settings), lambda name: glove)


def test_the_plane_is_that_on_which_the_vectors_differ_most():
    vectors = torch.tensor([[3.0, 0, 0], [-3, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 1], [0, 0, -1]])
    plane = plane_of(vectors)
    assert torch.allclose(plane.axes, torch.tensor([[1.0, 0, 0], [0, 1, 0]]).double())
    assert plane.kept == pytest.approx(26 / 28)
    assert plane(torch.tensor([[3.0, 2, 9]])).tolist() == [[pytest.approx(3), pytest.approx(2)]]
    line = plane_of(torch.tensor([[0.0, 0], [-1, -2], [-2, -4]]))
    greatest = "an axis points where its greatest entry is positive"
    assert torch.allclose(line.axes[0] * 5**0.5, torch.tensor([1.0, 2]).double()), greatest
    assert line.axes[1].tolist() == [0, 0], "they differ along one line alone"
    assert line.kept == pytest.approx(1)
    for count in (1, 2):
        middle = plane_of(torch.ones(count, 3))
        assert middle(torch.ones(count, 3)).tolist() == [[0, 0]] * count
        assert middle.kept == 1


def test_cosines_are_those_of_the_angles():
    others = torch.tensor([[2.0, 0], [0, 5], [1, 1], [0, 0]])
    found = cosines(torch.tensor([3.0, 0]), others)
    assert found == pytest.approx([1, 0, 0.5**0.5, 0])


def test_a_word_ends_where_the_weighted_sum_points(glove, nearest):
    result = result_of(glove, "apple sells computers and software")
    found = where_it_goes(result, 0, ["software", "fruit", "zzxqy"], nearest)
    assert found.token == "apple"
    names, columns = found.table
    assert names[:2] == ["software", "fruit"]
    x, y = result.x[0], result.trace.output[0]
    for word, before, after in zip(names, columns["before"], columns["after"], strict=True):
        vector = glove.vectors[glove.stoi[word]][None]
        assert before == pytest.approx(cosines(x, vector)[0])
        assert after == pytest.approx(cosines(y, vector)[0])
    tokens = {spot.name: spot.weight for spot in found.spots if spot.kind == "token"}
    assert list(tokens) == ["sells", "computers", "and", "software"]
    assert list(tokens.values()) == pytest.approx(result.trace.weights[0, 1:].tolist())
    assert {spot.name for spot in found.spots if spot.kind == "probe"} == {"software", "fruit"}
    assert "apple" not in {spot.name for spot in found.spots}


def test_of_a_long_sentence_the_map_has_the_tokens_that_weigh_most(glove, nearest):
    result = result_of(glove, "apple " + "the of software and " * 40)
    found = where_it_goes(result, 0, [], nearest)
    tokens = [spot for spot in found.spots if spot.kind == "token"]
    assert len(tokens) in (MOST_TOKENS, MOST_TOKENS + 1)
    assert {spot.name.split()[0] for spot in tokens} == {"software"}


def test_alone_a_word_stays_where_it_is_and_where_no_words_are_there_is_no_map(glove, nearest):
    found = where_it_goes(result_of(glove, "apple"), 0, ["fruit"], nearest)
    assert found.start == pytest.approx(found.end)
    assert found.table[1]["before"] == pytest.approx(found.table[1]["after"])
    unknown = result_of(glove, "cat zzxqy")
    assert "no vector" in why_nowhere(unknown, 1)
    assert why_nowhere(unknown, 0) == ""
    assert where_it_goes(unknown, 1, [], nearest) is None
    assert "cannot be compared" in why_nowhere(result_of(glove, "cat sat", variant="qkv"), 0)
    hidden = result_of(glove, "cat sat", mask=("length",), valid_len=0)
    assert "points nowhere" in why_nowhere(hidden, 0)


def test_raw_scores_spread_like_the_root_of_d_k_and_divided_ones_do_not():
    found = spread_of_scores()
    roots = [width**0.5 for width in WIDTHS]
    assert found.spread["raw"] == pytest.approx(roots, rel=0.05)
    assert found.spread["divided by √d_k"] == pytest.approx([1.0] * len(WIDTHS), rel=0.05)
    assert found.greatest["raw"] == sorted(found.greatest["raw"])
    assert found.greatest["raw"][-1] > 0.85
    assert max(found.greatest["divided by √d_k"]) < 0.4
    assert spread_of_scores() == found
    assert found.words.startswith("2,000 random queries with 8 random keys each, for each d_k.")
