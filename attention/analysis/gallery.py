"""Heads that one can break: a sentence each, its answer without the head, and controls.

`python -m attention.analysis.gallery` measures the packaged models anew, by the effects in
`losses_on_corpus.safetensors`, and writes `gallery.json`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from attention.analysis.losses_on_corpus import Elsewhere, elsewhere
from attention.analysis.sentences import ANSWERED, CONTROLS
from attention.changing.answers import answer_at
from attention.changing.change import Head
from attention.changing.known import states_without
from attention.trained import sources
from attention.trained.models import Model, Run, Transformer

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Fall:
    """An answer with all heads, and without one.

    text: the sentence; word: the likeliest next piece with all heads; before, after: its
    probability with all heads and without that one; instead, share: the likeliest next piece
    without it, with its probability then.
    """

    text: str
    word: str
    before: float
    after: float
    instead: str
    share: float


@dataclass(frozen=True)
class Exhibit:
    """A head whose loss costs an answer more than that of any other head, set to its mean.

    pieces, weights: of the sentence, and the weights of that head from the last piece to each;
    fall: its answer; next_head, next_after: the head whose loss costs second most, and the answer's
    probability without that alone; control: a sentence of its kind that does well without the head.
    """

    model: str
    layer: int
    head: int
    pieces: tuple[str, ...]
    weights: tuple[float, ...]
    fall: Fall
    next_head: Head
    next_after: float
    control: Fall

    @property
    def text(self) -> str:
        """The sentence."""
        return self.fall.text

    @property
    def looks_at(self) -> int:
        """The position of the piece that gets most of the head's weight."""
        return max(range(len(self.weights)), key=self.weights.__getitem__)

    @property
    def half_within(self) -> float:
        """By how much at most half of all other heads change the answer, each off alone."""
        effects = _elsewhere(self.model).effects[self.text].abs().flatten()
        return float(effects.median())

    @property
    def elsewhere(self) -> tuple[float, float]:
        """The cost of the head's loss on other sentences, nats a piece, and its standard error."""
        found = _elsewhere(self.model)
        place = self.layer, self.head
        return float(found.losses["mean"][place]), float(found.errors["mean"][place])


@torch.no_grad()
def fall_without(model: Transformer, run: Run, text: str, head: Head) -> Fall:
    """The answer to a sentence with all heads, and with one set to its mean. run: of the text."""
    metric, piece = answer_at(model, run, -1)
    states = states_without(model, run, [head], _elsewhere(model.about.name).means)
    shares = model.scores(states[-1]).softmax(-1)
    assert piece is not None
    word, instead = model.shown([piece, int(shares.argmax())])
    return Fall(
        text, word, float(metric(run.hidden)), float(metric(states)), instead, float(shares.max())
    )


def exhibit(model: Model, text: str) -> Exhibit:
    """Measure one sentence of `ANSWERED`, on the head that its answer loses most without."""
    assert isinstance(model, Transformer)
    effects, run = _elsewhere(model.about.name).effects[text], model.run(text)
    first, second = (
        divmod(int(at), effects.shape[1]) for at in effects.flatten().argsort(stable=True)[:2]
    )
    layer, head = first
    fall, control = (
        fall_without(model, model.run(each), each, first) for each in (text, CONTROLS[text])
    )
    weights = run.inputs[layer].trace().weights[head, -1]
    return Exhibit(
        *(model.about.name, layer, head, run.pieces.texts, tuple(weights.tolist()), fall),
        *(second, fall.before + float(effects[second]), control),
    )


@functools.cache
def exhibits() -> tuple[Exhibit, ...]:
    """The heads that were measured, one for each of `ANSWERED`, in its order."""
    found = {one["fall"]["text"]: _read(one) for one in json.loads(FILE.read_text("utf-8"))}
    return tuple(found[text] for _, text in ANSWERED)


def _read(one: Mapping[str, Any]) -> Exhibit:
    nested = {name: Fall(**one[name]) for name in ("fall", "control")}
    listed = {name: tuple(one[name]) for name in ("pieces", "weights", "next_head")}
    return Exhibit(**{**one, **nested, **listed})


def _elsewhere(model: str) -> Elsewhere:
    found = elsewhere(model)
    if found is None:
        raise ValueError(f"an exhibit needs a model with measured means, got {model!r}")
    return found


def main() -> None:
    """Measure all sentences, and write what was found, one a line."""
    found = [asdict(exhibit(sources.load(name), text)) for name, text in ANSWERED]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in found)
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
