"""Pages of docs/ whose code runs, each line of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from attention.training import TASKS

DOCS = Path(__file__).parents[1] / "docs"


def names_of(page: str) -> dict[str, Any]:
    """All that the blocks of a page, run one after the other, give a name."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": page}
    exec(compile("\n".join(blocks), page, "exec"), names)
    return names


def test_the_task_of_ones_own_on_its_page_is_learned() -> None:
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


def test_the_page_on_layers_without_a_softmax_runs() -> None:
    names = names_of("without_softmax.md")
    assert names["kept"].shape == (7, 5, 5)
