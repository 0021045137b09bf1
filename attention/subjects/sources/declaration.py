"""Declaration of Sources: name in the menu, settings."""

from __future__ import annotations

from attention.app.state.pages import LABORATORY, Page
from attention.subjects.sources.steps import SourceSettings

PAGE = Page(
    "sources",
    "Sources",
    "four documents that the app grew out of, step by step: each step with its number, a link that "
    "opens it, and mistakes beside the right result",
    purpose="Documents that this app grew out of: each of their steps opens, live.",
    settings=(SourceSettings,),
    sentence=lambda values: False,
    behind=LABORATORY,
    place=110,
)

PAGES = (PAGE,)
