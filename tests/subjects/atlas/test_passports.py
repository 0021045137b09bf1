"""Passports as they are read: true for their numbers, whatever these are."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from attention.atlas import files
from attention.atlas.passport import Atlas
from attention.subjects.atlas import numbers, words
from attention.subjects.atlas.passports import passports_of
from attention.subjects.atlas.shades import NEEDED, shade_named, shades_of
from attention.subjects.atlas.words import Tried
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.subjects.atlas import making


def numbers_in(part: Any) -> list[float]:
    """All numbers of a message, however deep."""
    if isinstance(part, dict):
        part = [*part.values()]
    if isinstance(part, list | tuple):
        return [number for each in part for number in numbers_in(each)]
    return [part] if isinstance(part, float) else []


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_any_passport_is_read_alone_and_beside_any_other(atlas: Atlas) -> None:
    heads = [(one.layer, one.head) for one in atlas.passports]
    for other in heads:
        shown = {heads[0]: 0, other: 0}
        figure = passports_of(atlas, [*shown])
        said = figure.said
        assert all(map(math.isfinite, numbers_in(said)))
        assert json.dumps(said)
        for head, one in zip(shown, said["passports"], strict=True):
            passport = atlas.of(*head)
            dots = [effect for kind in one["kinds"] for effect, _ in kind["dots"]]
            of_kinds = {kind.kind for kind in passport.effects.kinds}
            assert sorted(dots) == sorted(
                effect
                for effect, prompt in zip(passport.effects.by_mean, atlas.prompts, strict=True)
                if prompt.kind in of_kinds
            )
            assert max(map(abs, dots), default=0.0) <= said["most"]
            assert {name["name"] for name in one["names"]} == {each.name for each in passport.names}
            assert bool(one["looked"]) <= bool(passport.names or passport.rows)
        first, *others = ([kind["kind"] for kind in one["kinds"]] for one in said["passports"])
        for order in others:
            assert [kind for kind in order if kind in first] == [
                kind for kind in first if kind in order
            ]


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_each_shade_has_a_number_of_each_head_on_a_scale_that_its_legend_tells(
    atlas: Atlas,
) -> None:
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


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_two_heads_are_said_to_differ_only_where_their_intervals_do_not_meet(atlas: Atlas) -> None:
    one, other = atlas.passports[0], atlas.passports[-1]
    (said,) = words.differences(atlas, one, one)
    assert said.endswith("surely differs.")
    met = {
        kind.kind
        for kind in one.effects.kinds
        for its in other.effects.kinds
        if its.kind == kind.kind and not words.apart(kind.checked, its.checked)
    }
    for said in words.differences(atlas, one, other):
        assert not any(f" on {kind} without the head: " in said for kind in met)


def test_a_shade_without_heads_everywhere_leaves_their_tiles_empty() -> None:
    ragged = making.atlas(layers=2, heads=3)
    ragged = replace(ragged, passports=ragged.passports[:-1])
    for shade in shades_of(ragged):
        assert math.isnan(shade.numbers[1, 2])
    assert numbers.Opened(ragged).titles[-1] == ""


@pytest.mark.parametrize(
    ("right", "says"),
    [
        (
            [True, True, False],
            "2 of 3 words that could. So it holds here. At “c” it looks at “a”.",
        ),
        (
            [True, False, False],
            "1 of 3 words that could. So it fails here. At “b” it looks at itself.",
        ),
        ([True, True, True], "3 of 3 words that could. So it holds here."),
        ([True], "1 of 1 word that could. So it holds here."),
        (
            [True, False],
            "1 of 2 words that could. So it fails here. At “b” it looks at itself.",
        ),
    ],
)
def test_a_name_that_is_tried_is_said_to_hold_on_more_than_half_of_what_it_is_asked(
    right: list[bool], says: str
) -> None:
    count = len(right)
    tried = Tried("previous", [1, 2, 3][:count], right, [0, 2, 0][:count])
    assert words.tried_words(tried, ["x", "a", "b", "c"]).endswith(says.replace("“a”", "“x”"))


def test_an_even_row_shows_no_name() -> None:
    pieces = numbers.run_model("constructed", "x b c").pieces
    count = len(pieces.ids)
    even = torch.ones(count, count).tril()
    tried = numbers.tried_on(even / even.sum(-1, keepdim=True), pieces, "previous", None)
    assert tried.right == [False] * len(tried.asking)
    assert all(key != at - 1 for at, key in zip(tried.asking, tried.looks, strict=True))


PACKAGED = files.FOLDER  # before a test has another one
PIECES = ("words", "text", "link")  # say nothing by themselves
OF_ANSWERS = {"answer", "answers", "point", "points", "lose", "loses", "gain", "gains", "nats"}


def words_in(part: Any) -> set[str]:
    """All words of a message, however deep, but for pieces of texts and addresses."""
    if isinstance(part, dict):
        part = [each for name, each in part.items() if name not in PIECES]
    if isinstance(part, list | tuple):
        return {word for each in part for word in words_in(each)}
    return {*part.lower().replace(":", " ").split()} if isinstance(part, str) else set()


def test_no_passport_or_tile_of_a_model_of_vectors_speaks_of_an_answer() -> None:
    atlas = files.read(files.path_of(PACKAGED, "minilm"))
    said: set[str] = set()
    for one, other in pairwise(atlas.passports):
        figure = passports_of(atlas, [one.place, other.place])
        said |= words_in(figure.said)
        assert figure.said["unit"] == "%"
    for shade in shades_of(atlas):
        said |= words_in([shade.legend, *map(shade.say, shade.numbers.flatten().tolist())])
    assert {"vectors", "everyday"} <= said
    assert not said & OF_ANSWERS
