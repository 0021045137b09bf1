"""Declaration of Step by step: name in the menu, settings, figures."""

from __future__ import annotations

from collections.abc import Sequence

from attention.app.state.openings import opening
from attention.app.state.pages import PLAY, WITH_WORDS, Page, Values
from attention.subjects.steps import StepSettings
from attention.subjects.steps.own_matrices import OwnMatrixSettings


def _beside_steps(values: Values) -> Sequence[str]:
    own = values["input"] == "matrices"
    beside = tuple(name for name in WITH_WORDS if name != "join")
    return ("input", "scale", "factor") if own else ("input", *beside)


PAGE = Page(
    "steps",
    "Step by step",
    "the operations from x to y as boxes to step through, one at a time, each cell with its "
    "working; from the sentence, or on small matrices of your own; with *predict, then "
    "reveal*, also as a task in a link",
    purpose="One computation from vectors to output, each number explained.",
    words=(
        "vector",
        "d_model",
        "d_k",
        "W_q, W_k, W_v",
        "query",
        "key",
        "value",
        "score",
        "scale",
        "mask",
        "softmax",
        "weight",
        "y",
        "head",
        "W_o",
        "positions",
        "seed",
    ),
    figures={"matrices": "matrices", "graph": "step_graph"},
    settings=(StepSettings, OwnMatrixSettings),
    sentence=lambda values: bool(values["input"] == "sentence"),
    models="offered",
    beside=_beside_steps,
    opens=lambda: opening().link,
    starts={"variant": "qkv"},
    behind=PLAY,
    chapter=lambda values: "picture" if values["input"] == "sentence" else "",
    place=30,
)

PAGES = (PAGE,)
