"""Play as the bare address opens it, as other links do, and the doors of the menu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, parse_qsl

import pytest

from attention.app.cached.runs import result_of
from attention.app.state import openings
from attention.app.state.links import read_link, settings_of_link, value_in
from attention.app.state.openings import OPENINGS, Opening
from attention.app.state.pages import PAGES, page_named
from attention.figures.picture import AttentionPicture
from attention.subjects.play import scene
from attention.subjects.two_sequences import words as cross_words
from attention.trained import sources
from attention.trained.sources import NONE
from tests.cases import over
from tests.running import App, opened, viewed
from tests.trained.packaged import packaged

MODEL = "minilm"
MINILM = OPENINGS[MODEL]
CAT = "the cat walks on the street"


@pytest.fixture(autouse=True)
def _model() -> None:
    packaged(MODEL)


def opened_on(shown: Opening, **more: Any) -> App:
    return opened("explore", **dict(parse_qsl(shown.link)) | more)


def value(app: App, name: str) -> Any:
    """The value of a setting, which the opening leaves to the address until it has been drawn."""
    link = {
        said: text if isinstance(text, list) else [text] for said, text in app.query_params.items()
    }
    return app.values[name] if name in app.values else value_in(link, name)


def question_on(shown: Opening) -> str:
    """The question that an opening asks."""
    reader = "" if shown.chosen else "On word vectors, "
    return f"{reader}{'w' if reader else 'W'}hich word does “{shown.word}” look at?"


def asked(app: App) -> str:
    """The question on the chosen word."""
    said = app.sent["picture"].header["said"]
    return str(said[app.selection["query"]]["question"])


@over("shown", OPENINGS.values())
def test_its_link_is_taken_whole_and_says_the_sentence_and_the_chosen_word(shown):
    link = parse_qs(shown.link)
    assert read_link(link, lambda vectors: 50) == (link, [])
    assert link["s"] == [shown.sentences[0]]
    tokens = result_of(settings_of_link(link, shown.sentences[0])).tokens
    assert tokens[int(link["query"][0])] == shown.word


@pytest.mark.parametrize(
    ("names", "reader"), [((NONE, "minilm"), "minilm"), ((NONE, "en-pt"), NONE), ((NONE,), NONE)]
)
def test_it_opens_on_the_trained_model_where_that_is_installed(names, reader, monkeypatch):
    listed: Callable[[], tuple[str, ...]] = lambda: names  # noqa: E731
    monkeypatch.setattr(sources, "names", listed)
    assert openings.opening() is OPENINGS[reader]


@over("shown", OPENINGS.values())
def test_it_asks_about_a_word_under_arcs_and_its_last_word_can_be_changed(shown):
    app = opened_on(shown)
    assert asked(app) == question_on(shown)
    assert app.sent["picture"].header["tokens"] == shown.sentences[0].split()
    assert app.sent["page_button 0"].header["label"] == "Type your own"
    assert [link.label for link in app.get("page_link")] == ["Take the guide"]
    assert (app.values["s"], app.notes) == (shown.sentences[0], [])
    calm = app.sent["picture"].header
    assert (calm["entropy"], calm["heat"]["texttemplate"]) == ([], "")
    assert list(calm["stages"]) == ["weights"]
    assert calm["stages"]["weights"]["zmax"] == 1
    app.tell("picture", "word", 1)
    assert app.values["s"] == shown.sentences[1]
    assert asked(app) == question_on(shown)
    assert app.tell("picture", "word", 0).values["s"] == shown.sentences[0]


@over("shown", OPENINGS.values())
def test_the_picture_with_the_other_last_word_is_sent_along_and_so_is_the_way_back(shown):
    first, second = (_picture(shown, sentence) for sentence in shown.sentences)
    assert first.made != second.made
    assert (first.made, first.other) == (second.other, second.made)


def _picture(shown: Opening, sentence: str) -> AttentionPicture:
    view = viewed("explore", **dict(parse_qsl(shown.link)) | {"s": sentence})
    result = scene.opening_result(view)
    assert result is not None
    figure = scene.sentence(view, result)["picture"]
    assert isinstance(figure, AttentionPicture)
    return figure


@over(
    "link",
    [
        {},
        {"query": 3},
        {"s": MINILM.sentences[0]},
        {"s": MINILM.sentences[0], **MINILM.chosen, "query": 8},
    ],
)
def test_any_link_opens_on_the_map_and_on_the_word_it_names_or_the_one_to_ask_about(link):
    app = opened("explore", **link)
    assert "map_picture" in app.sent
    asks = 5 if app.values["s"] == CAT else 8  # street, it
    assert (app.selection["query"], app.values["s"]) == (
        link.get("query", asks),
        link.get("s", CAT),
    )
    assert (value(app, "model"), value(app, "fold")) == (link.get("model", NONE), "map")


def test_a_heatmap_alone_is_drawn_without_the_new_vector() -> None:
    result = result_of(settings_of_link({}, CAT))
    for figure, drawn in (("all", ["heatmap", "mixture"]), ("heatmap", ["heatmap"])):
        shown = scene.map_of_all(viewed("explore", s=CAT, figure=figure), result)
        assert getattr(shown["map_picture"], "drawn", None) == drawn


def test_settings_in_the_row_change_what_is_said_and_a_variant_takes_the_place_of_the_head():
    app = opened_on(MINILM)
    before = app.sent["picture"].header["said"][8]["line"]
    after = app.choose("scale", "none").sent["picture"].header["said"][8]["line"]
    assert after != before
    assert "Change " in "".join(after)
    assert "Not as it was trained: scale: none; without the markers" in app.said
    app = opened_on(MINILM).choose("reader", "additive")
    assert (value(app, "model"), value(app, "variant")) == (NONE, "additive")
    assert "on word vectors" in app.said
    app.choose("reader", "as trained")
    assert {name: value(app, name) for name in MINILM.chosen} == dict(MINILM.chosen)


def test_a_chosen_word_stays_chosen_while_the_sentence_around_it_changes():
    app = opened_on(MINILM)
    app.choose("s", "this morning the animal did not cross the street because it was too tired")
    assert asked(app) == "Which word does “it” look at?"
    app.move(query=3).choose("s", "the animal slept")
    assert asked(app) == "Which word does “animal” look at?"
    app = opened("explore", s="the unbelievably old dog barked", model=MODEL).unfold()
    app.move(query=app.sent["picture"].header["tokens"].index("dog"))
    chosen = {app.selection["query"]}
    for name, value in [("special", "ignored"), ("join", "words"), ("model", NONE)]:
        app.choose(name, value)
        assert app.sent["picture"].header["tokens"][app.selection["query"]] == "dog"
        chosen.add(app.selection["query"])
    assert len(chosen) == 3


# Doors of the menu


def test_a_bare_address_leads_to_a_trained_model_wherever_there_can_be_one():
    packaged(cross_words.TRANSLATOR.name)
    for page in PAGES:
        link = parse_qs(page.opens(""))
        assert read_link(link, lambda vectors: 50) == (link, [])
        assert not page.models or link["model"] != [NONE]
        assert page.name != "cross" or link["cross"] == [cross_words.TRANSLATED]


def test_by_the_menu_play_begins_as_its_bare_address_does():
    app = opened("operations").go("explore")
    link = dict(parse_qsl(opening_link()))
    names = ("s", "model", "layer", "head", "special")
    assert {name: str(value(app, name)) for name in names} == {name: link[name] for name in names}
    assert app.selection["query"] == MINILM.query


def opening_link() -> str:
    opens = page_named("explore").opens
    return opens("")


@over("link", [{"variant": "multihead"}, {"scale": "none"}, {"hide": "scale"}])
def test_who_has_set_something_keeps_it_without_a_model(link):
    assert value(opened("cross", **link).go("explore"), "model") == NONE


def test_no_setting_is_drawn_that_nobody_sees_and_none_is_lost_on_the_way():
    packaged("smollm2")
    link = {"s": CAT, "model": "smollm2", "layer": 7}
    app = opened("explore", **link)
    assert not {"model", "layer", "special", "cut"} & app.controls.keys()
    assert {name: app.unfold().values[name] for name in link} == link
    app = opened("explore", **link).go("operations").go("explore")
    assert {name: value(app, name) for name in link} == link


@pytest.mark.usefixtures("hurried")
def test_a_sentence_goes_along_to_a_model_that_writes_which_is_asked_at_its_last_word():
    packaged("smollm2")
    text = "My grandmother bakes bread in the old"
    app = opened_on(MINILM, s=text, query=2).unfold().press("See it in a model that writes")
    shown = app.sent["model_window"].header
    assert shown["queries"] == [len(shown["sequences"][0]) - 1]
    assert {name: app.values[name] for name in ("s", "model")} == {"s": text, "model": "smollm2"}
    assert "special" not in app.query_params
