"""Declaration of Operations: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import LABORATORY, Page
from attention.subjects.operations import OperationSettings
from attention.subjects.operations.sentence import first

PAGE = Page(
    "operations",
    "Operations",
    "`bmm`, `transpose`, `softmax` along any dimension, temperature, sequence masks and masked "
    "softmax, each checked against torch, and a reference module beside ours; numbers "
    "of your sentence, or typed over in the coloured matrices",
    purpose="The operations attention is made of, on numbers of your own.",
    words=(
        "dot product",
        "softmax",
        "temperature",
        "mask",
    ),
    figures={"matrices": "picture_"},
    settings=(OperationSettings,),
    sentence=lambda values: False,
    fills=first,
    behind=LABORATORY,
    place=90,
)

PAGES = (PAGE,)
