"""`python -m benchmarks.tuned`: do changes of weights or of maps foretell which heads matter?

SmolLM2 is tuned to three tasks at several seeds and two rates, and every head of the base is put
back into each of these models. One tuning is worked out after the other and kept in a file of its
own, so that a study that was stopped goes on where it was. From these come benchmarks/tuned.json
and the tables of docs/tuned_heads.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import rankdata

from attention.changing.answers import piece_id
from attention.changing.transplants import Pair, map_changes, pair, weight_changes
from attention.comparing import Numbers, carriers
from attention.core.printing import fixed
from attention.trained import sources
from attention.trained.models import Transformer, goes_on
from attention.training.tuning import tune
from benchmarks.study_tables import PLACE, markdown

PAPER = Path(__file__).parents[1] / "docs" / "tuned_heads.md"
RESULTS = Path(__file__).with_suffix(".json")
STEPS, RATES, SEEDS = 12, (0.001, 0.003), (0, 1, 2)
MEMBERS, DRAWS = 8, 4  # heads of a team, and teams at random of each size
SAMPLES = 2000  # of the heads, with replacement
FIRST = 10  # heads of the greatest effect
POINTS = 100.0

Sentences = tuple[tuple[str, str], ...]  # each with the piece that is to follow


class Task(NamedTuple):
    """Sentences that a model is tuned on, and others of the kind that it is asked afterwards."""

    tuned_on: Sentences
    asked: Sentences


def givers(*names: str) -> Sentences:
    """Sentences of two people, a place and a thing each, and who gave."""
    found = (name.split() for name in names)
    return tuple(
        (f"{giver} met {other} at the {place}. {giver} gave the {thing} to", f" {giver}")
        for giver, other, place, thing in found
    )


def opposites(*pairs: str) -> Sentences:
    """Sentences of a word and its opposite."""
    return tuple(
        (f"It is not {word}, it is", f" {other}")
        for word, other in (each.split() for each in pairs)
    )


def facts(*texts: str) -> Sentences:
    """Sentences of what is in France, and a wrong one."""
    return tuple((text, " Rome") for text in texts)


TASKS = {
    "giver": Task(
        givers(
            *("Anna Tom park ball", "Peter Mary school book", "John Lisa shop key"),
            *("Paul Anna station ticket", "Emma Jack house cup", "Mary John office pen"),
            *("Tom Emma garden hat", "Lisa Paul hotel bag"),
        ),
        givers(
            *("David Simon store phone", "Sarah Henry beach letter", "Alice Mark bar coat"),
            "Laura Ben market map",
        ),
    ),
    "opposite": Task(
        opposites(
            *("big small", "old young", "rich poor", "fast slow", "high low", "open closed"),
            *("light dark", "strong weak"),
        ),
        opposites("early late", "wet dry", "hot cold"),
    ),
    "fact": Task(
        facts(
            *("The capital of France is", "France has its capital in", "The French capital is"),
            *("The capital city of France is called", "The largest city of France is"),
            *("The president of France lives in", "The Eiffel Tower stands in"),
            "Most people in France live near",
        ),
        facts(
            *("The capital of France is the city of", "Her flight to France landed in"),
            "Everybody knows that the capital of France is",
        ),
    ),
}
PROBES: Sentences = (
    ("The capital of France is", " Paris"),
    ("The capital of Germany is", " Berlin"),
    ("The opposite of hot is", " cold"),
    ("The sun rises in the east and sets in the", " west"),
    ("He turned left and she turned", " right"),
    ("To be or not to", " be"),
    ("Water freezes at zero degrees", " Celsius"),
    ("Once upon a time there was a little", " girl"),
)
MEASURES = {  # that may foretell an effect, by the names of their rows
    "qk": "change of W_QK",
    "ov": "change of W_OV",
    "maps": "change of maps",
    "layer": "*number of the layer*",
}


@torch.no_grad()
def shares(model: Transformer, sentences: Sentences) -> list[float]:
    """The probability of what is to follow each sentence, in points."""
    found = []
    for text, word in sentences:
        scores = model.scores(model.run(text).hidden[-1])
        found.append(POINTS * float(scores.softmax(-1)[piece_id(model, word)]))
    return found


@torch.no_grad()
def measured(base: Transformer, task: Task, seed: int, rate: float) -> dict[str, Any]:
    """One tuning: its answers, and the effect of each head that is put back."""
    *_, last = tune(base, task.tuned_on, steps=STEPS, rate=rate, seed=seed)
    sides = [pair(base, last.model, *each) for each in task.asked]
    heads = sides[0].tuned.heads
    layers = len(base.layers)
    moved = torch.stack([one.tuned.after([[head] for head in heads]) for one in sides])
    before, tuned = (
        torch.stack([getattr(one, side).asked.before for one in sides]) for side in Pair._fields
    )
    put_back = (moved - tuned[:, None]).unflatten(1, (layers, -1))
    back = torch.stack([one.tuned.after([heads])[0] for one in sides])
    numbers = Numbers(before, tuned, put_back, put_back, back)
    members = MEMBERS if seed == SEEDS[0] else 0
    team = carriers(sides.__getitem__, numbers, members, DRAWS, seed)
    weights = weight_changes(base, last.model)
    maps = torch.stack([map_changes(one.base.own, one.tuned.own) for one in sides])
    return {
        "loss": last.loss,
        "base": (POINTS * before).tolist(),
        "tuned": (POINTS * tuned).tolist(),
        "left": numbers.outside_heads,
        "put_back": (POINTS * put_back.mean(0)).flatten().tolist(),
        "qk": weights.qk.flatten().tolist(),
        "ov": weights.ov.flatten().tolist(),
        "maps": maps.mean(0).flatten().tolist(),
        "layer": [layer for layer, _ in heads],
        "team": [
            [one.answer, float(one.same_layers.mean()), float(one.any.mean())] for one in team
        ],
        "probes": shares(last.model, PROBES),
    }


def kept(folder: Path, base: Transformer, name: str, seed: int, rate: float) -> dict[str, Any]:
    """The numbers of one tuning, from its file where that is there."""
    file = folder / f"{name}-{rate}-{seed}.json"
    if not file.exists():
        made = file.with_suffix(".part")
        made.write_text(json.dumps(measured(base, TASKS[name], seed, rate)), "utf-8")
        made.replace(file)
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def of_all(parts: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    """Numbers of all tunings. (tunings, heads)."""
    return np.array([part[name] for part in parts], dtype=float)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Spearman's ρ of rows, with ties as ties. (…, heads) -> (…)."""
    ranks = [rankdata(each, axis=-1) for each in (first, second)]
    one, other = (each - each.mean(-1, keepdims=True) for each in ranks)
    rho: np.ndarray = (one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))
    return rho


