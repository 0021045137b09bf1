"""Tutorials of docs/ whose code runs, with all that is claimed of it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attention.trained import sources
from attention.trained.models import Transformer
from attention.training import TASKS
from tests.trained.packaged import packaged

DOCS = Path(__file__).parents[1] / "docs"


def names_of(page: str) -> dict[str, Any]:
    """All that the blocks of a page, run one after the other, give a name."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": page}
    exec(compile("\n".join(blocks), page, "exec"), names)
    return names


def cells(notebook: str = "indirect_objects") -> list[tuple[str, str]]:
    """Code of the cells of a notebook, each with what it printed."""
    kept = json.loads((DOCS / f"{notebook}.ipynb").read_text("utf-8"))["cells"]
    return [
        (
            "".join(cell["source"]),
            "".join(cell["outputs"][0].get("text", "") if cell["outputs"] else ""),
        )
        for cell in kept
        if cell["cell_type"] == "code"
    ]


def test_the_notebook_runs_on_two_layers_of_its_model_and_on_one_of_transformers(
    monkeypatch, tmp_path
):
    whole = packaged("smollm2")
    few = replace(whole.parts, layers=whole.parts.layers[:2])
    monkeypatch.setattr(sources, "load", lambda name: Transformer(whole.about, whole._read, few))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, _ in cells():
        code = code.replace("(0, 10, 20, 29)", "(0, 1)")
        exec(compile(code, "indirect_objects.ipynb", "exec"), names)
    titles = [figure.label for figure in names["scene"]]
    assert len(titles) == 4
    written = (tmp_path / "indirect_objects.html").read_text("utf-8")
    assert "<title>Indirect objects</title>" in written
    assert names["votes"].heads.shape == names["off"].change.shape == (2, 3)
    assert names["path"].shape == (2, 8)


def test_the_votes_in_the_notebook_are_those_of_its_model(capsys, monkeypatch):
    model = packaged("smollm2")
    monkeypatch.setattr(sources, "load", lambda name: model)
    names: dict[str, Any] = {}
    for code, printed in cells()[:2]:
        exec(compile(code, "indirect_objects.ipynb", "exec"), names)
        assert capsys.readouterr().out == printed


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # PEFT asks for it
def test_the_notebook_on_a_tuning_finds_the_heads_that_carry_it_and_keeps_runs_on_the_way(
    monkeypatch, tmp_path
):
    pytest.importorskip("peft", reason="needs peft (requirements-dev.txt)")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, _ in cells("tuned"):
        exec(compile(code, "tuned.ipynb", "exec"), names)
    found = names["found"]
    base, tuned = found.answers[["base", "tuned"]].mean()
    assert base < 30 < 60 < tuned
    assert found.heads["put_back"].min() < -10  # points
    assert found.team["undone"].iloc[-1] >= 0.5
    assert abs(found.outside_heads) < 1e-3  # W_q, W_k and W_v alone were tuned
    kept = sorted(file.name for file in (tmp_path / "runs").iterdir())
    assert kept == [f"{step:08d}-PeftModel.safetensors" for step in (0, 10, 60)]
    maps = [names["runs"][step].weights(1, 0) for step in (0, 60)]
    assert (maps[0] - maps[1]).abs().max() > 0.01
    with pytest.raises(ValueError, match=r"steps must be at least 0, got \[-1, 2\]"):
        names["attention"].capture.keep_runs({}, "runs", steps=[2, -1])


@pytest.mark.soak
def test_the_notebook_prints_what_stands_in_it(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(DOCS / "indirect_objects.ipynb", 4)
    place = {"metadata": {"path": str(tmp_path)}}
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    nbclient.NotebookClient(notebook, timeout=3000, resources=place).execute(env=environment)
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, (_, printed) in zip(ran, cells(), strict=True):
        found = "".join(one.text for one in cell.outputs if one.get("name") == "stdout")
        assert re.findall(r"\d+", found) == re.findall(r"\d+", printed)


def test_the_task_of_ones_own_on_its_page_is_learned():
    known = {*TASKS}
    try:
        names = names_of("training.md")
        assert {*TASKS} - known == {"echo"}
        assert names["right"] > 0.95
        assert names["progress"].step == 250
        looked = names["progress"].maps.diagonal(-3, -2, -1)
        assert looked[..., 3:].mean(-1).max() > 0.9
    finally:
        TASKS.pop("echo", None)
