"""Sentences whose answer a head decides, each with that head and the answer without it.

`python -m attention.atlas.exhibits` measures them anew, by the effects in
`changing.corpus`, and writes `exhibits.json`.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from attention.analysis.sentences import ANSWERED
from attention.atlas.deciding import deciding, looks_at_words
from attention.changing.answers import answer_at
from attention.changing.corpus import on_corpus
from attention.trained import sources
from attention.trained.models import Model, Transformer

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Exhibit:
    """The head that is shown for a sentence, see `deciding.deciding`.

    pieces, weights: of the sentence, and the weights of that head from the last piece to each;
    word: the likeliest next piece; before, after: its probability with all heads, and with that one
    set to its mean.
    """

    model: str
    text: str
    layer: int
    head: int
    pieces: tuple[str, ...]
    weights: tuple[float, ...]
    word: str
    before: float
    after: float


@torch.no_grad()
def exhibit(model: Model, text: str) -> Exhibit:
    """Measure one sentence of `ANSWERED`. Raises ValueError for a model without measured means."""
    packaged = on_corpus(model.about.name)
    if packaged is None or text not in packaged.effects:
        raise ValueError(
            f"an exhibit needs a model with measured effects, got {model.about.name!r}"
        )
    assert isinstance(model, Transformer)
    run, changes = model.run(text), packaged.effects[text]
    metric, piece = answer_at(model, run, -1)
    before = float(metric(run.hidden))
    found = deciding(changes, before, 1, looks_at_words(run, -1))
    assert found is not None
    assert piece is not None
    layer, head = found.head
    weights = run.inputs[layer].trace().weights[head, -1]
    (word,) = model.shown([piece])
    return Exhibit(
        *(model.about.name, text, layer, head, run.pieces.texts, tuple(weights.tolist())),
        *(word, before, before - dict(found.costs)[found.head]),
    )


@functools.cache
def exhibits() -> tuple[Exhibit, ...]:
    """The heads that were measured, one for each of `ANSWERED`, in its order."""
    found = [
        Exhibit(**{**one, "pieces": tuple(one["pieces"]), "weights": tuple(one["weights"])})
        for one in json.loads(FILE.read_text("utf-8"))
    ]
    by_text = {one.text: one for one in found}
    return tuple(by_text[text] for _, text in ANSWERED)


def main() -> None:
    """Measure all sentences, and write what was found, one a line."""
    found = [asdict(exhibit(sources.load(name), text)) for name, text in ANSWERED]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in found)
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
