"""The page of two sequences, as Streamlit runs it and as a person sees it in Chromium."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.lessons.cross import PAD
from tests.hostile import HOSTILE
from tests.running import headers, offer, said, take


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    app.switch_page("pages/cross.py")
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def token_view(app: AppTest) -> dict[str, Any]:
    return next(header for header in headers(app) if "known" in header)


def matrices(app: AppTest) -> list[dict[str, Any]]:
    return [header for header in headers(app) if "joins" in header]


def drawn(app: AppTest) -> set[str]:
    kinds = ("button_group", "number_input", "slider", "text_input")
    return {item.key for kind in kinds for item in app.get(kind)}


# Two sentences


def test_the_page_opens_on_bonjour_le_monde_asking_hello_world() -> None:
    app = opened()
    assert app.title[0].value == "Two sequences"
    assert app.text_input(key="asking").value == "bonjour le monde"
    assert app.text_input(key="memory").value == "hello world"
    assert token_view(app)["tokens"] == ["bonjour", "le", "monde"]
    assert token_view(app)["memory"] == {"tokens": ["hello", "world"], "known": [True, True]}
    assert "asking: 3 tokens · answering: 2 tokens" in offer(app)["words"]
    assert "s" not in drawn(app)


def test_the_sentence_of_explore_does_not_come_along() -> None:
    assert token_view(opened(s="the bank raised its rates"))["tokens"][0] == "bonjour"


def test_the_sentences_are_swapped_and_examples_taken() -> None:
    app = opened(asking="a b", memory="c")
    next(button for button in app.button if button.label == "Swap").click().run()
    assert [app.text_input(key=key).value for key in ("asking", "memory")] == ["c", "a b"]
    take(app, "who sat by the river / she sat by the river bank")
    assert token_view(app)["tokens"] == tokenize("who sat by the river")
    assert token_view(app)["memory"]["tokens"] == tokenize("she sat by the river bank")


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_asks_across(name: str) -> None:
    app = opened(variant=name, query="2", positions="rotary")
    assert "<bdi>monde</bdi>" in said(app)
    assert "Σw = 1.000000" in said(app)


@pytest.mark.parametrize("mask", ["none", "causal", "length", "window", "custom"])
def test_every_mask_is_explained(mask: str) -> None:
    captions = [item.value for item in opened(mask=mask).caption]
    begins = "Every query may attend" if mask == "none" else mask.capitalize()
    assert len([words for words in captions if words.startswith(begins)]) == 1


def test_the_custom_mask_has_the_memorys_tokens_across() -> None:
    app = opened(mask="custom", cells="2:1")
    grids = [item.proto.json for item in app.get("bidi_component") if item.proto.json]
    grid = next(data for data in map(json.loads, grids) if "mask" in data)
    assert grid["tokens"] == ["bonjour", "le", "monde"]
    assert grid["keys"] == ["hello", "world"]
    assert grid["mask"] == [[1, 1], [1, 1], [1, 0]]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"memory": ""}, "The memory is empty"),
        ({"memory": '"'}, "The memory is empty"),
        ({"asking": ""}, "No one asks"),
        ({"asking": "", "memory": ""}, "No one asks"),
        ({"cross": "batch", "batch_example": "sentences", "batch": "|"}, "A batch needs"),
        ({"cross": "batch", "batch_example": "sentences", "asking": ""}, "A batch needs"),
    ],
)
def test_an_empty_sentence_is_met_with_a_word(link: dict[str, str], words: str) -> None:
    (info,) = opened(**link).info
    assert info.value.startswith(words)


@pytest.mark.parametrize(
    ("asking", "memory", "shape"),
    [("cat " * 600, "a b", (512, 2)), ("a b", "cat " * 600, (2, 512))],
)
def test_of_600_tokens_on_either_side_512_are_shown(
    asking: str, memory: str, shape: tuple[int, int]
) -> None:
    app = opened(asking=asking, memory=memory, query="1")
    heat = next(header for header in headers(app) if "stage" in header)
    assert (heat["rows"], heat["columns"]) == shape
    assert "600 tokens, the last 88 left out" in offer(app)["words"]


def test_a_row_with_nothing_to_attend_to_is_explained() -> None:
    app = opened(mask="length", valid_len="0")
    assert "No key is valid, so there is nothing to attend to" in said(app)
    assert "would make each weight not a number" in said(app)
    assert "Σw = 0.000000" in said(app)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"cross": "foo"}, "cross must be one of sentences, batch"),
        ({"batch_example": "x"}, "batch_example must be one of toy, sentences"),
        ({"query": "7"}, "There is no token 7 in this sentence; showing the last, 2."),
        ({"memory": "cat zzxqy"}, "No vector for “zzxqy”"),
        ({"memory": "cat " * 1300}, "memory must have at most 5000 characters"),
        ({"mask": "custom", "cells": "<img src=x>"}, "got &#x27;&lt;img&#x27;"),
        ({"cross": "batch", "element": "9"}, "element must lie between 0 and 5, got 9"),
        ({"cross": "batch", "element": "5"}, "There is no sequence 5 in this batch"),
        ({"cross": "batch", "row": "3"}, "There is no row 3 in this batch; showing the last, 0."),
        ({"cross": "batch", "dimension": "nan"}, "dimension must be a whole number"),
        ({"cross": "batch", "toy_lens": "<b>"}, "a whole number, got &#x27;&lt;b&gt;&#x27;"),
        ({"cross": "batch", "toy_queries": "1 2"}, "Queries: two sequences of up to 4 queries"),
    ],
)
def test_a_bad_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    assert words in said(opened(**link))


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_words_in_every_box_are_neither_interpreted_nor_fatal(sentence: str) -> None:
    texts = {"asking": sentence + " a", "memory": "a " + sentence, "batch": sentence + " | a"}
    for part in ({}, {"cross": "batch", "batch_example": "sentences", "batch_lens": sentence}):
        app = opened(**texts, **part)
        markdown = [item.value for item in (*app.markdown, *app.caption, *app.info)]
        labels = [item.label for kind in ("button", "download_button") for item in app.get(kind)]
        for token in tokenize(sentence):
            if len(token) > 3 and not token.isalpha():
                assert not [text for text in (*markdown, *labels) if token in text]
                assert token not in said(app) or "<" not in token


# Batches


def test_the_toy_is_shown_with_its_padding() -> None:
    app = opened(cross="batch")
    assert not drawn(app) & {"asking", "memory", "mask", "variant", "vectors"}
    shown = matrices(app)
    assert [part["name"] for part in shown[0]["parts"]] == ["scaled scores", "weights", "output"]
    assert [part["masked"] for part in shown[1]["parts"]] == [True, True, False]
    assert len(shown) == 2 + 2
    texts = [item.value for item in app.text]
    assert texts == ["Sequence 0: valid length 2 of 10", "Sequence 1: valid length 6 of 10"]
    assert "2.0000" in said(app)


def test_each_valid_length_to_try_is_taken() -> None:
    for link in ({}, {"batch_example": "sentences"}):
        app = opened(cross="batch", **link)
        for index in range(3):
            take(app, offer(app)["texts"][index])
            assert not app.exception
            assert "Valid lengths:" not in said(app)
    assert app.text_input(key="batch_lens").value == "1 2 2; 3 4 5; 4 4 4"


def test_a_batch_of_sentences_shows_its_padding_by_name() -> None:
    app = opened(cross="batch", batch_example="sentences", batch="hello world | a b c |")
    names = [header["parts"][0]["columnNames"] for header in matrices(app)[:3]]
    assert names == [["hello", "world", PAD], ["a", "b", "c"], [PAD] * 3]
    assert {"variant", "positions"} <= drawn(app)
    assert "mask" not in drawn(app)


def test_a_sequence_of_length_0_is_explained_beside_the_plain_softmax() -> None:
    app = opened(cross="batch", toy_lens="0 6")
    assert "No key is valid, so there is nothing to attend to" in said(app)
    assert "<td>not a number</td>" in said(app)


# In the browser
