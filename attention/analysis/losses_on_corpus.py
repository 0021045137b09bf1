"""Means of the heads over packaged sentences, and the cost of each head's loss on others of them.

`python -m attention.analysis.losses_on_corpus` measures the packaged models anew and writes
`losses_on_corpus.safetensors`, with the effects of all heads on `ANSWERED`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.changing.answers import answer_at
from attention.changing.change import changes
from attention.changing.effects import effects, losses_after, means
from attention.trained import sources
from attention.trained.models import Model
from attention.trained.sources import EN_PT, MINILM, SMOLLM2

FILE = Path(__file__).with_suffix(".safetensors")
MEANS_OVER = 20  # the first sentences
LOSSES_OVER = 30  # the sentences behind these
MEASURED = (SMOLLM2.about.name, MINILM.about.name, EN_PT.about.name)
WAYS = ("mean", "zero")


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Mean outputs of heads, and the cost of their loss on sentences at large.

    means: of each layer (heads, 1, width), see `effects.means`; losses: by each of `WAYS`
    (layers, heads), see `answers.loss_of`, as means over `LOSSES_OVER` sentences; errors: the
    standard errors of these means; effects: by sentence, of each head set to its mean (layers,
    heads), see `effects.effects`.
    """

    means: list[Tensor]
    losses: dict[str, Tensor]
    errors: dict[str, Tensor]
    effects: dict[str, Tensor]


def losses(
    model: Model,
    texts: Sequence[str],
    to: Any,
    layers: Sequence[int] | None = None,
) -> Tensor:
    """By how much the loss grows without each head, on each sentence. (texts, layers, heads).

    to: see `Change`; layers: which, None = all; see `losses_after`.
    """
    chosen = range(len(model.layers)) if layers is None else layers
    several = [
        changes([(layer, head)], to)
        for layer in chosen
        for head in range(model.layers[layer].attention.heads)
    ]
    return losses_after(model, texts, several).reshape(-1, len(chosen), len(several) // len(chosen))


def measured(model: Model) -> Elsewhere:
    """All of it for one model."""
    mean = means(model, SENTENCES[:MEANS_OVER], "output")
    ways = {"mean": mean, "zero": "zero"}
    others = SENTENCES[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    costs = {way: losses(model, others, ways[way]) for way in WAYS}
    return Elsewhere(
        mean,
        {way: cost.double().mean(0).float() for way, cost in costs.items()},
        {way: standard_error(cost) for way, cost in costs.items()},
        _effects(model, ways["mean"]),
    )


def standard_error(values: Tensor) -> Tensor:
    """The standard error of the mean over the first axis. (many, …) -> (…)."""
    return (values.double().std(0) / math.sqrt(len(values))).float()


def _effects(model: Model, to: Any) -> dict[str, Tensor]:
    runs = [model.run(text) for name, text in ANSWERED if name == model.about.name]
    answers = [answer_at(model, run, -1)[0] for run in runs]
    texts = [text for name, text in ANSWERED if name == model.about.name]
    return {
        text: effects(model, run, answer, to=to).change
        for text, run, answer in zip(texts, runs, answers, strict=True)
    }


@functools.cache
def elsewhere(model: str) -> Elsewhere | None:
    """Measurements of a packaged model, None for others."""
    if model not in MEASURED:
        return None
    tensors = load_file(FILE)
    return Elsewhere(
        list(tensors[f"{model}.means"]),
        {way: tensors[f"{model}.{way}"] for way in WAYS},
        {way: tensors[f"{model}.{way}.errors"] for way in WAYS},
        {text: tensors[f"{model}.effects.{text}"] for name, text in ANSWERED if name == model},
    )


def main() -> None:
    """Measure the packaged models, and write what was found."""
    tensors = {}
    for name in MEASURED:
        found = measured(sources.load(name))
        tensors[f"{name}.means"] = torch.stack(found.means)
        tensors |= {f"{name}.{way}": found.losses[way] for way in WAYS}
        tensors |= {f"{name}.{way}.errors": found.errors[way] for way in WAYS}
        tensors |= {f"{name}.effects.{text}": each for text, each in found.effects.items()}
        print(f"{name}: {found.losses['mean'].numel()} heads", flush=True)
        save_file({key: each.contiguous() for key, each in tensors.items()}, FILE)


if __name__ == "__main__":
    main()
