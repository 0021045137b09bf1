"""`make study`: how far methods of association agree with erasure, and heads' effects with votes.

Prints the tables of docs/associations.md, of packaged sentences and the models at hand, and writes
attention/lessons/study.json, which the page shows.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from scipy.stats import spearmanr

from attention.analysis import causes
from attention.analysis.associations import (
    METHODS,
    Followed,
    agreement,
    associate,
    methods_for,
    mixing_ratio,
)
from attention.analysis.interventions import means
from attention.analysis.sentences import SENTENCES
from attention.lessons.study import FILE, STUDIES, Study, share, written
from attention.trained import sources
from attention.trained.models import Model, Run, Transformer

MEANS_OVER = 20  # sentences that the means of heads are taken over


def mean(numbers: Iterable[float]) -> float:
    """Of those that are numbers; nan where there is none."""
    found = [number for number in numbers if not math.isnan(number)]
    return float(np.mean(found)) if found else math.nan


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """One table of Markdown."""
    print(f"\n### {title}\n")
    print(f"| {' | '.join(head)} |")
    print(f"|{' --- |' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def agreements(model: Model, runs: Sequence[Run]) -> Study:
    """Rank agreement of each method with erasure, by layer."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for number, run in enumerate(runs):
        print(f"\r{model.about.name}: {number + 1} of {len(runs)}", end="", file=sys.stderr)
        followed = Followed(model, run.pieces)
        yardstick = associate(model, run.pieces, "erasure")[-1]
        for name in methods_for(model):
            if name != "erasure":
                layers = associate(model, run.pieces, name)
                special = run.pieces.special
                found[name].append(
                    [agreement(one, yardstick, special, followed.causal) for one in layers]
                )
    by_layer = {
        name: [mean(column) for column in zip(*rows, strict=True)] for name, rows in found.items()
    }
    n_layers = max(map(len, by_layer.values()))
    table(
        f"{model.about.title}: rank agreement with erasure, by layer",
        ["method", *(str(layer) for layer in range(n_layers))],
        [[METHODS[name].title, *map(share, numbers)] for name, numbers in by_layer.items()],
    )
    return Study(
        len(runs),
        {
            name: tuple(None if math.isnan(number) else number for number in numbers)
            for name, numbers in by_layer.items()
        },
    )


def mixing(model: Model, runs: Sequence[Run]) -> None:
    """How much of each vector comes from other tokens."""
    raw, norm, residual, normed = [], [], [], []
    for run in runs:
        followed = Followed(model, run.pieces)
        raw.append(_off(associate(model, run.pieces, "raw")))
        norm.append(_off(associate(model, run.pieces, "norm")))
        residual.append(mixing_ratio(followed, normed=False).mean(-1))
        normed.append(mixing_ratio(followed).mean(-1))
    names = {
        "weights alone": raw,
        "norms": norm,
        "with residual": residual,
        "with layer norm": normed,
    }
    n_layers = len(raw[0])
    rows = []
    for name, numbers in names.items():
        by_layer = torch.stack(numbers).mean(0)
        cells = [f"{100 * float(number):.0f} %" for number in (*by_layer, by_layer.mean())]
        rows.append([name, *cells])
    head = ["", *(str(layer) for layer in range(n_layers)), "all"]
    table(f"{model.about.title}: mixing ratio, by layer", head, rows)


def _off(found: torch.Tensor) -> torch.Tensor:
    """The share off the diagonal, mean over the rows. (layers,)."""
    own = found.diagonal(0, -2, -1)
    return (1 - own / found.sum(-1)).mean(-1)


def sinks(model: Model, runs: Sequence[Run]) -> None:
    """The share of the weight on the first token and on special ones, and of the lengths."""
    n_layers = len(Followed(model, runs[0].pieces).layers)
    rows = []
    for layer in range(n_layers):
        shares = defaultdict(list)
        for run in runs:
            weights, lengths = causes.lengths(run, layer)
            special = torch.tensor(run.pieces.special)
            special[0] = True
            for name, numbers in (("weights", weights), ("‖w v W_o‖", lengths)):
                part = numbers[..., special].sum(-1) / numbers.sum(-1)
                shares[name].append(float(part.mean()))
        cells = [f"{100 * mean(shares[name]):.0f} %" for name in ("weights", "‖w v W_o‖")]
        rows.append([str(layer), *cells])
    head = ["layer", "of the weights", "of ‖w v W_o‖"]
    table(f"{model.about.title}: on the first token and special ones", head, rows)


def effects(model: Model, runs: Sequence[Run], texts: Sequence[str]) -> None:
    """Rank agreement of heads: to zero and to mean; total and direct, for models that go on."""
    to = means(model, texts[:MEANS_OVER], "output")
    kinds, direct = [], []
    for run in runs:
        if isinstance(model, Transformer) and model.unembedding is not None:
            first, second = model.scores(run.hidden[-1]).topk(2).indices.tolist()
            metric = causes.logit_difference(model, first, second)
        else:
            metric = causes.movement(run)
        zero = causes.taken_out(model, run, metric).change.flatten()
        by_mean = causes.taken_out(model, run, metric, to=to).change.flatten()
        kinds.append(float(spearmanr(zero, by_mean).statistic))
        if isinstance(model, Transformer) and model.unembedding is not None:
            votes = causes.votes(model, run, first, second).heads.flatten()
            direct.append(float(spearmanr(-zero, votes).statistic))
    rows = [["to zero and to the mean", share(mean(kinds))]]
    rows.append(["total (to zero) and direct", share(mean(direct))])
    table(f"{model.about.title}: rank agreement over all heads", ["effects", "Spearman"], rows)


def main() -> None:
    """Print all tables, and write down how far the methods agree."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    made.add_argument("--sentences", type=int, default=len(SENTENCES))
    made.add_argument("--models", nargs="*", default=None)
    said = made.parse_args()
    texts, studies = SENTENCES[: said.sentences], dict[str, Study]()
    for name in said.models or [each for each in sources.names()[1:] if each != "pt-en"]:
        model = sources.load(name)
        crosses = any(layer.crosses for layer in model.layers)
        runs = [model.run(text) for text in texts]
        print(f"\n## {model.about.title}, {len(texts)} sentences")
        studies[name] = agreements(model, runs)
        mixing(model, runs)
        sinks(model, runs)
        if not crosses:
            effects(model, runs, texts)
    FILE.write_text(written(STUDIES | studies), "utf-8")


if __name__ == "__main__":
    main()
