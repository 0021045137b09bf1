"""Declaration of Sources: name in the menu, settings."""

from __future__ import annotations

from urllib.parse import urlencode

from attention.app.state.pages import LABORATORY, Page, Place
from attention.subjects.sources.steps import SourceSettings, names, source

LONGEST = 200  # letters of a link; a step with a longer one is found on the page


def _places() -> list[Place]:
    """The steps of all documents."""
    found = []
    for name in names():
        page = f"sources?{urlencode({'document': name})}"
        steps = [step for section in source(name).sections for step in section.steps]
        for at, step in enumerate(steps, 1):
            link = step.address if len(step.address) <= LONGEST else page
            told = step.says.replace("`", "")
            found.append(Place(f"{name}, step {at}", told, link, whole=link != page))
    return found


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
    places=_places,
)

PAGES = (PAGE,)
