"""Declaration of the atlas: name in the menu, settings, figures."""

from __future__ import annotations

from urllib.parse import urlencode

from attention.app.state.pages import Page
from attention.subjects.atlas.words import PURPOSE, AtlasSettings
from attention.subjects.model.declaration import PAGE as WINDOW
from attention.trained import sources
from attention.trained.sources import SMOLLM2

SENTENCE = "The capital of France is"


def _largest() -> str:
    """The link to the atlas of the model with most heads, where that is installed."""
    name = SMOLLM2.about.name
    return urlencode({"model": name, "s": SENTENCE}) if name in sources.names() else ""


PAGE = Page(
    "atlas",
    "Atlas",
    "a passport for every head of a model, listed by what it does: where it looks, what fails "
    "without it, each beside chance and checked on other texts; two heads side by side; a head on "
    "your sentence, and its name to break",
    purpose=PURPOSE,
    words=("head", "weight", "query", "key", "token", "entropy"),
    figures={"map": "head_atlas", "passport": "passport", "own": "own_sentence"},
    settings=(AtlasSettings,),
    sentence=lambda values: False,
    models="needed",
    beside=lambda values: (),
    opens=_largest,
    asks=WINDOW.asks,
    behind=WINDOW.door,
    place=62,
)

PAGES = (PAGE,)
