"""Declaration of Explore: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.long_texts import LongTextSettings
from attention.app.state.openings import HIDDEN, OpeningSettings, opening
from attention.app.state.pages import PLAY, WHOLE_PAGE, WITH_WORDS, Page, Values
from attention.subjects.explore.pronoun_words import asked_about
from attention.subjects.explore.word_map import MapSettings


def _is_calm(values: Values) -> bool:
    return bool(values["numbers"] == HIDDEN and values["figure"] == WHOLE_PAGE)


PAGE = Page(
    "explore",
    "Explore",
    "who attends to whom, and each token's new vector as a weighted sum, term by term and as a "
    "diagram",
    purpose="See which words each word looks at.",
    words=(
        "token",
        "query",
        "key",
        "value",
        "score",
        "scale",
        "d_k",
        "mask",
        "softmax",
        "weight",
        "entropy",
        "y",
        "Σ",
        "‖·‖",
        "share of y",
        "rounding error",
        "positions",
        "seed",
    ),
    figures={"lines": "picture", "heatmap": "picture", "sum": "picture"},
    settings=(MapSettings, OpeningSettings, LongTextSettings),
    models="offered",
    long_texts=True,
    starts={"map": "shown"},
    opens=lambda: opening().link,
    beside=lambda values: WITH_WORDS,
    behind=PLAY,
    chapter=lambda values: "picture",
    place=20,
    first=True,
    calm=_is_calm,
    asks=lambda values, tokens: asked_about(tokens) if _is_calm(values) else None,
)

PAGES = (PAGE,)
