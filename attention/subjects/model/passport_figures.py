"""Figures of passports: one of a head, and the map of all heads that a file of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.atlas.sentences import name_of
from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure
from attention.subjects.model.shades import Shade, menu_of


class HeadAtlasHeader(TypedDict):
    """Map of all heads, besides the numbers of each shade, (heads,) each.

    layers: what each is called; heads: of a layer, the most; chosen: a position among all; told: a
    sentence on each head; said: the numbers of the shade in words; listed: positions of the first
    heads by the shade, with words on their count; absent: heads that a layer has not; groups: the
    names of all shades; legends, darkest: of each, in the order of their numbers, which are turned
    where less than 0 is orange; blue: those with blue fills alone.
    """

    layers: list[str]
    heads: int
    chosen: int
    told: list[str]
    groups: Sequence[tuple[str, Sequence[str]]]
    legends: Mapping[str, str]
    darkest: Mapping[str, float]
    blue: list[str]
    said: list[str]
    shade: str
    listed: list[int]
    listedWords: str
    absent: list[int]


@dataclass(frozen=True, eq=False)
class HeadAtlas(Figure, kind="head_atlas", header=HeadAtlasHeader, head=int, shade=str):
    """All heads of a model as tiles, coloured by a number of their passports, and the first by it.

    It answers `head`, the position of the one chosen, and `shade`, the name of what colours the
    tiles. title: of its file.
    """

    shades: Sequence[Shade]
    shade: Shade
    layers: Sequence[str]
    told: Sequence[str]
    chosen: int
    listed: Sequence[int]
    listed_words: str
    title: str = "heads of the atlas"

    def content(self) -> bytes:
        numbers = [shade.coloured.flatten().float() for shade in self.shades]
        header: HeadAtlasHeader = {
            "layers": list(self.layers),
            "heads": self.shade.numbers.shape[1],
            "chosen": self.chosen,
            "told": list(self.told),
            "groups": menu_of("", self.shades, self.shade)["groups"],
            "legends": {each.name: each.legend for each in self.shades},
            "darkest": {each.name: each.darkest for each in self.shades},
            "blue": [each.name for each in self.shades if not each.around_0],
            "said": [
                "" if number != number else self.shade.say(number)
                for number in self.shade.numbers.flatten().tolist()
            ],
            "shade": self.shade.name,
            "listed": list(self.listed),
            "listedWords": self.listed_words,
            "absent": [at for at, words in enumerate(self.told) if not words],
        }
        return message(header, *numbers)

    def offer(self) -> None:
        columns = [shade.name for shade in self.shades]
        heads = self.shade.numbers.shape[1]
        names = [name_of(divmod(at, heads)) for at in range(len(self.told))]
        numbers = torch.stack([shade.numbers.flatten() for shade in self.shades], 1)
        files.offer_matrix(self.title, numbers, names, columns)

    def has_head(self, head: int) -> bool:
        """True if there is a head at a position."""
        return head in range(len(self.told)) and bool(self.told[head])

    def has_shade(self, name: str) -> bool:
        """True if tiles can be coloured so."""
        return name in {shade.name for shade in self.shades}


class Looked(TypedDict):
    """A row of attention: words with whether a space goes before each, the weight of each, the one
    that looks, and words on it."""

    words: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    query: int
    told: str


class Bar(TypedDict):
    """A share of 1 with its interval, and it in words; title: what it was counted on."""

    title: str
    mean: float
    low: float
    high: float
    said: str


class NameSaid(TypedDict):
    """A name: on how many sentences it holds, on both halves and by chance."""

    title: str
    holds: bool
    bars: list[Bar]
    example: Looked
    counter: Looked | None


class MeasureSaid(TypedDict):
    """A measure: found, checked, of shuffled keys and of an untrained twin."""

    title: str
    cells: list[str]


class KindSaid(TypedDict):
    """Effects on prompts of a kind: each as a dot with its half, and means with intervals; turned:
    means by a change as large in a random direction, or none, and in words."""

    kind: str
    needed: bool
    dots: list[tuple[float, int]]
    means: list[Bar]
    said: str
    turned: list[float]
    turnedSaid: str
    zero: str
    misleads: bool


class Fallen(TypedDict):
    """A prompt with its answer, "" of vectors, whose probability changes without the head; link: to
    the window, where it does."""

    text: str
    answer: str
    before: str
    after: str
    said: str
    link: str


class PassportSaid(TypedDict):
    """A passport as it is read: the first glance, then each part; looks: a sentence."""

    name: str
    place: str
    title: str
    told: list[str]
    looked: Looked | None
    fallen: Fallen | None
    names: list[NameSaid]
    looks: str
    measures: list[MeasureSaid]
    rows: list[Looked]
    kinds: list[KindSaid]
    hangs: list[Fallen]
    controls: list[Fallen]
    bars: list[Bar]


class HeadPassportHeader(TypedDict):
    """A passport; unit, most: of the scale of effects, and its end."""

    passport: PassportSaid
    unit: str
    most: float


@dataclass(frozen=True, eq=False)
class HeadPassport(Figure, kind="passport", header=HeadPassportHeader):
    """The passport of a head."""

    said: HeadPassportHeader

    def content(self) -> bytes:
        return message(self.said)
