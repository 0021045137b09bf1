"""Declaration of Compare: name in the menu, settings, figures."""

from __future__ import annotations

from urllib.parse import urlencode

from attention.app.state.openings import opening
from attention.app.state.pages import PLAY, SHARED, WITH_WORDS, Page, variant_settings
from attention.app.state.sides import other_side
from attention.subjects.compare.words import CompareSettings


def _two_endings() -> str:
    """The link that two sentences are compared by: those of the opening."""
    one = opening()
    return f"{one.link}&{urlencode({'compare': 'pair', 's2': one.sentences[1]})}"


PAGE = Page(
    "compare",
    "Compare",
    "two settings on one sentence and what changes between them; one setting swept over its "
    "range; two sentences that differ in a word",
    purpose="Change a setting or a word, and see which weights change.",
    words=(
        "query",
        "key",
        "scale",
        "temperature",
        "weight",
        "entropy",
        "divergence",
        "cosine",
        "positions",
        "seed",
    ),
    figures={"comparison": "comparison", "sweep": "sweep_view"},
    settings=(CompareSettings,),
    further_settings=lambda: other_side(variant_settings() | SHARED),
    models="offered",
    opens=_two_endings,
    beside=lambda values: WITH_WORDS,
    behind=PLAY,
    chapter=lambda values: "sweep" if values["compare"] == "sweep" else "compare",
    place=50,
)

PAGES = (PAGE,)
