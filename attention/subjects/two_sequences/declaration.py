"""Declaration of Two sequences: name in the menu, settings, figures."""

from __future__ import annotations

from collections.abc import Sequence

from attention.app.state.pages import WITHOUT_MODELS, Page, Values
from attention.subjects.two_sequences.words import TRANSLATED, CrossSettings, translated


def _is_translated(values: Values) -> bool:
    return bool(values["cross"] == TRANSLATED)


def _beside_cross(values: Values) -> Sequence[str]:
    if values["cross"] == "numbers":
        return ("variant", "scale", "factor", "seed")
    return () if _is_translated(values) else WITHOUT_MODELS


PAGE = Page(
    "cross",
    "Two sequences",
    "a translator's words, each with lines to those it is made from; queries from one "
    "sentence, keys and values from another; batches with padding and valid lengths, of "
    "sentences or of numbers",
    purpose="One sentence looks at another: a translation at its original, or two of your own.",
    words=(
        "query",
        "key",
        "value",
        "score",
        "scale",
        "mask",
        "softmax",
        "weight",
        "entropy",
        "y",
        "Σ",
        "‖·‖",
        "share of y",
    ),
    figures={
        "lines": "picture",
        "heatmap": "picture",
        "sum": "picture",
        "matrices": "sequence_",
    },
    settings=(CrossSettings,),
    sentence=_is_translated,
    opens=translated,
    attention="cross",
    beside=_beside_cross,
    chapter=lambda values: "picture" if values["cross"] == "sentences" else "",
    place=70,
)

PAGES = (PAGE,)
