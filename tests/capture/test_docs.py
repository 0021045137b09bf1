"""The examples of the docs, run as they are copied."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


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


def test_each_line_of_ours_in_the_table_of_names_runs(tmp_path):
    page = (ROOT / "docs" / "names.md").read_text("utf-8")
    (before,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    lines = re.findall(r"^\| `([^`]+)` \|(?! TransformerLens)", page, re.MULTILINE)
    assert len(lines) == 23
    parts = [
        f"print(len(repr(({line}))))" if line[:5] not in ("with ", "means") else line
        for line in lines
    ]
    ran = run("\n".join([before, *parts]), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == sum(part.startswith("print") for part in parts)


def test_the_examples_of_the_docs_run_as_they_are_copied(tmp_path):
    sections = (ROOT / "docs" / "capture.md").read_text("utf-8").split("\n## ")[1:]
    first = [re.search(r"```python\n(.*?)```", section, re.DOTALL) for section in sections]
    parts = [found[1] for found in first if found]
    assert len(parts) > 12
    ran = run("".join(parts), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [" ".join(["2", *3 * ["torch.Size([3, 4, 4096, 8])"]])]
