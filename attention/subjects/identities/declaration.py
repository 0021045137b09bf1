"""Declaration of Identities: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import LABORATORY, Page
from attention.subjects.identities.identities import ALL, ClaimSettings

PAGE = Page(
    "identities",
    "Identities",
    "claims about attention to check, each with how far its sides differ: where a factor may "
    "stand, merged matrices, order, influence, and four common mistakes",
    purpose="Is it true? Both sides of a claim are computed, then compared.",
    words=(
        "rounding error",
        "query",
        "key",
        "W_q, W_k, W_v",
        "d_k",
        "scale",
        "softmax",
        "positions",
        "seed",
    ),
    figures={"matrices": "matrices_"},
    settings=(ClaimSettings,),
    sentence=lambda values: values["source"] == "sentence" and values["claim"] != ALL,
    behind=LABORATORY,
    place=100,
)

PAGES = (PAGE,)
