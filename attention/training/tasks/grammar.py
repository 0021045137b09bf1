"""Grammar: sentences of a small grammar, in which each verb agrees with its own subject."""

from __future__ import annotations

import functools
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from attention.core import masks
from attention.core.printing import percent
from attention.training.networks import Writer
from attention.training.run import Run
from attention.training.settings import Sizes
from attention.training.tasks.base import (
    ATTENTION,
    EXAMPLE_SEED,
    TEST_SEED,
    TESTED,
    Batch,
    Example,
    Target,
    Task,
    register,
)

START, UNKNOWN, END = "[start]", "[unknown]", "."
NOUNS = ["cat", "dog", "bird", "girl", "boy", "horse"]
TRANSITIVE = ["see", "hear", "like", "follow", "know"]
INTRANSITIVE = ["walk", "run", "sleep", "wait", "sing"]
ADJECTIVES = ["old", "small", "happy", "white"]
ADVERBS = ["often", "never", "still"]
PREPOSITIONS = ["on", "near", "behind"]
PLACES = ["street", "house", "river", "hill"]
AND = "and"
RULES = f"""sentence  → (opening) group (adverb) rest .
opening   → preposition the noun  |  the noun verb₁ and
group     → the (adjective) noun (clause)
clause    → that group verb₂  |  that verb₂ group
rest      → verb₁ (preposition the place)  |  verb₂ the (adjective) noun
noun      → {" | ".join(f"{noun}(s)" for noun in NOUNS)}
verb₁     → {" | ".join(f"{verb}(s)" for verb in INTRANSITIVE)}
verb₂     → {" | ".join(f"{verb}(s)" for verb in TRANSITIVE)}
adjective → {" | ".join(ADJECTIVES)}
adverb    → {" | ".join(ADVERBS)}
place     → {" | ".join(PLACES)}, after {" | ".join(PREPOSITIONS)}
Up to two clauses stand in a group. A verb agrees with its subject: the cat walks, the cats walk."""
SINGULAR_VERBS = [f"{verb}s" for verb in TRANSITIVE + INTRANSITIVE]
PLURAL_VERBS = TRANSITIVE + INTRANSITIVE
WORDS = [
    *(START, UNKNOWN, END, "the", "that", AND),
    *NOUNS,
    *(f"{noun}s" for noun in NOUNS),
    *PLURAL_VERBS,
    *SINGULAR_VERBS,
    *ADJECTIVES,
    *ADVERBS,
    *PREPOSITIONS,
    *PLACES,
]
IDS = {word: at for at, word in enumerate(WORDS)}
LENGTH = 24  # of the longest sentence, with its start and without its end
HELD_OUT = 8  # one of so many sentences is never learned from
CLAUSES = {"one clause": 1, "two clauses": 2, "no clause": 0}
SUBJECT = "subject"


@dataclass(frozen=True)
class Sentence:
    """A sentence of the grammar with the subject of its main verb.

    words: with start and end; subject, verb: their positions; between: positions of the nouns
    between these; clauses: how many stand there; plural: whether the subject is.
    """

    words: Sequence[str]
    subject: int
    verb: int
    others: Sequence[int]
    clauses: int
    plural: bool

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return " ".join(self.words[1:-1]) + END

    @property
    def begun(self) -> str:
        """The sentence up to its verb, which is to be said next."""
        return " ".join(self.words[1 : self.verb])

    @property
    def forms(self) -> tuple[str, str]:
        """The verb, and its other form, which is wrong here."""
        verb = self.words[self.verb]
        return verb, verb.removesuffix("s") if verb.endswith("s") else f"{verb}s"

    @property
    def distracts(self) -> bool:
        """True if all other nouns before the verb have the other number."""
        return all(self.words[at].endswith("s") != self.plural for at in self.others)

    @property
    def held_out(self) -> bool:
        """True if no training learns from it."""
        return zlib.crc32(" ".join(self.words).encode()) % HELD_OUT == 0


