"""Effects of a head: parts that sum, effects that are those of a run without it."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from attention.changing import residual
from attention.changing.answers import metric_of_states, written_probability
from attention.changing.change import Change
from attention.changing.known import hidden
from attention.changing.residual import Part
from attention.changing.votes import votes
from tests.analysis.conftest import CLOSE
from tests.trained.making import GOING_ON

each_decoder = pytest.mark.parametrize("case", GOING_ON, indirect=True)


@pytest.mark.parametrize("case", ["minilm", *GOING_ON, "bert"], indirect=True)
def test_the_parts_of_a_residual_path_sum_to_it(case):
    n_layers = len(case.model.layers)
    entered = [layer_input.entered for layer_input in case.run.inputs]
    for layer, expected in enumerate([*entered, case.run.hidden]):
        split = residual.residual_parts(case.model, case.run, layer)
        assert len(split.names) == len(split.parts) == len({*split.names})
        total = split.parts.sum(0)
        total = case.model.final(total) if layer == n_layers else total
        assert (total - expected).norm() < 1e-4 * expected.norm()
    heads = case.model.layers[0].attention.heads
    assert len(split.names) == 2 + n_layers * (heads + 1)


@each_decoder
def test_the_votes_of_all_parts_sum_to_the_difference_of_two_scores(case):
    for position in (-1, 2):
        found = votes(case.model, case.run, (7, 11), position=position)
        scores = case.run.hidden[position] @ case.model.unembedding
        rounding = 1e-4 * float(scores.abs().max())  # where the two are nearly equal
        difference = pytest.approx(float(scores[7] - scores[11]), rel=1e-4, abs=rounding)
        assert float(found.votes.sum()) == difference
    at = found.names.index(Part("head", 1, 2))
    assert found.heads[1, 2] == found.votes[at]


@pytest.mark.parametrize("case", ["minilm", *GOING_ON, "bert with a head"], indirect=True)
def test_the_parts_of_a_score_sum_to_it(case):
    for layer, head, query, key in ((0, 1, 3, 2), (1, 2, 4, 1), (1, 0, 3, 3)):
        layer_input = case.run.inputs[layer]
        expected = float(layer_input.trace().scores[head, query, key])
        names, parts = residual.score_parts(case.model, case.run, layer, head, query, key)
        assert parts.shape == (len(names), len(names))
        size = float(parts.abs().sum())
        assert float(parts.sum()) == pytest.approx(expected, rel=1e-4, abs=1e-6 * size)


@each_decoder
def test_the_last_guess_is_the_score_of_the_model(case):
    found = residual.guesses(case.model, case.run)
    assert_close(found[-1], case.model.scores(case.run.hidden[-1]), **CLOSE)
    assert_close(found[0], case.model.scores(case.model.final(case.run.inputs[0].x[-1])), **CLOSE)
    assert len(found) == len(case.model.layers) + 1


@pytest.mark.parametrize("case", ["gpt2"], indirect=True)
@torch.no_grad()
def test_pieces_are_named_by_their_words_or_their_ids(case):
    model, run, _ = case
    cat, mat = (int(model.pieces(word).ids[0]) for word in (" cat", " mat"))
    metric = metric_of_states(model, (" cat", " mat"))
    assert metric(run.hidden) == metric_of_states(model, (cat, mat))(run.hidden)
    by_words = votes(model, run, (" cat", mat))
    assert torch.equal(by_words.votes, votes(model, run, (cat, " mat")).votes)
    for wrong, words in (
        ("", "a word must be one piece, '' makes 0"),
        ("x y", "a word must be one piece, 'x y' makes 3: 'x', "),
        (300, "the id of a piece must lie below 300, got 300"),
        (-1, "must lie below 300, got -1"),
    ):
        with pytest.raises(ValueError, match=words):
            metric_of_states(model, (1, wrong))


@pytest.mark.parametrize("case", ["en-pt"], indirect=True)
@torch.no_grad()
def test_a_head_of_a_translator_moves_the_probability_of_each_piece(case):
    metric = written_probability(case.model, case.run)
    assert_close(metric(case.run.hidden), case.model.probabilities(case.run))
    states = hidden(case.model, case.run, [[Change(7, heads=[1])], []])
    found = metric(states)
    assert_close(found[1], case.model.probabilities(case.run))
    assert_close(found[0], case.model.probabilities(replace(case.run, hidden=states[0])))
    assert (found[0] - found[1]).abs().max() > 1e-4


@pytest.mark.parametrize("case", ["minilm", "en-pt", "llama"], indirect=True)
def test_the_length_of_a_term_is_that_of_weight_times_value_through_the_output_matrix(case):
    layer = len(case.model.layers) - 1
    weights, found = residual.lengths(case.run, layer)
    layer_input = case.run.inputs[layer]
    trace, attention = layer_input.trace(), layer_input.layer.attention
    d_v = trace.values.shape[-1]
    term = trace.weights[1, 3, 2] * trace.values[1, 2] @ attention.W_o[d_v : 2 * d_v]
    assert float(found[1, 3, 2]) == pytest.approx(float(term.norm()), rel=1e-4)
    assert weights.shape == found.shape
