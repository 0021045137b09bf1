"""A passport of a head, as data: frozen, small, and the schema of the published files.

Every number is measured on two halves of the texts: `found` on those that a statement is chosen by,
`checked` on the others. Weights are shares of 1, effects changes of a probability (negative: the
answer loses), costs nats a piece (negative: the text becomes likelier without the head).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

SEED = 0  # of all that is drawn
HALVES = (FOUND, CHECKED) = ("found", "checked")


def half_of(place: int) -> str:
    """The half that a text belongs to, by its place among those of its kind: each second one."""
    return HALVES[place % 2]


class Numbered:
    """A head by the number of its layer and its own in that."""

    layer: int
    head: int

    @property
    def place(self) -> tuple[int, int]:
        """Layer and head."""
        return self.layer, self.head

    @property
    def name(self) -> str:
        """Layer and head with a point between: "23.4"."""
        return f"{self.layer}.{self.head}"


@dataclass(frozen=True)
class Text:
    """A text that heads are measured on.

    text; half: one of `HALVES`; pieces: as the model reads it; kind: what it is asked for, as
    "capitals", "" of sentences at large; answer: of a prompt the likeliest next piece, or what else
    the model's answer is about, "" where it is the vector itself; before: the probability of that,
    1 of a vector; by_zero: whether effects by zero are measured on it too.
    """

    text: str
    half: str
    pieces: tuple[str, ...]
    kind: str = ""
    answer: str = ""
    before: float = 0.0
    by_zero: bool = False


@dataclass(frozen=True)
class Mean:
    """A mean over texts with its 95 % interval.

    low, high: of a share of texts by Wilson's score (Wilson 1927), else by Student's t (Student
    1908): of 6 texts the mean ± 2.57 standard errors, of 110 ± 1.98; count: of how many texts.
    """

    mean: float
    low: float
    high: float
    count: int


class OnHalves:
    """A number that was measured on both halves of the texts."""

    found: Mean
    checked: Mean

    @property
    def halves(self) -> tuple[Mean, Mean]:
        """The means, in the order of `HALVES`."""
        return self.found, self.checked

    @property
    def size(self) -> float:
        """The size of the mean that lies nearer to 0."""
        return min(abs(half.mean) for half in self.halves)


@dataclass(frozen=True)
class Row:
    """A row of attention: from one piece of a sentence to all.

    sentence: its place in `Atlas.sentences`; query: the position it looks from; weights: (keys,).
    """

    sentence: int
    query: int
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Measured(OnHalves):
    """One of `analysis.heads.MEASURES` of a head.

    shuffled: the same where the keys of each row are shuffled among those it may see; untrained:
    over the heads of untrained twins, low and high their 2.5th and 97.5th percentiles.
    """

    name: str
    found: Mean
    checked: Mean
    shuffled: Mean
    untrained: Mean


@dataclass(frozen=True)
class Name(OnHalves):
    """A name that a head earns, one of `analysis.names.WORDS`: on how many sentences it holds.

    weight: the mean weight on such keys; shuffled, untrained: on how many sentences it holds where
    keys are shuffled, and of heads of untrained twins the most; holds: if, on the texts that it
    was not found on, too, it holds on more than half and its interval lies above both; example:
    a row of the checked half that shows it, in the middle of all that do; counter: the row of the
    checked half with least weight there, None where it holds on each row.
    """

    name: str
    found: Mean
    checked: Mean
    weight: Mean
    shuffled: float
    untrained: float
    holds: bool
    example: Row
    counter: Row | None


@dataclass(frozen=True)
class Turned(OnHalves):
    """Effects of a change as large as that to the head's mean, in a random direction: the step to
    the mean is turned by a rotation that is drawn once for each head.

    needed: as in `Kind`; less: if answers lose less than by the mean on both halves, each interval
    of the differences, prompt by prompt, above 0.
    """

    found: Mean
    checked: Mean
    needed: bool
    less: bool


@dataclass(frozen=True)
class Kind(OnHalves):
    """Effects on the prompts of one kind, the head set to its mean.

    needed: if the answer loses on both halves, each interval below 0 and each mean at least 5
    points; by_zero: the same set to zero, None where it was not asked; turned: by a change as large
    in a random direction, None of everyday sentences.
    """

    kind: str
    found: Mean
    checked: Mean
    needed: bool
    by_zero: Mean | None
    turned: Turned | None = None

    @property
    def unspecific(self) -> bool:
        """True if a change as large in a random direction is needed as well, and costs as much on
        both halves."""
        return (
            self.turned is not None
            and self.turned.needed
            and all(
                turn.mean <= mean.mean
                for turn, mean in zip(self.turned.halves, self.halves, strict=True)
            )
        )


@dataclass(frozen=True)
class Cost(OnHalves):
    """The cost of a head's loss to sentences at large, nats a piece, of other models the movement
    of their vectors; see `claims.elsewhere`."""

    found: Mean
    checked: Mean


@dataclass(frozen=True)
class Effects:
    """Failures without a head.

    by_mean: of each prompt the change of its answer; by_zero: of each prompt that is asked so, in
    their order; kinds: each kind of prompts, the most lost first; elsewhere: by mean, and by zero;
    hangs: prompts, by their places, that lose most, at most five, each at least a point; controls:
    prompts of the same kind that lose least, as many.
    """

    by_mean: tuple[float, ...]
    by_zero: tuple[float, ...]
    kinds: tuple[Kind, ...]
    elsewhere: Cost
    elsewhere_by_zero: Cost
    hangs: tuple[int, ...]
    controls: tuple[int, ...]


@dataclass(frozen=True)
class Passport(Numbered):
    """All that is known of a head. rows: a sample spread evenly over the range of each row's
    greatest weight; unexplained: the share of its attention that none of its names foretells;
    sink: the share on special pieces, or on the first where there is none."""

    layer: int
    head: int
    measures: tuple[Measured, ...]
    names: tuple[Name, ...]
    rows: tuple[Row, ...]
    unexplained: Mean
    sink: Mean
    effects: Effects


@dataclass(frozen=True)
class Atlas:
    """Passports of all heads of a model.

    schema: the version of these classes; weights: SHA-256 of the model's files, see
    `sources`; versions: of what they were made by; command: makes them again; sentences, prompts:
    the texts; passports: by layer, then head.
    """

    schema: int
    model: str
    title: str
    checkpoint: str
    weights: str
    versions: dict[str, str]
    command: str
    seed: int
    sentences: tuple[Text, ...]
    prompts: tuple[Text, ...]
    passports: tuple[Passport, ...]

    def of(self, layer: int, head: int) -> Passport:
        """The passport of a head. Raises ValueError where there is none."""
        for one in self.passports:
            if one.place == (layer, head):
                return one
        raise ValueError(f"the atlas of {self.model} has no head {layer}.{head}")

    @property
    def shape(self) -> Sequence[int]:
        """Of each layer the number of heads."""
        return [*Counter(one.layer for one in self.passports).values()]

    @property
    def wide(self) -> int:
        """Heads of a layer, the most: heads are counted through by it."""
        return max(self.shape)

    def position(self, head: tuple[int, int]) -> int:
        """The position of a head among all."""
        return head[0] * self.wide + head[1]
