"""Effects of the heads of a trained model: each one changed, and the answer that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis import causes
from attention.analysis.causes import Part
from attention.analysis.questions import EXCHANGED, MEAN, Answer, Question
from attention.core.printing import distinct_names, fixed, percent
from attention.figures.tables import number
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer

MOST_TERMS = 10


def answer_words(model: Model, asked: Question, run: Run, found: Answer) -> str:
    """The model's own answer, in a sentence."""
    clean, corrupted = found.metric
    if asked.words is None:
        if isinstance(model, EncoderDecoder):
            return f"The mean probability of the pieces it writes is {percent(clean, 1)}."
        return "Its answer is a vector for each piece; heads are judged by how far these move."
    assert isinstance(model, Transformer)
    word, other = model.shown(asked.words)
    shares = model.scores(run.hidden[-1]).softmax(-1)[list(asked.words)].tolist()
    told = (
        f"The next word is “{word}” with {percent(shares[0], 1)}, “{other}” with "
        f"{percent(shares[1], 1)}. {_lead(word, other, clean)}."
    )
    if corrupted is None:
        return told
    return f"{told} In the second sentence {_lead(word, other, corrupted)}."


def _lead(word: str, other: str, ahead: float) -> str:
    """Name the word with the higher score, as the end of a sentence; ahead: of the first."""
    if fixed(abs(ahead), 2) == fixed(0, 2):
        return f"“{word}” and “{other}” have the same score"
    return f"“{word if ahead > 0 else other}” leads by {fixed(abs(ahead), 2)}"


def effect_words(model: Model, asked: Question, found: Answer) -> str:
    """The meaning of squares and discs, in a few sentences."""
    exchanged = asked.intervention == EXCHANGED
    done = "is given to the second sentence" if exchanged else f"is {asked.intervention}"
    if asked.intervention == MEAN:
        done += " (but at the first position)"
    part = "" if asked.part == "output" else f"{asked.part} of the "
    square = "A square is a head, layers from left to right. Its colour is the total effect: "
    if asked.words is not None:
        square += (
            f"the share of the difference that comes back when the {part}head {done}."
            if exchanged
            else f"by how much the difference of the scores falls when the {part}head {done}."
        )
    elif isinstance(model, EncoderDecoder):
        square += f"by how much the pieces get less probable when the {part}head {done}."
    else:
        square += f"how far the vectors move when the {part}head {done} (1 − cosine, mean)."
    if found.direct is None:
        return square
    return (
        f"{square} The disc is the direct effect: the head's own vote for the one word rather than "
        "the other. Where disc and square differ, later parts or the last norm make the rest: on a "
        "pale square they make up for the head, on a strong one it acts through them."
    )


