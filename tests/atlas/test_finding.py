"""Heads found by a sentence: by all that they do, the largest effect first."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from attention.atlas import finding, words
from attention.atlas.finding import Index, stem, stems_of
from attention.atlas.passport import (
    Against,
    Alike,
    Atlas,
    Circuit,
    Cost,
    Direction,
    Kind,
    Mean,
    Name,
    Near,
    Passport,
    Row,
    Text,
)
from tests.atlas.strategies import atlases
from tests.atlas.test_files import example
from tests.properties import given, settings
from tests.properties import strategies as st


def mean(value: float) -> Mean:
    return Mean(value, value - 0.01, value + 0.01, 40)


def prompt(text: str, kind: str, answer: str) -> Text:
    return Text(text, "found", (*text.split(),), kind, answer, 0.75)


PROMPTS = (
    prompt("The sun rises in the east and sets in the", "opposites", "·west"),
    prompt("The opposite of black is", "opposites", "·white"),
    prompt("The capital of France is", "capitals", "·Paris"),
    prompt("The capital of Peru is", "capitals", "·Lima"),
)


def looking(name: str, found: float, checked: float) -> Name:
    holds = checked > 0.5
    row = Row(0, 1, (0.5, 0.5))
    return Name(name, mean(found), mean(checked), mean(0.5), 0.03, 0.11, holds, row, None)


def copying(value: float, *reads: str) -> Circuit:
    nulls = Against(0.0, 0.0, -0.1, 0.1)
    tells = Against(9.0, 3.0, 2.0, 4.0)
    directions = (Direction(0.25, reads, ("x",), ("·snow",), ("x",), tells),) if reads else ()
    pieces = (dataclasses.replace(nulls, value=max(0.0, sign * value)) for sign in (1, -1))
    return Circuit(dataclasses.replace(nulls, value=value), *pieces, directions)


def head(at: int, by_mean: tuple[float, ...], **more: Any) -> Passport:
    """The head 0.at, with these changes of the answers to `PROMPTS`."""
    one = example().passports[0]
    kinds = []
    for name, places in (("opposites", (0, 1)), ("capitals", (2, 3))):
        changes = [by_mean[place] for place in places]
        half = mean(sum(changes) / 2)
        kinds.append(Kind(name, half, half, half.mean <= -0.05, None))
    effects = dataclasses.replace(
        one.effects, by_mean=by_mean, by_zero=(), kinds=(*kinds,), hangs=(), controls=()
    )
    if cost := more.pop("cost", None):
        sure = (cost > 0) - (cost < 0)
        effects = dataclasses.replace(effects, elsewhere=Cost(mean(cost), mean(cost), sure))
    return dataclasses.replace(one, head=at, effects=effects, **more)


@pytest.fixture
def atlas() -> Atlas:
    """Five heads: 0.0 capitals, 0.1 west, 0.2 white, 0.3 back and copies, 0.4 fails the check."""
    return dataclasses.replace(
        example(model="toy"),
        prompts=PROMPTS,
        passports=(
            head(0, (0, 0, -0.25, -0.5)),
            head(1, (-0.75, -0.125, 0, -0.9)),
            head(2, (0, -0.5, -0.005, 0), circuit=copying(-0.5, "·east", "·West")),
            head(
                3,
                (0, 0, 0, 0.125),
                names=(looking("previous", 0.75, 0.875),),
                circuit=copying(0.5),
                cost=-0.25,
            ),
            head(4, (0, 0, 0, 0), names=(looking("previous", 0.625, 0.25),), cost=0.125),
        ),
    )


@pytest.mark.parametrize(
    ("asked", "heads"),
    [
        ("needed by capitals", [1, 0]),
        ("What breaks capitals?", [1, 0]),
        ("CAPITALS", [1, 0, 3]),
        ("Lima", [1, 0]),
        ("Páris", [0]),
        ("west", [1, 2]),
        ("opposite", [1, 2]),
        ("black", [2, 1]),
        ("looks one word back", [3]),
        ("the previous token", [3]),
        ("copies", [3]),
        ("a head that copies and looks back", [3]),
        ("suppresses", [2]),
        ("helps other sentences", [3]),
        ("failed the check", [4]),
        ("0.2", [2]),
        ("L0H4", [4]),
        ("layer 0 head 1 or 0.0", [1, 0]),
        ("toy west", [1, 2]),
        ("qwertz", []),
        ("9.9", []),
        ("of the", []),
        ("", []),
    ],
)
def test_heads_are_found_by_what_they_do(atlas: Atlas, asked: str, heads: list[int]) -> None:
    hits = finding.found([atlas], asked)
    assert [hit.head for hit in hits] == heads
    assert all((hit.model, hit.layer) == ("toy", 0) for hit in hits)


def test_a_hit_says_why_with_the_size_that_it_was_found_by(atlas: Atlas) -> None:
    first, second = finding.found([atlas], "needed by capitals")
    assert first.why.startswith("Needed by capitals: without it the answer loses 45 points (44 to")
    assert first.score == 0.45
    assert second.score == 0.375
    (white,) = [hit for hit in finding.found([atlas], "white") if hit.head == 2]
    assert white.why == "“The opposite of black is”, “white” loses 50 points without it."
    east = {hit.head: hit.why for hit in finding.found([atlas], "east")}
    assert east[2].startswith("A direction of 25 % of its strength reads “east” and “West”")


def test_a_model_that_is_named_is_searched_alone(atlas: Atlas) -> None:
    other = dataclasses.replace(atlas, model="other")
    both = Index([atlas, other])
    assert [hit.model for hit in both.found("copies")] == ["toy", "other"]
    assert [hit.model for hit in both.found("other copies")] == ["other"]
    assert [hit.model for hit in both.found("Toy 0.3")] == ["toy"]


@pytest.mark.parametrize(
    ("asked", "heads", "unknown", "aside"),
    [
        ("looks at the full stop", [], ["full stop"], []),
        ("looks back at a Full  Stops", [3], ["full stops"], []),
        ("Qwertz copies, and the zebra", [3], ["qwertz", "zebra"], []),
        ("copies back, white", [3], [], ["white"]),
        ("0.2 white", [2], [], ["white"]),
        ("toy 9.9 zebra", [], ["zebra"], []),
        ("toy west", [1, 2], [], []),
        ("of the", [], [], []),
    ],
)
def test_words_that_no_head_is_found_by_and_those_passed_over_are_told(
    atlas: Atlas, asked: str, heads: list[int], unknown: list[str], aside: list[str]
) -> None:
    search = Index([atlas]).search(asked)
    assert [hit.head for hit in search.hits] == heads
    assert ([*search.unknown], [*search.aside]) == (unknown, aside)


def test_kin_of_a_head_are_found_by_what_they_are_near_by(atlas: Atlas) -> None:
    def near(side: str, head: int, value: float) -> Near:
        return Near(side, 0, head, Against(value, 0.0, -0.1, 0.1))

    kin = (
        near("reads", 1, 0.75),
        near("matches", 2, 0.5),
        near("keys", 3, 0.5),
        near("asks", 1, 0.25),
    )
    alike = (
        Alike("toy", 0, 4, mean(0.5), mean(0.5), 0.1),
        Alike("other", 0, 0, mean(0.5), mean(0.5), 0.1),
    )
    one = dataclasses.replace(atlas.passports[0], near=kin, alike=alike)
    index = Index([dataclasses.replace(atlas, passports=(one, *atlas.passports[1:]))])
    for asked, heads in {
        "near 0.0": [1, 2, 3, 4],
        "heads like 0.0 by queries and keys": [2, 1],
        "kin of 0.0 by keys": [2, 3, 1],
        "near 0.0 by values": [1],
        "near 0.0 by attention": [4],
        "near 0.1": [],
        "near": [],
    }.items():
        assert [hit.head for hit in index.found(asked)] == heads, asked
    (matching, _) = index.found("near 0.0 by queries and keys")
    assert matching.why == (
        "0.0 matches words in part as 0.2 does: cosine 0.500; random matrices: −0.100 to 0.100."
    )
    assert index.search("near 0.0 by zebras").unknown == ["zebras"]


def test_a_search_that_finds_nothing_has_suggestions_that_find_something(atlas: Atlas) -> None:
    index = Index([atlas])
    assert index.suggested(index.search("capitls")) == ["capitals"]
    usual = index.suggested(index.search("qwertz"))
    assert usual == ["needed by capitals", "needed by opposites", "looks one word back", "copies"]
    assert all(index.found(each) for each in usual)


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("capital capitals", "capital"),
        ("copy copies copied copying", "copy"),
        ("need needs needed needing", "need"),
        ("princess princesses", "princess"),
        ("opposite opposites", "opposit"),
        ("suppress suppresses suppressing", "suppress"),
        ("is", "is"),
        ("ring", "ring"),
    ],
)
def test_words_lose_their_endings(words: str, one: str) -> None:
    assert {*map(stem, words.split())} == {one}


@settings(max_examples=30)
@given(atlases(), st.text(max_size=40))
def test_a_search_is_deterministic_and_finds_heads_that_are_there(atlas: Atlas, text: str) -> None:
    index = Index([atlas])
    every = [text, *map(str, index.suggested(index.search(text))), "needed west", "reads black"]
    for asked in every:
        hits = index.found(asked)
        assert hits == Index([atlas]).found(asked)
        assert len({(hit.layer, hit.head) for hit in hits}) == len(hits)
        for hit in hits:
            assert hit.model == atlas.model
            assert hit.why.endswith(".")
            said = words.said(atlas, atlas.of(hit.layer, hit.head))
            assert hit.score >= 0
            assert said.title
    assert stems_of(text) == stems_of(text.upper()) or not text.isascii()
