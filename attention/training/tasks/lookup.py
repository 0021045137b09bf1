"""Look-up: pairs of a key and a value, then keys whose values are to be told."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.core.printing import percent
from attention.core.variants import MultiHead
from attention.training import networks
from attention.training.networks import Layers, as_large, count, matrix, table
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

KEYS, VALUES = len(string.ascii_lowercase), 10
SEEN, UNSEEN = (2, 10), (14, 24)  # pairs: from, to
SHOWN = 10
LINEAR, GRU = "linear layer", "GRU"


def draw(generator: torch.Generator, size: int, pairs: int) -> Batch:
    """Sequences of so many pairs with keys of their own, all of which are asked for, shuffled.

    inputs: keys, values and asked keys, (batch, pairs) each.
    """
    order = torch.rand(size, KEYS, generator=generator).argsort(-1)
    keys = order[:, :pairs]
    values = torch.randint(VALUES, (size, pairs), generator=generator)
    shuffled = torch.rand(size, pairs, generator=generator).argsort(-1)
    return Batch((keys, values, keys.gather(-1, shuffled)), values.gather(-1, shuffled))


def names(
    keys: Sequence[int], values: Sequence[int], asked: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Names of asked keys, and of pairs."""
    letters = string.ascii_lowercase
    pairs = zip(keys, values, strict=True)
    return [f"{letters[key]} ?" for key in asked], [f"{letters[k]} {v}" for k, v in pairs]


class Reader(nn.Module):
    """A variant: each asked key looks at the pairs, and its value is read from what it gets."""

    def __init__(
        self,
        sizes: Sizes,
        seed: int,
        generator: torch.Generator,
        variant: type[MultiHead] = MultiHead,
    ) -> None:
        super().__init__()
        self.keys = table(KEYS, sizes.width, generator)
        self.values = table(VALUES, sizes.width, generator)
        self.layers = Layers(sizes, seed, variant)
        self.norm = nn.LayerNorm(sizes.width)
        self.answers = matrix(sizes.width, VALUES, generator)

    def forward(
        self,
        keys: Tensor,
        values: Tensor,
        asked: Tensor,
        seen: Callable[[Trace], object] | None = None,
    ) -> Tensor:
        """(batch, pairs) each -> scores of the values (batch, asked, values)."""
        memory = self.keys[keys] + self.values[values]
        x = self.layers(self.keys[asked], memory=memory, seen=seen)
        scores: Tensor = self.norm(x) @ self.answers
        return scores


class Linear(nn.Module):
    """One linear layer over all pairs side by side, with room for the longest sequence."""

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.keys = table(KEYS, width, generator)
        self.values = table(VALUES, width, generator)
        self.answers = matrix((UNSEEN[1] + 1) * width, VALUES, generator)

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """(batch, pairs) each -> scores of the values (batch, asked, values)."""
        width = self.keys.shape[1]
        pairs = (self.keys[keys] + self.values[values]).flatten(1)
        known = pairs @ self.answers[: pairs.shape[1]]
        return known[:, None] + self.keys[asked] @ self.answers[-width:]


class Recurrent(nn.Module):
    """A GRU reads one pair after the other, then one asked key. state: numbers that it keeps."""

    def __init__(self, width: int, generator: torch.Generator, state: int | None = None) -> None:
        super().__init__()
        state = width if state is None else state
        self.keys = table(KEYS, width, generator)
        self.values = table(VALUES, width, generator)
        self.gru = networks.recurrent(width, generator, state)
        self.answers = matrix(state, VALUES, generator)

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """(batch, pairs) each -> scores of the values (batch, asked, values)."""
        _, state = self.gru(self.keys[keys] + self.values[values])
        many = asked.shape[1]
        last, _ = self.gru(
            self.keys[asked].flatten(0, 1)[:, None], state.repeat_interleave(many, 1)
        )
        answers: Tensor = last.unflatten(0, (-1, many))[:, :, 0] @ self.answers
        return answers


@register
class LookUp(Task):
    """Attention beside a linear layer and a GRU with as many parameters."""

    name = "look-up"
    title = "Look-up"
    before = (
        "A list of pairs, as “k 7”, then a key: which number was beside it? Watch each row find "
        "the one pair with its own key (ringed)."
    )
    bet = "Who answers best on lists longer than any it learned from?"
    choices = (ATTENTION, LINEAR, GRU)
    usual = Sizes(layers=1, heads=1, width=64, steps=600, rate=0.01)
    handicaps = ("no scale",)
    curves = tuple(
        f"{name}, {lengths}"
        for lengths in ("longer lists", "lists as learned")
        for name in (ATTENTION, LINEAR, GRU)
    )
    targets = (Target(f"{ATTENTION}, longer lists", least=0.95),)
    packaged = ({"handicap": "no scale"}, {"learn_width": "256"})  # alike in all but the scale

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        reader = Reader(self.sizes, self.settings.learn_seed, generator)
        made = {ATTENTION: reader}
        most, seed = count(reader), generator.initial_seed()

        def largest(make: Callable[[int, torch.Generator], nn.Module]) -> nn.Module:
            return as_large(lambda width: make(width, torch.Generator().manual_seed(seed)), most)

        return made | {LINEAR: largest(Linear), GRU: largest(Recurrent)}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        pairs = int(torch.randint(SEEN[0], SEEN[1] + 1, (), generator=generator))
        return draw(generator, size, pairs)

    def tests(self) -> Mapping[str, Batch]:
        generator = torch.Generator().manual_seed(TEST_SEED)
        return {
            "longer lists": draw(generator, TESTED, UNSEEN[1]),
            "lists as learned": draw(generator, TESTED, SEEN[1]),
        }

    def example(self) -> Example:
        drawn = draw(torch.Generator().manual_seed(EXAMPLE_SEED), 1, SHOWN)
        keys, values, asked = (part[0].tolist() for part in drawn.inputs)
        truth = [[keys.index(key)] for key in asked]
        return Example(drawn, *names(keys, values, asked), truth)

    def winning_bet(self, run: Run) -> int:
        found = [run.accuracy(f"{name}, longer lists") for name in self.choices]
        return found.index(max(found))

    def after(self, run: Run) -> str:
        if not self.sizes.scaled:
            share = percent(run.accuracy(self.curves[0]), 1)
            return (
                f"Without the scale {share} are right after {run.last.step:,} steps, on lists of "
                f"{UNSEEN[1]} pairs."
            )
        longer, learned = (
            {name: run.accuracy(f"{name}, {lengths}") for name in (ATTENTION, LINEAR, GRU)}
            for lengths in ("longer lists", "lists as learned")
        )
        return (
            f"After {run.last.step:,} steps, on lists of {UNSEEN[1]} pairs, longer than any it "
            f"learned from (up to {SEEN[1]}), attention answers "
            f"{percent(longer[ATTENTION], 1)} right, the GRU "
            f"{percent(longer[GRU], 1)}, the linear layer {percent(longer[LINEAR], 1)}; on lists "
            f"of {SEEN[1]} it is {percent(learned[ATTENTION], 1)}, "
            f"{percent(learned[GRU], 1)} and {percent(learned[LINEAR], 1)}."
        )
