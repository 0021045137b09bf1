"""The card of the guide's end: words, weights and the next word as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from attention.figures.card import MARGIN, WIDTH, card

SVG = "{http://www.w3.org/2000/svg}"
WORDS = [("The", False), ("cat", True), ("s", False), ("sat", True)]


def test_each_word_is_on_the_card_as_dark_as_its_weight_and_the_next_one_dashed() -> None:
    drawn = ElementTree.fromstring(card(WORDS, [0.5, 0.25, 0.0, 0.25], 3, "down", ["A head."]))
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts == ["The", "cat", "s", "sat", "down", "A head."]
    boxes = [*drawn.iter(f"{SVG}rect")][1:]
    shades = [float(box.get("fill", "").split(",")[-1].strip(" )")) for box in boxes[:4]]
    assert shades == [0.75, 0.375, 0.0, 0.375]
    assert [box.get("stroke") is not None for box in boxes] == [False, False, False, True, True]
    assert [box.get("stroke-dasharray") is not None for box in boxes] == [False] * 4 + [True]


def test_hostile_words_are_text_and_long_sentences_are_cut_and_stay_on_the_card() -> None:
    hostile = "<script>alert(1)</script>&\x00\u202e]]>"
    words = [(hostile, True)] * 200
    drawn = ElementTree.fromstring(card(words, [0.005] * 200, 0, "<b>", ["word " * 60]))
    assert not [*drawn.iter(f"{SVG}script")]
    assert "…" in [text.text for text in drawn.iter(f"{SVG}text")]
    for box in [*drawn.iter(f"{SVG}rect")][1:]:
        left, wide = float(box.get("x", 0)), float(box.get("width", 0))
        assert left >= MARGIN
        assert left + wide <= WIDTH - MARGIN + 1
    height = float(drawn.get("height", 0))
    assert all(float(text.get("y", 0)) < height for text in drawn.iter(f"{SVG}text"))
