"""`python -m benchmarks.changing`: the cost of `attention.change`, `effects` and `votes`.

Time of forward passes of SmolLM2 with one head off and without in turns, of all 270 heads beside
that of this library's own pass, and of votes; the own pass must find the same. Needs the packaged
model and transformers.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

import attention
from attention.changing.answers import answer_at
from attention.changing.corpus import on_corpus
from attention.trained import sources
from benchmarks.capture import smollm2

TEXT = "The Eiffel Tower stands in the middle of the city called"
TURNS = 15
MOST_TIMES, MOST_TIMES_OWN = 1.2, 3.0


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of CPU, which others on the machine disturb less, and the result."""
    begun = time.process_time()
    made = function()
    return time.process_time() - begun, made


@torch.no_grad()
def main() -> None:
    """Print both costs; ends with a word where one is too high, or the numbers differ."""
    model, own = smollm2(), sources.load(sources.SMOLLM2.about.name)
    measured = on_corpus(own.about.name)
    assert measured is not None
    run = own.run(TEXT)
    metric, piece = answer_at(own, run, -1)
    assert piece is not None
    inputs = {"input_ids": run.pieces.ids[None]}
    failed = []

    def off() -> Any:
        with attention.change(model, off={(23, 4)}, to=measured.means):
            return model(**inputs)

    turns = [(timed(lambda: model(**inputs))[0], timed(off)[0]) for _ in range(TURNS)]
    ratio = statistics.median(changed / plain for plain, changed in turns)
    pieces = len(run.pieces.ids)
    print(f"{pieces} pieces: {1000 * turns[-1][0]:.0f} ms plain, × {ratio:.2f} with one head off")
    seconds, found = timed(lambda: attention.effects(model, inputs, piece, to=measured.means))
    of_own, expected = timed(lambda: attention.effects(own, run, metric, to=measured.means))
    times = seconds / of_own
    differs = float((found.after - expected.after).abs().max())
    print(
        f"270 heads: {seconds:.2f} s, × {times:.2f} of the own pass; off by {differs:.1e} at most"
    )
    voting = [
        (timed(lambda: model(**inputs))[0], timed(lambda: attention.votes(model, inputs, piece)))
        for _ in range(TURNS)
    ]
    cost = statistics.median(voted / plain for plain, (voted, _) in voting)
    apart = float((voting[-1][1][1].heads - attention.votes(own, run, piece).heads).abs().max())
    print(f"votes of 270 heads: × {cost:.2f} of a plain run; off by {apart:.1e} at most")
    if ratio > MOST_TIMES:
        failed.append("one head off")
    if apart > 1e-4:
        failed.append("votes that differ")
    if times > MOST_TIMES_OWN or differs > 1e-5:
        failed.append("all heads")
    if failed:
        sys.exit(f"too much: {', '.join(failed)}")


if __name__ == "__main__":
    main()
