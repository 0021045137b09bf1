"""The examples of the docs, run as they are copied."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLAIMS = {
    "A model of transformers": """
        assert last.shape == (1, 10) and abs(float(last.sum()) - 1) < 1e-6
        assert again.tokens == tokens == "the cat sat on the mat because it was tired".split()
        assert (again.weights(1, 2, -1) == last).all()
    """,
    "In a notebook": """
        assert (widget.layer, widget.head, widget.query) == (0, 3, 5)
        assert (row == run.weights(0, 3, 5)).all()
    """,
    "As one file": """
        assert b"DecompressionStream" in open("run.html", "rb").read()
    """,
    "A model of your own": """
        assert kept.queries.shape == kept.values.shape == (3, 4, 4096, 8)
        assert overview.shape == (64, 64) and float(overview[0, 1:].max()) == 0
        assert (shares.sum(1) - 1).abs().max() < 1e-5
        assert (tile.max() <= overview[46:51, :4].max()).all()
    """,
    "Torch's own encoder": """
        weights = run.weights(1, 3, entry=1)
        assert weights[:, 4:].abs().max() == 0 and (weights.sum(1) - 1).abs().max() < 1e-5
    """,
    "A model that writes": """
        assert run.attentions[0].shape == (1, 2, 11, 11) and len(tokens) == 12
        assert float(run.weights(1, 2, 5, 6)) == 0 < float(run.weights(1, 2, 6, 6))
    """,
    "Layers without a softmax": """
        assert row.shape == (1, 6) and abs(float(row.sum()) - 1) > 0.1
        assert "a convolution of 3 positions before it, a gate and any norm after it" in kept
        assert run.attention(1).weights_are_a_distribution
    """,
    "A picture": """
        assert patches.shape == (1, 9) and 0 < float(patches.sum()) < 1
        assert b"data:image/png;base64," in open("picture.html", "rb").read()
    """,
    "A picture within a text": """
        row = run.weights(asked.layer, 2, asked.query)
        assert (asked.layer, asked.head, asked.query) == (3, 2, 12) and row.shape == (1, 13)
    """,
    "A sound": """
        assert (heard.layer, heard.head, heard.query) == (5, -1, 2)
    """,
    "A model that is changed": """
        assert found.change.shape == restored.after.shape == (2, 3)
        assert abs(float(found.change[strongest])) == float(found.change.abs().max()) != 0
        assert votes.heads.shape == (2, 3)
        assert outputs.logits.shape == (1, 6, 53) and means[1].shape == (3, 1, 4)
        assert path.shape == (2, 6)
        assert len(team.heads) == len(team.after) <= 2 and len(team.chance) <= 20
    """,
    "All heads of a long run": """
        assert len(heads) == 8 and heads["exact"].all()
        assert heads["induction"].is_monotonic_decreasing
        assert ((far["query"] - far["key"]).abs() >= 5).all() and (far["key"] > 0).all()
        assert len(asked) == 8 and set(asked["query"]) == {10} and set(found["key"]) == {1, 8}
        assert (row["weight"] == run.weights(1, 2, -1)[0].numpy()).all() and len(tile) == 16
    """,
    "What is left out": """
        assert [(row.module, row.state) for row in report.rows] == [
            ("0.self_attn", "kept"), ("1.convolution", "left out")]
        assert told == "not kept: 1.convolution convolves 3 positions"
    """,
    "A training loop": """
        assert [run.step for run in (early, middle, late)] == [0, 100, 200]
        assert (early.attentions[0].keys != late.attentions[0].keys).any()
        assert (row == middle.weights(0, 2, 0)).all() and learning.given["step"] == 100
    """,
}


def examples() -> dict[str, str]:
    text = (ROOT / "docs" / "capture.md").read_text("utf-8")
    sections = [section.split("\n", 1) for section in text.split("\n## ")[1:]]
    found = {
        title: re.findall(r"```python\n(.*?)```", words, re.DOTALL) for title, words in sections
    }
    return {title: codes[0] for title, codes in found.items() if codes}


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Code in a fresh Python, with tiny models in place of those that the docs name."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import tests.capture.stand_ins\n{code}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )


def test_each_line_of_ours_in_the_table_of_names_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "names.md").read_text("utf-8")
    (before,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    lines = re.findall(r"^\| `([^`]+)` \|(?! TransformerLens)", page, re.MULTILINE)
    assert len(lines) == 22
    parts = [
        f"print(len(repr(({line}))))" if line[:5] not in ("with ", "means") else line
        for line in lines
    ]
    ran = run("\n".join([before, *parts]), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == sum(part.startswith("print") for part in parts)


def test_the_examples_of_the_docs_run_as_they_are_copied(tmp_path: Path) -> None:
    shown = examples()
    assert shown.keys() == CLAIMS.keys()
    parts = [
        shown[title] + re.sub(r"^ +", "", CLAIMS[title], flags=re.MULTILINE) for title in shown
    ]
    ran = run("".join(parts), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [" ".join(["2", *3 * ["torch.Size([3, 4, 4096, 8])"]])]
