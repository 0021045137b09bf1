"""`make study`: how far methods of association agree with erasure, and heads' effects with votes.

Every sentence is worked out once for all methods, and kept in a file of its own in a folder, so
that a study that was stopped goes on where it was. From these come attention/analysis/study.json,
which pages show, and the tables of docs/study.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from attention.analysis.associations import (
    BASELINES,
    METHODS,
    NAMED,
    Followed,
    row_agreements,
    ways_of,
)
from attention.analysis.sentences import SENTENCES
from attention.analysis.study import (
    FILE,
    STUDIES,
    Comparison,
    Effects,
    Study,
    best,
    read,
    written,
)
from attention.changing.effects import means
from attention.trained import sources
from attention.trained.models import Model
from benchmarks.study_parts import Numbers, associations, effects, kept, layers_shown, version
from benchmarks.study_statistics import (
    Sampled,
    Sums,
    differences,
    figure,
    halves,
    mean_of,
    sampled,
    sums_of,
)
from benchmarks.study_tables import PAPER, filled

MEANS_OVER = 20  # sentences that the means of heads are taken over


@dataclass(frozen=True)
class Over:
    """The numbers of some sentences, as they were kept. causal: whether no query sees behind it."""

    sentences: Sequence[Numbers]
    causal: bool

    def names(self) -> list[str]:
        """Methods and baselines, in the order of their registries."""
        return [name for name in NAMED if name in self.sentences[0]]

    def rows(
        self, found: Callable[[Numbers], np.ndarray], yardstick: Kind, sinks: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of each sentence the rank agreements of its rows, and how many keys each has."""
        for numbers in self.sentences:
            positions = range(len(numbers["sinks"]))
            kept = [at for at in positions if sinks or not numbers["sinks"][at]]
            yield row_agreements(found(numbers), yardstick.of(numbers), kept, self.causal)

    def halves(self) -> tuple[Over, Over]:
        """The sentences to choose on, and those to confirm on."""
        choosing, confirming = halves(self.sentences)
        return Over(choosing, self.causal), Over(confirming, self.causal)

    def last(self, numbers: Numbers) -> np.ndarray:
        """Numbers of all methods after the last layer. (names, pieces, pieces)."""
        return np.stack([numbers[name][-1] for name in self.names()])


@dataclass(frozen=True)
class Kind:
    """A kind of erasure: what is asked about, one of `study.ABOUT`, and in which way."""

    about: str
    way: str

    def of(self, numbers: Numbers) -> np.ndarray:
        """Distance that each query moves without each key. (pieces, pieces)."""
        if self.about == "states":
            return numbers[f"states, {self.way}"]
        drops = numbers[f"drops, {self.way}"]
        return drops if self.about == "fall" else np.abs(drops)


@dataclass(frozen=True)
class Recency(Kind):
    """Not a kind of erasure: the baseline of that name as the yardstick."""

    def of(self, numbers: Numbers) -> np.ndarray:
        recency: np.ndarray = numbers["recency"][0]
        return recency


def compared(over: Over, kind: Kind, sinks: bool = False) -> Comparison:
    """All methods and baselines against one kind of erasure.

    The best method and baseline are chosen on the choosing half.
    """
    names = over.names()
    choosing, confirming = over.halves()
    on_it = mean_of(sums_of(choosing.rows(over.last, kind, sinks)))
    chosen = {name: float(rho) for name, rho in zip(names, on_it, strict=True)}
    rows = [*confirming.rows(over.last, kind, sinks)]
    both = sampled(sums_of(rows))
    figures = {name: Sampled(both.whole[at], both.samples[:, at]) for at, name in enumerate(names)}
    methods = {name: one for name, one in figures.items() if name in METHODS}
    method = best(METHODS, chosen)
    others = {name: one for name, one in methods.items() if name != method}
    return Comparison(
        kind.about,
        kind.way,
        sinks,
        sum(len(counts) for _, counts in rows),
        chosen,
        {name: figure(*one) for name, one in figures.items()},
        differences(methods, figures[best(BASELINES, chosen)], at_least=0.0),
        differences(others, figures[method]),
    )


