"""Tabs of the window of a model: guesses layer by layer, and why a head looks where it does."""

import pytest
import torch
from torch.testing import assert_close

from attention.changing import residual
from attention.figures.chart import Chart
from attention.figures.matrices import Matrices
from attention.subjects.model import reasons, scene
from attention.subjects.model.options import LAYERS, REASONS
from attention.subjects.model.reasons import Guesses, Reasons, guess_lines, part_bars
from tests.running import opened, viewed
from tests.subjects.model.shown import part, words
from tests.subjects.play.how.making import shown as read
from tests.trained.built import offer, writer
from tests.trained.packaged import packaged, run_model

SENTENCE, TEXT = "she sat by the river bank", "Mary saw John. Mary saw"


def test_a_decoder_shows_the_guesses_of_its_layers(tmp_path, monkeypatch):
    offer(writer(tmp_path), monkeypatch)
    app = opened("model", model="writer", s="the cat sat", more=LAYERS)
    assert len(app.sent["guesses"].header["data"]) == 2
    assert app.table_with("likeliest")


def test_weights_lengths_and_the_score_are_of_the_chosen_query_and_key():
    link = {"model": "minilm", "s": SENTENCE, "layer": 3, "head": 1, "query": 6}
    model, run = packaged("minilm"), run_model("minilm", SENTENCE)
    shown = scene.reasons(viewed("model", **link, key=5))
    lengths = part(shown, "lengths", Matrices)
    rows, *_ = reasons.length_rows(run, 3, 1, 6)
    assert_close(lengths.matrices[0].numbers, rows)
    assert lengths.chosen == (0, 5)
    *_, terms = residual.score_parts(model, run, 3, 1, 6, 5)
    for bars in part(shown, "parts", Chart).figure.data:
        assert sum(bars.y) == pytest.approx(float(terms.sum()), abs=1e-3)
    app = opened("model", **link, more=REASONS).tell("lengths", "cell", (1, 2))
    assert app.query_params["key"] == "2"
    assert app.sent["lengths"].header["chosen"] == [0, 2]


def test_with_markers_ignored_the_same_piece_and_key_are_explained():
    link = {"model": "minilm", "s": SENTENCE, "layer": 3, "head": 1, "more": REASONS}
    there = viewed("model", **link, query=6, key=5)
    whole, aside = map(
        scene.reasons, (there, viewed("model", **link, query=5, key=4, special="ignored"))
    )
    assert words(aside) == words(whole)
    lengths = part(aside, "lengths", Matrices)
    assert lengths.chosen == (0, 4)
    assert_close(
        lengths.matrices[0].numbers, part(whole, "lengths", Matrices).matrices[0].numbers[:, 1:-1]
    )


def test_the_last_guess_is_the_models(written):
    run = written.run("abcab")
    found = reasons.guesses(written, run)
    shares = written.scores(run.hidden[-1]).softmax(-1)
    assert len(found.names) == len(written.layers) + 1
    assert_close(found.shares[-1], shares.topk(2).values)
    assert found.ranks[-1].tolist() == [1, 2]
    assert found.likeliest[-1][0] == found.words[0]


@pytest.mark.parametrize(
    ("name", "layer", "head", "end"),
    [
        ("smollm2", 18, 6, " come from the first token."),
        ("minilm", 3, 1, " first token and special tokens."),
    ],
)
def test_terms_sum_to_the_score_and_rows_to_one(name, layer, head, end):
    model, run = packaged(name), run_model(name, TEXT)
    found = reasons.reasons(model, run, layer, head, 4, 2)
    trace = run.inputs[layer].trace()
    assert found.score == pytest.approx(float(trace.scores[head, 4, 2]), rel=1e-3)
    names, columns, total = found.table()
    assert len(names) == reasons.MOST_TERMS + 1
    assert sum(map(float, columns["term"])) == pytest.approx(found.score, abs=1e-4)
    assert read(total[1]) == pytest.approx(found.score, abs=1e-4)
    assert found.names[:2] == ["embedding", "biases"]
    parts, terms = residual.score_parts(model, run, layer, head, 4, 2)
    embedding, biases = ([part.kind for part in parts].index(name) for name in found.names[:2])
    assert float(found.terms[0, 1]) == pytest.approx(float(terms[embedding, biases]), abs=1e-6)
    assert len(found.names) == 2 + 2 * layer
    rows, names, words = reasons.length_rows(run, 3, 0, 4)
    assert rows.shape == (2, len(names))
    assert rows.sum(1).tolist() == pytest.approx([1, 1], abs=1e-5)
    assert words.endswith(end)


def test_figures_hold_the_numbers_they_were_given():
    ranks, shares = torch.tensor([[3, 1]]), torch.tensor([[0.1, 0.9]])
    lines = guess_lines(Guesses(["<b>", "c"], ["a"], shares, ranks, [("c", 0.9)]))
    assert [line["y"] for line in lines.to_plotly_json()["data"]] == [[3], [1]]
    assert "<b>" not in str(lines.data[0]["name"])
    bars = part_bars(Reasons(["a", "b"], torch.tensor([[1.0, 0.0], [2.0, 0.0]])))
    assert [[*bar["y"]] for bar in bars.data] == [[1, 2], [3, 0]]
