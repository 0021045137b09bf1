"""The map of where a word goes: what is drawn, and that its words can be read."""

from __future__ import annotations

from attention.display.maps import Spot, word_map

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


def test_an_arrow_leads_from_where_the_word_starts_to_where_it_ends() -> None:
    (arrow,) = word_map("apple", [], START, END).layout.annotations
    assert (arrow.ax, arrow.ay, arrow.x, arrow.y) == (*START, *END)


def test_words_are_written_beside_their_dots_where_none_hides_another() -> None:
    assert written([Spot("pear", 0.0, 3.0, "before")]) == {"pear": "middle right"}
    beside = written([Spot("plum", 0.0, 3.0, "before"), Spot("pear", 0.0, 3.0, "after")])
    assert beside == {"pear": "middle right", "plum": "middle left"}
    crowd = [Spot(f"word{at}", 0.0, 3.0, "before") for at in range(9)]
    assert list(written(crowd)) == ["word0", "word1"], "the others say theirs when pointed at"


def test_no_word_is_written_across_the_dot_of_another_one() -> None:
    close = [Spot("which", 0.0, 3.0, "both"), Spot("in", 0.2, 3.0, "both")]
    assert written(close) == {"which": "middle left", "in": "middle right"}
    heavy = [Spot("pear", 0.0, 3.0, "after"), Spot("sugar", 0.3, 3.0, "token", 1.0)]
    assert written(heavy) == {"pear": "middle left", "sugar": "middle right"}


def test_a_word_without_room_beside_its_dot_stands_at_a_corner() -> None:
    crowd = [
        Spot("a", 0.0, 3.0, "after"),
        Spot("b", 0.3, 3.0, "after"),
        Spot("c", -0.3, 3.0, "after"),
    ]
    crowd += [Spot("d", 0.0, 3.2, "after"), Spot("e", 0.0, 2.8, "after")]
    assert len(written(crowd)) == 5


def test_a_word_at_the_right_edge_is_written_to_its_left() -> None:
    edges = [Spot("strawberry", 30.0, 2.0, "after"), Spot("blackberry", -30.0, 3.0, "after")]
    assert written(edges) == {"strawberry": "middle left", "blackberry": "middle right"}


def test_no_word_is_cut_on_a_map_as_narrow_as_a_phone() -> None:
    assert written([Spot("microsoft", 2.0, 3.0, "before")]) == {"microsoft": "middle left"}


def test_other_tokens_are_dots_as_large_as_their_weights_and_named_once() -> None:
    spots = [
        Spot("pear", 2.0, 3.0, "before"),
        Spot("pear", 2.0, 3.0, "token", 0.25),
        Spot("sugar", -2.0, -3.0, "token", 0.01),
    ]
    tokens = next(
        part for part in word_map("apple", spots, START, END).data if "weight" in (part.name or "")
    )
    assert tokens.marker.size == (6 + 34 * 0.5, 6 + 34 * 0.1)
    assert tokens.text == ("", "sugar")


def test_no_word_is_read_as_markup() -> None:
    figure = word_map("<b>a", [Spot("<i>b", 0.0, 3.0, "before")], START, END)
    assert "<b>a" not in figure.to_json()
    assert "<i>b" not in figure.to_json()
    assert "&lt;i&gt;b" in figure.data[0].text
