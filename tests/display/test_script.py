"""The script that is downloaded gives the view's numbers, to the last bit, without us."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torchtext.vocab import Vectors

from attention.core.functional import Trace
from attention.core.variants import VARIANTS
from attention.display.script import pytorch_script
from attention.inputs.text import tokenize
from attention.pipeline import Result, Settings, compute
from tests.hostile import HOSTILE

STEPS = ("queries", "keys", "values", "scores", "scaled", "weights", "output")
MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "causal": {"mask": "causal"},
    "length": {"mask": "length", "valid_len": 2},
    "custom": {"mask": "custom", "cells": "0:1,3-5 2:*"},
}


def viewed(**settings: Any) -> Result:
    return compute(
        Settings(**{"vectors": "random", "d_model": 7} | settings),
        lambda name: pytest.fail(f"asked for {name}"),
    )


def run(view: Result, folder: Path) -> dict[str, Any]:
    """Everything the view's script defines when it is run."""
    script = folder / "attention_here.py"
    script.write_text(pytorch_script(view), "utf-8")
    return runpy.run_path(str(script))


def assert_same(trace: Any, view: Result) -> None:
    for step in STEPS:
        assert torch.equal(getattr(trace, step), getattr(view.trace, step)), step


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_script_gives_every_number_of_the_view(variant: str, mask: str, tmp_path: Path) -> None:
    view = viewed(variant=variant, seed=3, **MASKS[mask])
    found = run(view, tmp_path)
    assert_same(found["trace"], view)
    assert type(found["trace"]) is not Trace
    assert found["tokens"] == list(view.tokens)
    assert torch.equal(found["x"], view.x)
    if view.trace.mask is None:
        assert found["mask"] is None
    else:
        assert torch.equal(found["mask"], view.trace.mask)


@pytest.mark.parametrize(
    "settings",
    [
        {"scale": "none"},
        {"scale": "factor", "factor": 0.35},
        {"positions": "sinusoidal", "mask": "window", "radius": 0},
        {"variant": "qkv", "config": (("d_k", 3), ("d_v", 11))},
        {"variant": "bilinear", "config": (("parameters", "identity"),)},
        {"variant": "gaussian", "config": (("sigma", 0.7),)},
        {"variant": "additive", "config": (("d_hidden", 1),), "d_model": 1},
        {"s": "cat"},
        {"variant": "qkv", "positions": "rotary"},
        {"positions": "alibi", "mask": "causal"},
        {"variant": "multihead", "config": (("heads", 1),), "positions": "alibi"},
        {"variant": "multihead", "config": (("heads", 7),), "head": 4, "positions": "rotary"},
        {"variant": "multihead", "d_model": 12, "config": (("heads", 6),), "head": 5}
        | {"positions": "alibi", "mask": "window", "scale": "none"},
    ],
)
def test_the_script_follows_every_setting(settings: dict[str, Any], tmp_path: Path) -> None:
    view = viewed(**settings)
    assert_same(run(view, tmp_path)["trace"], view)


def test_the_script_gives_the_numbers_of_glove(glove: Vectors, tmp_path: Path) -> None:
    view = compute(Settings(variant="additive", seed=7), lambda name: glove)
    assert_same(run(view, tmp_path)["trace"], view)


@pytest.mark.parametrize("variant", ["dot", "additive"])
def test_the_script_runs_alone_and_prints_the_numbers(variant: str, tmp_path: Path) -> None:
    view = viewed(variant=variant, mask="causal")
    script = tmp_path / "attention_here.py"
    saved = "\nprint([trace.weights.tolist(), trace.output.tolist()])\n"
    script.write_text(pytorch_script(view) + saved, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    *said, numbers = ran.stdout.splitlines()
    assert ast.literal_eval(numbers) == [view.trace.weights.tolist(), view.trace.output.tolist()]
    assert ast.literal_eval(said[0]) == list(view.tokens)
    assert any(f"{view.trace.weights[1, 0].item():.4f}" in line for line in said)


@pytest.mark.parametrize("sentence", [s for s in HOSTILE if tokenize(s)])
def test_hostile_sentences_stay_data(sentence: str, tmp_path: Path) -> None:
    view = viewed(s=sentence, variant="qkv")
    found = run(view, tmp_path)
    assert found["tokens"] == list(view.tokens)
    assert_same(found["trace"], view)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_script_imports_nothing_but_torch_and_the_standard_library(variant: str) -> None:
    tree = ast.parse(pytorch_script(viewed(variant=variant)))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert "torch" in imported
    assert imported - {"torch"} <= sys.stdlib_module_names
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"functional", "attention", "exec", "eval", "open"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_script_names_the_variant_and_its_source(variant: str) -> None:
    said = ast.get_docstring(ast.parse(pytorch_script(viewed(variant=variant))))
    assert said is not None
    assert VARIANTS[variant].title in said
    assert VARIANTS[variant].source in said
    assert "6 tokens" in said


def test_the_script_defines_only_what_it_uses() -> None:
    tree = ast.parse(pytorch_script(viewed(variant="dot")))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {"attend", "dot_scores", "masked_softmax", "project", "scores"} <= defined
    assert not defined & {"additive_scores", "gaussian_scores", "cosine_scores"}


def test_the_script_says_which_head_it_is() -> None:
    view = viewed(variant="multihead", d_model=12, config=(("heads", 4),), head=2)
    said = ast.get_docstring(ast.parse(pytorch_script(view)))
    assert said is not None
    assert said.startswith("Multi-head attention, head 2, over 6 tokens")
