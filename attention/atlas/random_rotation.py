"""A change as large as that to a head's mean, in a random direction: the null of *needed*."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.atlas.corpus import EVERYDAY, Corpus, CorpusItem
from attention.atlas.effects import answer_of, effects_of_heads
from attention.atlas.passport import SEED
from attention.atlas.stages import Subject
from attention.changing.change import Head, part_of
from attention.trained.models import Run

RANDOM_ROTATION = "turned"


@dataclass(frozen=True)
class OnRandomRotation:
    """On each prompt but everyday ones the change of the model's answer where each head's step to
    its mean is turned, (heads,), see `random_rotation`.

    A head has one rotation, drawn once, the same at all positions and on all prompts, as the step
    to the mean is one. The mean of several would be steadier than the one step that it stands
    beside, and fewer kinds would need it by luck; each costs as much again.
    """

    name: str = RANDOM_ROTATION
    version: int = 1

    def texts(self, corpus: Corpus) -> Sequence[CorpusItem]:
        return [asked for asked in corpus.prompts if asked.kind != EVERYDAY]

    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        model, run = subject.model, subject.model.run(asked.text)
        metric, _ = answer_of(model, run)
        to = random_rotation(run, subject.means)
        return {RANDOM_ROTATION: effects_of_heads(subject, run, metric, to)}


def random_rotation(run: Run, means: Sequence[Tensor]) -> dict[Head, Tensor]:
    """The output of each head with the step from there to its mean, turned, added to it, the first
    position as it is. (positions, width) each.

    means: of each layer (heads, 1, width).
    """
    outputs: dict[Head, Tensor] = {}
    for layer, mean in enumerate(means):
        output = part_of(run, layer, "output")
        moved = output + (mean - output) @ rotations(layer, len(mean), mean.shape[-1])
        moved[:, 0] = output[:, 0]
        outputs |= {(layer, head): one for head, one in enumerate(moved)}
    return outputs


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
