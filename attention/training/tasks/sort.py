"""Sort: six digits of three kinds, then the same in order (the demo of minGPT)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention.core import masks
from attention.core.printing import percent
from attention.training.networks import Writer
from attention.training.run import Run
from attention.training.settings import Sizes
from attention.training.tasks.base import (
    ATTENTION,
    TEST_SEED,
    Batch,
    Example,
    Target,
    Task,
    register,
)

DIGITS, LENGTH = 3, 6
HELD_OUT = 0.25  # share of all inputs that is for the test
TOKENS = 2 * LENGTH - 1
EQUAL = "on the next digit"


def inputs() -> tuple[Tensor, Tensor]:
    """Inputs to learn from and those of the test, which together are all. (inputs, digits) each."""
    every = torch.tensor([*itertools.product(range(DIGITS), repeat=LENGTH)])
    order = torch.randperm(len(every), generator=torch.Generator().manual_seed(TEST_SEED))
    every = every[order]
    tested = round(HELD_OUT * len(every))
    return every[tested:], every[:tested]


LEARNED, TESTED = inputs()


def sequences(digits: Tensor) -> Batch:
    """Inputs (batch, digits), each with what is told behind it but for the last digit of that."""
    whole = torch.cat([digits, digits.sort(-1).values], 1)
    counted = (torch.arange(TOKENS) >= LENGTH - 1).expand(len(digits), -1)
    return Batch((whole[:, :-1],), whole[:, 1:], counted)


@register
class Sort(Task):
    """Digits are written again in order, the least first."""

    name = "sort"
    title = "Sort"
    before = (
        "Six digits, then the same six in order, one after the other. From the sixth row on, each "
        "row writes the next digit: watch them find its like among the first six columns (ringed)."
    )
    source = "[minGPT](https://github.com/karpathy/minGPT)"
    usual = Sizes(layers=1, heads=2, width=64, steps=600, rate=0.01)
    handicaps = ("no positions", "no mask")
    curves = (ATTENTION,)
    whole = True
    right = "of the sequences right"
    measure = EQUAL
    targets = (Target(ATTENTION, least=1.0),)

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        mask, seed = masks.causal(TOKENS, TOKENS), self.settings.learn_seed
        return {ATTENTION: Writer(self.sizes, seed, generator, symbols=DIGITS, mask=mask)}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        return sequences(LEARNED[torch.randint(len(LEARNED), (size,), generator=generator)])

    def tests(self) -> Mapping[str, Batch]:
        return {"": sequences(TESTED)}

    def example(self) -> Example:
        even = torch.arange(DIGITS).repeat_interleave(LENGTH // DIGITS)
        digits = next(each for each in TESTED if torch.equal(each.sort().values, even))
        drawn = sequences(digits[None])
        names = [str(digit) for digit in drawn.inputs[0][0].tolist()]
        equal = [(digits == digit).nonzero().flatten().tolist() for digit in digits.sort().values]
        return Example(drawn, names, names, [*[()] * (LENGTH - 1), *equal])

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """The weight on the digits of the input that are the next, where one is to be written."""
        (test,) = self.tests().values()
        weights: list[Tensor] = []
        with torch.no_grad():
            network(*test.inputs, seen=lambda trace: weights.append(trace.weights))
        (digits,) = test.inputs
        equal = test.answers[:, LENGTH - 1 :, None] == digits[:, None, :LENGTH]
        layers = torch.stack(weights)[..., LENGTH - 1 :, :LENGTH]
        return {EQUAL: (layers * equal[:, None]).sum(-1).mean((1, 3))}

    def after(self, run: Run) -> str:
        measured, reached = run.last.measures[EQUAL], percent(run.accuracy(ATTENTION), 1)
        layer, head = divmod(int(measured.argmax()), measured.shape[1])
        told = f"{reached} of {len(TESTED)} inputs that it never saw are written in order."
        if run.accuracy(ATTENTION) < 1:
            return told
        return (
            f"{told} Head {head} of layer {layer} looks at what comes next: "
            f"{percent(float(measured[layer, head]), 1)} of its weight lies on digits equal to the "
            "one that it is about to write; those that are alike share it."
        )
