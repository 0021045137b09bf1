"""Declaration of A real model: name in the menu, settings, figures."""

from __future__ import annotations

from dataclasses import replace

from attention.analysis.continuing import SamplingSettings
from attention.analysis.questions import CauseSettings
from attention.app.state.pages import Page
from attention.subjects.long_run.text_words import LongTextSettings
from attention.subjects.model.association_words import AssociationSettings, opening_link
from attention.subjects.model.known_heads import EXAMPLES, first_cause, first_link
from attention.subjects.model.layer_words import KeySettings, LayerSettings
from attention.subjects.model.words import ASSOCIATIONS, COMPUTED, LOOKS, PARTS, SwitchSettings

PAGE = Page(
    "model",
    "A real model",
    "a trained model on your sentence: its answer, all its heads on one map with a switch on "
    "each, where they look, and what is lost without them; behind tabs layer by layer, why a "
    "head looks there, heads in numbers, associations by many methods, names of heads",
    purpose="A trained model's answer, and all its heads with a switch on each.",
    words=(
        "token",
        "head",
        "query",
        "key",
        "value",
        "score",
        "weight",
        "entropy",
        "even spread",
        "W_o",
        "residual path",
        "layer norm",
        "association",
        "erasure",
        "rank agreement",
        "‖·‖",
        "Σ",
    ),
    figures={"window": "model_window", "heatmap": "picture", "layers": "layer_lines"},
    settings=(
        SwitchSettings,
        SamplingSettings,
        KeySettings,
        LayerSettings,
        CauseSettings,
        AssociationSettings,
        LongTextSettings,
    ),
    models="needed",
    long_texts=True,
    opens=lambda: first_link(EXAMPLES),
    beside=lambda values: (),
    chapter=lambda values: "picture",
    place=60,
)

# Pages of before, whose links lead to a view of the page that took their place.
EARLIER = (
    replace(
        PAGE,
        name="trained",
        file=PAGE.path,
        earlier=True,
        figures={"heads": "model_window", "heatmap": "picture", "layers": "layer_lines"},
        implied={"lens": LOOKS, "more": COMPUTED},
    ),
    replace(
        PAGE,
        name="causes",
        file=PAGE.path,
        earlier=True,
        figures={"effects": "effects", "lines": "model_window"},
        opens=first_cause,
        implied={"more": PARTS},
    ),
    replace(
        PAGE,
        name="associations",
        file=PAGE.path,
        earlier=True,
        figures={
            "lines": "association_0",
            "heatmap": "association_0",
            "graph": "association_graph",
            "curves": "association_curves",
        },
        opens=opening_link,
        implied={"more": ASSOCIATIONS},
    ),
)

PAGES = (
    PAGE,
    *EARLIER,
)
