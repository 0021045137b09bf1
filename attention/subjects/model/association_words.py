"""Associations between the words of a sentence: the settings, tables and words of their page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis.associations import METHODS, Method, methods_for
from attention.analysis.associations.two_words import ROW, WORDS
from attention.analysis.study import STUDIES, most_trusted, share
from attention.analysis.words import slots, whole_words
from attention.core import masks
from attention.core.analysis import join
from attention.core.printing import distinct_names, fixed, listed
from attention.core.settings import choice, whole
from attention.trained.models import Model, Pieces, goes_on

MAX_PIECES = 128  # that are followed: lengths of vectors take 40 MB a layer for so many
# pieces times layers up to which these are worked out unasked, and at all: 80 s on one core
AT_ONCE, MOST = 160, 1920
MOST_PAIRS = 24

TRUSTED = "Trusted most"  # the method that the study trusts most for the model


def titles() -> tuple[str, ...]:
    """Titles of the methods in menus and links, behind the one that follows from the study."""
    return (TRUSTED, *(method.title for method in METHODS.values()))


@dataclass(frozen=True)
class AssociationSettings:
    """Settings of the page "Associations", besides those all pages share."""

    method: str = choice(
        TRUSTED,
        "Method",
        titles,
        help=f"{TRUSTED}: by the study of a model of this kind, see *What is an association?*",
    )
    after: int = whole(
        0,
        "After how many layers",
        0,
        64,
        help="How far the sentence is followed through the model. 0: through all its layers.",
    )
    itself: str = choice(
        "left out",
        "The word itself",
        ("left out", "shown"),
        help="Every method gives a word itself a part, mostly the largest. Left out, that between "
        "different words is seen, and it is that which is compared with erasure.",
    )
    sinks: str = choice(
        "left out",
        "Attention sinks",
        ("left out", "shown"),
        help="Special tokens, or the first one: heads look there when they look for nothing. "
        "Agreement with erasure leaves them out too.",
    )


def method_of(title: str, model: Model) -> Method:
    """The method of a title; that of `TRUSTED`, and of one that the model has not what it needs
    for, is the one that the study trusts most, or rollout where it has not what that needs."""
    for name in methods_for(model):
        if METHODS[name].title == title:
            return METHODS[name]
    return METHODS[_trusted(model) or "rollout"]


def _trusted(model: Model) -> str | None:
    """The method that the study trusts most, None where a model has not what it needs."""
    trusted = most_trusted(model.about.name, decoder=goes_on(model))
    assert trusted is not None, "a model of each kind is studied"
    return trusted.method if trusted.method in methods_for(model) else None


def titles_for(model: Model) -> list[str]:
    """The titles that a model has what it needs for, see `titles`."""
    titled = [METHODS[name].title for name in methods_for(model)]
    return [TRUSTED, *titled] if _trusted(model) else titled


def missing_words(model: Model) -> str:
    """The methods by vectors that a model has not the layout for, in a sentence; "" with it."""
    if model.laid_out:
        return ""
    titled = [method.title for method in METHODS.values() if method.by_vectors]
    return (
        f"Not here: {listed(titled)}. It needs vectors of each layer, which a known layout tells; "
        "this model is run by transformers, and its layout is not known here."
    )


def is_quick(method: str, pieces: int, layers: int) -> bool:
    """True if a method is worked out unasked."""
    return not METHODS[method].slow or pieces * layers <= AT_ONCE


def most_pieces(method: str, layers: int) -> int:
    """Of how many pieces a sentence may be for a method, in a model of so many layers."""
    if not METHODS[method].slow:
        return MAX_PIECES
    return min(MAX_PIECES, MOST // layers)


def too_long(method: str, pieces: int, layers: int) -> str:
    """Why a method is not worked out for so many pieces, in words; "" where it is."""
    most = most_pieces(method, layers)
    if pieces <= most:
        return ""
    return (
        f"{METHODS[method].title} is worked out here for sentences of up to {most} pieces with "
        f"this model; this one has {pieces}. “python -m attention.associations” takes longer ones."
    )


@dataclass(frozen=True, eq=False)
class Association:
    """An association as the page shows it.

    method; tokens: pieces, or the words they are joined into; numbers (tokens, tokens): as the
    method gives them; shares: each row divided by its sum; seen: which keys a query sees, None:
    all of them; layers: after how many, and of: of how many; sinks: positions of those left out.
    """

    method: Method
    tokens: tuple[str, ...]
    numbers: Tensor
    shares: Tensor
    seen: Tensor | None
    layers: int
    of: int
    sinks: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """The tokens, told apart."""
        return distinct_names(self.tokens)

    @property
    def words(self) -> str:
        """Describe the matrix that is shown, in sentences."""
        layer = "the last layer" if self.layers == self.of else f"layer {self.layers - 1}"
        sinks = [f"“{self.tokens[at]}”" for at in self.sinks]
        left_out = f" Left out as attention sinks: {listed(sinks)}." if sinks else ""
        return f"{self.method.title} after {layer}.{left_out} Each row is divided by its sum."


def association(
    method: str,
    found: Tensor,
    pieces: Pieces,
    settings: AssociationSettings,
    aside: bool,
    words: bool,
    causal: bool,
) -> Association:
    """An association of a sentence as it is shown. found (layers, pieces, pieces).

    aside: whether special pieces are ignored, see `Pieces.kept`; words: whether pieces are joined
    into words, rows averaged and columns added up; causal: whether no query sees a key behind it.
    What is not a number becomes 0.
    """
    layers = layers_shown(settings.after, len(found))
    kept, counted = pieces.kept(aside), pieces.kept(settings.sinks == "left out")
    numbers = found[layers - 1].nan_to_num()[kept][:, kept]
    sinks = [place for place, at in enumerate(kept) if at not in counted]
    numbers[:, sinks] = 0
    tokens = tuple(pieces.texts[at] for at in kept)
    if words:
        of_words = slots([pieces.words[at] for at in kept])
        numbers, tokens = join(numbers, of_words, of_words), whole_words(tokens, of_words)
        looked_at = {word for at, word in enumerate(of_words) if at not in sinks}
        sinks = [word for word in range(len(tokens)) if word not in looked_at]
    if settings.itself == "left out":
        numbers = numbers.clone().fill_diagonal_(0)
    sums = numbers.sum(-1, keepdim=True)
    shares = numbers / sums.where(sums > 0, 1.0)
    seen = masks.causal(*numbers.shape) if causal else None
    return Association(
        METHODS[method], tokens, numbers, shares, seen, layers, len(found), tuple(sinks)
    )


def layers_shown(after: int, of: int) -> int:
    """After how many layers an association is shown: the chosen number, 0 for all."""
    return min(after or of, of)


@dataclass(frozen=True)
class Pair:
    """Share that a word has in another: query and key by their positions, and the share."""

    query: int
    key: int
    share: float


def pairs(shown: Association) -> list[Pair]:
    """All pairs of different words but sinks left out, by their share, the greatest first."""
    shares = shown.shares.clone().fill_diagonal_(0)
    shares[[*shown.sinks]] = 0
    order = shares.flatten().argsort(descending=True, stable=True).tolist()
    cells = (divmod(at, len(shares)) for at in order)
    return [
        Pair(query, key, float(shares[query, key])) for query, key in cells if shares[query, key]
    ]


def pairs_table(shown: Association) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns of the strongest pairs, see `scene.Table`."""
    most, names = pairs(shown)[:MOST_PAIRS], shown.names
    columns: dict[str, Sequence[float | str]] = {
        "has to do with": [names[pair.key] for pair in most],
        "share": [pair.share for pair in most],
        "number": [float(shown.numbers[pair.query, pair.key]) for pair in most],
    }
    return [names[pair.query] for pair in most], columns


