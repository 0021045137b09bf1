"""Parts of the study: what the models give on each sentence, kept in a file of its own.

All that the study compares follows from these parts: a new row, baseline or interval asks no model
again. They are worked out anew where the code that makes them changes, see `version`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from attention.analysis.associations import (
    BASELINES,
    METHODS,
    Followed,
    erased,
    methods_for,
    ways_of,
)
from attention.changing.answers import Metric, metric_of_states, movement
from attention.changing.effects import effects as changed_heads
from attention.changing.residual import residual_parts
from attention.changing.votes import votes
from attention.trained.models import Model, Run, goes_on

ROOT = Path(__file__).parents[1]
# what a part depends on: files and folders of the package, and this file
MAKERS = (
    "core",
    "trained",
    "analysis/associations",
    "changing",
    "analysis/sentences.py",
    "analysis/texts/english.txt",
)
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
    """Of one sentence all methods (layers, pieces, pieces), baselines, and every way of erasure."""
    followed = Followed(model, model.pieces(text))
    others = [name for name in methods_for(model) if name != "erasure"]
    found = {name: METHODS[name](followed) for name in others}
    found |= {name: baseline(followed) for name, baseline in BASELINES.items()}
    found["sinks"] = torch.ones(len(followed.positions), dtype=torch.bool)
    found["sinks"][followed.pieces.kept(True)] = False
    for way in ways_of(model):
        gone = erased(followed, way)
        found[f"states, {way}"], found[f"drops, {way}"] = gone.states[-1], gone.drops
    return found


def layers_shown(count: int) -> list[int]:
    """The layers of which a table has columns: all, or every fifth and the last."""
    return [at for at in range(count) if count <= 12 or at % 5 == 0 or at == count - 1]


def effects(model: Model, to: Sequence[Tensor], text: str) -> dict[str, Tensor]:
    """Effects of all heads on one sentence, (layers, heads) each.

    zero, mean: by how much the metric rises without them; direct: their own votes, and the same
    less those of their means, for models that go on.
    """
    run = model.run(text)
    if not goes_on(model):
        return _totals(model, run, movement(run), to)
    first, second = model.scores(run.hidden[-1]).topk(2).indices.tolist()
    found = _totals(model, run, metric_of_states(model, (first, second)), to)
    direct = votes(model, run, (first, second)).heads
    direction = model.unembedding[:, first] - model.unembedding[:, second]
    total, norm = (
        residual_parts(model, run, len(model.layers)).parts.sum(0)[-1],
        model.parts.final_norm,
    )
    by_means = []
    for layer, mean in zip(model.layers, to, strict=True):
        W, _ = layer.attention.projection("output")
        assert W is not None
        assert layer.norm_first
        parts = (mean @ W.unflatten(0, (layer.attention.heads, -1)))[:, 0]
        by_means.append((parts if norm is None else norm.split(parts, total)) @ direction)
    return found | {"direct": direct, "direct, mean": direct - torch.stack(by_means)}


def _totals(model: Model, run: Run, metric: Metric, to: Sequence[Tensor]) -> dict[str, Tensor]:
    return {
        "zero": changed_heads(model, run, metric).change,
        "mean": changed_heads(model, run, metric, to=to).change,
    }


def version() -> str:
    """Of the code that works out the parts: other code keeps its own."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for file in makers():
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


def makers() -> list[Path]:
    """The modules and texts of the package that a part depends on."""
    some = (ROOT / "attention" / maker for maker in MAKERS)
    return sorted(
        file for each in some for file in (each.rglob("*.py") if each.is_dir() else [each])
    )
