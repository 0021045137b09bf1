"""Means of the heads of packaged models over packaged sentences, and effects on a few answers.

`python -m attention.analysis.means_on_corpus` measures them anew.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

FILE = Path(__file__).with_name("on_corpus.safetensors")
MEANS, EFFECTS = "means", "effects"


@dataclass(frozen=True, eq=False)
class OnCorpus:
    """Mean outputs of heads, and their effects on answers.

    means: of each layer (heads, 1, width), see `effects.means`; effects: by sentence, of each head
    set to its mean (layers, heads, 2), see `answers.beside_likeliest`.
    """

    means: list[Tensor]
    effects: dict[str, Tensor]


@functools.cache
def _packaged() -> dict[str, Tensor]:
    return load_file(FILE)


def measured_models() -> list[str]:
    """The names of the models that come with means."""
    return sorted({key.partition(".")[0] for key in _packaged()})


@functools.cache
def on_corpus(model: str) -> OnCorpus | None:
    """Measurements of a packaged model, None for others."""
    tensors, named = _packaged(), f"{model}.{EFFECTS}."
    if f"{model}.{MEANS}" not in tensors:
        return None
    measured = {key.removeprefix(named): tensors[key] for key in tensors if key.startswith(named)}
    return OnCorpus([*tensors[f"{model}.{MEANS}"]], measured)
