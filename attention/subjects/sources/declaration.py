"""Declaration of Sources: name in the menu, settings."""

from __future__ import annotations

from attention.app.state.pages import LABORATORY, Page
from attention.subjects.sources.steps import SourceSettings

PAGE = Page(
    "sources",
    "Sources",
    "two notebooks and two texts on attention, step by step: each step's number, how far it is "
    "the document's own, a link that opens it, and mistakes beside the right result",
    purpose="Have you read one of these? Each of its steps opens here, live.",
    settings=(SourceSettings,),
    sentence=lambda values: False,
    behind=LABORATORY,
    place=110,
)

PAGES = (PAGE,)
