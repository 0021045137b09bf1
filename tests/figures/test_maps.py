"""The map of where a word goes: what is drawn, and that its words can be read."""

from __future__ import annotations

from typing import Any

from attention.figures.maps import Spot, word_map
from tests.cases import over

START, END = (-1.0, 0.0), (1.0, 0.5)


def written(spots: list[Spot]) -> dict[str, str]:
    """The words that are written on the map, and at which side of their dots."""
    figure = word_map("apple", spots, START, END)
    return {
        name: side
        for part in figure.data[:-1]
        for name, side in zip(part.text, part.textposition, strict=True)
        if name
    }


def test_an_arrow_leads_from_where_the_word_starts_to_where_it_ends_and_no_word_is_markup() -> None:
    figure = word_map("<b>a", [Spot("<i>b", 0.0, 3.0, "before")], START, END)
    (arrow,) = figure.layout.annotations
    assert (arrow.ax, arrow.ay, arrow.x, arrow.y) == (*START, *END)
    assert "<b>a" not in figure.to_json()
    assert "<i>b" not in figure.to_json()
    assert "&lt;i&gt;b" in figure.data[0].text[0]


RIGHT, LEFT = "middle right", "middle left"


@over(
    "case",
    [
        ([Spot("pear", 0.0, 3.0, "before")], [RIGHT]),
        ([Spot("plum", 0.0, 3.0, "before"), Spot("pear", 0.0, 3.0, "after")], [LEFT, RIGHT]),
        # no word across the dot of another one
        ([Spot("which", 0.0, 3.0, "both"), Spot("in", 0.2, 3.0, "both")], [LEFT, RIGHT]),
        ([Spot("pear", 0.0, 3.0, "after"), Spot("sugar", 0.3, 3.0, "token", 1.0)], [LEFT, RIGHT]),
        # at the right edge, and where the map is as narrow as on a phone
        (
            [Spot("strawberry", 30.0, 2.0, "after"), Spot("blackberry", -30.0, 3.0, "after")],
            [LEFT, RIGHT],
        ),
        ([Spot("microsoft", 2.0, 3.0, "before")], [LEFT]),
    ],
)
def test_words_are_written_beside_their_dots_where_none_hides_another(case: Any) -> None:
    spots, sides = case
    assert written(spots) == {spot.name: side for spot, side in zip(spots, sides, strict=True)}


def test_in_a_crowd_words_stand_at_corners_and_those_without_room_say_theirs_when_pointed_at() -> (
    None
):
    crowd = [Spot(f"word{at}", 0.0, 3.0, "before") for at in range(9)]
    assert list(written(crowd)) == ["word0", "word1"]
    around = zip("abcde", (0.0, 0.3, -0.3, 0.0, 0.0), (3.0, 3.0, 3.0, 3.2, 2.8), strict=True)
    assert len(written([Spot(name, x, y, "after") for name, x, y in around])) == 5


def test_other_tokens_are_dots_as_large_as_their_weights_and_named_once() -> None:
    tokens = [Spot("pear", 2.0, 3.0, "token", 0.25), Spot("sugar", -2.0, -3.0, "token", 0.01)]
    parts = word_map("apple", [Spot("pear", 2.0, 3.0, "before"), *tokens], START, END).data
    (dots,) = (part for part in parts if "weight" in (part.name or ""))
    assert dots.marker.size == (6 + 34 * 0.5, 6 + 34 * 0.1)
    assert dots.text == ("", "sugar")