def agreement_table(
    here: Mapping[str, float], model: str
) -> tuple[list[str], Mapping[str, Sequence[str]]]:
    """Names and columns of the rank agreement with erasure, the best here first.

    here: by method, on this sentence; model: whose study stands beside it, where there is one.
    """
    order = sorted(here, key=lambda name: (math.isnan(here[name]), -here[name]))
    columns = {"on this sentence": [share(here[name]) for name in order]}
    if study := STUDIES.get(model):
        found = study.main().agreement
        last = [found[name].value if name in found else None for name in order]
        columns[f"over {study.confirming} sentences"] = [*map(share, last)]
    return [METHODS[name].title for name in order], columns


def answer(erased: Association, here: Mapping[str, float], query: int) -> str:
    """The answer to the question of what a model makes of all heads and layers, for one word.

    erased: by erasure; here: the agreement of the other methods with it.
    """
    query = min(query, len(erased.tokens) - 1)
    row = erased.numbers[query].clone()
    row[query] = 0
    if len(row) < 2 or not bool(row.any()):
        return "There is no other word whose absence could be felt."
    names = erased.names
    most = row.argsort(descending=True, stable=True)[:3].tolist()
    told = listed(f"“{names[key]}” (by {fixed(float(row[key]), 3)})" for key in most if row[key])
    words = f"By erasure, “{names[query]}” changes most without {told}."
    known = {name: rho for name, rho in here.items() if not math.isnan(rho)}
    if known:
        highest = share(max(known.values()))
        best = [METHODS[name].title for name in known if share(known[name]) == highest]
        words += (
            f" Of the other methods {listed(best)} rank{'s' if len(best) == 1 else ''} the words "
            f"of this sentence most as erasure does (ρ = {highest})."
        )
    return words


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


def methods_here(model: Model, pieces: int, layers: int) -> list[str]:
    """The methods that a model can have, as far as they are worked out for so many pieces."""
    return [name for name in methods_for(model) if not too_long(name, pieces, layers)]
