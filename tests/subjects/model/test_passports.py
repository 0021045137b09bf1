"""Passports as they are read: true for their numbers, whatever these are."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from attention.atlas import files
from attention.subjects.model import passport_numbers as numbers
from attention.subjects.model.passport_numbers import Tried
from attention.subjects.model.passports import passport_of
from attention.subjects.model.shades import NEEDED, shade_named, shades_of
from tests.atlas import making
from tests.properties import given, settings
from tests.properties import strategies as st


def numbers_in(part: Any) -> list[float]:
    """All numbers of a message, however deep."""
    if isinstance(part, dict):
        part = [*part.values()]
    if isinstance(part, list | tuple):
        return [number for each in part for number in numbers_in(each)]
    return [part] if isinstance(part, float) else []


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_any_passport_is_read(atlas):
    for passport in atlas.passports:
        said = passport_of(atlas, passport.place).said
        assert all(map(math.isfinite, numbers_in(said)))
        assert json.dumps(said)
        one = said["passport"]
        dots = [effect for kind in one["kinds"] for effect, _ in kind["dots"]]
        of_kinds = {kind.kind for kind in passport.effects.kinds}
        assert sorted(dots) == sorted(
            effect
            for effect, prompt in zip(passport.effects.by_mean, atlas.prompts, strict=True)
            if prompt.kind in of_kinds
        )
        assert max(map(abs, dots), default=0.0) <= said["most"]
        assert len(one["names"]) == len(passport.names)
        assert bool(one["looked"]) <= bool(passport.names or passport.rows)


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_each_shade_has_a_number_of_each_head_on_a_scale_that_its_legend_tells(atlas):
    shades = shades_of(atlas)
    assert len({shade.name for shade in shades}) == len(shades)
    for shade in shades:
        assert shade.numbers.shape == (len(atlas.shape), max(atlas.shape))
        assert shade.darkest > 0
        assert "full colour: " in shade.legend
        if shade.name.startswith(NEEDED):
            assert float(shade.numbers.nan_to_num(0.0).abs().max()) <= shade.darkest + 1e-6
        for number in shade.numbers.flatten().tolist():
            assert math.isnan(number) or shade.say(number)
    for name in ("", "<b>", shades[-1].name):
        shade = shade_named(shades, name)
        assert shade.name == name or shade.name.startswith(NEEDED)
        layer, head = numbers.darkest(shade)
        assert atlas.of(layer, head)


def test_a_shade_without_heads_everywhere_leaves_their_tiles_empty():
    ragged = making.atlas(layers=2, heads=3)
    ragged = replace(ragged, passports=ragged.passports[:-1])
    for shade in shades_of(ragged):
        assert math.isnan(shade.numbers[1, 2])
    assert numbers.Opened(ragged).titles[-1] == ""


@pytest.mark.parametrize(
    ("right", "says"),
    [
        ([True, True, False], "2 of 3 words that could. So it holds here. At “c” it looks at “a”."),
        (
            [True, False, False],
            "1 of 3 words that could. So it fails here. At “b” it looks at itself.",
        ),
        ([True, True, True], "3 of 3 words that could. So it holds here."),
        ([True], "1 of 1 word that could. So it holds here."),
        ([True, False], "1 of 2 words that could. So it fails here. At “b” it looks at itself."),
    ],
)
def test_a_name_that_is_tried_is_said_to_hold_on_more_than_half_of_what_it_is_asked(right, says):
    count = len(right)
    tried = Tried("previous", [1, 2, 3][:count], right, [0, 2, 0][:count])
    assert tried.words(["x", "a", "b", "c"]).endswith(says.replace("“a”", "“x”"))


def test_an_even_row_shows_no_name():
    pieces = numbers.run_model("constructed", "x b c").pieces
    count = len(pieces.ids)
    even = torch.ones(count, count).tril()
    tried = numbers.tried_on(even / even.sum(-1, keepdim=True), pieces, "previous", None)
    assert tried.right == [False] * len(tried.asking)
    assert all(key != at - 1 for at, key in zip(tried.asking, tried.looks, strict=True))


PIECES = ("words", "text", "link")  # say nothing by themselves
OF_ANSWERS = {"answer", "answers", "point", "points", "lose", "loses", "gain", "gains", "nats"}


def words_in(part: Any) -> set[str]:
    """All words of a message, however deep, but for pieces of texts and addresses."""
    if isinstance(part, dict):
        part = [each for name, each in part.items() if name not in PIECES]
    if isinstance(part, list | tuple):
        return {word for each in part for word in words_in(each)}
    return {*part.lower().replace(":", " ").split()} if isinstance(part, str) else set()


def test_no_passport_or_tile_of_a_model_of_vectors_speaks_of_an_answer():
    atlas = files.read(files.packaged()["minilm"])
    said: set[str] = set()
    for one in atlas.passports:
        figure = passport_of(atlas, one.place)
        said |= words_in(figure.said)
        assert figure.said["unit"] == "%"
    for shade in shades_of(atlas):
        said |= words_in([shade.legend, *map(shade.say, shade.numbers.flatten().tolist())])
    assert {"vectors", "everyday"} <= said
    assert not said & OF_ANSWERS
