"""The library by itself: `attend` against plain torch, additive scores, loading word vectors."""

from __future__ import annotations

import ctypes
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from timeit import timeit

import torch
from torch import Tensor
from torch.autograd import grad
from torch.profiler import ProfilerActivity, profile

from attention.core.functional import additive_scores, attend
from benchmarks.report import TARGETS, Row, at_most, table

ROOT = Path(__file__).parent.parent
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from malloc.h

# (shape of queries, keys and values; calls timed together, enough for a few milliseconds)
SHAPES = (((1, 8, 512, 64), 1), ((256, 64), 20))
# A call on it takes 0.03 ms, a third of which is Python's own: reported, without a target.
SMALL = ((64, 64), 200)
WARM_TURNS = 5
OVER_PLAIN = 1.1

QUERIES, KEYS, HIDDEN = 512, 512, 64
OF_FULL_TENSOR = 0.25

LOAD_SECONDS = 0.5
LOAD_MB = 200.0

LOAD = """
import resource, time
from pathlib import Path
from attention.inputs.vectors import PackagedGlove

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

before, start = resident(), time.perf_counter()
glove = PackagedGlove()
seconds, loaded = time.perf_counter() - start, resident()
glove.vectors.sum()
print(seconds, loaded - before, resident() - before)
"""


def plain(queries: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    """Attention written out in torch.

    It returns its intermediate tensors because the `Trace` of `attend` keeps them too: without
    them the comparison of memory would be one of what is kept, not of what is computed.
    """
    scores = queries @ keys.mT
    scaled = scores / math.sqrt(queries.shape[-1])
    weights = scaled.softmax(-1)
    return scores, scaled, weights, weights @ values


@contextmanager
def no_stderr() -> Iterator[None]:
    """Drop what the profiler's C++ part writes to stderr when it starts and stops."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def peak_bytes(call: Callable[[], object]) -> int:
    """The most bytes of tensors allocated at a time during a call, its result included.

    Summed up from torch's own record of every allocation and release, so it is exact.
    """
    with no_stderr(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        kept = call()
    del kept
    results = record.profiler.kineto_results
    events = [event for event in results.events() if event.name() == "[memory]"]
    current = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        current += event.nbytes()
        peak = max(peak, current)
    return peak


def steady() -> None:
    """Make times repeatable: one thread, and freed memory is not handed back to the system.

    Two threads on busy cores wait for each other. And glibc hands freed megabytes back, or not,
    by the order in which they are freed, after which the next call pays for fresh pages: that
    makes the very same code up to 1.8 times slower than itself.
    """
    torch.set_num_threads(1)
    allocator = ctypes.CDLL(None)
    allocator.mallopt(M_MMAP_THRESHOLD, 2**25)
    allocator.mallopt(M_TRIM_THRESHOLD, 2**30)


def times(calls: Sequence[Callable[[], object]], number: int, turns: int) -> list[float]:
    """Median seconds of one call of each, timed `number` calls together.

    The calls take rotations, so that noise hits all alike; the first turns are not counted.
    """
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(WARM_TURNS + turns):
        for call, seconds in zip(calls, samples, strict=True):
            seconds.append(timeit(call, number=number) / number)
    return [statistics.median(seconds[WARM_TURNS:]) for seconds in samples]


def attend_rows(turns: int) -> list[Row]:
    """Time and peak memory of `attend` over plain torch; the inputs are not counted."""
    rows: list[Row] = []
    for shape, number in (*SHAPES, SMALL):
        limit = None if (shape, number) == SMALL else OVER_PLAIN
        inputs = [torch.randn(shape) for _ in range(3)]
        calls = partial(attend, *inputs), partial(plain, *inputs)
        ours, theirs = times(calls, number, turns)
        rows.append(at_most(f"time, {shape}", ours / theirs, limit, "x"))
        ours, theirs = (peak_bytes(call) for call in calls)
        rows.append(at_most(f"peak memory, {shape}", ours / theirs, limit, "x"))
    return rows


def additive_rows() -> list[Row]:
    """Peak memory of additive scores over the size of the (queries, keys, hidden) tensor.

    Everything allocated on the way counts, also the scores themselves; with gradients this is
    the peak of the forward and the backward pass together.
    """
    queries, keys = torch.randn(QUERIES, HIDDEN), torch.randn(KEYS, HIDDEN)
    weights = torch.randn(HIDDEN, HIDDEN), torch.randn(HIDDEN, HIDDEN), torch.randn(HIDDEN)
    trained = [weight.clone().requires_grad_() for weight in weights]
    full = QUERIES * KEYS * HIDDEN * queries.element_size()
    forward = peak_bytes(lambda: additive_scores(queries, keys, *weights))
    both = peak_bytes(lambda: grad(additive_scores(queries, keys, *trained).sum(), trained))
    return [
        at_most("peak memory, forward", forward / full, OF_FULL_TENSOR, "x"),
        at_most("peak memory, forward and backward", both / full, OF_FULL_TENSOR, "x"),
    ]


def vector_rows(processes: int) -> list[Row]:
    """Loading the packaged GloVe: medians over fresh processes, imports not counted.

    The vectors stay in a mapped file, so that memory grows further, by pages the system can share
    and take back, as they are read; the last row has all of them read.
    """
    runs = []
    for _ in range(processes):
        command = [sys.executable, "-c", LOAD]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        runs.append([float(number) for number in done.stdout.split()])
    seconds, loaded, read = map(statistics.median, zip(*runs, strict=True))
    return [
        at_most("loading time", seconds, LOAD_SECONDS, "s"),
        at_most("memory, loaded", loaded, LOAD_MB, "MB"),
        at_most("memory, every vector read", read, None, "MB"),
    ]


def run(quick: bool, progress: Callable[[str], None]) -> Iterator[str]:
    """Measure everything; yields each table as soon as it is complete."""
    steady()
    torch.manual_seed(0)
    progress("attend against plain torch")
    yield table("attend over plain torch", TARGETS, attend_rows(10 if quick else 50))
    progress("additive scores")
    title = f"Additive scores over the full {QUERIES}x{KEYS}x{HIDDEN} tensor"
    yield table(title, TARGETS, additive_rows())
    progress("loading vectors")
    yield table("Packaged GloVe", TARGETS, vector_rows(1 if quick else 5))