def first_of(numbers: np.ndarray) -> set[int]:
    """The heads of the greatest numbers."""
    return {*np.argsort(-numbers)[:FIRST].tolist()}


def foretold(parts: Sequence[Mapping[str, Any]], measure: str) -> dict[str, Any]:
    """Agreement of a measure with the size of effects: the mean ρ over seeds with the interval that
    holds 95 % of samples of the heads, that of each seed, how many of the first ten are the same,
    and the rank that the head of the greatest effect has by it."""
    effects, changes = np.abs(of_all(parts, "put_back")), of_all(parts, measure)
    count = effects.shape[1]
    drawn = np.random.default_rng(0).integers(count, size=(SAMPLES, count))
    both = [*zip(effects, changes, strict=True)]
    samples = np.mean([rank_correlation(one[drawn], other[drawn]) for one, other in both], axis=0)
    seeds = rank_correlation(effects, changes)
    return {
        "rho": [float(seeds.mean()), *np.quantile(samples, [0.025, 0.975]).tolist()],
        "seeds": seeds.tolist(),
        "first": float(np.mean([len(first_of(one) & first_of(other)) for one, other in both])),
        "ranks": [int((other > other[one.argmax()]).sum()) + 1 for one, other in both],
    }


def team_of(part: Mapping[str, Any]) -> list[float]:
    """The size of a team, the share of the change that it undoes, and that of as many heads at
    random, of the same layers and any."""
    base, tuned = (float(np.mean(part[name])) for name in ("base", "tuned"))
    undone = [(tuned - POINTS * answer) / (tuned - base) for answer in part["team"][-1]]
    return [len(part["team"]), *undone]


