"""The pages as Streamlit runs them, without a browser."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from torch import Tensor

from attention.core import functional
from attention.core import settings as params
from attention.core.settings import setting, settings_of
from attention.core.variants import VARIANTS, Variant, register
from attention.inputs.text import tokenize
from tests.hostile import HOSTILE
from tests.running import choice, headers, offer, said, take


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def drawn(app: AppTest, name: str) -> bool:
    kinds = ("button_group", "number_input", "slider", "text_input")
    return any(item.key == name for kind in kinds for item in app.get(kind))


def token_view(app: AppTest) -> dict[str, Any]:
    return next(header for header in headers(app) if "known" in header)


def test_the_page_opens_on_the_published_defaults() -> None:
    app = opened()
    assert not app.exception
    assert app.text_input(key="s").value == "the cat walks on the street"
    assert [choice(app, name).value for name in ("variant", "vectors", "scale", "mask")] == [
        "dot",
        "glove",
        "1/√d_k",
        "none",
    ]
    assert choice(app, "positions").value == "none"
    assert choice(app, "stage").value == "weights"
    assert app.number_input(key="query").value == 0
    assert token_view(app)["tokens"] == ["the", "cat", "walks", "on", "the", "street"]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_link_sets_every_field_of_a_variant_to_its_bounds(name: str) -> None:
    own = settings_of(VARIANTS[name].Config)
    for pick in (min, max):
        link = {"variant": name}
        for field, (_, about) in own.items():
            bounds = about.choices() or (about.minimum, about.maximum)
            whole = isinstance(own[field][0], int)
            value = pick(bounds)
            link[field] = str(int(value) if whole else value)
        app = opened(**link)
        assert not app.exception
        assert choice(app, "variant").value == name
        for field in own:
            shown = app.session_state[field]
            assert str(shown) == link[field] or math.isclose(float(shown), float(link[field]))


@pytest.mark.parametrize(
    ("link", "present", "absent"),
    [
        ({}, [], ["seed", "d_model", "factor", "valid_len", "radius", "cells", "parameters"]),
        ({"variant": "qkv"}, ["seed", "parameters", "d_k", "d_v"], ["sigma", "d_hidden"]),
        ({"variant": "gaussian"}, ["sigma"], ["seed", "parameters"]),
        ({"vectors": "random"}, ["seed", "d_model"], ["parameters"]),
        ({"scale": "factor"}, ["factor"], ["radius"]),
        ({"mask": "length"}, ["valid_len"], ["radius", "cells"]),
        ({"mask": "window"}, ["radius"], ["valid_len", "cells"]),
        ({"mask": "custom"}, ["cells"], ["valid_len", "radius"]),
    ],
)
def test_only_settings_that_mean_something_are_shown(
    link: dict[str, str], present: list[str], absent: list[str]
) -> None:
    app = opened(**link)
    assert [name for name in present if not drawn(app, name)] == []
    assert [name for name in absent if drawn(app, name)] == []


def test_an_empty_sentence_is_met_with_a_word() -> None:
    app = opened(s="")
    assert not app.exception
    assert "Type a sentence" in app.info[0].value


def test_an_example_replaces_the_sentence() -> None:
    app = opened()
    take(app, offer(app)["texts"][1])
    assert app.text_input(key="s").value == "she sat by the river bank"
    assert token_view(app)["tokens"][-1] == "bank"


def test_one_token_attends_to_itself() -> None:
    app = opened(s="cat")
    assert not app.exception
    assert "Σw = 1.000000" in said(app)


def test_of_600_tokens_512_are_shown_and_the_page_says_so() -> None:
    app = opened(s="cat " * 600)
    assert not app.exception
    assert len(token_view(app)["tokens"]) == 512
    assert "600 tokens, the last 88 left out" in offer(app)["words"]


def test_a_word_without_a_vector_is_marked() -> None:
    app = opened(s="cat zzxqy")
    assert token_view(app)["known"] == [True, False]
    assert "No vector for “zzxqy”" in said(app)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"variant": "foo"}, "variant must be one of"),
        ({"query": "many"}, "query must be a whole number"),
        ({"query": "77"}, "There is no token 77"),
        ({"scale": "factor", "factor": "nan"}, "factor must lie between 0.0 and 10.0, got nan"),
        ({"scale": "factor", "factor": "1e9"}, "factor must lie between"),
        ({"seed": "-1"}, "seed must lie between 0 and 9999, got -1"),
        ({"query": "inf"}, "query must be a whole number, got &#x27;inf&#x27;"),
        ({"query": "1e400"}, "query must be"),
        ({"query": "1.9"}, "query must be a whole number"),
        ({"vectors": "random", "d_model": "inf"}, "d_model must be a whole number"),
        ({"bogus": "<b>"}, "“bogus” is not a setting"),
        ({"<b>x": "1"}, "“&lt;b&gt;x” is not a setting"),
        ({"mask": "custom", "cells": "<img src=x>"}, "got &#x27;&lt;img&#x27;"),
        ({"s": "cat " * 1300}, "s must have at most 5000 characters"),
    ],
)
def test_a_bad_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    app = opened(**link)
    assert not app.exception
    assert words in said(app)


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_sentences_are_neither_interpreted_nor_fatal(sentence: str) -> None:
    app = opened(s=sentence, variant="qkv", mask="causal")
    assert not app.exception
    if not tokenize(sentence):
        return
    assert token_view(app)["tokens"] == tokenize(sentence)
    markdown = [item.value for item in (*app.markdown, *app.caption)]
    labels = [item.label for kind in ("button", "download_button") for item in app.get(kind)]
    for token in tokenize(sentence):
        if len(token) > 3 and not token.isalpha():
            assert not [text for text in (*markdown, *labels) if token in text]
            assert token not in said(app) or "<" not in token


@pytest.fixture
def throw_away() -> Iterator[type[Variant]]:
    @register
    class Faded(Variant):
        @dataclass(frozen=True)
        class Config(params.Config):
            fading: float = setting(0.5, "Fading", minimum=0.0, maximum=2.0, step=0.5)

        name = "faded"
        title = "Faded attention"
        formula = r"s_{ij} = -\lambda |i - j|"
        source = "A test"

        def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
            return functional.dot_scores(queries, keys) * self.config.fading

    yield Faded
    del VARIANTS["faded"]


def test_a_new_variant_is_found_unaided(throw_away: type[Variant]) -> None:
    assert "faded" in choice(opened(), "variant").options
    app = opened(variant="faded", fading="1.5")
    assert not app.exception
    assert choice(app, "variant").value == "faded"
    assert app.slider(key="fading").value == 1.5
    assert any("Faded attention" in item.value for item in app.markdown)
    assert any("A test" in item.value for item in app.markdown)
    fields = [field.name for field in dataclasses.fields(throw_away.Config)]
    assert fields == ["d_model", "fading"]
