"""Answers to packaged prompts in a model and in what was tuned of it: how far each has moved.

`python -m attention.atlas.moved` measures the packaged pairs anew, and writes `moved.json`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention.atlas.corpus import ANSWERS
from attention.changing.answers import answer_at, beside_likeliest
from attention.changing.effects import effects
from attention.changing.known import Progress
from attention.trained import sources
from attention.trained.models import Transformer

FILE = Path(__file__).with_suffix(".json")
OF_EACH_KIND = 8
PROMPTS = [(kind, text) for kind, some in ANSWERS.items() for text in [*some][:OF_EACH_KIND]][:100]


@dataclass(frozen=True)
class Moved:
    """A prompt, and the base's answer to it in both models.

    kind: see `corpus.ANSWERS`, "" for the sentence that the tuned model is shown with; pieces: of
    the text; word: the likeliest next piece, of that sentence the tuned model's, else the base's;
    before, after: its probability in the base and in the tuned model; leader: the likeliest piece
    there.
    """

    kind: str
    text: str
    pieces: tuple[str, ...]
    word: str
    before: float
    after: float
    leader: str

    @property
    def by(self) -> float:
        """The distance that the answer has moved."""
        return abs(self.after - self.before)


@torch.no_grad()
def moved(base: Transformer, tuned: Transformer, progress: Progress | None = None) -> list[Moved]:
    """The first sample of the tuned model, and all prompts, those first that have moved most.

    progress: is told how many of how many texts are done; an exception that it raises stops it.
    """
    texts = [*(("", sample.text) for sample in tuned.about.samples[:1]), *PROMPTS]
    several = []
    for done, (kind, text) in enumerate(texts, 1):
        if all(base.pieces(text).special):  # whose vocabulary has none of its words
            continue
        run = base.run(text)
        shares = [model.scores(model.run(text).hidden[-1]).softmax(-1) for model in (base, tuned)]
        piece, leader = (int(share.argmax()) for share in (shares[bool(not kind)], shares[1]))
        before, after = (float(share[piece]) for share in shares)
        words = base.shown([piece, leader])
        several.append(Moved(kind, text, run.pieces.texts, words[0], before, after, words[1]))
        if progress is not None:
            progress(done, len(texts))
    return sorted(several, key=lambda one: (bool(one.kind), -one.by))


@functools.cache
def _file() -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(FILE.read_text("utf-8"))
    return read


@functools.cache
def packaged() -> Mapping[str, Sequence[Moved]]:
    """Measurements of the packaged pairs, by the name of the tuned model."""
    return {
        name: [Moved(**{**one, "pieces": tuple(one["pieces"])}) for one in measured["answers"]]
        for name, measured in _file().items()
    }


@functools.cache
def changes_of(name: str, text: str) -> Tensor | None:
    """Effects on the answer of a packaged tuned model as each head is its base's, (layers, heads,
    2), see `answers.beside_likeliest`; None but for the sentence that it is shown with."""
    shown = packaged().get(name)
    if not shown or shown[0].text != text:
        return None
    return torch.tensor(_file()[name]["changes"])


def _rounded(heads: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[round(number, 6) for number in of_head] for of_head in heads]


def main() -> None:
    """Measure all packaged pairs, and write what each has, one prompt a line."""
    written = []
    for name in sources.ADAPTED:
        base, tuned = (sources.load(each) for each in (sources.base_of(name), name))
        assert isinstance(base, Transformer)
        assert isinstance(tuned, Transformer)
        answers = moved(base, tuned)
        run = tuned.run(answers[0].text)
        answer = beside_likeliest(tuned, answer_at(tuned, run, -1)[0], -1)
        changes = effects(tuned, run, answer, to=base.run(answers[0].text)).change
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in answers)
        written.append(
            f'"{name}": {{"changes": {[*map(_rounded, changes.tolist())]},\n"answers": [\n'
            + ",\n".join(lines)
            + "\n]}"
        )
    FILE.write_text("{" + ",\n".join(written) + "}\n", "utf-8")


if __name__ == "__main__":
    main()
