"""Explore as the bare address opens it, and as every link of before opens it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from attention.lessons.opening import OPENINGS, Opening
from attention.trained.sources import NONE
from tests.running import App, opened

every_opening = pytest.mark.parametrize("shown", OPENINGS.values(), ids=OPENINGS)
MINILM = OPENINGS["minilm"]


def opened_on(shown: Opening, **more: Any) -> App:
    return opened("explore", **dict(parse_qsl(shown.link)) | more)


def asked(app: App) -> str:
    """The question on the chosen word."""
    said = app.sent["arcs"].header["said"]
    return str(said[app.selection["query"]]["question"])


@every_opening
def test_it_asks_about_a_word_under_arcs_and_below_it_is_calm(shown: Opening) -> None:
    app = opened_on(shown)
    assert asked(app) == f"Which word does “{shown.word}” look at?"
    assert app.sent["arcs"].header["tokens"] == shown.sentences[0].split()
    assert app.sent["type_own"].header["words"] == "Type your own"
    assert [link.label for link in app.get("page_link")] == ["Take the guide"]
    assert app.values["s"] == shown.sentences[0]
    assert not app.notes
    calm = app.sent["picture"].header
    assert (calm["entropy"], calm["heat"]["texttemplate"], list(calm["stages"])) == (
        [],
        "",
        ["weights"],
    )
    assert calm["stages"]["weights"]["zmax"] == 1


@every_opening
def test_the_last_word_can_be_changed_and_the_picture_it_leads_to_is_there(shown: Opening) -> None:
    app = opened_on(shown)

    def sent(key: str) -> bytes:
        drawn = next(item for item in app.get("bidi_component") if item.key == key)
        return bytes(drawn.proto.bytes)

    before = sent("picture")
    app.tell("arcs", "word", 1)
    assert app.values["s"] == shown.sentences[1]
    assert asked(app) == f"Which word does “{shown.word}” look at?"
    alone = before[before.index(b'{"heat"') - 4 :]
    assert sent("arcs").endswith(alone), "the way back"
    app.tell("arcs", "word", 0)
    assert app.values["s"] == shown.sentences[0]


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"query": 3},
        {"s": MINILM.sentences[0]},
        {"s": MINILM.sentences[0], **MINILM.chosen, "query": 8},
    ],
)
def test_a_link_of_before_means_what_it_meant(link: dict[str, Any]) -> None:
    app = opened("explore", **link)
    assert app.heading[0] == "Explore"
    assert "arcs" not in app.sent
    assert app.sent["picture"].header["parts"] == ["lines", "heatmap", "sum", "diagram"]
    defaults = {"s": "the cat walks on the street", "model": NONE, "scale": "1/√d_k", "mask": []}
    assert (defaults | link).items() >= {name: app.values[name] for name in defaults}.items()
    assert app.selection["query"] == link.get("query", 0)


def test_one_click_shows_the_numbers_and_one_hides_them_and_nothing_else_changes() -> None:
    app = opened_on(MINILM)
    chosen = {name: app.values[name] for name in ("s", *MINILM.chosen)}
    app.press("Show the numbers")
    assert app.heading[0] == "Explore"
    assert {name: app.values[name] for name in chosen} == chosen
    assert "numbers" not in app.query_params
    app.press("Hide the numbers")
    assert asked(app) == "Which word does “it” look at?"
    assert {name: app.values[name] for name in chosen} == chosen
    assert app.query_params["numbers"] == "hidden"


def test_settings_in_the_row_change_what_is_said_and_leave_the_last_word_to_change() -> None:
    app = opened_on(MINILM)
    before = app.sent["arcs"].header["said"][8]["line"]
    app.choose("scale", "none")
    header = app.sent["arcs"].header
    assert header["said"][8]["line"] != before
    assert "Change " in "".join(header["said"][8]["line"])
    assert "Not as it was trained: scale: none; without the markers" in app.said


def test_a_variant_in_place_of_the_trained_head_and_the_way_back() -> None:
    app = opened_on(MINILM)
    app.choose("reader", "additive")
    assert (app.values["model"], app.values["variant"]) == (NONE, "additive")
    assert "on word vectors" in app.said
    app.choose("reader", "as trained")
    assert {name: app.values[name] for name in MINILM.chosen} == dict(MINILM.chosen)


def test_a_chosen_word_stays_chosen_while_the_sentence_around_it_changes() -> None:
    app = opened_on(MINILM)
    app.choose("s", "this morning the animal did not cross the street because it was too tired")
    assert asked(app) == "Which word does “it” look at?"
    app.move(query=3).choose("s", "the animal slept")
    assert asked(app) == "Which word does “animal” look at?"


def test_a_word_stays_chosen_on_every_page_and_in_pieces_and_words() -> None:
    app = opened("explore", s="the unbelievably old dog barked", model="minilm")
    app.move(query=app.sent["picture"].header["tokens"].index("dog"))
    chosen = {app.selection["query"]}
    for name, value in [("special", "ignored"), ("join", "words"), ("model", NONE)]:
        app.choose(name, value)
        assert app.sent["picture"].header["tokens"][app.selection["query"]] == "dog"
        chosen.add(app.selection["query"])
    assert len(chosen) == 3
