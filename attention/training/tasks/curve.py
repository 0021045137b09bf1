"""Curve: values between noisy points, from all points, the nearer the more (kernel regression)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.core.papers import KERNEL_CHAPTER
from attention.core.printing import fixed, percent
from attention.core.variants import Gaussian
from attention.training.run import Run
from attention.training.settings import Sizes
from attention.training.tasks.base import (
    ATTENTION,
    EXAMPLE_SEED,
    TEST_SEED,
    TESTED,
    Batch,
    Example,
    Points,
    Target,
    Task,
    register,
)

POINTS, FARTHEST, NOISE = 50, 5.0, 0.5
WIDEST = 2.0  # width of the kernel at first
WIDTH, BEST = "width σ", "best"


def true(x: Tensor) -> Tensor:
    """The curve that the points are scattered about: 2 sin x + x^0.8, for x of at least 0."""
    return 2 * x.sin() + x**0.8


def between() -> Tensor:
    """Places to be asked for: the middles of as many equal parts as there are points."""
    return (torch.arange(POINTS) + 0.5) * (FARTHEST / POINTS)


def draw(generator: torch.Generator, size: int) -> tuple[Tensor, Tensor]:
    """Points anywhere from left to right, with noise on their values. (batch, points) each."""
    x = torch.rand(size, POINTS, generator=generator).sort(-1).values * FARTHEST
    return x, true(x) + NOISE * torch.randn(size, POINTS, generator=generator)


def asked_between(points: tuple[Tensor, Tensor]) -> Batch:
    """Points, and places between them whose true values are to be told.

    inputs: places, and points with their values, (batch, points) each.
    """
    places = between().expand_as(points[0])
    return Batch((places, *points), true(places))


class Pooling(nn.Module):
    """Attention by distance alone, with one parameter: the logarithm of its width."""

    def __init__(self) -> None:
        super().__init__()
        self.log_width = nn.Parameter(torch.tensor(math.log(WIDEST)))
        self.attention = Gaussian(Gaussian.Config(d_model=1, sigma=1.0))

    def forward(
        self,
        places: Tensor,
        x: Tensor,
        y: Tensor,
        seen: Callable[[Trace], object] | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """(batch, places), (batch, points) twice -> values at the places (batch, places)."""
        width = self.log_width.exp()
        projected = self.attention.projected((places / width)[..., None], (x / width)[..., None])
        projected = replace(projected, values=y[:, None, :, None])
        sliced = self.attention.sliced(projected, mask, scale=1.0)
        trace = sliced(slice(None), slice(None))
        if seen is not None:
            seen(trace)
        return trace.output[:, 0, :, 0]


@register
class Curve(Task):
    """A kernel learns how wide it is: one number, by telling each point from all others."""

    name = "curve"
    title = "Curve"
    before = (
        "Each place takes the mean of all points, the nearer the more. Only one number is learned: "
        "how near is near. Watch the curve leave the flat mean and find the true one (dashed), and "
        "the map become a narrow band."
    )
    source = KERNEL_CHAPTER
    usual = Sizes(layers=1, heads=1, width=1, steps=400, rate=0.03)
    offered = ("steps", "rate")
    handicaps = ("no mask",)
    curves = (ATTENTION,)
    measure = WIDTH
    telling = 100.0  # never
    loss_words = "Squared error"
    share_words = "Variance of the true curve that is explained"
    right = "of the variance explained"
    targets = (Target(ATTENTION, least=0.9),)

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        return {ATTENTION: Pooling()}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        x, y = draw(generator, size)
        return Batch((x, x, y), y)

    def tests(self) -> Mapping[str, Batch]:
        return {"": asked_between(draw(torch.Generator().manual_seed(TEST_SEED), TESTED))}

    def example(self) -> Example:
        points = draw(torch.Generator().manual_seed(EXAMPLE_SEED), 1)
        batch = asked_between(points)
        places, x, y = (each[0].tolist() for each in batch.inputs)
        tokens, keys = ([fixed(number, 1) for number in numbers] for numbers in (places, x))
        drawn = Points(places, batch.answers[0].tolist(), x, y)
        return Example(batch, tokens, keys, [()] * POINTS, points=drawn)

    def loss(self, network: nn.Module, batch: Batch) -> Tensor:
        """Squared error of each point, told from all others."""
        others = ~torch.eye(POINTS, dtype=torch.bool) if self.sizes.masked else None
        error: Tensor = network(*batch.inputs, mask=others) - batch.answers
        return error.square().mean()

    def score(self, network: nn.Module, batch: Batch, off: object = ()) -> float:
        """Share of the variance of the true curve that is explained, 0 where it is none."""
        error = network(*batch.inputs) - batch.answers
        share = 1 - error.square().mean() / batch.answers.var(-1, correction=0).mean()
        return float(share.clamp_min(0))

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """Its width."""
        assert isinstance(network, Pooling)
        return {WIDTH: network.log_width.exp().detach().reshape(1, 1)}

    def findings(self, network: nn.Module) -> dict[str, Tensor]:
        """The width that explains most in the test, searched in steps of 1 %, and how much."""
        (test,) = self.tests().values()
        best, tried = (0.0, 0.0), Pooling()
        for percents in range(-250, 70):
            tried.log_width.data.fill_(percents / 100)
            best = max(best, (self.score(tried, test), math.exp(percents / 100)))
        return {BEST: torch.tensor(best[::-1])}

    def after(self, run: Run) -> str:
        width, (best, most) = float(run.last.measures[WIDTH]), run.last.findings[BEST].tolist()
        return (
            f"It has learned a width of σ = {fixed(width, 2)}, which explains "
            f"{percent(run.accuracy(ATTENTION), 1)} of the true curve between the points. No width "
            f"does better than {percent(most, 1)}, with σ = {fixed(best, 2)}: a wider kernel "
            "flattens the curve, a narrower one follows the noise."
        )
