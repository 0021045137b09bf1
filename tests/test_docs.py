"""Pages of docs/ whose code runs, each line of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_on_layers_without_a_softmax_runs() -> None:
    page = (DOCS / "without_softmax.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks), "without_softmax.md", "exec"), names)
    assert names["kept"].shape == (7, 5, 5)
