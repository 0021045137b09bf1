"""Claims about the packaged passports: what is known of heads is found there by a search alone."""

from __future__ import annotations

import functools

import pytest

from attention.atlas import files, making, words
from attention.atlas.corpus import EVERYDAY
from attention.atlas.finding import Index
from attention.atlas.passport import Atlas

MOST_BYTES = 3_000_000
HELPED = -0.005  # nats a piece


@functools.cache
def atlas_of(model: str) -> Atlas:
    return files.read(files.packaged()[model])


@functools.cache
def index() -> Index:
    return Index([atlas_of("smollm2")])


def test_passports_of_all_heads_of_six_models_are_packaged_in_three_megabytes() -> None:
    packaged = files.packaged()
    heads = {model: len(atlas_of(model).passports) for model in packaged}
    translators = {"en-pt": 64, "pt-en": 64}
    assert heads == {"constructed": 4, "grammar": 8, "minilm": 72, "smollm2": 270, **translators}
    assert sum(path.stat().st_size for path in packaged.values()) <= MOST_BYTES


def test_packaged_passports_are_of_the_weights_that_are_read_here() -> None:
    for model in making.usual():
        wanted = making.Wanted(model)
        assert making.weights_of(wanted, wanted.subject()) == atlas_of(model).weights


@pytest.mark.parametrize(
    ("asked", "head"),
    [
        ("needed by capitals", "23.4"),
        ("capitals", "23.4"),
        ("needed by opposite directions", "23.3"),
        ("west", "23.3"),
        ("right", "23.3"),
        ("white", "25.7"),
        ("girl", "24.7"),
    ],
)
def test_known_heads_are_among_the_first_three_that_a_search_finds(asked: str, head: str) -> None:
    found = [f"{hit.layer}.{hit.head}" for hit in index().found(asked)]
    assert head in found[:3]


def test_a_translator_needs_a_head_where_english_has_another_order_than_portuguese() -> None:
    atlas = atlas_of("pt-en")
    needing = {
        one.name: [kind.kind for kind in one.effects.kinds if kind.needed]
        for one in atlas.passports
        if any(kind.needed for kind in one.effects.kinds)
    }
    every = [EVERYDAY, "adjectives behind nouns", "verbs before their subjects"]
    assert needing == {"6.6": every, "7.2": every[2:]}
    found = Index([atlas]).found("needed by verbs before their subjects")[: len(needing)]
    assert {f"{hit.layer}.{hit.head}" for hit in found} == {*needing}


def test_heads_whose_loss_surely_helps_other_sentences_say_so() -> None:
    atlas = atlas_of("smollm2")
    helped = [
        one
        for one in atlas.passports
        if one.effects.elsewhere.sure < 0
        and max(one.effects.elsewhere.found.mean, one.effects.elsewhere.checked.mean) < HELPED
    ]
    assert helped
    for one in helped:
        said = words.said(atlas, one).elsewhere[0]
        assert said.startswith("Other sentences even gain: without it")


def test_each_effect_that_is_told_was_measured_on_two_hundred_prompts_and_two_halves() -> None:
    for model in files.packaged():
        atlas = atlas_of(model)
        assert len(atlas.prompts) >= 200
        halves = [text.half for text in (*atlas.sentences, *atlas.prompts)]
        assert abs(halves.count("found") - halves.count("checked")) <= len({*halves}) * 10
