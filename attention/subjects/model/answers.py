"""The answer of a model, as trained and with heads off, and the lenses that suit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.atlas.claims import SURE
from attention.atlas.sentences import word_of
from attention.subjects.model.options import (
    ELSEWHERE,
    LENSES,
    LOOKS,
    LOST,
    MEAN,
    PASSPORTS,
    SAYS,
    WEIGHTS,
)
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, goes_on

BASE, TUNED = "the base", "the tuned model"
# Answers that fit many sentences, and say little of one.
SMALL_WORDS = frozenset(
    ("a an and as at but by for from in it of on or that the this to with " + ", . ; : -").split()
)


@dataclass(frozen=True, eq=False)
class Other:
    """The other model of a pair, whose heads take the place of those that are switched.

    own, name: the words for the model itself and for this one, `BASE` or `TUNED`; share: the
    metric of the answer here; likeliest: its next pieces, see `Answered`.
    """

    own: str
    name: str
    share: float
    likeliest: Sequence[tuple[str, float, int]] = ()


@dataclass(frozen=True, eq=False)
class Answered:
    """A model's answer to a sentence, as trained and with the heads that are off.

    kind: "piece" where it says the next one, "written" where it writes an output, "vector" else;
    position: of the query in the sentence that the answer is about; word: the answer, for vectors
    the word that moves; before, now: the metric of `switches.answer_at`; likeliest: the likeliest
    next pieces as trained and now, (text, share, id) each, none for vectors; other: None where
    heads are as in no other model; way: to set heads that are off.
    """

    kind: str
    position: int
    word: str
    before: float
    now: float
    likeliest: tuple[Sequence[tuple[str, float, int]], Sequence[tuple[str, float, int]]] = ((), ())
    other: Other | None = None
    way: str = MEAN

    @property
    def is_vector(self) -> bool:
        """True if the answer is a vector that moves."""
        return self.kind == "vector"

    @property
    def is_poor(self) -> bool:
        """True if it says little of its sentence: a guess, or a word that fits many."""
        return self.kind == "piece" and (self.before < SURE or is_small(self.word))

    @property
    def is_overtaken(self) -> bool:
        """True if another piece is likelier now."""
        return self.kind == "piece" and self.leader[0] != self.word

    @property
    def sign(self) -> int:
        """1 where a lower metric is a loss, -1 where a higher one is."""
        return -1 if self.is_vector else 1

    @property
    def searched(self) -> int:
        """1 where heads are searched for that lower the metric, -1 where they raise it: those that
        make it worse, or of a pair those that bring it nearer to the other model's."""
        if self.other is None:
            return self.sign
        return 1 if self.before >= self.other.share else -1

    @property
    def unit(self) -> str:
        """The unit of its changes: points of a probability, or per cent of a cosine."""
        return "%" if self.is_vector else "points"

    @property
    def leader(self) -> tuple[str, float]:
        """The likeliest next piece now, with its share."""
        text, share, _ = self.likeliest[1][0]
        return word_of(text), share


def is_small(word: str) -> bool:
    """True if a word fits many sentences, and says little of one."""
    return word.lower() in SMALL_WORDS


def kind_of(model: Model) -> str:
    """The kind of answer a model gives, see `Answered`."""
    if isinstance(model, EncoderDecoder):
        return "written"
    return "piece" if goes_on(model) else "vector"


def lenses_of(model: Model, is_long: bool, passports: bool, pair: bool = False) -> dict[str, str]:
    """The lenses that mean something for a model: a vote needs an unembedding, and the layout.

    is_long: whether the sentence is too long to judge each head, see `answering.is_long`;
    passports: if the model has some; pair: if its heads are compared with another model's.
    """
    if pair:
        brings = {} if is_long else {LOST: "brings it"}
        return brings | {lens: LENSES[lens] for lens in (ELSEWHERE, WEIGHTS)}
    there = {LOOKS: True, PASSPORTS: passports, LOST: not is_long}
    there[SAYS] = not is_long and kind_of(model) == "piece" and model.adds_up
    return {name: LENSES[name] for name in there if there[name]}