def effect_table(
    model: Model, found: Answer
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns: the heads with the greatest total effects."""
    names = [f"{model.title_of(layer)} head {head}" for layer, head in found.strongest]
    columns = {"total": [float(found.total[head]) for head in found.strongest]}
    if found.direct is not None and found.through is not None:
        columns["direct"] = [float(found.direct[head]) for head in found.strongest]
        columns["by the rest"] = [float(found.through[head]) for head in found.strongest]
    return names, columns


KINDS = {
    "embedding": "the word itself",
    "biases": "biases",
    "head": "all heads",
    "feed-forward": "all feed-forwards",
}


def vote_table(
    model: Transformer, run: Run, words: tuple[int, int]
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, column and last row: what each kind of part says for one word rather than another."""
    found = causes.votes(model, run, *words)
    sums = [
        sum(
            vote
            for name, vote in zip(found.names, found.votes.double().tolist(), strict=True)
            if name.kind == kind
        )
        for kind in KINDS
    ]
    total = ["Σ = difference of the scores", number(sum(sums))]
    return [*KINDS.values()], {"vote": sums}, total


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of each layer for the next piece.

    names: of each layer, and of the end of the last; shares, ranks (names, 2): the probability of
    each of the two words before that layer, and its rank among all pieces, 1 = the likeliest;
    likeliest: the likeliest piece there, with its probability.
    """

    names: Sequence[str]
    shares: Tensor
    ranks: Tensor
    likeliest: Sequence[tuple[str, float]]

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
        """Names and columns."""
        return [*self.names], {
            "likeliest": [piece for piece, _ in self.likeliest],
            "its probability": [share for _, share in self.likeliest],
        }


@torch.no_grad()
def guesses(model: Transformer, run: Run, words: tuple[int, int]) -> Guesses:
    """The guesses of each layer at the end of the sentence, see `causes.guesses`."""
    scores = causes.guesses(model, run)
    ranks = (scores[:, None] > scores[:, list(words), None]).sum(-1) + 1
    shares = scores.softmax(-1)
    most, ids = shares.max(-1)
    names = [*(f"before {model.title_of(at)}" for at in range(len(model.layers))), "at the end"]
    texts = model.shown(ids.tolist())
    likeliest = [*zip(texts, most.tolist(), strict=True)]
    return Guesses(names, shares[:, list(words)], ranks, likeliest)


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why a query looks at a key: the score as a sum over what came before.

    names: of the parts, in the order of the model; query, key (parts,): what each part gives by way
    of the query, and of the key; terms (parts, parts): both ways; score: their sum; scale: what it
    is multiplied by then.
    """

    names: Sequence[str]
    terms: Tensor
    scale: float

    @property
    def score(self) -> float:
        """The sum of all terms."""
        return float(self.terms.double().sum())

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]], list[str]]:
        """Names, columns and last row: the greatest terms, and the sum of all others."""
        order = self.terms.abs().flatten().argsort(descending=True, stable=True)
        flat, count = self.terms.double().flatten(), len(self.names)
        kept, rest = order[:MOST_TERMS].tolist(), order[MOST_TERMS:]
        pairs = [divmod(index, count) for index in kept]
        short = [name.replace(" of layer", "") for name in self.names]
        names = [f"{short[row]} × {short[column]}" for row, column in pairs]
        terms = [float(flat[index]) for index in kept]
        if len(rest):
            names.append(f"{len(rest)} more")
            terms.append(float(flat[rest].sum()))
        return names, {"term": terms}, ["Σ = score", number(self.score)]


@torch.no_grad()
def reasons(model: Model, run: Run, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query looks at a key, see `causes.score_parts`; the heads of a layer are one part.

    Raises ValueError where a layer before attends to another sequence.
    """
    parts, terms = causes.score_parts(model, run, layer, head, query, key)
    at = {name: index for index, name in enumerate(dict.fromkeys(map(_part_name, parts)))}
    group = torch.tensor([at[_part_name(part)] for part in parts])
    joined = torch.zeros(len(at), len(at), dtype=torch.float64)
    joined.index_put_((group[:, None], group[None]), terms.double(), accumulate=True)
    trace = run.inputs[layer].trace()
    return Reasons([*at], joined, float(trace.scale))


def _part_name(part: Part) -> str:
    if part.kind == "head":
        return f"heads of layer {part.layer}"
    if part.kind == "feed-forward":
        return f"feed-forward of layer {part.layer}"
    return part.kind


def length_rows(run: Run, layer: int, head: int, query: int) -> tuple[Tensor, list[str], str]:
    """The weights of a query, and each key's share of the lengths that are added. (2, keys).

    Also the names of the keys, and a sentence on the first one and special tokens.
    """
    weights, lengths = causes.lengths(run, layer)
    pieces = run.inputs[layer].memory_pieces or run.inputs[layer].pieces
    sinks = [at == 0 or special for at, special in enumerate(pieces.special)]
    shares = lengths / lengths.sum(-1, keepdim=True).clamp_min(torch.finfo(lengths.dtype).tiny)
    of_weights, of_lengths = (
        float(numbers[..., sinks].sum(-1).double().mean()) for numbers in (weights, shares)
    )
    which = "the first token" + (" and special tokens" if any(pieces.special) else "")
    words = (
        f"Over all heads and queries of this layer, {percent(of_weights, 1)} of the weight and "
        f"{percent(of_lengths, 1)} of the lengths ‖w·v·W_o‖ come from {which}."
    )
    rows = torch.stack([weights[head, query], shares[head, query]])
    return rows, distinct_names(pieces.texts), words
