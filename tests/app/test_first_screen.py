"""Explore as the bare address opens it, and as every link of before opens it."""

from __future__ import annotations

from typing import Any

import pytest

from attention.lessons.opening import OPENINGS, Opening
from attention.trained.sources import NONE
from tests.running import App, opened

every_opening = pytest.mark.parametrize("shown", OPENINGS.values(), ids=OPENINGS)


def opened_on(shown: Opening, ending: int = 0, **more: Any) -> App:
    link = {"s": shown.sentences[ending], **shown.chosen, "query": shown.query} | more
    return opened("explore", **link)


@every_opening
def test_it_asks_about_a_word_and_says_what_one_sees_beside_a_switch(shown: Opening) -> None:
    app = opened_on(shown)
    assert app.heading[:2] == [shown.heading, shown.reader]
    assert app.sent["ending"].header["words"] == list(shown.endings)
    assert "looks most at" in app.said
    assert app.sent["type_own"].header["words"] == "Type your own"
    assert [link.label for link in app.get("page_link")] == ["Take the guide"]
    assert app.selection == {"query": shown.query, "stage": "weights"}
    assert app.values["s"] == shown.sentences[0]
    assert not app.notes or shown.chosen


@every_opening
def test_the_switch_changes_the_last_word_and_carries_the_picture_it_leads_to(
    shown: Opening,
) -> None:
    app = opened_on(shown)
    ahead = app.sent["ending"].rest
    app.tell("ending", "word", 1)
    assert app.values["s"] == shown.sentences[1]
    assert app.sent["ending"].header["chosen"] == 1
    drawn = next(item for item in app.get("bidi_component") if item.key == "picture")
    assert drawn.proto.bytes.endswith(ahead)
    app.tell("ending", "word", 0)
    assert app.values["s"] == shown.sentences[0]


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"seed": 0},
        {"query": 3},
        {"s": "the cat walks on the street"},
        {"s": "the animal did not cross the street because it was too tired"},
        {"model": "minilm"},
    ],
)
def test_a_link_of_before_means_what_it_meant(link: dict[str, Any]) -> None:
    app = opened("explore", **link)
    assert app.heading[0] == "Explore"
    assert "ending" not in app.sent
    defaults = {"s": "the cat walks on the street", "model": NONE, "scale": "1/√d_k", "mask": []}
    assert (defaults | link).items() >= {name: app.values[name] for name in defaults}.items()
    assert app.selection["query"] == link.get("query", 0)


def test_another_setting_or_sentence_leaves_the_first_screen() -> None:
    shown = OPENINGS["minilm"]
    for change in ({"scale": "none"}, {"head": 2}, {"s": "it was tired"}, {"hide": "s"}):
        assert "ending" not in opened_on(shown, **change).sent


def test_a_variant_chosen_in_place_of_the_trained_head_is_shown_on_word_vectors() -> None:
    app = opened_on(OPENINGS["minilm"])
    app.choose("variant_instead", "additive")
    assert (app.values["model"], app.values["variant"]) == (NONE, "additive")
    assert "variant_instead" not in app.values
