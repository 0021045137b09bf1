"""Map of where the chosen word goes, drawn when asked for."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.app.cached import kept, runs
from attention.app.components.pictures import chart
from attention.app.controls import notes, widgets
from attention.app.state.shared import neighbours
from attention.app.state.view import View
from attention.core.printing import percent
from attention.figures import maps, tables
from attention.pipeline import Result, Settings
from attention.subjects.explore import word_map
from attention.subjects.explore.word_map import MapSettings, Where, why_nowhere


@kept(64)
def where_it_goes(
    settings: Settings, query: int, probes: tuple[str, ...], other: str = ""
) -> Where | None:
    """Where a token goes, and how near it then is to `probes`; None where there is no map of it.

    other: another sentence with that word, which leaves the map where it is; "" for none.
    """
    beside = runs.result_of(replace(settings, s=other)) if other else None
    nearest = neighbours(settings.vectors)
    return word_map.where_it_goes(runs.result_of(settings), query, probes, nearest, beside)


def draw_word_map(view: View, result: Result, query: int) -> None:
    """Where the chosen word goes, on a map that is drawn when asked for."""
    if result.words is None or result.memory is not None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "map", width="content")
        if view.applies("probes"):
            widgets.widget(view, "probes", width=320, placeholder="fruit, computer")
    settings = view.of(MapSettings)
    if settings.map == "hidden":
        return
    unknown = (word for word in settings.words if word not in result.words.stoi)
    notes.note_unknown_words(unknown, "they are not on the map")
    left, right = st.columns([7, 5], gap="large")
    with left:
        found = draw_map(result, query, settings.words)
    if found is not None:
        with right:
            cosines_of(found)


def draw_map(result: Result, query: int, probes: tuple[str, ...], other: str = "") -> Where | None:
    """Draws the map of where a token goes, or says why there is none.

    other: as in `where_it_goes`.
    """
    found = where_it_goes(result.settings, query, probes, other)
    if found is None:
        notes.note(why_nowhere(result, query))
    else:
        drawn = maps.word_map(found.token, found.spots, found.start, found.end, found.reach)
        label = f"Map of words: where “{found.token}” stands alone, and where it stands here."
        chart(drawn, label, key="word_map")
    return found


def cosines_of(found: Where) -> None:
    """Show the cosines of the word with others before and after, in numbers."""
    names, columns = found.table
    st.html(tables.table("cosines before and after attention", names, columns))
    st.caption(
        "Cosine of the word's vector with these words, before attention and after. The map is "
        "the plane on which the named words differ most; it keeps "
        f"{percent(found.kept)} of their spread. All vectors are drawn at length 1."
    )
