"""Small atlases whose numbers are set by hand, for what reads them."""

from __future__ import annotations

import itertools
import random
from dataclasses import fields, is_dataclass, replace
from typing import Any

from attention.analysis.heads import MEASURES
from attention.atlas.files import SCHEMA
from attention.atlas.passport import (
    HALVES,
    Atlas,
    Cost,
    Effects,
    Kind,
    Mean,
    Measured,
    Name,
    Passport,
    Row,
    Text,
    Turned,
)

KINDS = ("capitals", "opposites", "verbs")
PER_KIND = 6
PIECES = ("x", "·b", "·c", "·x", "·b")


def mean(value: float, off: float = 0.03, count: int = 11) -> Mean:
    """A mean with an interval of that width to both sides."""
    return Mean(value, value - off, value + off, count)


def atlas(model: str = "constructed", layers: int = 2, heads: int = 2, title: str = "") -> Atlas:
    """An atlas: head 1.0 is needed by capitals, head 0.0 looks one word back, head 0.1 bears a name
    that fails on other texts; the others bear none."""
    prompts = tuple(
        Text(f"x b c x {kind} {at}", HALVES[at % 2], PIECES, kind, "·b", 0.75, at < 2)
        for kind in KINDS
        for at in range(PER_KIND)
    )
    sentences = tuple(Text("x b c x b", half, PIECES) for half in (*HALVES, *HALVES))
    passports = tuple(
        passport(layer, head) for layer, head in itertools.product(range(layers), range(heads))
    )
    return Atlas(
        schema=SCHEMA,
        model=model,
        title=title or model,
        checkpoint="made by hand",
        weights="0" * 64,
        versions={},
        command=f"python -m attention.atlas {model}",
        seed=0,
        sentences=sentences,
        prompts=prompts,
        passports=passports,
    )


def shaken(seed: int) -> Atlas:
    """An atlas whose numbers and verdicts are drawn, for claims about any; of half of them the
    model gives vectors."""
    chance = random.Random(seed)
    made = atlas(layers=chance.randint(1, 2), heads=chance.randint(1, 3))
    prompts = tuple(replace(prompt, answer="") for prompt in made.prompts)
    passports = tuple(drawn(one, chance) for one in made.passports)
    return replace(made, prompts=chance.choice((made.prompts, prompts)), passports=passports)


def drawn(part: Any, chance: random.Random, least: float = 0) -> Any:
    """A part with other numbers up to 1, the ends of each interval on its sides."""
    least = -1 if isinstance(part, Effects) else least
    if isinstance(part, Mean):
        low, middle, high = sorted(chance.uniform(least, 1) for _ in range(3))
        return Mean(middle, low, high, chance.randint(2, 250))
    if isinstance(part, bool):
        return chance.random() < 0.5
    if isinstance(part, float):
        return chance.uniform(least, 1)
    if isinstance(part, tuple):
        return tuple(drawn(each, chance, least) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(
        part, **{one.name: drawn(getattr(part, one.name), chance, least) for one in fields(part)}
    )


def passport(layer: int, head: int) -> Passport:
    """A passport whose numbers follow from the place of its head."""
    place = 7 * layer + head
    row = Row(1, 3, (0.1, 0.2, 0.6, 0.1))
    names: tuple[Name, ...] = ()
    if (layer, head) == (0, 0):
        names = (name("previous", 0.97, True, row),)
    if (layer, head) == (0, 1):
        names = (replace(name("induction", 0.75, False, row), checked=mean(0.31)),)
    return Passport(
        layer=layer,
        head=head,
        measures=tuple(measured(each, 0.1 + 0.02 * place) for each in MEASURES),
        names=names,
        rows=tuple(Row(at, 4, (0.2, 0.1, 0.1, 0.1, 0.5)) for at in range(4)),
        unexplained=mean(0.05 if names else 0.83),
        sink=mean(0.29),
        effects=effects(-0.42 if (layer, head) == (1, 0) else 0.002 * place),
    )


def name(named: str, found: float, holds: bool, row: Row) -> Name:
    """A name found on a share of sentences."""
    return Name(named, mean(found), mean(found), mean(0.61), 0.13, 0.17, holds, row, row)


def measured(named: str, value: float) -> Measured:
    """A measure, the same on both halves."""
    return Measured(named, mean(value), mean(value), mean(0.11), mean(0.12))


def effects(first: float) -> Effects:
    """Effects of which only those on the first kind of prompts are large."""
    of_kinds = (first, -0.003, 0.001)
    by_mean = tuple(effect * (1 + 0.1 * at) for effect in of_kinds for at in range(PER_KIND))
    kinds = tuple(
        Kind(
            kind,
            *(mean(effect), mean(effect, 0.02), effect < -0.05, mean(effect - 0.2)),
            Turned(mean(effect / 2), mean(effect / 3), needed=False, less=effect < -0.05),
        )
        for kind, effect in zip(KINDS, of_kinds, strict=True)
    )
    needed = first < -0.01
    return Effects(
        by_mean=by_mean,
        by_zero=(first,) * 2 + (-0.003,) * 2 + (0.001,) * 2,
        kinds=kinds,
        elsewhere=Cost(mean(-0.036, 0.001), mean(-0.035, 0.002)),
        elsewhere_by_zero=Cost(mean(0.013, 0.001), mean(0.011, 0.002)),
        hangs=(5, 4, 3) if needed else (),
        controls=(0, 1, 2) if needed else (),
    )
