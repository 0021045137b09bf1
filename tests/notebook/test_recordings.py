"""Recordings and charts as a notebook shows them."""

import re

import pytest
import torch

import attention
import attention.notebook.show
from attention.capture import open_folder
from attention.figures import layer_map
from attention.figures.scene import Row, Scene, note
from attention.figures.street_map import first_question
from attention.notebook.scenes import ShownScene
from tests.capture.making import OwnAttention, inputs, model
from tests.capture.test_training import train

TOKENS = list("abcdefg")


def two_layers(**options):
    with attention.capture(**options) as run:
        model(OwnAttention(is_causal=True), OwnAttention())(inputs())
    return run


def test_all_heads_are_shown_as_their_weights_are():
    run = two_layers()
    grid, words = run.show(TOKENS, entry=1).scene
    weights = [run.weights(layer, head, entry=1) for layer in (0, 1) for head in range(3)]
    expected, _ = attention.show(torch.stack(weights).view(2, 3, 7, 7), TOKENS, layer="all").scene
    assert int((grid.dots.int() - expected.dots.int()).abs().max()) <= 1  # by the last bit
    assert grid.layer_names == ["layer 0", "layer 1"]
    assert words.text.startswith("7 queries down, 7 keys across. Each square is a weight;")


def test_one_head_is_shown_as_its_heatmap(tmp_path):
    run = two_layers()
    expected = attention.show(run.weights(1, 2), TOKENS, query=3)
    assert run.show(TOKENS, layer="1.mix", head=2, query=3) == expected
    run.save(tmp_path / "run.safetensors", tokens=TOKENS)
    opened = attention.capture.Recording.open(tmp_path / "run.safetensors")
    assert opened.show(layer=1, head=2, query=3) == expected


def test_layers_and_heads_have_the_numbers_of_the_model_and_what_does_not_fit_is_told():
    run = two_layers(layers=[1], heads=[2])
    assert run.show(TOKENS) == attention.show(run.weights(1, 2), TOKENS)
    for asked in ({"tokens": TOKENS[:6]}, {"layer": 2}, {"query": 7}):
        with pytest.raises(ValueError, match=r"of a layer, 0 \(7, 7\), 1 \(7, 7\), and query one"):
            two_layers().show(**{"tokens": TOKENS} | asked)


def test_one_slides_over_the_steps_with_the_same_head_and_row(tmp_path, monkeypatch):
    traitlets = pytest.importorskip("traitlets", reason="needs anywidget (requirements-dev.txt)")
    pytest.importorskip("anywidget", reason="needs anywidget (requirements-dev.txt)")
    monkeypatch.setattr(attention.notebook.show, "is_live", lambda: True)
    train(5, every=2, into=tmp_path)
    with attention.capture(into=tmp_path / "longer"):
        model(OwnAttention())(inputs(tokens=11))
    (longer,) = (tmp_path / "longer").iterdir()
    longer.rename(tmp_path / "00000006-Sequential.safetensors")
    runs = open_folder(tmp_path)
    with pytest.raises(ValueError, match="tokens and keys must be as many"):
        runs.show([*"abcdefg"])
    widget = runs.show([*"abcdefghijk"], head=2, query=5)
    assert (widget.step, widget.given["steps"]) == (6, (0, 2, 4, 6))
    widget.step = 2
    assert widget.given["heads"] == []
    assert "Step 2 cannot be shown: tokens and keys must be as many" in widget.given["words"]
    (tmp_path / "00000006-Sequential.safetensors").unlink()
    widget = open_folder(tmp_path).show([*"abcdefg"], head=2, query=5)
    widget.step = 0
    assert (widget.layer, widget.head, widget.query, widget.given["step"]) == (0, 2, 5, 0)
    assert torch.equal(widget._heads.weights(0, 2, 5), runs[0].weights(0, 2, 5))
    asked = first_question("run 0 2 0", 5, [])
    assert widget._heads.answer(0, 2, asked) is not None
    assert widget._heads.answer(0, 2, {**asked, "map": "run 0 2 2"}) is None, "of another step"
    with pytest.raises(traitlets.TraitError, match=r"step must be one of \[0, 2, 4\], got 3"):
        widget.step = 3


def test_a_notebook_gives_charts_the_room_they_take():
    few, many = layer_map(torch.ones(2, 3), "Few"), layer_map(torch.ones(30, 3), "Many")
    heights = {
        height: part
        for part in (
            few,
            Scene([Row([few, many])]),
            Scene([Row([few, many]), few]),
            Scene([note("")]),
        )
        for height in re.findall(r"height: (\d+)px\"></iframe>", ShownScene(part)._repr_html_())
    }
    one, two = few.figure.layout.height, many.figure.layout.height
    assert [int(height) for height in heights] == [one + 32, two + 32, one + two + 64, 720]
