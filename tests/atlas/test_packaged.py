"""Claims about the packaged passports: what is known of heads stands there."""

from __future__ import annotations

import functools
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy.special import stdtr

from attention.atlas import files, making
from attention.atlas.corpus import EVERYDAY
from attention.atlas.passport import Atlas, OnHalves

MOST_BYTES = 1_800_000
DOCS = Path(__file__).parents[2] / "docs" / "atlas.md"


@functools.cache
def atlas_of(model: str) -> Atlas:
    return files.read(files.packaged()[model])


def test_passports_of_all_heads_of_five_models_are_packaged_in_two_megabytes():
    packaged = files.packaged()
    heads = {model: len(atlas_of(model).passports) for model in packaged}
    translators = {"en-pt": 64, "pt-en": 64}
    assert heads == {"constructed": 4, "minilm": 72, "smollm2": 270, **translators}
    assert sum(path.stat().st_size for path in packaged.values()) <= MOST_BYTES


def test_packaged_passports_are_of_the_weights_that_are_read_here():
    for model in making.usual():
        wanted = making.Wanted(model)
        assert making.weights_of(wanted, wanted.subject()) == atlas_of(model).weights


@pytest.mark.parametrize(
    ("kind", "head"),
    [("capitals", "23.4"), ("opposite directions", "23.3"), ("girls and boys", "24.7")],
)
def test_known_heads_are_among_the_three_that_a_kind_needs_most(kind, head):
    needing = {
        one.name: each.checked.mean
        for one in atlas_of("smollm2").passports
        for each in one.effects.kinds
        if each.needed and each.kind == kind
    }
    assert head in sorted(needing, key=needing.__getitem__)[:3]


def test_a_translator_needs_a_head_where_english_has_another_order_than_portuguese():
    atlas = atlas_of("pt-en")
    needing = {
        one.name: [kind.kind for kind in one.effects.kinds if kind.needed]
        for one in atlas.passports
        if any(kind.needed for kind in one.effects.kinds)
    }
    every = [EVERYDAY, "adjectives behind nouns", "verbs before their subjects"]
    assert needing == {"6.6": every, "7.2": every[2:]}


def test_docs_tell_what_a_random_direction_costs_as_it_was_measured():
    found = [
        (one, kind, kind.turned)
        for one in atlas_of("smollm2").passports
        for kind in one.effects.kinds
        if kind.turned is not None
    ]
    needed = [(kind, turned) for _, kind, turned in found if kind.needed]
    so = [one.name for one, _, turned in found if turned.needed]
    more = sum(loss(turned) < loss(kind) for kind, turned in needed)
    twice = sum(2 * loss(turned) < loss(kind) for kind, turned in needed)
    less = sum(turned.less for _, turned in needed)
    as_much = sum(kind.unspecific for kind, _ in needed)
    cases = {
        (one.name, kind.kind): f"{100 * loss(kind):.0f}{{}} on {kind.kind} by the mean, and "
        f"{100 * loss(turned):.0f} by the turned step"
        for one, kind, turned in found
    }
    told = " ".join(DOCS.read_text("utf-8").split())
    for words_of in (
        f"({len(found):,} pairs, all kinds but everyday sentences): {len(so)} pairs are needed so, "
        f"by {len({*so})} heads, and {len(needed)} by the mean itself.",
        f"Of these {len(needed)}, {more} lose more by the mean than by the turned step, {twice} "
        f"more than twice as much; {less} surely do, prompt by prompt, on both halves.",
        f"{as_much} lose as much by a turned step that is needed itself",
        f"9.6 loses {cases['9.6', 'opposites'].format(' points')}.",
        f"23.4 loses {cases['23.4', 'capitals'].format('')}.",
    ):
        assert words_of in told


def test_docs_tell_how_many_pairs_a_false_discovery_rate_leaves():
    atlas = atlas_of("smollm2")
    chances, needed = [], []
    every = [(one, kind) for one in atlas.passports for kind in one.effects.kinds]
    for one, kind in every:
        pairs = zip(one.effects.by_mean, atlas.prompts, strict=True)
        changes = [change for change, prompt in pairs if prompt.kind == kind.kind]
        error = stdev(changes) / len(changes) ** 0.5
        apart = abs(fmean(changes)) / error if error else 0.0
        chances.append(2 * float(stdtr(len(changes) - 1, -apart)))
        needed.append(kind.needed)
    order = sorted(chances)
    last = max(p for at, p in enumerate(order, 1) if p <= 0.05 * at / len(order))
    left = [need for p, need in zip(chances, needed, strict=True) if p <= last]
    said = f"leaves {len(left)} pairs whose answers lose or gain, all {sum(needed)} that are needed"
    assert sum(left) == sum(needed)
    assert said in " ".join(DOCS.read_text("utf-8").split())


def loss(effects: OnHalves) -> float:
    """The loss of answers, on average of both halves."""
    return -sum(half.mean for half in effects.halves) / len(effects.halves)


def test_each_kind_but_everyday_ones_stands_beside_a_random_direction():
    for model in making.usual():
        for one in atlas_of(model).passports:
            for kind in one.effects.kinds:
                assert (kind.turned is None) == (kind.kind == EVERYDAY)
                if kind.turned is not None:
                    counts = [half.count for half in kind.turned.halves]
                    assert counts == [half.count for half in kind.halves]


def test_each_effect_that_is_told_was_measured_on_two_hundred_prompts_and_two_halves():
    for model in files.packaged():
        atlas = atlas_of(model)
        assert len(atlas.prompts) >= 200
        halves = [text.half for text in (*atlas.sentences, *atlas.prompts)]
        assert abs(halves.count("found") - halves.count("checked")) <= len({*halves}) * 10
