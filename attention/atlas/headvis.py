"""Passports as a folder that HeadVis reads: `scatter_data.json`, `heads/L{layer}H{head}.json`.

HeadVis (Luger, Kamath et al. 2026, transformer-circuits.pub/2026/headvis) draws the heads of a
model from such a folder without a server. The files have the form in which Neuronpedia's pipeline
writes them for it (neuronpedia_utils/headvis in its repository). They hold what passports have: of
a sentence the rows that were sampled, not all of them; measures, and beside these effects and
weights, which HeadVis shows as further metrics, plots and tables. Neuronpedia's loaders read them;
HeadVis' own viewer has not been tried.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention.analysis.heads import MEASURES
from attention.atlas.files import rows_of
from attention.atlas.passport import Atlas, OnHalves, Passport

INTERVALS = 5  # equal parts of the range of a head's greatest weights; 1: the least
MOST_TOKENS = 50  # of a table
DISTANCES = (0, *(1 << power for power in range(13)))  # edges of bins, in tokens
EFFECTS = tuple(tenths / 10 for tenths in range(-10, 11))  # edges of bins, changes of a probability


@dataclass(frozen=True)
class Metric:
    """A number of each head: its words, and its value, None where a passport does not have it."""

    words: str
    of: Callable[[Passport], float | None]


def whole(both: OnHalves) -> float | None:
    """The mean over the texts of both halves, None where there are none."""
    count = sum(half.count for half in both.halves)
    return sum(half.mean * half.count for half in both.halves) / count if count else None


def _measure(name: str, factor: float = 1.0) -> Callable[[Passport], float | None]:
    def of(one: Passport) -> float | None:
        for measured in one.measures:
            if measured.name == name:
                mean = whole(measured)
                return None if mean is None else mean * factor
        return None

    return of


def _share(name: str) -> Metric:
    return Metric(f"Mean share of the weight on {MEASURES[name].words}.", _measure(name))


# By their names in HeadVis, as far as it has them; its entropy is in nats.
METRICS: Mapping[str, Metric] = {
    "self_attention_score": _share("itself"),
    "prev_token_score": _share("previous"),
    "next_token_score": _share("next"),
    "first_token_score": _share("first"),
    "special_token_score": _share("special"),
    "induction_score": _share("induction"),
    "pattern_entropy": Metric(
        "Mean entropy of a row of attention, in nats.", _measure("entropy", math.log(2))
    ),
    "qk_distance": Metric("Mean distance from query to key, in tokens.", _measure("distance")),
    "unexplained": Metric(
        "Share of the weight that none of the head's names foretells.",
        lambda one: one.unexplained.mean,
    ),
    "names": Metric(
        "Names that hold on texts which they were not found on.",
        lambda one: float(sum(name.holds for name in one.names)),
    ),
    "most_lost": Metric(
        "Mean change of the answer's probability, of models that give vectors of their cosine, on "
        "the kind of prompts that changes most, the head set to its mean.",
        lambda one: min(
            (mean for kind in one.effects.kinds if (mean := whole(kind)) is not None),
            default=None,
        ),
    ),
    "cost_elsewhere": Metric(
        "Cost of the head's loss to sentences at large, in nats a piece, of vectors 1 - cosine, "
        "the head set to its mean.",
        lambda one: whole(one.effects.elsewhere),
    ),
    "copying": Metric(
        "Σ Re λ / Σ |λ| of W_U W_O W_V W_E: above 0 the head copies, below 0 it suppresses.",
        lambda one: None if one.circuit is None else one.circuit.copying.value,
    ),
}


def write(atlas: Atlas, folder: Path) -> None:
    """Write the folder of a model, which HeadVis calls its data; files of it are written anew."""
    (folder / "heads").mkdir(parents=True, exist_ok=True)
    (folder / "attributions").mkdir(exist_ok=True)
    for name, content in files_of(atlas).items():
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        (folder / name).write_text(text + "\n", "utf-8")


def files_of(atlas: Atlas) -> dict[str, Any]:
    """The content of each file, by its path in the folder."""
    rows = [_scatter(one) for one in atlas.passports]
    metrics = [name for name in METRICS if any(row.get(name) is not None for row in rows)]
    kept = ("layer", "head", *metrics)
    return {
        "config.json": _config(atlas, metrics),
        "scatter_data.json": [{name: row[name] for name in kept} for row in rows],
        "server_config.json": {},  # no server answers
        "attributions/manifest.json": {},
    } | {f"heads/L{one.layer}H{one.head}.json": head_of(atlas, one) for one in atlas.passports}


def _scatter(one: Passport) -> dict[str, Any]:
    numbers = {name: metric.of(one) for name, metric in METRICS.items()}
    return {"layer": one.layer, "head": one.head, **numbers}


def _config(atlas: Atlas, metrics: Sequence[str]) -> dict[str, Any]:
    heads = [[*one.place] for one in atlas.passports]
    return {
        "model_name": atlas.checkpoint or atlas.model,
        "dataset_name": f"sentences of the atlas, schema {atlas.schema}",
        "heads": heads,
        "n_layers": 1 + max(layer for layer, _ in heads),
        "n_heads": 1 + max(head for _, head in heads),
        "n_intervals": INTERVALS,
        "metrics": metrics,
        "metric_descriptions": {name: METRICS[name].words for name in metrics},
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "custom_plots": [
            {"key": "qk_distance_histogram", "label": "Distance from query to key, tokens"},
            {"key": "effects", "label": "Change without the head, prompts"},
        ],
        "custom_tables": [
            {"key": "names", "label": "Names that hold, share of sentences"},
            {"key": "hangs", "label": "Prompts that change most without the head"},
            {"key": "top_query_tokens", "label": "Top query tokens"},
            {"key": "top_key_tokens", "label": "Top key tokens"},
        ],
        "statistics_display": {
            "n_samples": {"label": "Sentences with sampled rows", "format": "default"},
            "mean_max_activation": {"label": "Mean greatest weight", "format": "default"},
        },
        "pipeline_config": {
            "n_sequences": len(atlas.sentences),
            "seq_len": max((len(text.pieces) for text in atlas.sentences), default=0),
            "dtype": "float32",
            "attn_implementation": "eager",
            "sample_seed": atlas.seed,
            "sampled": "rows of attention, spread evenly over the range of their greatest weight",
            "weights_sha256": atlas.weights,
            "versions": atlas.versions,
            "command": atlas.command,
        },
    }


def head_of(atlas: Atlas, one: Passport) -> dict[str, Any]:
    """The file of a head."""
    sequences = sequences_of(atlas, one)
    greatest = [each["max_activation"] for each in sequences]
    by_distance: list[tuple[float, float]] = []
    queries: list[tuple[str, float]] = []
    keys: list[tuple[str, float]] = []
    for each in sequences:
        tokens = each["tokens"]
        for index, weight in zip(each["attention_indices"], each["attention_values"], strict=True):
            query, key = divmod(index, len(tokens))
            by_distance.append((abs(query - key), weight))
            queries.append((tokens[query], weight))
            keys.append((tokens[key], weight))
    return {
        "sequences": sequences,
        "qk_distance_histogram": _histogram(DISTANCES, by_distance),
        "top_query_tokens": _table(queries),
        "top_key_tokens": _table(keys),
        "names": [
            {"token": name.name, "weight": name.checked.mean} for name in one.names if name.holds
        ],
        "hangs": [
            {"token": atlas.prompts[at].text, "weight": one.effects.by_mean[at]}
            for at in one.effects.hangs
        ],
        "effects": _histogram(EFFECTS, [(effect, 1.0) for effect in one.effects.by_mean]),
        "statistics": {
            "n_samples": len(sequences),
            "mean_max_activation": sum(greatest) / len(greatest) if greatest else None,
        },
    }


def sequences_of(atlas: Atlas, one: Passport) -> list[dict[str, Any]]:
    """The sentences of which the passport has rows, the one with the greatest weight first.

    A weight from query q to key k of a sentence of n pieces stands at index q n + k. The greatest
    weight of a sentence leaves its first piece out, as query and as key, as HeadVis does.
    """
    cells: dict[int, dict[int, float]] = defaultdict(dict)
    for row in rows_of(one):
        start = row.query * len(atlas.sentences[row.sentence].pieces)
        cells[row.sentence] |= {start + key: each for key, each in enumerate(row.weights) if each}
    found: list[dict[str, Any]] = []
    for sentence, weights in cells.items():
        pieces = atlas.sentences[sentence].pieces
        inner = [each for at, each in weights.items() if all(divmod(at, len(pieces)))]
        found.append(
            {
                "sequence_id": sentence,
                "interval": 0,
                "tokens": [*pieces],
                "attention_indices": sorted(weights),
                "attention_values": [weights[at] for at in sorted(weights)],
                "seq_len": len(pieces),
                "max_activation": max(inner, default=0.0),
            }
        )
    found.sort(key=lambda each: (-each["max_activation"], each["sequence_id"]))
    if found:
        top, least = found[0]["max_activation"], found[-1]["max_activation"]
        for each in found:
            place = (each["max_activation"] - least) / (top - least) if top > least else 1.0
            each["interval"] = min(INTERVALS, 1 + int(place * INTERVALS))
    return found


def _histogram(edges: Sequence[float], values: Iterable[tuple[float, float]]) -> dict[str, Any]:
    """Bins from each edge to before the next one, the last with its end. values: each with its
    weight in the sum of its bin."""
    bins = [0.0] * (len(edges) - 1)
    for value, weight in values:
        bins[min(max(bisect_right(edges, value) - 1, 0), len(bins) - 1)] += weight
    return {"bin_edges": [*edges], "bin_values": bins}


def _table(weighted: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    sums: dict[str, float] = defaultdict(float)
    for token, weight in weighted:
        sums[token] += weight
    ranked = sorted(sums.items(), key=lambda each: (-each[1], each[0]))[:MOST_TOKENS]
    return [{"token": token, "weight": weight} for token, weight in ranked]
