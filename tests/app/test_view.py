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
from attention.app.state.visit import Visit, legal_selection
from attention.trained import sources
from attention.trained.sources import NONE
from tests.cases import over
from tests.hostile import links
from tests.properties import given
from tests.properties import strategies as st
from tests.running import opened

page_named = {page.name: page for page in PAGES}
EXPLORE, CROSS = page_named["explore"], page_named["cross"]


def visit(page: Page = EXPLORE, **link: str) -> Visit:
    return Visit().opening(page, {name: [text] for name, text in link.items()}, ())


def view(page: Page = EXPLORE, **link: str) -> View:
    return view_of(page, visit(page, **link))


def test_the_address_decides_where_a_link_is_opened_and_all_goes_along_from_page_to_page():
    before = visit(EXPLORE, s="a cat", figure="heatmap", hide="mask", heads="7")
    opened_as = replace(before, opened_as="as it was", problems=("old",))
    assert (before.page, before.started) == ("explore", {"explore"})
    there = opened_as.arriving(CROSS)
    assert (there.page, there.started) == ("cross", {"explore", "cross"})
    assert dict(there.settings) == {"s": "a cat", "heads": 7}, "what a link hid is drawn again"
    assert (there.problems, there.opened_as) == (("old",), "as it was")
    back = there.opening(CROSS, {"seed": ["3"]}, ["new"])
    assert dict(back.settings) == {"seed": 3}
    assert (back.problems, back.opened_as) == (("new",), None)


def test_a_choice_in_the_pictures_is_taken_as_far_as_it_is_legal():
    chosen = legal_selection({"query": -1, "stage": "scaled", "seed": 5})
    assert chosen == {"stage": "scaled"}


def test_a_wish_outlives_what_cannot_be_had_for_a_while():
    wished = visit(variant="multihead", heads="10", vectors="random", d_model="12")
    shown = view_of(EXPLORE, wished)
    assert (shown["heads"], shown.in_address["heads"]) == (6, 10)
    assert view_of(EXPLORE, wished.choosing(d_model=20))["heads"] == 10
    assert view_of(CROSS, visit(model=sources.names()[1]))["model"] == NONE
    assert view_of(EXPLORE, visit(model=sources.names()[1]))["model"] != NONE


def test_the_address_has_the_settings_with_an_effect_that_are_no_defaults():
    wished = visit(s="a cat", radius="5", factor="2", scale="factor", seed="3", query="1", rho="1")
    assert view_of(EXPLORE, wished).in_address == {"s": "a cat", "scale": "factor", "factor": 2.0}
    assert view_of(CROSS, visit(fold="how", s="a cat")).in_address == {"s": "a cat"}


def test_what_is_not_legal_has_its_default():
    assert view()["seed"] == 0
    assert view(seed="3")["seed"] == 3
    assert view_of(EXPLORE, Visit().choosing(seed=-1))["seed"] == 0
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
    assert len(made) == 1
    app.choose("scale", "none")
    assert [view["scale"] for view in made[1:]] == ["1/√d_k", "none"], "before a choice and after"
