"""Declaration of Watch it learn: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import Page
from attention.subjects.learning.race import RaceSettings
from attention.training import TrainingSettings

PAGE = Page(
    "learning",
    "Watch it learn",
    "small tasks learned live on the server: the loss as a curve and the attention of every "
    "head, step by step, beside a linear layer and a GRU, or with one thing taken away; "
    "a race of layers over their memory; and SmolLM2 as it is tuned, with the heads that begin to "
    "matter",
    purpose="See a head that is nothing at first find its task, step by step.",
    words=("head", "query", "key", "weight", "softmax", "d_k", "mask", "positions"),
    figures={"learning": "learning_figure"},
    settings=(TrainingSettings, RaceSettings),
    sentence=lambda values: False,
    chapter=lambda values: "learning",
    place=80,
)

PAGES = (PAGE,)
