"""Declaration of Play: name in the menu, settings, figures."""

from __future__ import annotations

from collections.abc import Sequence

from attention.app.state.long_texts import LongTextSettings
from attention.app.state.openings import AGAINST, HEADS, HOW, FoldSettings, opening
from attention.app.state.pages import PLAY, WITH_WORDS, Page, Place, Values
from attention.subjects.play.against.words import AgainstSettings
from attention.subjects.play.heads.words import HeadSettings
from attention.subjects.play.how.own_matrices import OwnMatrixSettings
from attention.subjects.play.how.step import SEARCHED, StepSettings
from attention.subjects.play.pronoun_words import asked_about
from attention.subjects.play.word_map import MapSettings


def _beside(values: Values) -> Sequence[str]:
    return ("scale", "factor") if values["input"] == "matrices" else WITH_WORDS


def _figure_of_chapter(values: Values) -> str:
    """The figure of a chapter that shows the open fold, "" for matrices of one's own."""
    figure = {HOW: "how", HEADS: "heads", AGAINST: "against"}.get(values["fold"], "picture")
    again = values["fold"] == HOW and values["times"] > 1
    return figure if values["input"] == "sentence" and not again else ""


def _places() -> list[Place]:
    """The steps of *How*, and matrices of one's own."""
    found = [
        Place("Matrices of your own", PLAY, "explore?input=matrices", "numbers by hand, Q K V"),
        Place("A block again", f"{PLAY} · How", "explore?fold=how&times=6", "repeated, depth"),
    ]
    for step, names in SEARCHED.items():
        variant = "&variant=multihead" if step == "joined" else ""
        link = f"explore?fold=how&step={step}{variant}"
        found.append(Place.named(names, f"{PLAY} · How", link))
    return found


PAGE = Page(
    "explore",
    PLAY,
    "where each word of a sentence looks; below it, in its columns, the map of all weights, the "
    "stages of the computation, all heads of a layer, one difference, and the sum term by term",
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
        "head",
        "entropy",
        "y",
        "Σ",
        "‖·‖",
        "share of y",
        "W_q, W_k, W_v",
        "W_o",
        "divergence",
        "rounding error",
        "positions",
        "seed",
    ),
    figures={
        "arcs": "picture",
        "rows": "rows",
        "heatmap": "map_picture",
        "sum": "sum_picture",
        "heads": "head_grid",
        "comparison": "comparison",
        "matrices": "matrices",
    },
    settings=(
        FoldSettings,
        StepSettings,
        HeadSettings,
        AgainstSettings,
        MapSettings,
        OwnMatrixSettings,
        LongTextSettings,
    ),
    sentence=lambda values: bool(values["input"] == "sentence"),
    models="offered",
    long_texts=True,
    starts={"map": "shown"},
    places=_places,
    opens=lambda s: "" if s else opening().link,
    beside=_beside,
    chapter=_figure_of_chapter,
    place=20,
    first=True,
    calm=True,
    asks=lambda values, tokens: asked_about(tokens),
)

PAGES = (PAGE,)
