"""Means of the heads over packaged sentences, and effects of all heads on a few answers.

`python -m attention.analysis.means_on_corpus` measures the packaged models anew and writes
`means_on_corpus.safetensors`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.changing.answers import answer_at, beside_likeliest
from attention.changing.effects import effects, means
from attention.trained import sources
from attention.trained.models import Model
from attention.trained.sources import EN_PT, MINILM, SMOLLM2

FILE = Path(__file__).with_suffix(".safetensors")
MEANS_OVER = 20  # the first sentences
LOSSES_OVER = 30  # the sentences behind these, on which a team's cost is measured
MEASURED = (SMOLLM2.about.name, MINILM.about.name, EN_PT.about.name)
WAYS = ("mean", "zero")


@dataclass(frozen=True, eq=False)
class OnCorpus:
    """Mean outputs of heads, and their effects on answers.

    means: of each layer (heads, 1, width), see `effects.means`; effects: by sentence, of each head
    set to its mean (layers, heads, 2), see `answers.beside_likeliest`.
    """

    means: list[Tensor]
    effects: dict[str, Tensor]


def measured(model: Model) -> OnCorpus:
    """All of it for one model."""
    mean = means(model, SENTENCES[:MEANS_OVER], "output")
    return OnCorpus(mean, _effects(model, mean))


def _effects(model: Model, to: Any) -> dict[str, Tensor]:
    texts = [text for name, text in ANSWERED if name == model.about.name]
    found = {}
    for text in texts:
        run = model.run(text)
        answer = beside_likeliest(model, answer_at(model, run, -1)[0], -1)
        found[text] = effects(model, run, answer, to=to).change
    return found


@functools.cache
def on_corpus(model: str) -> OnCorpus | None:
    """Measurements of a packaged model, None for others."""
    if model not in MEASURED:
        return None
    tensors = load_file(FILE)
    return OnCorpus(
        list(tensors[f"{model}.means"]),
        {text: tensors[f"{model}.effects.{text}"] for name, text in ANSWERED if name == model},
    )


def main() -> None:
    """Measure the packaged models, and write what was found."""
    tensors = {}
    for name in MEASURED:
        found = measured(sources.load(name))
        tensors[f"{name}.means"] = torch.stack(found.means)
        tensors |= {f"{name}.effects.{text}": each for text, each in found.effects.items()}
        print(f"{name}: {len(found.means)} layers", flush=True)
        save_file({key: each.contiguous() for key, each in tensors.items()}, FILE)


if __name__ == "__main__":
    main()