@dataclass
class _Drawn:
    """A sentence as it is being drawn."""

    chance: random.Random
    words: list[str] = field(default_factory=lambda: [START])
    nouns: list[int] = field(default_factory=list)

    def maybe(self, words: Sequence[str], share: float) -> None:
        if self.chance.random() < share:
            self.words.append(self.chance.choice(words))

    def noun(self) -> bool:
        """A noun with its article. Gives whether it is plural."""
        plural = self.chance.random() < 0.5
        self.words.append("the")
        self.maybe(ADJECTIVES, 0.25)
        self.nouns.append(len(self.words))
        self.words.append(self.chance.choice(NOUNS) + "s" * plural)
        return plural

    def verb(self, verbs: Sequence[str], plural: bool) -> None:
        self.words.append(self.chance.choice(verbs) + ("" if plural else "s"))

    def opening(self) -> None:
        """Words before the subject with a noun of their own, in half of the sentences."""
        kind = self.chance.random()
        if kind < 0.25:
            self.words.append(self.chance.choice(PREPOSITIONS))
            self.noun()
        elif kind < 0.5:
            self.verb(INTRANSITIVE, self.noun())
            self.words.append(AND)

    def group(self, clauses: int) -> bool:
        """A noun and its clauses, each in the one before. Gives whether the noun is plural."""
        plural = self.noun()
        if clauses:
            self.words.append("that")
            if self.chance.random() < 0.5:
                self.verb(TRANSITIVE, self.group(clauses - 1))
            else:
                self.verb(TRANSITIVE, plural)
                self.group(clauses - 1)
        return plural


def sentence(chance: random.Random, clauses: int) -> Sentence:
    """Draw a sentence with so many clauses between its subject and its verb."""
    drawn = _Drawn(chance)
    drawn.opening()
    before = len(drawn.nouns)
    plural = drawn.group(clauses)
    nouns = [*drawn.nouns]
    subject = nouns.pop(before)
    drawn.maybe(ADVERBS, 0.25)
    verb = len(drawn.words)
    if chance.random() < 0.5:
        drawn.verb(INTRANSITIVE, plural)
        if chance.random() < 0.5:
            drawn.words += [chance.choice(PREPOSITIONS), "the", chance.choice(PLACES)]
    else:
        drawn.verb(TRANSITIVE, plural)
        drawn.noun()
    return Sentence((*drawn.words, END), subject, verb, tuple(nouns), clauses, plural)


def to_learn(chance: random.Random) -> Iterator[Sentence]:
    """Sentences to learn from, without end."""
    while True:
        drawn = sentence(chance, chance.choice((0, 1, 1, 2, 2)))
        if not drawn.held_out:
            yield drawn


@functools.cache
def to_test(clauses: int, many: int, seed: int = TEST_SEED) -> Sequence[Sentence]:
    """Sentences that are not learned from, whose other nouns all have the other number."""
    chance, found = random.Random(seed), dict[Sequence[str], Sentence]()
    while len(found) < many:
        drawn = sentence(chance, clauses)
        if drawn.held_out and drawn.distracts:
            found[drawn.words] = drawn
    return tuple(found.values())


def ids_of(sentences: Sequence[Sentence]) -> Tensor:
    """Sentences side by side, ends behind the shorter ones. (sentences, LENGTH + 1)."""
    rows = torch.full((len(sentences), LENGTH + 1), IDS[END])
    for row, one in zip(rows, sentences, strict=True):
        row[: len(one.words)] = torch.tensor([IDS[word] for word in one.words])
    return rows


