"""Learn every task at seed 0, and print what it reached beside what it has to reach.

`--write` also writes the packaged runs; `--task` learns one alone; `--handicaps` learns each task
without the thing that it needs most, too. The exit status is 1 where something was not reached.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Collection, Iterator

import torch
from safetensors.torch import save_file

from attention.trained import sources
from attention.trained.adapters import write_adapter
from attention.training.finished import FOLDER, path_of
from attention.training.fitting import fit
from attention.training.networks import count
from attention.training.run import Run, write
from attention.training.settings import NONE, TrainingSettings
from attention.training.tasks import ATTENTION, TASKS, Target, giver, race
from attention.training.tuning import LowRank

COMMAND = "python -m attention.training --write"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m attention.training", description=__doc__)
    parser.add_argument("--task", choices=TASKS, help="learn one task")
    parser.add_argument("--seed", type=int, default=0, help="another seed, 0 to 9999")
    parser.add_argument("--write", action="store_true", help="write the packaged runs")
    parser.add_argument("--handicaps", action="store_true", help="learn without a thing, too")
    options = parser.parse_args()
    if options.write and options.seed:
        parser.error("the packaged runs are those of seed 0")
    torch.set_num_threads(1)
    missed = False
    for name in [options.task] if options.task else TASKS:
        usual = TrainingSettings(name, learn_seed=options.seed)
        if options.write and name == race.Race.name:
            _write_tried()
        run = _learned(usual)
        for line, met in _judged(run):
            print(line, flush=True)
            missed |= not met
        print(f"  {TASKS[name](usual).after(run)}", flush=True)
        if options.write:
            FOLDER.mkdir(exist_ok=True)
            write(run, path_of(usual), command=COMMAND)
            for more in TASKS[name].packaged:
                other = TrainingSettings(name, **more)
                write(_learned(other), path_of(other), command=COMMAND)
            network = run.last.networks[ATTENTION]
            reached = {each: f"{share:.4f}" for each, share in run.last.accuracy.items()}
            told = {"command": COMMAND, "seed": "0", "reached": json.dumps(reached)}
            if isinstance(network, LowRank):
                about, stored = giver.base().about, giver.base().stored
                folder, prefix = sources.GIVER.path, stored.prefix
                write_adapter(network.adapter(), folder, prefix, about.checkpoint, **told)
        for handicap in TASKS[name].handicaps if options.handicaps else ():
            harder = _learned(TrainingSettings(name, handicap, learn_seed=options.seed))
            for line, _ in _judged(harder):
                print(line, flush=True)
    return int(missed)


def _write_tried() -> None:
    """Try rates on the networks of the race; write their shares, and the GRU of equal state at its
    best."""
    race.EQUAL_FILE.unlink(missing_ok=True)
    shares: dict[str, dict[str, float]] = {}
    best: dict[str, torch.Tensor] = {}
    for rate in race.RATES:
        only = (race.EQUAL_STATE,) if rate == race.RATES[-1] else ()
        last = _learned(TrainingSettings("race", learn_width=race.EQUAL_AT), rate, only).last
        for name in last.networks:
            found = [last.accuracy[race.curve(name, pairs)] for pairs in race.COUNTS]
            shares.setdefault(name, {})[str(rate)] = round(sum(found) / len(found), 4)
        own = shares[race.EQUAL_STATE]
        if own[str(rate)] == max(own.values()):
            best = last.networks[race.EQUAL_STATE].state_dict()
    save_file(best, race.EQUAL_FILE, {"command": COMMAND, "rates": json.dumps(shares)})
    race.rates_tried.cache_clear()


def _learned(
    settings: TrainingSettings, rate: float | None = None, only: Collection[str] = ()
) -> Run:
    begun, spent = time.perf_counter(), time.process_time()
    progress = list(fit(settings.task, settings, rate=rate, only=only))
    run = Run(settings, progress)
    title = TASKS[settings.task].title
    without = "" if settings.handicap == NONE else f", {settings.handicap}"
    sizes = ", ".join(f"{name} {count(each)}" for name, each in progress[-1].networks.items())
    print(
        f"{title}{without}: {run.last.step} steps at seed {settings.learn_seed}, "
        f"{time.perf_counter() - begun:.0f} s, {time.process_time() - spent:.0f} s of a core; "
        f"parameters: {sizes}",
        flush=True,
    )
    return run


def _judged(run: Run) -> Iterator[tuple[str, bool]]:
    """Lines on what a run reached, and whether each is as it has to be."""
    usual = run.settings.handicap == NONE
    targets = {target.curve: target for target in TASKS[run.settings.task].targets if usual}
    for curve, share in run.last.accuracy.items():
        target = targets.get(curve, Target(curve))
        met = target.least <= share
        least = f", at least {100 * target.least:.0f} %" if target.least else ""
        margin = f", margin {100 * (share - target.least):+.2f}" if target.least else ""
        yield f"  {curve}: {100 * share:.2f} %{least}{margin}", met


if __name__ == "__main__":
    sys.exit(main())
