"""Sentences on associations: one that is shown, the answer of erasure, and weights that mislead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attention.analysis.associations import METHODS
from attention.analysis.associations.two_words import ROW, WORDS
from attention.analysis.study import share
from attention.atlas.sentences import Sentences, otherwise, say
from attention.core.printing import fixed
from attention.subjects.model.association_numbers import Association, most_pieces
from attention.subjects.model.options import TRUSTED
from attention.trained.models import Model

QUESTION = (
    "Ask the model itself: hide one word after the other, and measure how far the others move "
    "after the last layer. That is erasure, the yardstick. It costs a run for each word, and the "
    "model may never have seen such sentences. Most other methods work from a single run of the "
    "sentence. Trust them as far as they agree with erasure."
)
WHAT = (
    "A weight says where one head of one layer looks. A model has many of both: each adds its part "
    "to a word, and later layers mix these sums again. **An association estimates how "
    "strongly one word influences the vector of another** across the model."
)
TRUST = (
    "**Which method to trust.** None blindly. Erasure measures a change, the others follow a "
    "rule. Prefer those that agree with erasure, on your sentence and over many, in the table "
    f"above. “{TRUSTED}” is the one that a study of many sentences names for a model of this kind."
)
AGREEMENT = (
    "How alike a method and erasure of the whole model rank the other words, without special "
    "tokens: 1 is the same order, 0 is none in common."
)
# The methods by vectors that a model has not the layout for.
MISSING: Sentences = {
    "": lambda n: n.model.laid_out,
    "Not here: {titles:listed}. It needs vectors of each layer, which a known layout tells; this "
    "model is run by transformers, and its layout is not known here.": otherwise,
}
TOO_LONG: Sentences = {
    "": lambda n: n.pieces <= n.most,
    "{title} is worked out here for sentences of up to {most} pieces with this model; this one has "
    "{pieces}. “python -m attention.associations” takes longer ones.": otherwise,
}
# The matrix that is shown.
SHOWN: Sentences = {
    "{title} after {layer}. Each row is divided by its sum.": lambda n: not n.sinks,
    "{title} after {layer}. Left out as attention sinks: {sinks:listed}. Each row is divided by "
    "its sum.": otherwise,
}
LAYER: Sentences = {"the last layer": lambda n: n.layers == n.of, "layer {last}": otherwise}
# The answer to the question of what a model makes of all heads and layers, for one word.
ANSWER: Sentences = {
    "There is no other word whose absence could be felt.": lambda n: not n.felt,
    "By erasure, “{word}” changes most without {felt:listed}.": lambda n: not n.best,
    "By erasure, “{word}” changes most without {felt:listed}. Of the other methods {best[0]} ranks "
    "the words of this sentence most as erasure does (ρ = {rho}).": lambda n: len(n.best) == 1,
    "By erasure, “{word}” changes most without {felt:listed}. Of the other methods {best:listed} "
    "rank the words of this sentence most as erasure does (ρ = {rho}).": otherwise,
}


def missing_words(model: Model) -> str:
    """The methods by vectors that a model has not the layout for, in a sentence; "" with it."""
    titles = [method.title for method in METHODS.values() if method.by_vectors]
    return say(MISSING, model=model, titles=titles)


def too_long(method: str, pieces: int, layers: int) -> str:
    """Why a method is not worked out for so many pieces, in words; "" where it is."""
    most = most_pieces(method, layers)
    return say(TOO_LONG, title=METHODS[method].title, pieces=pieces, most=most)


def shown_words(shown: Association) -> str:
    """Describe the matrix that is shown, in sentences."""
    layer = say(LAYER, layers=shown.layers, of=shown.of, last=shown.layers - 1)
    sinks = [f"“{shown.tokens[at]}”" for at in shown.sinks]
    return say(SHOWN, title=shown.method.title, layer=layer, sinks=sinks)


def answer(erased: Association, here: Mapping[str, float], query: int) -> str:
    """The answer to the question of what a model makes of all heads and layers, for one word.

    erased: by erasure; here: the agreement of the other methods with it.
    """
    query, names = min(query, len(erased.tokens) - 1), erased.names
    row = erased.numbers[query].clone()
    row[query] = 0
    most = row.argsort(descending=True, stable=True)[:3].tolist()
    felt = [f"“{names[key]}” (by {fixed(float(row[key]), 3)})" for key in most if row[key]]
    known = {name: rho for name, rho in here.items() if not math.isnan(rho)}
    highest = share(max(known.values(), default=None))
    best = [METHODS[name].title for name in known if share(known[name]) == highest]
    return say(ANSWER, word=names[query], felt=felt, best=best, rho=highest)


@dataclass(frozen=True)
class Misleading:
    """An example of weights that mislead, as a chapter of the guide has it.

    before: the weights, in words; question, choices, answer: what to guess first; because: why.
    """

    before: str
    question: str
    choices: tuple[str, ...]
    answer: int
    because: str


def misleading() -> Misleading:
    """The small case after its first layer: the word that gets most weight is missed least."""
    weights: list[float] = _first_row("raw-mean")
    moves: list[float] = _first_row("erasure")
    the, cat = WORDS
    return Misleading(
        f"**Why weights alone mislead.** Of the two words below “{cat}” looks at “{the}” with "
        f"weight {weights[0]:g} and at itself with {weights[1]:g}, the mean of two heads in layer "
        f"1. The value of “{the}” has length 1, that of “{cat}” length 4.",
        f"Without which word does “{cat}” change more in layer 1?",
        WORDS,
        moves.index(max(moves)),
        f"By erasure “{cat}” moves by {fixed(moves[0], 2)} without “{the}” and by "
        f"{fixed(moves[1], 2)} without “{cat}”. A weight is multiplied by a value before it "
        f"counts, and “{cat}” keeps its own vector besides, on the residual path.",
    )


def _first_row(method: str) -> list[float]:
    """The associations of "cat" in the small case, after layer 1, by a method."""
    row: list[float] = METHODS[method](METHODS[method].case)[0][ROW].tolist()
    return row
