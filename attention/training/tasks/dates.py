"""Dates: one as people write it, "3 May 1979", then the same as "1979-05-03"."""

from __future__ import annotations

import datetime
import functools
import string
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.core.papers import BAHDANAU
from attention.core.printing import percent
from attention.core.variants import Additive
from attention.training.networks import matrix, recurrent, table
from attention.training.run import Run
from attention.training.settings import Sizes
from attention.training.tasks.base import (
    ATTENTION,
    TEST_SEED,
    TESTED,
    Batch,
    Example,
    Target,
    Task,
    register,
)

FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)
FORMS = ("{day} {month} {year}", "{month} {day}, {year}", "{year}, {month} {day}")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
HELD_OUT = 0.25  # share of all dates that is for the test
READ = " ," + string.digits + string.ascii_letters
WRITTEN = "-" + string.digits
LONGEST = len("30 September 1979,")
PARTS = ("year", "year", "year", "year", "", "month", "month", "", "day", "day")
OWN = "on its own part"
HIDDEN = 32


@functools.cache
def dates() -> tuple[Tensor, Tensor]:
    """Dates to learn from and those of the test, which together are all, counted in days."""
    days = (LAST - FIRST).days + 1
    order = torch.randperm(days, generator=torch.Generator().manual_seed(TEST_SEED))
    tested = round(HELD_OUT * days)
    return order[tested:], order[:tested]


def read(day: int, form: int) -> tuple[str, str, dict[str, range]]:
    """A date in a form, as it is to be written, and where its parts stand in the form."""
    date = FIRST + datetime.timedelta(day)
    words = {"day": f"{date.day}", "month": MONTHS[date.month - 1], "year": f"{date.year}"}
    text = FORMS[form].format(**words)
    starts = {part: text.index(word) for part, word in words.items()}
    where = {part: range(at, at + len(words[part])) for part, at in starts.items()}
    return text, date.isoformat(), where


def drawn(days: Tensor, generator: torch.Generator, size: int) -> tuple[list[int], list[int]]:
    """Some of the days, and a form for each."""
    chosen = days[torch.randint(len(days), (size,), generator=generator)]
    return chosen.tolist(), torch.randint(len(FORMS), (size,), generator=generator).tolist()


def tested() -> tuple[list[int], list[int]]:
    """Days of the test, and their forms."""
    return drawn(dates()[1], torch.Generator().manual_seed(TEST_SEED), TESTED)


def batch_of(days: Sequence[int], forms: Sequence[int]) -> Batch:
    """Dates in their forms, with blanks behind, and the same as they are to be written.

    inputs: characters (dates, LONGEST), and for each place the one written before it, a dash for
    the first (dates, places).
    """
    pairs = [read(day, form)[:2] for day, form in zip(days, forms, strict=True)]
    texts = torch.tensor([[*map(READ.index, text.ljust(LONGEST))] for text, _ in pairs])
    answers = torch.tensor([[*map(WRITTEN.index, written)] for _, written in pairs])
    return Batch((texts, nn.functional.pad(answers[:, :-1], (1, 0))), answers)


class Translator(nn.Module):
    """Reads with two GRUs, from the front and from the back, writes with a third one.

    Between them additive attention alone: each place that is written asks the characters that were
    read (Bahdanau et al. 2015, section 3; here a place asks by what is written before it, without
    what was found there).
    """

    def __init__(self, sizes: Sizes, seed: int, generator: torch.Generator) -> None:
        super().__init__()
        width = sizes.width
        self.read = table(len(READ), width, generator)
        self.written = table(len(WRITTEN), width, generator)
        self.front, self.back = recurrent(width, generator), recurrent(width, generator)
        self.writer = recurrent(width, generator)
        self.ordered = sizes.ordered
        self.attention = Additive(Additive.Config(d_model=width, d_hidden=HIDDEN, seed=seed))
        self.norm = nn.LayerNorm(width)
        self.answers = matrix(width, len(WRITTEN), generator)

    def forward(
        self, texts: Tensor, before: Tensor, seen: Callable[[Trace], object] | None = None
    ) -> Tensor:
        """(dates, characters), (dates, places) -> scores of characters (dates, places, of each)."""
        memory = self.read[texts]
        if self.ordered:
            back = self.back(memory.flip(1))[0].flip(1)
            memory = self.front(memory)[0] + back
        x = self.writer(self.written[before])[0]
        trace = self.attention(x, memory=memory, scale=1.0)
        if seen is not None:
            seen(trace)
        scores: Tensor = self.norm(x + self.attention.output(trace)) @ self.answers
        return scores


@register
class Dates(Task):
    """Additive cross-attention finds which characters each written one is made from."""

    name = "dates"
    title = "Dates"
    before = (
        "A date as people write it, in one of three orders, becomes year-month-day, a character in "
        "each row. Watch the rows find the digits they need (ringed), and the month's name."
    )
    source = f"{BAHDANAU}, section 3 and figure 3"
    usual = Sizes(layers=1, heads=1, width=64, steps=400, rate=0.01)
    offered = ("width", "steps", "rate")
    handicaps = ("no positions",)
    curves = (ATTENTION,)
    whole = True
    right = "of the dates right"
    measure = OWN
    targets = (Target(ATTENTION, least=0.98),)

    def learners(self, generator: torch.Generator) -> dict[str, nn.Module]:
        return {ATTENTION: Translator(self.sizes, self.settings.learn_seed, generator)}

    def batch(self, generator: torch.Generator, size: int) -> Batch:
        return batch_of(*drawn(dates()[0], generator, size))

    def tests(self) -> Mapping[str, Batch]:
        return {"": batch_of(*tested())}

    def example(self) -> Example:
        form = FORMS.index("{month} {day}, {year}")
        all_of = ((int(day), *read(int(day), form)) for day in dates()[1])
        day, text, written, where = next(each for each in all_of if len(each[3]["day"]) > 1)
        digits = [[at] for part in ("year", "day") for at in where[part]]
        truth = [*digits[:4], *[()] * 4, *digits[4:]]
        return Example(batch_of([day], [form]), written, text.ljust(LONGEST), truth)

    def measures(self, network: nn.Module) -> dict[str, Tensor]:
        """The weight from each digit on the year, month or day that it is of."""
        days, forms = tested()
        parts = [read(day, form)[2] for day, form in zip(days, forms, strict=True)]
        own = torch.zeros(len(days), len(PARTS), LONGEST)
        for date, where in enumerate(parts):
            for place, part in enumerate(PARTS):
                own[date, place, where.get(part, [])] = 1
        weights: list[Tensor] = []
        with torch.no_grad():
            network(*batch_of(days, forms).inputs, seen=lambda trace: weights.append(trace.weights))
        shares = (torch.stack(weights) * own[:, None]).sum(-1)
        return {OWN: shares.sum((1, 3)) / own.any(-1).sum()}

    def after(self, run: Run) -> str:
        told = (
            f"{percent(run.accuracy(ATTENTION), 1)} of {TESTED} dates that it never saw are right"
        )
        if run.accuracy(ATTENTION) < self.targets[0].least:
            return f"{told}."
        own = percent(float(run.last.measures[OWN].max()), 1)
        return (
            f"{told}. The alignment has appeared: {own} of the weight of a digit lies on the year, "
            "the month or the day that it is of, in whatever order these stand. Nobody told it "
            "which is which: it learned from pairs of dates alone."
        )
