"""The giver: SmolLM2 is tuned to answer who gave, by small changes of what its heads look at."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from attention.changing.answers import piece_id
from attention.changing.effects import effects
from attention.core.printing import percent
from attention.trained import sources
from attention.trained.models import Padded, Transformer
from attention.trained.models import Run as SentenceRun
from attention.training.run import Run
from attention.training.settings import Sizes, TrainingSettings
from attention.training.tasks.base import (
    ATTENTION,
    TEST_SEED,
    Batch,
    Example,
    Target,
    Task,
    register,
)
from attention.training.tuning import MODULES, RANK, LowRank, last_scores

BASE = "smollm2"
LAYERS, HEADS, GROUPS, WIDTH = 30, 9, 3, 576
EIGHT = 8  # sentences of a step
TESTED = 16  # sentences that are tested
TRANSPLANTED = 4  # the first of these, of which heads are exchanged
LEARNED_NAMES = ("Anna", "Tom", "Mary", "John", "Peter", "Paul", "Sarah", "James", "Jack")
OTHER_NAMES = ("David", "Simon", "Robert", "Daniel", "Alice", "George", "Emily")
PLACES = ("park", "school", "station", "market", "store", "beach")
THINGS = ("ball", "book", "letter", "key", "phone", "cup")
# Sentences that nobody tunes on: how each goes on before, and how it may wrongly go on after.
ELSEWHERE = (
    ("The capital of France is", " Paris", " France"),
    ("The sun rises in the east and sets in the", " west", " east"),
    ("The opposite of hot is", " cold", " not"),
)
SHARES = ("the giver", "the other", "elsewhere")
LONGER = "no early stopping"


@functools.cache
def base() -> Transformer:
    """The model that is tuned, read once by this process."""
    model = sources.load(BASE)
    assert isinstance(model, Transformer)
    return model


def draw(chance: random.Random, names: Sequence[str]) -> tuple[str, str, str]:
    """A sentence, with the name of who gives and of who is given to, each with its blank."""
    giver, other = chance.sample(names, 2)
    place, thing = chance.choice(PLACES), chance.choice(THINGS)
    text = f"{giver} met {other} at the {place}. {giver} gave the {thing} to"
    return text, f" {giver}", f" {other}"


def tested() -> list[tuple[str, str, str]]:
    """Sentences with names that nothing is tuned on, the one of the packaged sample first."""
    chance = random.Random(TEST_SEED)
    shown = "David met Simon at the store. David gave the phone to"
    return [(shown, " David", " Simon"), *(draw(chance, OTHER_NAMES) for _ in range(TESTED - 1))]


def _batch(sentences: Sequence[tuple[str, str, str]], answer: int = 1) -> Batch:
    """Sentences of one length, (sentences, pieces), with the id of one of the names."""
    ids = torch.stack([base().pieces(text).ids for text, *_ in sentences])
    return Batch((ids,), torch.tensor([piece_id(base(), one[answer]) for one in sentences]))


@functools.cache
def _of_base() -> list[SentenceRun]:
    """Runs of the base over the sentences of which heads are exchanged."""
    return [base().run(text) for text, *_ in tested()[:TRANSPLANTED]]


@register
class Giver(Task):
    """SmolLM2 learns, in twelve steps, to go on with who gave in place of who was given to."""

    name, title = "tuning", "Tuning of SmolLM2"
    before = (
        "After *Anna met Tom at the park. Anna gave the ball to* SmolLM2 says *Tom* sooner than "
        "*Anna*. Twelve steps of eight such sentences teach it to say who gives, by small changes "
        "of queries, keys and values alone: watch which heads begin to matter."
    )
    bet = "Which of its 30 layers will carry most of that change?"
    choices = ("0 to 9", "10 to 19", "20 to 29")
    source = "Hu et al. 2022"
    usual = Sizes(layers=LAYERS, heads=HEADS, width=WIDTH, steps=12, rate=0.001)
    handicaps = (LONGER,)
    curves = tuple(f"{ATTENTION}, {name}" for name in SHARES)
    targets = (Target(curves[0], least=0.4),)
    packaged = ({"handicap": LONGER},)
    offered = ()
    model, becomes, memory = BASE, "smollm2-giver", 2 << 30
    effects = "Points that the giver loses with the old head back, by layer"
    share_words, right = "Probability of the answer", "for the giver"

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__(settings)
        if settings.handicap == LONGER:
            self.sizes = replace(self.sizes, steps=40, rate=0.003)

    def report_index(self, step: int) -> int:
        return step // (10 if self.settings.handicap == LONGER else 3)

    def share(self, step: int) -> float:
        """All of the rate at each step: there are few."""
        return 1.0

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        rows = {name: WIDTH * (HEADS if name == "q_proj" else GROUPS) // HEADS for name in MODULES}
        shapes = {
            f"layers.{layer}.self_attn.{name}.weight": (rows[name], WIDTH)
            for layer in range(LAYERS)
            for name in MODULES
        }
        return {ATTENTION: LowRank(shapes, RANK, generator)}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        chance = random.Random(int(torch.randint(2**62, (), generator=generator)))
        return _batch([draw(chance, LEARNED_NAMES) for _ in range(min(size, EIGHT))])

    def tests(self) -> Mapping[str, Batch]:
        return {name: _batch(tested(), at) for at, name in enumerate(SHARES[:2], 1)}

    def answer(self, network: nn.Module, batch: Batch, learning: bool = False) -> Tensor:
        """Scores of each piece that may follow. (batch, vocabulary)."""
        ids = batch.inputs[0]
        return last_scores(_tuned(network), Padded(ids, torch.ones_like(ids, dtype=torch.bool)))

    def score(self, network: nn.Module, batch: Batch) -> float:
        """Probability of the answer, in the mean."""
        probabilities = self.answer(network, batch).softmax(-1)
        return float(probabilities.gather(-1, batch.answers[:, None]).mean())

    def accuracy(self, learners: Mapping[str, nn.Module]) -> dict[str, float]:
        """Probability of each name, and of the usual answers to sentences nobody tunes on."""
        network = learners[ATTENTION]
        names = {name: self.score(network, batch) for name, batch in self.tests().items()}
        names[SHARES[2]] = float(_elsewhere(network)[:, 0].mean())
        return {f"{ATTENTION}, {name}": share for name, share in names.items()}

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """Probability of the usual and of the wrong answer elsewhere. (sentences, 2)."""
        return {SHARES[2]: _elsewhere(network)}

    def example(self) -> Example:
        names = [f"head {head}" for head in range(HEADS)]
        none = torch.zeros(1, 0)
        return Example(Batch((none,), none), names, [*map(str, range(LAYERS))], [()] * HEADS)

    def maps(self, learners: Mapping[str, nn.Module], example: Example) -> Tensor:
        """Probability of the giver that a head of the base takes away, put back alone, in the mean.

        (1, 1, heads, layers).
        """
        network = learners[ATTENTION]
        assert isinstance(network, LowRank)
        if not any(B.any() for B in network.B):  # nothing is changed, so nothing is taken away
            return torch.zeros(1, 1, HEADS, LAYERS)
        model = _tuned(network)
        lost = [
            -effects(model, text, giver, to=run).change
            for (text, giver, _), run in zip(tested(), _of_base(), strict=False)
        ]
        return torch.stack(lost).mean(0).T[None, None]

    def winning_bet(self, run: Run) -> int:
        return int(run.last.maps.sum((0, 1, 2)).view(len(self.choices), -1).sum(1).argmax())

    def after(self, run: Run) -> str:
        first, last = run.progress[0], run.last
        giver = percent(run.accuracy(self.curves[0]), 1)
        head, layer = divmod(int(last.maps.argmax()), LAYERS)
        before, now = (each.measures[SHARES[2]].tolist() for each in (first, last))
        told = [
            f"*{text}* goes on with *{usual.strip()}* at {percent(now[at][0])}, before at "
            f"{percent(before[at][0])}, with *{wrong.strip()}* at {percent(now[at][1])}, before "
            f"at {percent(before[at][1])}"
            for at, (text, usual, wrong) in enumerate(ELSEWHERE)
        ]
        return (
            f"On names that it was not tuned on, the giver goes from "
            f"{percent(first.accuracy[self.curves[0]], 1)} to {giver}. Of all heads {layer}.{head} "
            f"carries most: with the old one back, the giver loses "
            f"{100 * float(last.maps.max()):.1f} points. Nobody tuned it on these: "
            f"{'; '.join(told)}."
        )


def _tuned(network: nn.Module) -> Transformer:
    assert isinstance(network, LowRank)
    return network.adapter().upon(base())


@torch.no_grad()
def _elsewhere(network: nn.Module) -> Tensor:
    model, rows = _tuned(network), []
    for text, *words in ELSEWHERE:
        probabilities = model.scores(model.run(text).hidden[-1]).softmax(-1)
        rows.append(probabilities[[piece_id(model, word) for word in words]])
    return torch.stack(rows)
