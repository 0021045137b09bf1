"""Measure the means of the heads over packaged sentences, and effects on a few answers.

`python -m attention.analysis.means_on_corpus` measures the packaged models anew and writes what
`changing.corpus` reads.
"""

from __future__ import annotations

from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.changing.answers import answer_at, beside_likeliest
from attention.changing.corpus import EFFECTS, FILE, MEANS, OnCorpus
from attention.changing.effects import effects, means
from attention.trained import sources
from attention.trained.models import Model
from attention.trained.sources import EN_PT, MINILM, SMOLLM2

MEANS_OVER = 20  # the first sentences
LOSSES_OVER = 30  # the sentences behind these, on which a team's cost is measured
MEASURED = (SMOLLM2.about.name, MINILM.about.name, EN_PT.about.name)


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


def main() -> None:
    """Measure the packaged models, and write what was found."""
    tensors = {}
    for name in MEASURED:
        found = measured(sources.load(name))
        tensors[f"{name}.{MEANS}"] = torch.stack(found.means)
        tensors |= {f"{name}.{EFFECTS}.{text}": each for text, each in found.effects.items()}
        print(f"{name}: {len(found.means)} layers", flush=True)
        save_file({key: each.contiguous() for key, each in tensors.items()}, FILE)


if __name__ == "__main__":
    main()
