"""Declaration of A real model: name in the menu, settings, figures."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.continuing import SamplingSettings
from attention.app.state.long_texts import LongTextSettings
from attention.app.state.pages import Page, Values
from attention.app.state.shared import load_model
from attention.subjects.model.answers import kind_of
from attention.subjects.model.known_heads import EXAMPLES, first_sentence, known_of
from attention.subjects.model.numbers import on_its_head
from attention.subjects.model.options import (
    AssociationSettings,
    KeySettings,
    LayerSettings,
    PassportSettings,
    SetSettings,
    SwitchSettings,
)
from attention.trained.sources import ADAPTED, NONE


def _last(values: Values, tokens: Sequence[str]) -> int | None:
    """The last piece, where the model goes on from there."""
    says_next = values["model"] != NONE and kind_of(load_model(values["model"])) == "piece"
    return len(tokens) - 1 if says_next else None


def _example(named: Values) -> Values:
    """The sentence that a packaged tuned model is shown with."""
    tuned = [name for name in (named.get("heads_of"), named.get("model")) if name in ADAPTED]
    return {"s": known_of(EXAMPLES, tuned[0])[0].s} if tuned else {}


PAGE = Page(
    "model",
    "A real model",
    "a trained model on your sentence: its answer, all its heads on one map with a switch on "
    "each, where they look, and what is lost without them; cards of sentences whose answer a head "
    "decides; if the finding survives other ways to set the head; a set of prompts in place of one "
    "sentence; a tuned model beside its base, with the heads that carry the change and what else "
    "it changed; a passport of every head, with what fails without it beside chance and on other "
    "texts; layer by layer, why a head looks there, associations",
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
        "W_QK",
        "W_OV",
        "divergence",
        "residual path",
        "layer norm",
        "association",
        "erasure",
        "rank agreement",
        "‖·‖",
        "Σ",
    ),
    figures={
        "window": "model_window",
        "passport": "passport",
        "team": "team",
        "layers": "layer_lines",
        "association": "association",
    },
    settings=(
        SwitchSettings,
        PassportSettings,
        SamplingSettings,
        KeySettings,
        LayerSettings,
        AssociationSettings,
        SetSettings,
        LongTextSettings,
    ),
    models="needed",
    long_texts=True,
    former=("own",),
    unnamed=_example,
    opens=lambda s: "" if s else first_sentence(EXAMPLES),
    computes=on_its_head,
    asks=_last,
    beside=lambda values: (),
    chapter=lambda values: "window",
    place=60,
)

PAGES = (PAGE,)
