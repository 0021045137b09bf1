"""The doors of the menu, and what a page behind one begins with."""

from __future__ import annotations

from urllib.parse import parse_qs, parse_qsl

import pytest

from attention.app.state.links import read_link
from attention.app.state.pages import EARLIER, PAGES, Page
from attention.display import cross
from attention.lessons.opening import OPENINGS
from attention.trained.sources import MINILM
from tests.running import opened
from tests.trained.packaged import packaged

MODEL = MINILM.about.name
TIRED, WIDE = OPENINGS[MODEL].sentences
CAT = "the cat walks on the street"
on_one_head = pytest.mark.parametrize("page", ["explore", "steps", "heads", "compare"])


def opening_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(page.opens()) if page.opens else {}


def test_seven_doors_lead_to_all_pages_and_pages_of_before_stand_behind_them() -> None:
    doors = {page.door: page for page in reversed(PAGES)}  # each with its first page
    assert {door: first.name for door, first in reversed(doors.items())} == {
        "Learn": "guide",
        "Play": "explore",
        "A real model": "model",
        "Two sequences": "cross",
        "Watch it learn": "learning",
        "Laboratory": "operations",
        "Teach": "write",
    }
    assert {page.door for page in EARLIER} <= doors.keys()


def test_a_bare_address_leads_to_a_trained_model_wherever_there_can_be_one() -> None:
    packaged(MODEL)
    packaged(cross.TRANSLATOR.name)
    for page in PAGES:
        link = opening_of(page)
        assert read_link(link, lambda vectors: 50) == (link, [])
        if page.models:
            assert link["model"] != ["none"]
    (two,) = (page for page in PAGES if page.name == "cross")
    assert opening_of(two)["cross"] == [cross.TRANSLATED]


@on_one_head
def test_by_the_menu_a_page_begins_as_its_bare_address_does(page: str) -> None:
    packaged(MODEL)
    app = opened("operations")
    app.switch_page(f"pages/{page}.py").run()
    shown = {name: app.values[name] for name in ("s", "model", "layer")}
    assert shown == {"s": TIRED, "model": MODEL, "layer": 3}
    if page != "steps":  # which has no picture
        assert app.selection["query"] == OPENINGS[MODEL].query
    if page == "compare":
        assert (app.values["compare"], app.values["s2"]) == ("pair", WIDE)


@pytest.mark.parametrize("page", ["steps", "heads"])
@pytest.mark.parametrize("sentence", [CAT, "she sat by"])
def test_another_view_of_a_sentence_is_one_of_the_same_sentence(page: str, sentence: str) -> None:
    packaged(MODEL)
    app = opened("explore", s=sentence)
    app.switch_page(f"pages/{page}.py").run()
    assert (app.values["s"], app.values["model"]) == (sentence, MODEL)


def test_explore_is_calm_by_the_menu_too_unless_something_is_set() -> None:
    packaged(MODEL)
    assert opened("operations").switch_page("pages/explore.py").run().values["numbers"] == "hidden"
    app = opened("steps", scale="none").switch_page("pages/explore.py").run()
    assert app.values["numbers"] == "shown"


def test_from_the_opening_compare_shows_its_two_endings_and_keeps_ones_own_word() -> None:
    packaged(MODEL)
    app = opened("explore", **dict(parse_qsl(OPENINGS[MODEL].link)) | {"query": 1})
    app.switch_page("pages/compare.py").run()
    assert (app.values["compare"], app.values["s2"]) == ("pair", WIDE)
    assert app.selection["query"] == 1
    own = opened("explore", **dict(parse_qsl(OPENINGS[MODEL].link)) | {"s": CAT})
    assert own.switch_page("pages/compare.py").run().values["compare"] == "settings"


@pytest.mark.parametrize("link", [{"variant": "multihead"}, {"scale": "none"}, {"hide": "scale"}])
def test_who_has_set_something_keeps_it_without_a_model(link: dict[str, str]) -> None:
    app = opened("explore", **link)
    app.switch_page("pages/heads.py").run()
    assert app.values["model"] == "none"


def test_a_page_that_one_comes_back_to_is_as_one_left_it() -> None:
    packaged(MODEL)
    app = opened("explore", s=CAT)
    app.switch_page("pages/heads.py").run()
    app.choose("model", "none")
    for page in ("explore", "heads"):
        app.switch_page(f"pages/{page}.py").run()
        assert app.values["model"] == "none"
