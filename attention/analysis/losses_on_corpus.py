"""Means of the heads over packaged sentences, and the cost of each head's loss on others of them.

`python -m attention.analysis.losses_on_corpus` measures the packaged models anew and writes
`losses_on_corpus.safetensors`, with the effects of all heads on `ANSWERED`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from attention.analysis import causes, switches
from attention.analysis.interventions import Intervention, Progress, hidden, means
from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.analysis.switches import Replacement
from attention.trained import sources
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, goes_on
from attention.trained.sources import EN_PT, MINILM, SMOLLM2

FILE = Path(__file__).with_suffix(".safetensors")
MEANS_OVER = 20  # the first sentences
LOSSES_OVER = 30  # the sentences behind these
MEASURED = (SMOLLM2.about.name, MINILM.about.name, EN_PT.about.name)
WAYS = ("mean", "zero")


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Mean outputs of heads, and the cost of their loss on sentences at large.

    means: of each layer (heads, 1, width), see `interventions.means`; losses: by each of `WAYS`
    (layers, heads), see `loss_of`, as means over `LOSSES_OVER` sentences; errors: the standard
    errors of these means; effects: by sentence, of each head set to its mean (layers, heads), see
    `switches.layer_effects`.
    """

    means: list[Tensor]
    losses: dict[str, Tensor]
    errors: dict[str, Tensor]
    effects: dict[str, Tensor]


def loss_of(model: Model, run: Run) -> Callable[[Tensor], Tensor]:
    """The loss of a model on a sentence, as a function (…, pieces, d_model) -> (…).

    For models that say a next piece, and for encoder-decoders of the pieces they wrote: nats a
    piece; for others: the mean over the pieces of 1 - cosine to the vectors of the run.
    """
    if isinstance(model, EncoderDecoder):
        probabilities = causes.written_probability(model, run)
        return lambda states: -probabilities(states).clamp_min(1e-30).log().mean(-1)
    if goes_on(model):
        said = run.pieces.ids[1:]

        def nats(states: Tensor) -> Tensor:
            logs = model.scores(states[..., :-1, :]).log_softmax(-1)
            return -logs.gather(-1, said.expand(logs.shape[:-1]).unsqueeze(-1)).squeeze(-1).mean(-1)

        return nats
    return causes.movement(run)


@torch.no_grad()
def losses_after(
    model: Model,
    texts: Sequence[str],
    several: Sequence[Intervention],
    progress: Progress | None = None,
) -> Tensor:
    """By how much the loss grows with each intervention, on each sentence. (texts, interventions).

    Sentences of one piece are passed over. Raises ValueError without longer ones.
    """
    found = []
    for done, text in enumerate(texts, 1):
        run = model.run(text)
        if len(run.inputs[-1].pieces.ids) > 1:
            loss = loss_of(model, run)
            found.append(hidden(model, run, several, metric=loss) - loss(run.hidden))
        if progress is not None:
            progress(done, len(texts))
    if not found:
        raise ValueError("a loss needs sentences of more than one piece")
    return torch.stack(found)


def losses(
    model: Model,
    texts: Sequence[str],
    replacement: Replacement,
    layers: Sequence[int] | None = None,
) -> Tensor:
    """By how much the loss grows without each head, on each sentence. (texts, layers, heads).

    layers: which, None = all; see `losses_after`.
    """
    chosen = range(len(model.layers)) if layers is None else layers
    several = [
        [replacement(layer, [head])]
        for layer in chosen
        for head in range(model.layers[layer].attention.heads)
    ]
    return losses_after(model, texts, several).reshape(-1, len(chosen), len(several) // len(chosen))


def measured(model: Model) -> Elsewhere:
    """All of it for one model."""
    mean = means(model, SENTENCES[:MEANS_OVER], "output")
    ways = {"mean": switches.by_mean(mean), "zero": switches.by_zero()}
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


def _effects(model: Model, replacement: Replacement) -> dict[str, Tensor]:
    found = {}
    for name, text in ANSWERED:
        if name == model.about.name:
            run = model.run(text)
            metric, _ = switches.answer_at(model, run, -1)
            layers = range(len(model.layers))
            found[text] = torch.stack(
                [switches.layer_effects(model, run, at, metric, replacement) for at in layers]
            )
    return found


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
