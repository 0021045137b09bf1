"""Numbers of a visitor's own sentence for each operation, and what they are."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from attention.app.cached import runs
from attention.app.state.view import View
from attention.core.settings import Value
from attention.inputs.text import tokenize
from attention.pipeline import Settings
from attention.subjects.operations.settings import PARITY

MOST = 5  # words, and numbers of each
TITLE = "your sentence"
Values = Mapping[str, Value]


def numbers_of(view: View) -> Mapping[str, tuple[str, Values]]:
    """By operation what its numbers are, in a sentence, and the settings that hold them; nothing
    where the sentence has no words."""
    tokens = tokenize(view["s"])[:MOST]
    result = runs.if_there_are_words(Settings(" ".join(tokens)))
    if result is None:
        return {}
    n, vectors, scores = len(tokens), result.x[:, :MOST], result.trace.scaled
    asks = min(int(view["query"]), n - 1)
    named = f"“{' '.join(tokens)}”"
    cut = f"the first {MOST} numbers of each word vector of {named}"
    words: Values = {"valid_lens": str(n), "valid_lens_2d": str(n), "mask_keys": n + 2}
    fewer: Values = {"valid_lens": str(n - 1), "valid_lens_2d": "; ".join([str(n - 1)] * n)}
    return {
        "bmm": (
            f"A has {cut}, as B has in its columns: each word meets each.",
            {"bmm_a": _text(vectors), "bmm_b": _text(vectors.T)},
        ),
        "transpose": (f"x has {cut}, a row for each word.", {"transpose_x": _text(vectors)}),
        "softmax": (
            f"x has the scaled scores of {named}: a row for each query.",
            {"softmax_x": _text(scores)},
        ),
        "temperature": (
            f"x has the scaled scores of “{tokens[asks]}” in {named}.",
            {"temperature_x": _text(scores[asks : asks + 1])},
        ),
        "sequence_mask": (f"{n} keys are words of {named}, two more are padding.", words),
        "masked_softmax": (
            f"The scaled scores of {named}, its last word hidden as if it were padding.",
            {"masked_scores": _text(scores), **fewer},
        ),
        "parity": (
            f"q, k and v have {cut}.",
            dict.fromkeys(PARITY, _text(vectors)) | {"parity_mask": ""},
        ),
    }


def first(view: View) -> Values:
    """The settings that the page begins with where one comes to it with a sentence of one's own."""
    _, values = numbers_of(view).get(view["operation"], ("", {}))
    return values


def _text(numbers: Tensor) -> str:
    return "; ".join(" ".join(f"{number:.2f}" for number in row) for row in numbers.tolist())
