"""The script that is downloaded gives the result's numbers, to the last bit, without us."""

from __future__ import annotations

import ast
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.core.functional import Trace
from attention.core.papers import plain
from attention.core.variants import VARIANTS
from attention.figures.script import pytorch_script
from attention.pipeline import Result, Settings, compute
from tests.cases import over
from tests.hostile import HOSTILE

SCRIPT = "attention_here.py"
each_variant = pytest.mark.parametrize("variant", VARIANTS)
EVERYTHING: dict[str, Any] = {
    "mask": ("causal", "length", "window", "cells"),
    "valid_len": 5,
    "radius": 3,
    "cells": "0:1,3-5 2:*",
    "seed": 3,
}


def computed(memory: str | None = None, **settings: Any) -> Result:
    values: dict[str, Any] = {"vectors": "random", "d_model": 10} | settings
    return compute(Settings(**values), lambda name: pytest.fail(f"asked for {name}"), memory)


def assert_same(result: Result, folder: Path) -> dict[str, Any]:
    """Run the script, compare every number that it defines, and give back all of it."""
    script = folder / SCRIPT
    script.write_text(pytorch_script(result), "utf-8")
    found = runpy.run_path(str(script))
    for name, ours in (("layer_trace", result.layer_trace), ("trace", result.trace)):
        assert type(found[name]) is not Trace
        for step, numbers in vars(ours).items():
            assert_equal(getattr(found[name], step), numbers)
    assert torch.equal(found["x"], result.x)
    assert torch.equal(found["layer_output"], result.layer.output(result.layer_trace))
    assert found["tokens"] == list(result.tokens)
    for name, mask in result.masks.items():
        assert torch.equal(found["masks"][name], mask)
    return found


def assert_equal(theirs: Any, ours: Any) -> None:
    """Assert equal numbers, to the last bit: of one kernel, on the same shapes."""
    if isinstance(ours, tuple):
        for pair in zip(theirs, ours, strict=True):
            assert_equal(*pair)
    else:
        assert (
            torch.equal(theirs, ours)
            if isinstance(ours, torch.Tensor)
            else str(theirs) == str(ours)
        )


@each_variant
def test_the_script_gives_every_number_of_the_result_needs_torch_alone_and_says_whose_it_is(
    variant, tmp_path
):
    for positions, memory in (("none", "hello, world"), ("rotary", None), ("alibi", None)):
        result = computed(memory, variant=variant, positions=positions, **EVERYTHING)
        found = assert_same(result, tmp_path)
        assert not memory or found["memory_tokens"] == ["hello", ",", "world"]
    tree = ast.parse((tmp_path / SCRIPT).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {ast.unparse(node).split()[1].split(".")[0] for node in imports}
    assert "torch" in imported
    assert imported - {"torch"} <= sys.stdlib_module_names
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"functional", "attention", "exec", "eval", "open"}
    said = ast.get_docstring(tree) or ""
    assert said.startswith(VARIANTS[variant].title)
    assert "over 6 tokens" in said
    assert plain(VARIANTS[variant].source) in said


SETTINGS: list[dict[str, Any]] = [
    {"scale": "none", "mask": ("length",), "valid_len": 0},
    {"scale": "factor", "factor": 0.35, "positions": "sinusoidal"},
    {"variant": "qkv", "config": (("d_k", 3), ("d_v", 11))},
    {"variant": "bilinear", "config": (("parameters", "identity"),)},
    {"variant": "gaussian", "config": (("sigma", 0.7),)},
    {"variant": "additive", "config": (("d_hidden", 1),), "d_model": 1, "s": "cat"},
    {"variant": "multihead", "config": (("heads", 1),), "s": " ".join(HOSTILE)},
    {"variant": "grouped", "d_model": 12, "config": (("heads", 6), ("groups", 2)), "head": 5},
]


@over("settings", SETTINGS)
def test_the_script_follows_every_setting(settings, tmp_path):
    assert_same(computed(**settings), tmp_path)


def test_the_script_prints_the_numbers(tmp_path, capsys):
    result = computed(variant="additive", mask=("causal",))
    script = tmp_path / SCRIPT
    saved = "\nprint([trace.weights.tolist(), trace.output.tolist()])\n"
    script.write_text(pytorch_script(result) + saved, "utf-8")
    runpy.run_path(str(script), run_name="__main__")
    tokens, *said, numbers = capsys.readouterr().out.splitlines()
    assert ast.literal_eval(tokens) == list(result.tokens)
    weights, output = map(torch.tensor, json.loads(numbers))
    assert_close(weights, result.trace.weights)
    assert_close(output, result.trace.output)
    assert any(f"{result.trace.weights[1, 0].item():.4f}" in line for line in said)
    head = pytorch_script(computed(variant="multihead", head=9))
    assert head.startswith('"""Multi-head attention, head 4 of 5, over 6 tokens, every step.')


def test_the_script_defines_only_what_it_uses():
    def defined(**settings: Any) -> tuple[set[str], set[str]]:
        body = ast.parse(pytorch_script(computed(**settings))).body
        (layer,) = (node for node in body if getattr(node, "name", "") == "Layer")
        assert isinstance(layer, ast.ClassDef)
        return (
            {node.name for node in body if isinstance(node, ast.FunctionDef)},
            {node.name for node in layer.body if isinstance(node, ast.FunctionDef)},
        )

    functions, methods = defined()
    assert {"attend", "dot_scores", "masked_softmax", "alibi"} <= functions
    assert not functions & {"additive_scores", "gaussian_scores", "drop", "sinusoidal"}
    assert {"forward", "project", "scores", "output"} <= methods
    assert not methods & {"score_terms", "head_outputs", "add_parameters"}
