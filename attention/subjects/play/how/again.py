"""A block again: its output goes in as its input, one to six times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from attention.core import masks
from attention.core.analysis import entropy_bits
from attention.core.functional import Trace
from attention.figures.scene import Scene, Words, scene
from attention.figures.word_rows import WordRow, WordRows, kind_of, sent_rows
from attention.pipeline import Result
from attention.subjects.play.how.step import Computation

Run = Callable[[Tensor], Trace]


def fits(first: Computation) -> bool:
    """True if the output is as wide as the input, and the run short enough to be kept."""
    run = first.run
    return isinstance(run, Trace) and first.layer.output(run).shape[-1] == first.x.shape[-1]


@torch.no_grad()
def blocks(first: Computation, run: Run) -> list[Computation]:
    """The computation as often as its settings say, each on the output of the one before.

    run: of the layer over an x (tokens, d_model). The first alone where it does not fit; no more
    where numbers grow beyond what float32 holds.
    """
    made = [first]
    while len(made) < first.settings.times and fits(first):
        x = first.layer.output(made[-1].layer_trace)
        then = run(x)
        if not all(part.isfinite().all() for part in (then.scores, then.output)):
            break
        made.append(replace(first, run=then, vectors=x, positions=None))
    return made


def run_of(result: Result) -> Run:
    """The run of a result's layer, with its masks, scale and positions, over another x."""
    settings, layer, count = result.settings, result.layer, len(result.tokens)
    return partial(
        layer,
        mask=masks.combine(result.masks.values()),
        scale=settings.scale_factor,
        rotate=settings.rotate,
        bias=settings.bias(layer, count, count),
    )


def rows(made: Sequence[Computation], tokens: Sequence[str], query: int) -> Scene:
    """The weights of each time under the words, the last one chosen, and how their spread goes."""
    traces = [block.trace for block in made]
    bits = [float(entropy_bits(trace.weights).nanmean()) for trace in traces]
    told = traces[0].weights_are_a_distribution and not math.isnan(sum(bits))
    each = [
        WordRow(
            f"time {time}",
            trace.weights,
            kind_of(trace.weighing),
            f"{spread:.2f} bits" if told else "",
            trace.mask,
        )
        for time, (trace, spread) in enumerate(zip(traces, bits, strict=True), 1)
    ]
    figure = WordRows(
        tokens,
        sent_rows(each, query),
        chosen=len(made) - 1,
        label="A block again",
        key="rows_again",
    )
    return scene(figure, Words(spread_words(bits), "told") if told else None)


def spread_words(bits: Sequence[float]) -> str:
    """Say if weights even out or sharpen. bits: the mean entropy of their rows, time by time."""
    first, last = (f"{number:.2f}" for number in (bits[0], bits[-1]))
    does, goes = "stay as even as they were", f"is {first}"
    if first != last:
        does = "even out" if bits[-1] > bits[0] else "sharpen"
        goes = f"goes from {first} to {last}"
    return (
        f"From time 1 to time {len(bits)} the weights {does}: the mean entropy of all queries "
        f"{goes} bits."
    )
