"""Graph: each symbol follows from one before it, the same place in every sequence."""

from __future__ import annotations

import string
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention.core import masks
from attention.core.papers import ARXIV
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

PLACES, ASKED = 16, 4
SYMBOLS = string.ascii_lowercase[:8]
NOISE = 0.2  # share of symbols that follow from nothing
GRAPH_SEED = 7
FOUND, FOLLOWS = "parents found", "symbols that follow"
PARENT = "on the parent"


def graph() -> list[int]:
    """The place that each place depends on, always an earlier one; -1 for the first alone."""
    generator = torch.Generator().manual_seed(GRAPH_SEED)
    earlier = (int(torch.randint(at, (), generator=generator)) for at in range(1, PLACES))
    return [-1, *earlier]


PARENTS = graph()


def draw(generator: torch.Generator, size: int) -> Batch:
    """Sequences with a rule of their own each: which symbol follows which, all in one circle.

    Behind each stand symbols that have had one to follow them; this is the answer there. A share of
    the symbols, `NOISE`, is drawn from all. inputs: (batch, places + asked).
    """
    circle = torch.rand(size, len(SYMBOLS), generator=generator).argsort(-1)
    rule = torch.empty_like(circle).scatter_(1, circle, circle.roll(1, 1))
    drawn = torch.randint(len(SYMBOLS), (size, PLACES), generator=generator)
    follows = torch.rand(size, PLACES, generator=generator) >= NOISE
    for at, parent in enumerate(PARENTS[1:], 1):
        following = rule.gather(1, drawn[:, parent, None])[:, 0]
        drawn[:, at] = torch.where(follows[:, at], following, drawn[:, at])
    order = torch.rand(size, PLACES - 1, generator=generator).argsort(-1)
    asked = drawn.gather(1, torch.tensor(PARENTS[1:])[order[:, :ASKED]])
    answers = torch.cat([torch.zeros_like(drawn), rule.gather(1, asked)], 1)
    counted = (torch.arange(PLACES + ASKED) >= PLACES).expand(size, -1)
    return Batch((torch.cat([drawn, asked], 1),), answers, counted)


def visible() -> Tensor:
    """Each place sees those before it and itself; one that is asked, all places and itself."""
    mask = masks.causal(PLACES + ASKED, PLACES + ASKED)
    mask[PLACES:, PLACES:] = torch.eye(ASKED, dtype=torch.bool)
    return mask


@register
class Graph(Task):
    """The first layer's weights become the graph that the sequences are made along."""

    name = "graph"
    title = "Graph"
    before = (
        "Each place follows from one earlier place, by a rule that is new in every sequence; the "
        "last four ask what follows a symbol. Nobody tells which place: watch layer 0 become the "
        "true graph (ringed, and beside it)."
    )
    source = f"[Nichani et al. 2024]({ARXIV}2402.14735)"
    usual = Sizes(layers=2, heads=1, width=64, steps=800, rate=0.003)
    handicaps = ("one layer", "no positions")
    curves = (f"{ATTENTION}, {FOUND}", f"{ATTENTION}, {FOLLOWS}")
    right = "of the parents found"
    measure = PARENT
    targets = (Target(f"{ATTENTION}, {FOUND}", least=0.95),)

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        seed, symbols = self.settings.learn_seed, len(SYMBOLS)
        return {ATTENTION: Writer(self.sizes, seed, generator, symbols=symbols, mask=visible())}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        return draw(generator, size)

    def tests(self) -> Mapping[str, Batch]:
        return {FOLLOWS: draw(torch.Generator().manual_seed(TEST_SEED), TESTED)}

    def example(self) -> Example:
        drawn = draw(torch.Generator().manual_seed(EXAMPLE_SEED), 1)
        symbols = [SYMBOLS[at] for at in drawn.inputs[0][0].tolist()]
        names = [f"{at} {symbol}" for at, symbol in enumerate(symbols[:PLACES])]
        names += [f"{symbol} ?" for symbol in symbols[PLACES:]]
        truth = [*([at] if at >= 0 else () for at in PARENTS), *[()] * ASKED]
        return Example(drawn, names, names, truth, layer=0, beside=True)

    def accuracy(self, learners: Mapping[str, nn.Module]) -> dict[str, float]:
        weights = self._weights(learners[ATTENTION])[0].mean(1)[:, 1:PLACES]
        found = weights.argmax(-1) == torch.tensor(PARENTS[1:])
        (follows,) = super().accuracy(learners).values()
        return dict(zip(self.curves, (float(found.double().mean()), follows), strict=True))

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """The weight on the parent, in the mean over all places that have one."""
        rows, parents = torch.arange(1, PLACES), torch.tensor(PARENTS[1:])
        return {PARENT: self._weights(network)[..., rows, parents].mean((1, 3))}

    def _weights(self, network: nn.Module) -> Tensor:
        """Weights over the sequences of the test. (layers, sequences, heads, queries, keys)."""
        (test,) = self.tests().values()
        weights: list[Tensor] = []
        with torch.no_grad():
            network(*test.inputs, seen=lambda trace: weights.append(trace.weights))
        return torch.stack(weights)

    def after(self, run: Run) -> str:
        found, follows = (percent(run.accuracy(curve), 1) for curve in self.curves)
        share = percent(float(run.last.measures[PARENT][0].max()), 1)
        told = (
            f"In layer 0 the greatest weight is that of the true parent in {found} of all places, "
            f"with {share} of the weight; {follows} of the symbols that follow are told right."
        )
        if run.accuracy(self.curves[0]) < self.targets[0].least:
            return f"{told} The graph was not found."
        return (
            f"{told} Layer 0 brings each symbol together with its parent; layer 1 then looks for "
            "the places whose parent is the symbol asked for."
        )
