"""The gallery: a card for each head that one can break, whose link opens the window without it."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from attention.analysis.gallery import Exhibit, exhibits
from attention.app.state.openings import NONE
from attention.core.printing import fixed
from attention.subjects.gallery import scene, words
from attention.subjects.gallery.figures import HeadCard, HeadCards
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.model.words import percent
from attention.trained import sources
from tests.running import opened
from tests.trained.packaged import packaged

each_exhibit = pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.text[:24])


def cards() -> list[HeadCard]:
    """The cards as they are drawn."""
    figure = scene.gallery()["head_cards"]
    assert isinstance(figure, HeadCards)
    return [*figure.cards]


def test_the_page_has_a_card_for_each_exhibit_behind_the_door_of_the_window() -> None:
    app = opened("gallery")
    drawn = app.sent["head_cards"].header["cards"]
    assert [card["title"] for card in drawn] == [card["title"] for card in cards()]
    first = drawn[0]
    assert (first["answer"], first["before"], first["after"]) == ("west", "98 %", "18 %")
    assert first["told"] == ["Without it: “east”, 81 %.", "Head 23.3 looks at “east”: 91 %."]
    behind = [link.proto.label for link in app.get("page_link")]
    assert behind[:2] == ["A real model", "Heads to break"]


@each_exhibit
def test_a_card_says_what_was_measured(one: Exhibit) -> None:
    card = cards()[exhibits().index(one)]
    assert "".join(f"{' ' * apart}{word}" for word, apart in card["words"]) == one.text
    assert card["shares"] == (one.fall.before, one.fall.after)
    assert card["before"] == percent(one.fall.before)
    assert one.fall.instead.strip("·") in card["told"][0]
    assert ("still" in card["told"][0]) == (one.fall.instead == one.fall.word)
    (_, beside), (_, half), (control, found), (_, there) = words.control_words(one)
    assert beside == percent(one.next_after)
    assert half.startswith("within ")
    assert one.control.text in control
    assert found.startswith(one.control.word.strip("·"))
    cost, error = one.elsewhere
    assert there == f"{fixed(cost, 3)} ± {fixed(error, 3)} nats a piece"


def test_a_link_breaks_the_head_in_the_window() -> None:
    packaged("smollm2")
    for card in cards():
        page, _, query = card["link"].partition("?")
        assert (page, check(parse_qs(query), page)) == ("model", [])
    app = opened("model", **{name: text for name, [text] in parse_qs(query).items()})
    assert app.sent["model_window"].header["off"] != []


def test_without_the_model_the_cards_stay_and_say_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "names", lambda: (NONE,))
    drawn = scene.gallery()
    assert [card["link"] for card in cards()] == [""] * len(exhibits())
    assert any(sources.installing() in figure.words for figure in drawn)
