"""Work on heads that go out one after the other: what is done in their figure, and its searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import streamlit as st

from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.changing.change import Head
from attention.subjects.model import choices, team_numbers
from attention.subjects.model.figures import TeamFilm
from attention.subjects.model.team_numbers import Search
from attention.subjects.model.team_scene import BESIDE, EVERY, MORE
from attention.subjects.model.window import WindowState


def taken_from(film: TeamFilm, shown: WindowState) -> Mapping[str, Handler]:
    """For each event of the figure what is asked of an answer, and what is done then."""
    return {
        "team": (film.has_team, partial(set_team, shown)),
        "act": (film.has_act, partial(act, shown)),
    }


def set_team(shown: WindowState, team: Sequence[int]) -> None:
    """Switch off these heads in their order, within a callback; a search for others ends."""
    for task, _ in tasks_of(shown):
        if task.is_asked_for:
            works.leave(task)
    heads = shown.model.layers[0].attention.heads
    choices.set_off(shown.model, [divmod(position, heads) for position in team])


def act(shown: WindowState, name: str) -> None:
    """Do what a button of the figure says, within a callback."""
    if name == MORE:
        choices.begin(one_more(shown))
    elif name == EVERY:
        choices.set_off(shown.model, ())
        choices.begin(team_numbers.search_of(shown.asked, every=True))
    elif name == BESIDE:
        choices.begin((shown.asked, shown.off))


def one_more(shown: WindowState) -> Search:
    """Search for the next head beside those that are off."""
    return Search(shown.asked, shown.off, 1)


def tasks_of(shown: WindowState) -> Iterator[tuple[works.Task, Callable[[], object]]]:
    """Each work that may have been asked for, and what is done once it is over."""
    several = (team_numbers.search_of(shown.asked, every=every) for every in (False, True))
    searches = *several, one_more(shown)
    for search in searches:
        task = works.Task(
            *(search, team_numbers.steps_to_team(search), False, False, "needs_work"),
            so_far=partial(go_out, shown),
        )
        yield task, partial(end, shown, search)
    steps = team_numbers.steps_to_beside(shown.asked, shown.off)
    yield works.Task((shown.asked, shown.off), steps, False, False, "beside_work"), lambda: None


def go_out(shown: WindowState, found: tuple[Head, ...]) -> None:
    """Switch off the heads that a search has found so far, and draw all that anew."""
    if len(found) > len(shown.off) and shown.off == found[: len(shown.off)]:
        choices.set_off(shown.model, found)
        st.rerun()


def end(shown: WindowState, search: Search) -> None:
    """Switch off the heads that a search has found, and ask what stands beside them."""
    found = team_numbers.found_by(search)
    if found and shown.off == found[: len(shown.off)]:
        choices.set_off(shown.model, found)
        choices.begin((shown.asked, found))


def work(shown: WindowState) -> None:
    """Work on what was asked for, show how far it is, and draw all anew once it is over."""
    what = choices.followed()
    if what is None:
        return
    for task, then in tasks_of(shown):
        if task.what == what and (task.is_asked_for or not task.steps):
            if task.steps and not works.done(task):
                return
            choices.follow(None)
            then()
            st.rerun()
    choices.follow(None)
