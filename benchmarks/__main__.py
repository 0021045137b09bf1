"""Measure the app and the library once, and print what came out beside its target.

Progress goes to stderr, the tables to stdout. A missed target is reported like a met one and
fails nothing; the exit status is 1 when something could not be measured. Needs Linux, and an
installed Chromium for the browser's part.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time

STAGES = ("core", "browser", "peers", "trained", "training")


def main() -> int:
    """Run the stages one after the other; one that breaks does not keep the next from running."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions, rough numbers")
    parser.add_argument("--only", choices=STAGES, help="run one stage")
    options = parser.parse_args()
    start = time.monotonic()
    broken = 0

    def progress(text: str) -> None:
        print(f"[{time.monotonic() - start:4.0f} s] {text}", file=sys.stderr, flush=True)

    for stage in [options.only] if options.only else STAGES:
        try:
            run = importlib.import_module(f"benchmarks.{stage}").run
            for text in run(options.quick, progress):
                print(text, flush=True)
        except Exception as problem:
            broken = 1
            progress(f"{stage} BROKE: {type(problem).__name__}: {problem}")
    return broken


if __name__ == "__main__":
    sys.exit(main())
