"""Shades of the tiles of the atlas: each a number that every passport has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from attention.analysis.heads import MEASURES
from attention.analysis.names import WORDS
from attention.atlas.claims import elsewhere
from attention.atlas.passport import Atlas, Passport
from attention.atlas.sentences import of_vectors, place, unit_of
from attention.core.printing import fixed, percent
from attention.subjects.model.figures import Shades

BREAKS, LOOKS, LEFT = ("what breaks without it", "where it looks", "what is not explained")
NEEDED = "needed by "
ELSEWHERE = "cost elsewhere"
STEP = 0.05  # of a darkest effect
DARKEST_COST = 0.1  # nats a piece, or of a cosine


@dataclass(frozen=True, eq=False)
class Shade:
    """A number of each head, and how it is coloured.

    name: of it in links and in the menu; group: of the menu; numbers (layers, heads), NaN where a
    head has none; darkest: the number of the darkest tile; around_0: whether orange says less and
    blue more, else all is blue; sign: -1 where a greater number is a loss; legend: of the colours;
    say: a number in words; sure: if it surely holds of a head, None where it is a number alone.
    """

    name: str
    group: str
    numbers: Tensor
    darkest: float
    around_0: bool
    sign: int
    legend: str
    say: Callable[[float], str]
    sure: Callable[[Passport], bool] | None = None

    @property
    def coloured(self) -> Tensor:
        """The numbers with their sign turned where less than 0 is orange."""
        return self.numbers * (-self.sign if self.around_0 else 1)


@dataclass(frozen=True, eq=False)
class Shaded:
    """Shades that the tiles of the window have, by lens; for each lens a function that gives the
    sentences on all heads; and the menu of all shades, of which one is shown."""

    by_lens: Mapping[str, Shade]
    told: Mapping[str, Callable[[], Sequence[str]]]
    menu: Shades | None


def menu_of(lens: str, shades: Sequence[Shade], shown: Shade) -> Shades:
    """All shades by group, and the one that is shown."""
    groups: dict[str, list[str]] = {}
    for each in shades:
        groups.setdefault(each.group, []).append(each.name)
    return {"lens": lens, "groups": [*groups.items()], "name": shown.name}


def change(unit: str, effect: float) -> str:
    """A change in hundredths. unit: see `sentences.unit_of`."""
    return f"{'+' if effect >= 0.0005 else ''}{fixed(100 * effect, 1)} {unit}"


def nats(cost: float) -> str:
    """A cost in nats a piece."""
    return f"{fixed(cost, 3)} nats a piece"


def moved(cost: float) -> str:
    """A cost of vectors, as far as they move, in per cent of a cosine."""
    return f"{fixed(100 * cost, 2)} %"


def two_digits(value: float) -> str:
    """A number with two decimals."""
    return fixed(value, 2)


def shades_of(atlas: Atlas) -> list[Shade]:
    """All shades, those of effects first. Of two halves of texts the one that nothing was found on
    is shown."""
    return [*_effects(atlas), *_looks(atlas), *_unexplained(atlas)]


def shade_named(shades: Sequence[Shade], name: str) -> Shade:
    """The shade of that name; else the effects that differ most from head to head."""
    known = {shade.name: shade for shade in shades}
    return known.get(name) or max(shades, key=_range)


def _range(shade: Shade) -> float:
    if not shade.name.startswith(NEEDED):
        return -1.0
    numbers = shade.numbers.nan_to_num(0.0)
    return float(numbers.max() - numbers.min())


def numbers_of(atlas: Atlas, number: Callable[[Passport], float | None]) -> Tensor:
    """A number of each head, (layers, heads); NaN where there is no head, or it has no number."""
    shape = atlas.shape
    found = torch.full((len(shape), max(shape, default=0)), math.nan)
    for one in atlas.passports:
        value = number(one)
        if value is not None:
            found[one.place] = value
    return found


def _effects(atlas: Atlas) -> Iterator[Shade]:
    kinds = dict.fromkeys(kind.kind for one in atlas.passports for kind in one.effects.kinds)
    found = {kind: numbers_of(atlas, partial(_effect, kind)) for kind in kinds}
    most = max((float(each.nan_to_num(0.0).abs().max()) for each in found.values()), default=0.0)
    darkest = max(STEP, math.ceil(most / STEP) * STEP)
    unit, vectors = unit_of(atlas), of_vectors(atlas)
    changes = "orange: answers lose without the head, blue: they gain"
    costly = "orange: other texts are harder to predict without the head, blue: easier"
    if vectors:
        changes = "orange: vectors move without the head, by their cosine to what they were, less 1"
        costly = "orange: vectors of other texts move without the head"
    legend = f"{changes}; full colour: {fixed(100 * darkest, 0)} {unit}"
    for kind, numbers in found.items():
        name = f"{NEEDED}{kind or 'sentences at large'}"
        changed, needed = partial(change, unit), partial(_needed, kind)
        yield Shade(name, BREAKS, numbers, darkest, True, 1, legend, changed, needed)
    costs = numbers_of(atlas, lambda one: one.effects.elsewhere.checked.mean)
    say, sure = moved if vectors else nats, partial(_costs, vectors)
    legend = f"{costly}; full colour: {say(DARKEST_COST)}"
    yield Shade(ELSEWHERE, BREAKS, costs, DARKEST_COST, True, -1, legend, say, sure)


def _effect(kind: str, one: Passport) -> float | None:
    return next((each.checked.mean for each in one.effects.kinds if each.kind == kind), None)


def _needed(kind: str, one: Passport) -> bool:
    return any(each.needed for each in one.effects.kinds if each.kind == kind)


def _costs(vectors: bool, one: Passport) -> bool:
    return elsewhere(one.effects.elsewhere, vectors) in ("needs", "gains")


def _looks(atlas: Atlas) -> Iterator[Shade]:
    for name in WORDS:
        numbers = numbers_of(atlas, partial(_named, name))
        if not numbers.isnan().all():
            what = "sentences on which most words look there"
            shade = f"looks {place(name)}"
            yield _share(shade, LOOKS, numbers, what, partial(_holds, name))
    for name, measure in MEASURES.items():
        numbers = numbers_of(atlas, partial(_measured, name))
        if numbers.isnan().all():
            continue
        if measure.targets is not None:
            yield _share(f"weight on {measure.words}", LOOKS, numbers, "all weight")
            continue
        most = float(numbers.nan_to_num(0.0).max()) or 1.0
        legend = f"full colour: {fixed(most, 1)}"
        yield Shade(measure.words, LOOKS, numbers, most, False, 1, legend, two_digits)
    sinks = numbers_of(atlas, lambda one: one.sink.mean)
    yield _share("weight on the sink", LOOKS, sinks, "all weight")


def _measured(name: str, one: Passport) -> float | None:
    return next((each.checked.mean for each in one.measures if each.name == name), None)


def _named(name: str, one: Passport) -> float | None:
    return next((each.checked.mean for each in one.names if each.name == name), None)


def _holds(name: str, one: Passport) -> bool:
    return any(each.holds for each in one.names if each.name == name)


def _share(
    name: str,
    group: str,
    numbers: Tensor,
    what: str,
    sure: Callable[[Passport], bool] | None = None,
) -> Shade:
    legend = f"share of {what}; full colour: 100 %"
    return Shade(name, group, numbers, 1.0, False, 1, legend, percent, sure)


def _unexplained(atlas: Atlas) -> Iterator[Shade]:
    numbers = numbers_of(atlas, lambda one: one.unexplained.mean)
    yield _share("unexplained", LEFT, numbers, "its attention that no name foretells")
