"""Repetition: a pattern of symbols comes a second time, at a distance that varies."""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping

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

SYMBOLS = (string.ascii_letters)[:48]
LENGTH, PATTERN = 32, 8
INDUCTION = "induction"
FOUND = 0.3  # of a head's weight on the symbol that followed last time


def draw(generator: torch.Generator, size: int) -> tuple[Batch, Tensor, Tensor]:
    """Random symbols among which a pattern of others stands twice, with any space between.

    Returns the batch, whose answers are the symbols that follow, and where the pattern begins both
    times, (batch,) each. Those from the second symbol of the copy on count.
    """
    order = torch.rand(size, len(SYMBOLS), generator=generator).argsort(-1)
    others = torch.randint(PATTERN, len(SYMBOLS), (size, LENGTH + 1), generator=generator)
    symbols = order.gather(1, others)
    room = LENGTH + 1 - 2 * PATTERN
    first = torch.randint(room + 1, (size,), generator=generator)
    share = torch.rand(size, generator=generator)
    second = first + PATTERN + ((room - first + 1) * share).long().clamp_max(room - first)
    inside = torch.arange(PATTERN)
    for start in (first, second):
        symbols.scatter_(1, start[:, None] + inside, order[:, :PATTERN])
    counted = torch.zeros(size, LENGTH, dtype=torch.bool)
    counted.scatter_(1, second[:, None] + inside[:-1], True)
    return Batch((symbols[:, :-1],), symbols[:, 1:], counted), first, second


@register
class Repetition(Task):
    """Two layers learn to copy, one does not; a head of the second becomes an induction head."""

    name = "repetition"
    title = "Repetition"
    before = (
        "Eight symbols come a second time, somewhere: say the next one. Watch a head of the second "
        "layer find the symbol that followed last time (ringed), and one of the first layer look "
        "one back."
    )
    source = "Olsson et al. 2022"
    bet = "Where will a head find what followed the same symbol last time?"
    choices = ("in the first layer", "in the second", "nowhere")
    usual = Sizes(layers=2, heads=4, width=64, steps=800, rate=0.003)
    handicaps = ("one layer", "no mask", "no positions")
    curves = (ATTENTION,)
    measure = INDUCTION
    targets = (Target(ATTENTION, least=0.95),)

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        mask = masks.causal(LENGTH, LENGTH)
        seed, symbols = self.settings.learn_seed, len(SYMBOLS)
        return {ATTENTION: Writer(self.sizes, seed, generator, symbols=symbols, mask=mask)}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        return draw(generator, size)[0]

    def tests(self) -> Mapping[str, Batch]:
        return {"": draw(torch.Generator().manual_seed(TEST_SEED), TESTED)[0]}

    def example(self) -> Example:
        drawn, first, second = draw(torch.Generator().manual_seed(EXAMPLE_SEED), 1)
        names = [SYMBOLS[at] for at in drawn.inputs[0][0].tolist()]
        truth: list[Collection[int]] = [()] * LENGTH
        for at in range(PATTERN - 1):
            truth[int(second) + at] = [int(first) + at + 1]
        return Example(drawn, names, names, truth)

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """Induction: the weight from each symbol of the copy on the one that followed it before
        (Olsson et al. 2022, "prefix matching")."""
        drawn, first, second = draw(torch.Generator().manual_seed(TEST_SEED), TESTED)
        weights: list[Tensor] = []
        with torch.no_grad():
            network(*drawn.inputs, seen=lambda trace: weights.append(trace.weights))
        inside = torch.arange(PATTERN - 1)
        queries, keys = second[:, None] + inside, first[:, None] + inside + 1
        sequences = torch.arange(TESTED)[:, None]
        matched = [layer[sequences, :, queries, keys].mean((0, 1)) for layer in weights]
        return {INDUCTION: torch.stack(matched)}

    def winning_bet(self, run: Run) -> int:
        measured = run.last.measures[INDUCTION]
        layer = int(measured.argmax()) // measured.shape[1]
        return min(layer, 1) if float(measured.max()) >= FOUND else 2

    def after(self, run: Run) -> str:
        measured, reached = run.last.measures[INDUCTION], run.accuracy(ATTENTION)
        layer, head = divmod(int(measured.argmax()), measured.shape[1])
        score = float(measured[layer, head])
        if score < FOUND:
            return (
                f"No head found the earlier symbol: the best gives it {percent(score, 1)} of its "
                f"weight, and {percent(reached, 1)} of the symbols are right."
            )
        return (
            f"Head {head} of layer {layer} became an induction head: {percent(score, 1)} of its "
            f"weight lies on the symbol that followed last time, and {percent(reached, 1)} of the "
            f"symbols are right."
        )
