"""Declaration of Heads: name in the menu, settings, figures."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from attention.app.state.openings import OpeningSettings, opening
from attention.app.state.pages import PLAY, WITH_WORDS, Page
from attention.subjects.heads.words import HeadSettings


def _layer_to_guess() -> str:
    """The link of the opening, in a layer that has a head which looks one word back."""
    link = dict(parse_qsl(opening().link))
    return urlencode(link | {"layer": 0, "head": 0} if "layer" in link else link)


PAGE = Page(
    "heads",
    "Heads",
    "every head of a layer at a glance, what each attends to, what it adds to the output, and "
    "its neurons",
    purpose="Where each head of a layer looks, and its part of the output.",
    words=(
        "head",
        "query",
        "key",
        "weight",
        "entropy",
        "even spread",
        "W_o",
        "y",
        "share of y",
        "rounding error",
        "seed",
    ),
    figures={"heads": "head_grid", "heatmap": "picture", "lines": "head_view"},
    settings=(HeadSettings, OpeningSettings),
    models="offered",
    beside=lambda values: tuple(
        "heads_variant" if name == "variant" else name for name in WITH_WORDS if name != "head"
    ),
    opens=_layer_to_guess,
    behind=PLAY,
    chapter=lambda values: "heads",
    place=40,
)

PAGES = (PAGE,)
