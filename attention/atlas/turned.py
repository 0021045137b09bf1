"""A change as large as that to a head's mean, in a random direction: the null of *needed*."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis import switches
from attention.analysis.interventions import Change, part_of
from attention.analysis.switches import Replacement
from attention.atlas.corpus import EVERYDAY, Asked, Corpus
from attention.atlas.effects import answer_of
from attention.atlas.passport import SEED
from attention.atlas.stages import Subject
from attention.trained.models import Run

TURNED = "turned"


@dataclass(frozen=True)
class OnTurned:
    """On each prompt but everyday ones the change of the model's answer where each head's step to
    its mean is turned, (heads,), see `by_turned`.

    A head has one rotation, drawn once, the same at all positions and on all prompts, as the step
    to the mean is one. The mean of several would be steadier than the one step that it stands
    beside, and fewer kinds would need it by luck; each costs as much again.
    """

    name: str = TURNED
    version: int = 1

    def texts(self, corpus: Corpus) -> Sequence[Asked]:
        return [asked for asked in corpus.prompts if asked.kind != EVERYDAY]

    def measure(self, subject: Subject, asked: Asked) -> dict[str, Tensor]:
        model, run = subject.model, subject.model.run(asked.text)
        metric, _ = answer_of(model, run)
        replacement = by_turned(run, subject.means)
        found = {
            layer: switches.layer_effects(model, run, layer, metric, replacement)
            for layer in dict.fromkeys(layer for layer, _ in subject.heads)
        }
        return {TURNED: torch.stack([found[layer][head] for layer, head in subject.heads])}


def by_turned(run: Run, means: Sequence[Tensor]) -> Replacement:
    """Add to the output of heads the step from there to their mean, turned, but for the first
    position, see `switches.by_mean`.

    means: of each layer (heads, 1, width).
    """

    @functools.cache
    def turned(layer: int) -> Tensor:
        output, mean = part_of(run, layer, "output"), means[layer]
        heads, _, width = mean.shape
        return (output + (mean - output) @ rotations(layer, heads, width))[:, 1:]

    def change(layer: int, heads: Sequence[int]) -> Change:
        return Change(layer, to=turned(layer)[[*heads]], heads=heads, positions=slice(1, None))

    return change


@functools.lru_cache(maxsize=64)
def rotations(layer: int, heads: int, width: int) -> Tensor:
    """Random orthogonal matrices of the heads of a layer, (heads, width, width): a vector times one
    is as long, and points anywhere.

    Of a QR decomposition with the signs that make it unique, so that all directions are alike
    (Mezzadri 2007); of width 1 they are 1 or -1.
    """
    generator = torch.Generator().manual_seed(SEED + layer)
    Q, R = torch.linalg.qr(torch.randn(heads, width, width, generator=generator).double())
    made: Tensor = (Q * R.diagonal(dim1=-2, dim2=-1).sign()[:, None]).float()
    return made