def layered(over: Over, kind: Kind, shown: Sequence[int]) -> dict[str, list[float | None]]:
    """The agreement of each method after some layers."""
    found = {}
    for name in over.names():
        if name in METHODS:
            rows = over.rows(lambda numbers, name=name: numbers[name][[*shown]], kind)  # type: ignore[misc]
            found[name] = [None if np.isnan(rho) else float(rho) for rho in mean_of(sums_of(rows))]
    return found


def of_effects(sentences: Sequence[Numbers]) -> Effects:
    """Effects to zero and to the mean, total and direct, over all heads."""
    flat = [{name: each.ravel() for name, each in numbers.items()} for numbers in sentences]
    ones = np.ones(len(flat))
    rhos = {"zero and mean": [spearmanr(each["zero"], each["mean"]).statistic for each in flat]}
    found = {}
    if "direct" in flat[0]:
        for kind, direct in (("zero", "direct"), ("mean", "direct, mean")):
            rhos[f"total and direct, to {kind}"] = [
                spearmanr(-each[kind], each[direct]).statistic for each in flat
            ]
            size = np.array([np.abs(each[direct]).sum() for each in flat])
            total = np.array([np.abs(each[kind]).sum() for each in flat])
            apart = np.array([np.abs(-each[kind] - each[direct]).sum() for each in flat])
            found[f"Σ|total| / Σ|direct|, to {kind}"] = Sums(total, size)
            found[f"Σ|total − direct| / Σ|direct|, to {kind}"] = Sums(apart, size)
    agreed = {name: Sums(np.array(each), ones) for name, each in rhos.items()}
    figures = {name: figure(*sampled(sums)) for name, sums in (agreed | found).items()}
    return Effects(len(flat), figures)


def studied(model: Model, sentences: Sequence[Numbers], heads: Sequence[Numbers]) -> Study:
    """The study of a model, from what was worked out of each sentence."""
    followed = Followed(model, model.pieces(SENTENCES[0]))
    over, (main, *others) = Over(sentences, followed.causal), ways_of(model)
    choosing, confirming = over.halves()
    about = ["states", "logit", "fall"] if followed.goes_on else ["states"]
    comparisons = []
    for each in about:
        comparisons.append(compared(over, Kind(each, main)))
        comparisons.append(compared(over, Kind(each, main), sinks=True))
        comparisons += [compared(over, Kind(each, way)) for way in others]
    shown = layers_shown(len(followed.layers))
    recency = mean_of(sums_of(confirming.rows(over.last, Recency("states", main))))
    return Study(
        followed.goes_on,
        len(sentences),
        comparisons,
        shown,
        {each: layered(choosing, Kind(each, main), shown) for each in about},
        {name: float(rho) for name, rho in zip(over.names(), recency, strict=True)},
        of_effects(heads),
    )


def main() -> None:
    """Work out what is missing, and write the study and its tables."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    made.add_argument("--sentences", type=int, default=len(SENTENCES))
    made.add_argument("--effects", type=int, help="of how many sentences, where not of all")
    made.add_argument("--models", nargs="*", default=["minilm", "smollm2"])
    made.add_argument("--folder", type=Path, default=Path(".study"), help="where to keep parts")
    said = made.parse_args()
    studies = dict(STUDIES)
    for name in said.models:
        model, folder = sources.load(name), said.folder / f"{name}-{version()}"
        folder.mkdir(parents=True, exist_ok=True)
        texts = SENTENCES[: said.sentences]
        sentences = kept(folder, texts, "associations", partial(associations, model))
        to = means(model, SENTENCES[:MEANS_OVER], "output")
        heads = kept(folder, texts[: said.effects], "effects", partial(effects, model, to))
        studies[name] = studied(model, sentences, heads)
    FILE.write_text(written(studies), "utf-8")
    PAPER.write_text(filled(PAPER.read_text("utf-8"), read(FILE.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
