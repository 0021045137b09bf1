"""`make study`: how far methods of association agree with erasure, and heads' effects with votes.

Every sentence is worked out once for all methods, and kept in a file of its own in a folder, so
that a study that was stopped goes on where it was. From these come attention/analysis/study.json,
which pages show, and the tables of docs/associations.md.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from attention.analysis import causes
from attention.analysis.associations import (
    BASELINES,
    METHODS,
    NAMED,
    Followed,
    erased,
    flow_of,
    mean_weights,
    methods_for,
    mixing_ratio,
    row_agreements,
    through_norm,
    vectors,
    ways_of,
    with_identity,
    with_residual,
)
from attention.analysis.interventions import means
from attention.analysis.sentences import SENTENCES
from attention.analysis.study import (
    FILE,
    STUDIES,
    Comparison,
    Effects,
    Figure,
    Study,
    read,
    written,
)
from attention.trained import sources
from attention.trained.models import Model, Run, goes_on
from benchmarks.study_tables import PAPER, ROOT, filled

MEANS_OVER = 20  # sentences that the means of heads are taken over
SAMPLES = 2000  # of the sentences, with replacement
Numbers = Mapping[str, np.ndarray]


def kept(
    folder: Path, texts: Sequence[str], kind: str, work_out: Callable[[str], Mapping[str, Tensor]]
) -> list[Numbers]:
    """The numbers of each sentence: from the file where they are kept, else worked out."""
    found: list[Numbers] = []
    for at, text in enumerate(texts):
        file = folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.npz"
        if not file.exists():
            print(f"\r{folder.name}, {kind}: {at + 1} of {len(texts)}", end="", file=sys.stderr)
            made = file.with_suffix(".part")
            with torch.no_grad(), made.open("wb") as opened:
                numbers = {name: each.numpy() for name, each in work_out(text).items()}
                np.savez_compressed(opened, **numbers)  # type: ignore[arg-type]
            made.replace(file)
        with np.load(file, allow_pickle=False) as opened:
            found.append(dict(opened))
    return found


def associations(model: Model, text: str) -> dict[str, Tensor]:
    """Of one sentence all methods (layers, pieces, pieces), baselines, and every way of erasure;
    mixing ratios and the shares of sinks, of each layer."""
    followed = Followed(model, model.pieces(text))
    quick = [name for name in methods_for(model) if name not in ("erasure", "flow")]
    found = {name: METHODS[name](followed) for name in quick}
    steps = with_identity(found["raw"])
    found["flow"] = flow_of(steps, after=layers_shown(len(steps)))
    found |= {name: baseline(followed) for name, baseline in BASELINES.items()}
    found["sinks"] = torch.ones(len(followed.positions), dtype=torch.bool)
    found["sinks"][followed.pieces.kept(True)] = False
    for way in ways_of(model):
        gone = erased(followed, way)
        found[f"states, {way}"], found[f"drops, {way}"] = gone.states[-1], gone.drops
    return found | mixing(followed) | on_sinks(followed, found["sinks"])


def layers_shown(count: int) -> list[int]:
    """The layers of which a table has columns: all, or every fifth and the last."""
    return [at for at in range(count) if count <= 12 or at % 5 == 0 or at == count - 1]


PARTS = {
    "weights alone": mean_weights,
    "norms": vectors,
    "with residual": with_residual,
    "with layer norm": through_norm,
}


def mixing(followed: Followed) -> dict[str, Tensor]:
    """Share of each vector that comes from other tokens, mean over the tokens. (layers,) each."""
    found = {name: mixing_ratio(followed, parts) for name, parts in PARTS.items()}
    return {f"mixing, {name}": ratio.mean(-1) for name, ratio in found.items()}


def on_sinks(followed: Followed, sinks: Tensor) -> dict[str, Tensor]:
    """The share of the weights on sinks, and of the lengths, mean over heads and tokens."""
    shares: list[Tensor] = []
    for layer in range(len(followed.layers)):
        both = causes.lengths(followed.run, layer)
        shares.append(
            torch.stack([(each[..., sinks].sum(-1) / each.sum(-1)).mean() for each in both])
        )
    weights, lengths = torch.stack(shares, -1)
    return {"on sinks, weights": weights, "on sinks, lengths": lengths}


def effects(model: Model, to: Sequence[Tensor], text: str) -> dict[str, Tensor]:
    """Effects of all heads on one sentence, (layers, heads) each.

    zero, mean: by how much the metric rises without them; direct: their own votes, and the same
    less those of their means, for models that go on.
    """
    run = model.run(text)
    if not goes_on(model):
        return _totals(model, run, causes.movement(run), to)
    first, second = model.scores(run.hidden[-1]).topk(2).indices.tolist()
    found = _totals(model, run, causes.logit_difference(model, first, second), to)
    votes = causes.votes(model, run, first, second).heads
    direction = model.unembedding[:, first] - model.unembedding[:, second]
    total, norm = (
        causes.residual_parts(model, run, len(model.layers)).parts.sum(0)[-1],
        model.parts.final_norm,
    )
    by_means = []
    for layer, mean in zip(model.layers, to, strict=True):
        W, _ = layer.attention.projection("output")
        assert W is not None
        assert layer.norm_first
        assert layer.attention_norms.added is None
        parts = (mean @ W.unflatten(0, (layer.attention.heads, -1)))[:, 0]
        by_means.append((parts if norm is None else norm.split(parts, total)) @ direction)
    return found | {"direct": votes, "direct, mean": votes - torch.stack(by_means)}


def _totals(
    model: Model, run: Run, metric: causes.Metric, to: Sequence[Tensor]
) -> dict[str, Tensor]:
    return {
        "zero": causes.ablate_heads(model, run, metric).change,
        "mean": causes.ablate_heads(model, run, metric, to=to).change,
    }


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
            ours, theirs = found(numbers), yardstick.of(numbers)
            if yardstick.about != "fall":
                ours = np.abs(ours)
            yield row_agreements(ours, theirs, kept, self.causal)

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


def means_of(rows: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each name, its rows weighted by their keys, and the same of samples.

    (names…), (samples, names…).
    """
    sums, weights = [], []
    for rhos, counts in rows:
        known = np.isfinite(rhos)
        sums.append((np.where(known, rhos, 0.0) * counts).sum(-1))
        weights.append((known * counts).sum(-1))
    return ratios(np.stack(sums), np.stack(weights))


