"""Memory race: look-up by every variant that keeps a state, beside a softmax and a GRU."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from attention.core.papers import ARXIV
from attention.core.printing import percent
from attention.core.variants import (
    DeltaRule,
    GatedDeltaRule,
    GatedLinear,
    Linear,
    MultiHead,
    Retention,
    StateSpace,
)
from attention.training.finished import FOLDER, packaged
from attention.training.networks import count
from attention.training.run import Run, about
from attention.training.settings import USUAL, Sizes, TrainingSettings
from attention.training.tasks import lookup
from attention.training.tasks.base import (
    ATTENTION,
    EXAMPLE_SEED,
    TEST_SEED,
    Batch,
    Example,
    Task,
    maps_of,
    register,
)

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)  # pairs of the tested lists
SHOWN = (5, 10, 20)  # pairs of the lists whose maps are told
ASKED = 2000  # in each test, at least
WIDTHS, SEEDS = (USUAL, "8", "32"), (0, 1, 2)  # of the packaged runs
EQUAL_STATE = "GRU of equal state"  # trained at one width: a state of 256 takes minutes a run
EQUAL_AT = "8"
EQUAL_FILE = FOLDER / "race-equal-state.safetensors"  # its parameters, and the rates tried
# At that width another rate than the usual one is better by more than three seeds differ.
TUNED = (EQUAL_STATE, "gated delta rule")
RATES = (0.003, 0.01, 0.03, 0.1)  # the last one for the GRU of equal state alone

# Packaged runs are of these: a variant that is added does not race unasked.
RACING = (Linear, Retention, StateSpace, GatedLinear, DeltaRule, GatedDeltaRule)


def racing() -> dict[str, type[MultiHead]]:
    """The variants that race, by the names of their networks, each with a head of its own."""
    return {ATTENTION: MultiHead} | {each.title.lower(): each for each in RACING}


def networks() -> tuple[str, ...]:
    """Names of all networks that race."""
    return (*racing(), lookup.GRU, EQUAL_STATE)


@functools.cache
def rates_tried() -> Mapping[str, Mapping[str, float]]:
    """Share of right answers over all lists at seed 0 and width `EQUAL_AT`, by network and rate."""
    tried: dict[str, dict[str, float]] = {}
    if EQUAL_FILE.exists():  # else they are being tried
        tried = json.loads(about(EQUAL_FILE)["rates"])
    return tried


def equal_state() -> nn.Module:
    """The GRU of equal state of seed 0 as it was at the end, for whoever tests it again."""
    network = lookup.Recurrent(int(EQUAL_AT), torch.Generator(), int(EQUAL_AT) ** 2)
    network.load_state_dict(load_file(EQUAL_FILE))
    return network


def curve(name: str, pairs: int) -> str:
    """Name of the share of right answers of a network on lists of so many pairs."""
    return f"{name}, {pairs} pairs"


def kept(name: str, width: int, pairs: int) -> int:
    """Numbers that a network keeps of a list: keys and values of all pairs, or one state, which is
    a matrix, or in the GRU a vector."""
    return {ATTENTION: 2 * width * pairs, lookup.GRU: width}.get(name, width * width)


@functools.cache
def parameters(width: int) -> dict[str, int]:
    """Number of parameters of each network that is trained at a width."""
    settings = TrainingSettings("race", learn_width=str(width))
    learners = Race(settings).learners(torch.Generator().manual_seed(0))
    return {name: count(network) for name, network in learners.items()}


def alike(run: Run) -> list[Run]:
    """The packaged runs that differ from one in the seed alone, and it; if it is no packaged one,
    it alone."""
    if packaged(run.settings) is not run:
        return [run]
    others = (packaged(replace(run.settings, learn_seed=seed)) for seed in SEEDS)
    return [other for other in others if other is not None]


def shares(runs: Sequence[Run], name: str, pairs: int, at: int = -1) -> tuple[float, float, float]:
    """Share of right answers of a network in runs alike: the mean, the least and the greatest; nan
    where it was not trained."""
    found = [run.progress[at].accuracy.get(curve(name, pairs), math.nan) for run in runs]
    return sum(found) / len(found), min(found), max(found)


@register
class Race(Task):
    """Every variant that keeps a state learns to look up, at equal width: who forgets when?"""

    name = "race"
    title = "Memory race"
    before = (
        "Pairs, as “k 7”, are read one after the other; then each key is asked for. Attention "
        "keeps every pair, a layer without a softmax one state, whatever the length. Watch the "
        "curves rise, then make lists longer or the state smaller: who forgets when?"
    )
    bet = "Who forgets first, right in less than 9 of 10 answers, as lists grow?"
    choices = (ATTENTION, "a layer without a softmax", lookup.GRU)
    source = f"multi-query associative recall, [Arora et al. 2023]({ARXIV}2312.04927)"
    usual = Sizes(layers=1, heads=1, width=16, steps=3000, rate=0.01)
    offered = ("width", "steps", "rate")
    handicaps = ()
    curves = tuple(curve(name, pairs) for pairs in reversed(COUNTS) for name in networks())
    packaged = tuple(
        {"learn_width": width, "learn_seed": seed} for seed in SEEDS for width in WIDTHS
    )[1:]
    n_reports, report_warmup = 10, 3.0
    begun_steps = "2000"

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        seed = self.settings.learn_seed
        made: dict[str, nn.Module] = {
            name: lookup.Reader(self.sizes, seed, generator, variant)
            for name, variant in racing().items()
        }
        width = self.sizes.width
        made[lookup.GRU] = lookup.Recurrent(width, generator)
        if width == int(EQUAL_AT):  # drawn apart, so that the others are as without it
            apart = torch.Generator().manual_seed(generator.initial_seed())
            made[EQUAL_STATE] = lookup.Recurrent(width, apart, width**2)
        return made

    def rate(self, network: str) -> float:
        """The best of those tried for networks that are tuned, unless another one is asked for."""
        tuned = network in TUNED and self.sizes.width == int(EQUAL_AT)
        usual = not tuned or self.sizes.rate != self.usual.rate
        tried = {} if usual else rates_tried().get(network, {})
        return float(max(tried, key=tried.__getitem__)) if tried else self.sizes.rate

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        pairs = int(torch.randint(1, COUNTS[-1] + 1, (), generator=generator))
        return lookup.draw(generator, size // 2, pairs)

    def tests(self) -> Mapping[str, Batch]:
        generator = torch.Generator().manual_seed(TEST_SEED)
        return {
            f"{pairs} pairs": lookup.draw(generator, -(-ASKED // pairs), pairs)
            for pairs in reversed(COUNTS)
        }

    def example(self) -> Example:
        """A list of the most pairs, each asked for in its place: look-up lies on the diagonal."""
        drawn = lookup.draw(torch.Generator().manual_seed(EXAMPLE_SEED), 1, SHOWN[-1])
        keys, values, _ = drawn.inputs
        named = lookup.names(keys[0].tolist(), values[0].tolist(), keys[0].tolist())
        truth = [[at] for at in range(SHOWN[-1])]
        return Example(Batch((keys, values, keys), values), *named, truth)

    def maps(self, learners: Mapping[str, nn.Module], example: Example) -> Tensor:
        """Weights of each variant over the first pairs of the example, as many as each of `SHOWN`
        says, row by row. (variants, cells)."""
        lists = [[part[:, :pairs] for part in example.batch.inputs] for pairs in SHOWN]
        return torch.stack(
            [
                torch.cat(
                    [maps_of(learners[name], Batch(tuple(one), one[1])).flatten() for one in lists]
                )
                for name in racing()
            ]
        )

    def winning_bet(self, run: Run) -> int:
        def holds(name: str) -> tuple[int, float]:
            """Number of the tested lists, the shortest first, on which a network still holds, and
            what is right on the next one, which tells those apart that hold as long."""
            shared = [shares(alike(run), name, pairs)[0] for pairs in COUNTS]
            at = next((at for at, share in enumerate(shared) if share < 0.9), len(COUNTS))
            return at, shared[min(at, len(COUNTS) - 1)]

        held = {name: holds(name) for name in (*racing(), lookup.GRU)}
        first = min(held, key=lambda name: held[name])
        return self.choices.index(first) if first in self.choices else 1

    def after(self, run: Run) -> str:
        runs, most = alike(run), COUNTS[-1]
        several = len(runs) > 1
        how = f", in the mean of {len(runs)} seeds (lowest to highest)" if several else ""
        told = []
        for name in networks():
            if math.isnan(shares(runs, name, most)[0]):
                continue
            mean, least, greatest = (percent(share, 1) for share in shares(runs, name, most))
            range = f" ({least.removesuffix(' %')} to {greatest.removesuffix(' %')})"
            told.append(f"{name} {mean}{range if several else ''}")
        return (
            f"Right on lists of {most} pairs after {run.last.step:,} steps{how}: {'; '.join(told)}."
        )
