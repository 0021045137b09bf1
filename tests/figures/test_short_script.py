"""The short script gives the shown output without us, in a few lines."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest
from torch.testing import assert_close

from attention.core.papers import plain
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.figures.short_script import is_short, short_script
from attention.pipeline import Result
from tests.cases import over
from tests.core.variant_claims import readmes_variant
from tests.figures.test_script import EVERYTHING, computed
from tests.hostile import HOSTILE

SHORT = [name for name, variant in VARIANTS.items() if variant.short]


def check_same(result: Result, folder: Path) -> None:
    assert is_short(result)
    file = folder / "attention_short.py"
    file.write_text(short_script(result), "utf-8")
    found = runpy.run_path(str(file))
    assert_close(found["scores"], result.trace.scores, rtol=1e-5, atol=1e-5)
    assert_close(found["weights"], result.trace.weights, rtol=1e-5, atol=1e-6)
    assert_close(found["output"], result.trace.output, rtol=1e-5, atol=1e-5)


CASES: list[dict[str, Any]] = [
    {},
    {"mask": ("causal",), "positions": "sinusoidal", "scale": "1/√(d_k·d_v)", "seed": 7},
    {"positions": "alibi", "scale": "factor", "factor": 0.1414213562373095},
    {"memory": "hello, world", **EVERYTHING},
    {"mask": ("length",), "valid_len": 0, "config": (("parameters", "identity"),), "head": 3},
]


@pytest.mark.parametrize("variant", SHORT)
@over("settings", CASES)
def test_the_short_script_gives_the_shown_weights_and_output(
    variant: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    values = {**settings}
    memory = values.pop("memory", None)
    if "parameters" not in settings_of(VARIANTS[variant].Config):
        values.pop("config", None)
    result = computed(memory, variant=variant, **values)
    check_same(result, tmp_path)
    assert len(ast.parse(short_script(result)).body) <= 17, "lines of code"


def test_heads_of_groups_and_widths_are_followed_and_rotated_queries_have_none(
    tmp_path: Path,
) -> None:
    grouped: dict[str, Any] = {"variant": "grouped", "d_model": 12}
    for head in range(6):
        config = (("heads", 6), ("groups", 2))
        check_same(computed(**grouped, config=config, head=head, positions="alibi"), tmp_path)
    check_same(computed(variant="qkv", config=(("d_k", 3), ("d_v", 11))), tmp_path)
    check_same(computed(variant="gaussian", config=(("sigma", 0.7),)), tmp_path)
    check_same(computed(variant="cosine", s="cat cat zero", vectors="random"), tmp_path)
    assert not is_short(computed(positions="rotary"))
    with readmes_variant(tmp_path) as variant:
        assert not is_short(computed(variant=variant.name))


def test_the_short_script_needs_torch_alone_and_holds_nothing_that_was_typed() -> None:
    script = short_script(computed("\n".join(HOSTILE), s=" ".join(HOSTILE), variant="qkv"))
    tree = ast.parse(script)
    imported = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import)]
    assert imported == ["import torch"]
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert [text for text in strings if isinstance(text, str)] == [ast.get_docstring(tree)]
    assert plain(VARIANTS["qkv"].source) in (ast.get_docstring(tree) or "")