def ratios(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Σ above / Σ below over sentences, and the same of samples of them (Efron 1979).

    above, below (sentences, …) -> (…), (samples, …).
    """
    generator, count = np.random.default_rng(0), len(above)
    drawn = generator.multinomial(count, np.full(count, 1 / count), SAMPLES)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = above.sum(0) / below.sum(0)
        samples = np.tensordot(drawn, above, 1) / np.tensordot(drawn, below, 1)
    return whole, samples


def figure(whole: float | np.ndarray, samples: np.ndarray) -> Figure:
    """A mean with the interval that holds 95 % of the samples."""
    low, high = np.quantile(samples, [0.025, 0.975])
    return Figure(float(whole), float(low), float(high))


def compared(over: Over, kind: Kind, sinks: bool = False) -> Comparison:
    """All methods and baselines against one kind of erasure."""
    rows, names = [*over.rows(over.last, kind, sinks)], over.names()
    whole, samples = means_of(rows)
    found = {name: figure(whole[at], samples[:, at]) for at, name in enumerate(names)}
    base = max((at for at, name in enumerate(names) if name in BASELINES), key=whole.__getitem__)
    above = {
        name: figure(whole[at] - whole[base], samples[:, at] - samples[:, base])
        for at, name in enumerate(names)
        if name in METHODS
    }
    return Comparison(
        kind.about, kind.way, sinks, sum(len(counts) for _, counts in rows), found, above
    )


def layered(over: Over, kind: Kind, shown: Sequence[int]) -> dict[str, list[float | None]]:
    """The agreement of each method after some layers."""
    found = {}
    for name in over.names():
        if name in METHODS:
            whole, _ = means_of(over.rows(lambda numbers, name=name: numbers[name][[*shown]], kind))  # type: ignore[misc]
            found[name] = [None if np.isnan(rho) else float(rho) for rho in whole]
    return found


def alike(over: Over) -> list[list[str]]:
    """Methods and baselines that rank the keys of every row in the same order."""
    names, groups = over.names(), list[list[str]]()
    for name in names:
        if any(name in group for group in groups):
            continue
        own = [
            row_agreements(over.last(each), each[name][-1], _plain(each), over.causal)[0].min(
                -1, initial=1.0
            )
            for each in over.sentences
        ]
        least = np.stack(own).min(0)
        group = [other for other, rho in zip(names, least, strict=True) if rho > 1 - 1e-9]
        if len(group) > 1:
            groups.append(group)
    return groups


def _plain(numbers: Numbers) -> list[int]:
    return [*np.flatnonzero(~numbers["sinks"])]


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
            found[f"Σ|total| / Σ|direct|, to {kind}"] = figure(*ratios(total, size))
            found[f"Σ|total − direct| / Σ|direct|, to {kind}"] = figure(*ratios(apart, size))
    agreed = {name: figure(*ratios(np.array(each), ones)) for name, each in rhos.items()}
    return Effects(len(flat), agreed | found)


def studied(model: Model, sentences: Sequence[Numbers], heads: Sequence[Numbers]) -> Study:
    """The study of a model, from what was worked out of each sentence."""
    followed = Followed(model, model.pieces(SENTENCES[0]))
    over, (main, *others) = Over(sentences, followed.causal), ways_of(model)
    about = ["states", "logit", "fall"] if followed.goes_on else ["states"]
    comparisons = []
    for each in about:
        comparisons.append(compared(over, Kind(each, main)))
        comparisons.append(compared(over, Kind(each, main), sinks=True))
        comparisons += [compared(over, Kind(each, way)) for way in others]
    shown = layers_shown(len(followed.layers))
    recency, _ = means_of(over.rows(over.last, Recency("states", main)))
    shares: dict[str, dict[str, list[float]]] = {"mixing": {}, "on sinks": {}}
    for name in sentences[0]:
        kind, _, rest = name.partition(", ")
        if kind in shares:
            mean = np.mean([numbers[name] for numbers in sentences], 0)
            shares[kind][rest] = [float(each) for each in mean]
    return Study(
        followed.goes_on,
        len(sentences),
        comparisons,
        shown,
        {each: layered(over, Kind(each, main), shown) for each in about},
        {name: float(rho) for name, rho in zip(over.names(), recency, strict=True)},
        alike(over),
        shares["mixing"],
        shares["on sinks"],
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


def version() -> str:
    """Of the code that works out the parts: other code keeps its own."""
    found = hashlib.sha256()
    for room in ("core", "trained", "analysis"):
        for file in sorted((ROOT / "attention" / room).glob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


if __name__ == "__main__":
    main()
