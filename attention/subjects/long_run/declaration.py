"""Declaration of Own run: name in the menu, settings, figures."""

from __future__ import annotations

from attention.app.state.pages import REAL_MODEL, Page
from attention.subjects.long_run import example
from attention.subjects.long_run.numbers import has_owners_run
from attention.subjects.long_run.settings import LongRunSettings

PAGE = Page(
    "own",
    "Own run",
    "a run of any model that `attention.capture()` has kept, or any weights, from a file, in "
    "the same pictures",
    purpose="A run of your own model from a file: which token looks at which in every head.",
    words=(
        "token",
        "head",
        "query",
        "key",
        "weight",
        "entropy",
    ),
    settings=(LongRunSettings,),
    figures={"heads": "glance", "heatmap": "picture"},
    sentence=lambda values: False,
    opens=lambda: "" if has_owners_run() else example.LINK,
    behind=REAL_MODEL,
    place=65,
)

PAGES = (PAGE,)
