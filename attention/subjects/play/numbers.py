"""Numbers of Play: where the chosen word goes."""

from __future__ import annotations

from dataclasses import replace

from attention.app.cached import kept, runs
from attention.app.state.shared import neighbours
from attention.pipeline import Settings
from attention.subjects.play import word_map
from attention.subjects.play.word_map import Where


@kept(64)
def where_it_goes(
    settings: Settings, query: int, probes: tuple[str, ...], other: str = ""
) -> Where | None:
    """Move of a token on the map, and how near it then is to `probes`; None without a map.

    other: another sentence with that word, which leaves the map where it is; "" for none.
    """
    beside = runs.result_of(replace(settings, s=other)) if other else None
    nearest = neighbours(settings.vectors)
    return word_map.where_it_goes(runs.result_of(settings), query, probes, nearest, beside)
