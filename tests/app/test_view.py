"""The states of a visit and the view of a run, without Streamlit or a browser."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES, Page
from attention.app.state.view import View, view_of
from attention.app.state.visit import Entry, Visit
from attention.trained import sources
from attention.trained.sources import NONE
from tests.cases import over
from tests.hostile import links
from tests.properties import given
from tests.properties import strategies as st
from tests.running import opened

page_named = {page.name: page for page in PAGES}
EXPLORE, CROSS = page_named["explore"], page_named["cross"]


def view(page: Page = EXPLORE, widgets: dict[str, Any] | None = None, **link: str) -> View:
    texts = {name: [text] for name, text in link.items()}
    return view_of(page, Visit(), texts, widgets or {})


def test_a_run_opens_a_link_stays_arrives_or_returns():
    there = Visit().entered(EXPLORE, Entry.OPENED, ())
    taking = replace(there, page="", drawn=frozenset({"head"}))  # the link of the step before
    for visit, page, returned, entry in (
        (Visit(), EXPLORE, False, Entry.OPENED),
        (Visit(), EXPLORE, True, Entry.OPENED),
        (there, EXPLORE, False, Entry.STAYED),
        (there, CROSS, False, Entry.ARRIVED),
        (there, CROSS, True, Entry.RETURNED),
        (there, EXPLORE, True, Entry.RETURNED),
        (taking, EXPLORE, False, Entry.OPENED),
        (taking, CROSS, True, Entry.RETURNED),
    ):
        assert visit.entry(page, returned=returned) is entry


@over("entry", Entry)
def test_the_address_decides_where_a_link_is_opened_or_returned_to(entry):
    anew = entry in (Entry.OPENED, Entry.RETURNED)
    before = Visit(page="explore", problems=("old",), selected={"query": 3}, opened_as="as it was")
    now = before.entered(CROSS, entry, ["new"])
    assert (now.page, now.started) == ("cross", {"cross"})
    assert now.problems == ("new" if anew else "old",)
    assert dict(now.selected) == ({} if anew else {"query": 3})
    assert now.opened_as == (None if anew else "as it was")


def test_a_choice_in_the_pictures_is_taken_as_far_as_it_is_legal():
    before = Visit(selected={"query": 1, "stage": "scores"})
    chosen = before.selecting({"query": -1, "stage": "scaled"})
    assert dict(chosen.selected) == {"query": 1, "stage": "scaled"}


def test_a_choice_from_code_holds_until_the_browser_has_received_it():
    chosen = Visit().choosing("seed", 5, sent=0)
    assert (chosen.newest("seed", 0), chosen.newest("seed", 7)) == (5, 7)
    again = chosen.choosing("seed", 9, sent=0)
    assert [again.newest("seed", sent) for sent in (0, 5, 9, 7)] == [9, 9, 9, 7]
    assert again.last_choice == 2
    received = dataclasses.replace(again, received=1)
    assert received.newest("seed", 0) == 9
    received = dataclasses.replace(again, received=2)
    assert (received.newest("seed", 0), received.newest("heads", 3)) == (0, 3)
    assert received.choosing("seed", 4, sent=0).newest("seed", 5) == 5
    back = chosen.choosing("seed", 0, sent=0)
    assert (back.newest("seed", 0), back.newest("seed", 5)) == (0, 0)


def test_a_widget_decides_before_the_link_and_the_link_before_the_default_and_all_is_legal():
    assert view()["seed"] == 0
    assert view(seed="3")["seed"] == 3
    assert view(widgets={"seed": 5}, seed="3")["seed"] == 5
    assert view(widgets={"mask": ["window", "causal"]})["mask"] == ("causal", "window")
    assert view(widgets={"seed": -1})["seed"] == 0
    shown = view(seed="10000", scale="<b>", hide="foo, seed")
    assert (shown["seed"], shown.hidden) == (0, {"seed"})
    with pytest.raises(TypeError):
        shown["s"] = "a cat"
    for frozen in (shown, Visit()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            frozen.page = CROSS


@given(st.randoms(use_true_random=False), st.sampled_from(PAGES))
def test_every_value_of_a_view_is_legal_whatever_the_link_says(draw, page):
    declared = every_setting()
    ((_, link),) = links(draw, 1)
    shown = view(page, **link)
    for name, about in declared.items():
        assert about.problem(shown[name]) is None, name
    shown.settings()


def test_a_number_that_must_divide_another_is_lowered_until_it_does():
    shown = view(vectors="random", d_model="12", heads="5")
    assert (shown["heads"], shown.divided("heads")) == (4, 12)
    assert view(heads="10")["heads"] == 10  # of 50


@over("page", PAGES)
def test_a_trained_model_is_in_force_only_where_the_page_has_models(page):
    first = sources.names()[1]
    expected = {"": NONE, "offered": first, "needed": first}[page.models]
    assert view(page, model=first)["model"] == expected
    assert view(page)["model"] == (first if page.models == "needed" else NONE)


def test_settings_without_any_effect_have_their_default():
    shown = view(radius="5", factor="2.5", seed="7")
    assert (shown.settings().radius, shown.settings().factor, shown.settings().seed) == (1, 1.0, 0)
    shown = view(radius="5", mask="window", vectors="random", seed="7")
    assert (shown.settings().radius, shown.settings().seed) == (5, 7)


def test_a_view_is_made_once_for_all_parts_of_a_run(monkeypatch):
    made: list[View] = []

    def counted(*given: Any) -> View:
        made.append(view_of(*given))
        return made[-1]

    app = opened("cross")
    app.run()
    monkeypatch.setattr(session, "view_of", counted)
    app.run()
    assert made == [], "nothing has changed"
    app.choose("scale", "none")
    assert [view["scale"] for view in made] == ["none"]
