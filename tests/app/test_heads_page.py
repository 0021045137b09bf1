"""The page "Heads" as Streamlit runs it, and as a person meets it in Chromium."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.inputs.text import tokenize
from attention.lessons import heads
from attention.pipeline import Result, Settings, compute
from tests.browsing import Page
from tests.hostile import HOSTILE
from tests.running import messages, offer, said

LONG = " ".join(
    f"{one}{two}" for one in "abcdefghijklmnop" for two in "abcdefghijklmnopqrstuvwxyzäöüßéè"
)


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    app.session_state["asked_for"] = "pages/heads.py"
    return app.run()


def part(app: AppTest, *names: str) -> tuple[dict[str, Any], bytes]:
    """The component whose header has all of these names."""
    return next(item for item in messages(app) if set(names) <= item[0].keys())


def grid(app: AppTest) -> dict[str, Any]:
    return part(app, "block", "chosen")[0]


def lines(app: AppTest) -> dict[str, Any]:
    return part(app, "active", "whole")[0]


def viewed(**settings: Any) -> Result:
    return compute(
        Settings(**{"variant": "multihead", "vectors": "random", "d_model": 12} | settings),
        lambda name: pytest.fail(f"asked for {name}"),
    )


RANDOM = {"vectors": "random", "d_model": "12", "heads": "3"}


def test_the_page_looks_at_many_heads_whatever_variant_is_chosen() -> None:
    for link in ({}, {"variant": "gaussian"}, {"variant": "qkv"}):
        app = opened(**link)
        assert not app.exception
        assert grid(app)["heads"] == 5
        assert app.session_state["heads"] == 5
        assert not [item for item in app.get("button_group") if item.key == "variant"]
        assert lines(app)["tokens"] == tokenize("the cat walks on the street")
        assert app.title[0].value == "Heads"


@pytest.mark.parametrize(
    ("link", "count"),
    [
        ({"vectors": "random", "d_model": "48", "heads": "12"}, 12),
        ({"heads": "50"}, 50),
        ({"heads": "1"}, 1),
        ({"vectors": "random", "d_model": "1"}, 1),
        ({"vectors": "random", "d_model": "7", "heads": "5"}, 1),
    ],
)
def test_only_heads_that_divide_the_dimensions_are_shown(link: dict[str, str], count: int) -> None:
    app = opened(**link)
    assert not app.exception
    assert grid(app)["heads"] == count
    assert lines(app)["heads"] == count


def test_heads_that_do_not_divide_the_dimensions_are_not_offered() -> None:
    options = [slider for slider in opened().get("select_slider") if slider.key == "heads"]
    assert [int(option) for option in options[0].options] == [1, 2, 5, 10, 25, 50]


def test_the_grid_holds_the_weights_of_all_heads() -> None:
    header, rest = part(opened(**RANDOM, mask="causal"), "block", "chosen")
    view = viewed(mask="causal", config=(("heads", 3),))
    weights = torch.stack(
        [view.layer.head(head)(view.x, view.trace.mask).weights for head in range(3)]
    )
    dots, block = heads.thumbnails(weights)
    assert (header["heads"], header["block"]) == (3, block)
    assert numpy.frombuffer(rest, numpy.uint8).tolist() == dots.flatten().tolist()


def test_the_lines_hold_the_edges_that_cover_the_share() -> None:
    app = opened(**RANDOM, cover="0.5", query="4", head="2")
    header, rest = part(app, "active", "whole")
    view = viewed(config=(("heads", 3),), head=2)
    mine = torch.from_numpy(numpy.frombuffer(rest, numpy.float32).reshape(3, 6, 6).copy())[2]
    expected = view.trace.weights * heads.strongest_edges(view.trace.weights, 0.5)
    torch.testing.assert_close(mine, expected)
    assert header["query"] == 4


def test_the_numbers_on_the_page_sum_up() -> None:
    app = opened(query="3", positions="alibi", mask="causal")
    assert not app.exception
    tables = said(app)
    assert "100.0 %" in tables
    assert "− slope · distance" in tables
    assert "<td>1.0000</td></tr></tfoot>" in tables
    assert "even spread" in tables
    assert any("previous-token head" in item.value for item in app.text)


@pytest.mark.parametrize(
    "link",
    [{"positions": name} for name in ("rotary", "sinusoidal", "alibi")]
    + [{"mask": "custom", "cells": "1:*", "query": "1"}],
)
def test_positions_and_masks_are_those_of_every_page(link: dict[str, str]) -> None:
    assert not opened(**link).exception


def test_an_empty_sentence_is_met_with_a_word() -> None:
    app = opened(s=" ")
    assert not app.exception
    assert "Type a sentence" in app.info[0].value


def test_one_token_has_no_previous_one() -> None:
    app = opened(s="cat", mask="causal")
    assert not app.exception
    assert any("only one token" in item.value for item in app.text)


def test_of_600_tokens_512_are_shown_and_the_chosen_row_alone_is_sent() -> None:
    app = opened(s="cat " * 600, query="500", **(RANDOM | {"d_model": "48", "heads": "12"}))
    assert not app.exception
    assert (grid(app)["tokens"], grid(app)["block"], lines(app)["whole"]) == (512, 6, False)
    assert "600 tokens, the last 88 left out" in offer(app)["words"]
    assert "480 more" in said(app)


def test_twelve_heads_of_512_tokens_take_less_than_4_megabytes() -> None:
    app = opened(s=LONG, positions="alibi", **(RANDOM | {"d_model": "48", "heads": "12"}))
    assert len(lines(app)["tokens"]) == 512
    assert (
        sum(len(item.proto.SerializeToString()) for item in app.get("bidi_component")) < 4_000_000
    )


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"head": "7"}, "There is no head 7 of 5; showing the last, 4"),
        ({"head": "99"}, "head must lie between 0 and 49, got 99"),
        ({"heads": "12"}, "heads must divide 50 dimensions, got 12"),
        ({"heads": "many"}, "heads must be a whole number"),
        ({"query": "77"}, "There is no token 77"),
        ({"cover": "2"}, "cover must lie between 0.1 and 1.0, got 2.0"),
        ({"cover": "nan"}, "cover must lie between 0.1 and 1.0, got nan"),
        ({"sort": "size"}, "sort must be one of head, entropy"),
        ({"active": "<b>x"}, "got &#x27;&lt;b&gt;x&#x27;; drawing all"),
        ({"active": "1,8"}, "There is no head 8 of 5."),
        ({"active": "9" * 300}, "active must have at most 200 characters"),
    ],
)
def test_a_tampered_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    app = opened(**link)
    assert not app.exception
    assert words in said(app)
    assert grid(app)["heads"] in (5, 10)


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_sentences_are_neither_interpreted_nor_fatal(sentence: str) -> None:
    app = opened(s=sentence)
    assert not app.exception
    if not tokenize(sentence):
        return
    assert lines(app)["tokens"] == tokenize(sentence)
    shown = [item.value for item in (*app.markdown, *app.caption, *app.subheader)]
    for token in tokenize(sentence):
        if len(token) > 3 and not token.isalpha():
            assert not [text for text in shown if token in text]
            assert token not in said(app) or "<" not in token


def test_the_table_is_sorted_as_the_link_says() -> None:
    body = said(opened(sort="previous")).split("<tbody>")[1]
    rows = [row.split("</td>") for row in body.split("</tbody>")[0].split("</tr>")[:-1]]
    shares = [float(row[2].split("<td>")[1]) for row in rows]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)


def drawn(page: Page) -> list[str]:
    chips = page.get_by_role("group", name="Heads drawn").get_by_role("button", pressed=True)
    chips.first.wait_for()
    return chips.all_inner_texts()