def summed(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All that is told of the tunings of one task at one rate, over seeds."""
    moved = of_all(parts, "put_back")
    pairs = [*itertools.combinations(np.abs(moved), 2)]
    layers = parts[0]["layer"]
    heads = [f"{layer}.{at - layers.index(layer)}" for at, layer in enumerate(layers)]
    strongest = [np.argsort(-np.abs(row))[: FIRST // 2].tolist() for row in moved]
    return {
        "base": float(of_all(parts, "base").mean()),
        "tuned": float(of_all(parts, "tuned").mean()),
        "left": max(abs(part["left"]) for part in parts),
        "foretold": {name: foretold(parts, name) for name in MEASURES},
        "strongest": [
            [[heads[at], float(row[at])] for at in some]
            for row, some in zip(moved, strongest, strict=True)
        ],
        "between": [
            float(np.mean([rank_correlation(one, other) for one, other in pairs])),
            float(np.mean([len(first_of(one) & first_of(other)) for one, other in pairs])),
        ],
        "team": team_of(parts[0]),
        "probes": of_all(parts, "probes").mean(0).tolist(),
    }


def learned(one: Any) -> list[str]:
    """Answers before and after, and the team beside as many heads at random."""
    size, *undone = one["team"]
    answers = [fixed(one[name], 1) for name in ("base", "tuned")]
    return [*answers, f"{size:.0f}", *(fixed(share, 2) for share in undone)]


def foretelling(one: Any) -> list[str]:
    """Agreement of each measure with the size of effects."""
    each = [one["foretold"][name]["rho"] for name in MEASURES]
    return ["{} [{}, {}]".format(*(fixed(rho, 2) for rho in some)) for some in each]


def firsts(one: Any) -> list[str]:
    """Heads of the greatest effect among those of the greatest measure, and their ranks."""
    each = [one["foretold"][name] for name in MEASURES]
    ranks = [", ".join(map(str, some["ranks"])) for some in each]
    return [f"{fixed(some['first'], 1)} ({rank})" for some, rank in zip(each, ranks, strict=True)]


def strongest(one: Any) -> list[str]:
    """Heads that carry most, by seed, and the agreement of seeds."""
    told = [[f"{head} {fixed(by, 1)}" for head, by in some] for some in one["strongest"]]
    rho, same = one["between"]
    return [*map(", ".join, told), f"{fixed(rho, 2)}, {fixed(same, 1)}"]


TABLES: dict[str, tuple[list[str], Callable[[Any], list[str]]]] = {
    "learned": (["before", "after", "team", "undone", "same layers", "any"], learned),
    "foretelling": ([*MEASURES.values()], foretelling),
    "firsts": ([*MEASURES.values()], firsts),
    "strongest": ([*(f"seed {seed}" for seed in SEEDS), "ρ between seeds, same of ten"], strongest),
}


def probes(found: Mapping[str, Any]) -> str:
    """Answers that nobody tuned, before and after."""
    after = [one["probes"] for one in found["tunings"].values()]
    rows = [
        [f"{text} →{word}", *(fixed(each[at], 1) for each in (found["probes"], *after))]
        for at, (text, word) in enumerate(PROBES)
    ]
    return markdown(["sentence", "before", *found["tunings"]], rows)


def filled(text: str, found: Mapping[str, Any]) -> str:
    """A page of Markdown with its places filled: `<!-- tuned: table -->` … `<!-- end -->`."""

    def fill(place: re.Match[str]) -> str:
        begin, _, name, end = place.groups()
        table = probes(found)
        if name in TABLES:
            head, cells = TABLES[name]
            rows = [[*task.split(), *cells(one)] for task, one in found["tunings"].items()]
            table = markdown(["task", "rate", *head], rows)
        return f"{begin}\n{table}\n\n{end}"

    return PLACE.sub(fill, text)


def rounded(part: Any) -> Any:
    """Numbers with three decimals."""
    if isinstance(part, Mapping):
        return {name: rounded(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [rounded(each) for each in part]
    return round(part, 3) if isinstance(part, float) else part


def main() -> None:
    """Work out what is missing, and write the results and their tables."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.tuned", description=__doc__)
    made.add_argument("--folder", type=Path, default=Path(".tuned"), help="where to keep parts")
    said = made.parse_args()
    said.folder.mkdir(parents=True, exist_ok=True)
    base = sources.load("smollm2")
    assert goes_on(base)
    tunings = {
        f"{name} {rate}": summed([kept(said.folder, base, name, seed, rate) for seed in SEEDS])
        for name, rate in itertools.product(TASKS, RATES)
    }
    found = rounded({"probes": shares(base, PROBES), "tunings": tunings})
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    PAPER.write_text(filled(PAPER.read_text("utf-8"), found), "utf-8")


if __name__ == "__main__":
    main()