@register
class Grammar(Task):
    """A verb agrees with its subject, over clauses whose nouns have the other number."""

    name = "grammar"
    title = "Grammar"
    before = (
        "Sentences of a small grammar, one word after the other. *The cats that the dog sees* goes "
        "on with *walk*, as the cats do, not the dog: watch a head find the subject (ringed)."
    )
    bet = "Over how many clauses, each with a noun of the other number, are 9 of 10 verbs right?"
    choices = ("none", "one", "two")
    source = "Linzen et al. 2016"
    usual = Sizes(layers=2, heads=4, width=64, steps=800, rate=0.003)
    handicaps = ("one layer", "one head", "no positions", "no mask")
    curves = tuple(f"{ATTENTION}, {clauses}" for clauses in CLAUSES)
    measure = SUBJECT
    share_words, right = "Verbs that agree", "agree"
    targets = (Target(curves[0], least=0.97), Target(curves[1], least=0.9))
    given, words, becomes = RULES, WORDS, "grammar"

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        seed, mask = self.settings.learn_seed, masks.causal(LENGTH, LENGTH)
        writer = Writer(
            self.sizes, seed, generator, symbols=len(WORDS), mask=mask, feed_forward=True
        )
        return {ATTENTION: writer}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        chance = random.Random(int(torch.randint(2**62, (), generator=generator)))
        drawn = to_learn(chance)
        sentences = [next(drawn) for _ in range(size)]
        ids = ids_of(sentences)
        lengths = torch.tensor([len(one.words) for one in sentences])
        return Batch((ids[:, :-1],), ids[:, 1:], torch.arange(1, LENGTH + 1) < lengths[:, None])

    def tests(self) -> Mapping[str, Batch]:
        return {name: _tested(to_test(many, TESTED)) for name, many in CLAUSES.items()}

    def answer(self, network: nn.Module, batch: Batch, learning: bool = False) -> Tensor:
        """Scores of each word, or, in a test, of all verbs of the singular and of the plural."""
        logits = super().answer(network, batch, learning)
        if learning:
            return logits
        forms = [[IDS[verb] for verb in verbs] for verbs in (SINGULAR_VERBS, PLURAL_VERBS)]
        return torch.stack([logits[..., form].logsumexp(-1) for form in forms], -1)

    def example(self) -> Example:
        shown = min(to_test(2, TESTED, EXAMPLE_SEED), key=lambda one: len(one.words))
        ids, names = ids_of([shown])[:, : shown.verb + 1], list(shown.words[: shown.verb])
        truth = [*[()] * (len(names) - 1), [shown.subject]]
        return Example(Batch((ids[:, :-1],), ids[:, 1:]), names, names, truth)

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """Weight on the subject from where the main verb is said, over clauses that distract."""
        tested = [one for many in (1, 2) for one in to_test(many, TESTED // 2)]
        weights: list[Tensor] = []
        with torch.no_grad():
            network(ids_of(tested)[:, :-1], seen=lambda trace: weights.append(trace.weights))
        found = [
            each[..., one.verb - 1, one.subject]
            for one, each in zip(tested, torch.stack(weights, 1), strict=True)
        ]
        return {SUBJECT: torch.stack(found).mean(0)}

    def came_true(self, run: Run) -> int:
        agrees = (run.accuracy(f"{ATTENTION}, {name}") >= 0.9 for name in CLAUSES)
        kept = (many for many, right in zip(CLAUSES.values(), agrees, strict=True) if right)
        return max(kept, default=0)

    def after(self, run: Run) -> str:
        agreed = {many: percent(run.accuracy(f"{ATTENTION}, {many}"), 1) for many in CLAUSES}
        return (
            f"Over one clause whose noun has the other number {agreed['one clause']} of the verbs "
            f"agree with their subject, over two {agreed['two clauses']}, over none "
            f"{agreed['no clause']}."
        )


def _tested(sentences: Sequence[Sentence]) -> Batch:
    """Sentences in which the number of the main verb alone is asked: 0 singular, 1 plural."""
    ids = ids_of(sentences)
    numbers = torch.zeros(len(sentences), LENGTH, dtype=torch.int64)
    counted = torch.zeros(len(sentences), LENGTH, dtype=torch.bool)
    for row, one in enumerate(sentences):
        numbers[row, one.verb - 1], counted[row, one.verb - 1] = int(one.plural), True
    return Batch((ids[:, :-1],), numbers, counted)
