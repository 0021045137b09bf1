"""Effects of the heads of a trained model: each one changed, and the answer that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis import causes
from attention.analysis.causes import Metric, Part
from attention.analysis.dependencies import sentences_for
from attention.analysis.interventions import PARTS, Progress, check_same_length, means
from attention.core.printing import fixed, percent
from attention.core.settings import choice, text
from attention.display.captions import distinct_names
from attention.display.tables import number
from attention.lessons.known import KnownHead, first_link
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer, goes_on
from attention.trained.sources import SMOLLM2

ZERO, MEAN, EXCHANGED = "set to zero", "set to its mean", "exchanged"
MAX_PIECES = 64
MEANS_OVER = 20  # sentences
QUICK = 4e11  # heads × pieces × bytes of the model, which take about a second
STRONGEST = 8
MOST_TERMS = 10


@dataclass(frozen=True)
class CauseSettings:
    """Intervention on each head, and the next words that are told apart."""

    intervention: str = choice(
        ZERO,
        "Each head in turn is",
        (ZERO, MEAN, EXCHANGED),
        help="set to its mean: over packaged sentences, the first position left as it is. "
        "exchanged: the head of the second sentence is replaced by that of the first.",
    )
    changed_part: str = choice(
        "output", "Part of the head", PARTS, help="All that follows from it is worked out anew."
    )
    second: str = text("", "Second sentence", 5000, when=("intervention", EXCHANGED))
    word: str = text("", "Next word", 60, help="Empty: the likeliest one.")
    other_word: str = text(
        "", "Other word", 60, help="Empty: the next likeliest, or that of the second sentence."
    )


# Heads that carry the difference of two sentences.
KNOWN_CAUSES = (
    KnownHead(
        "A name is found again",
        SMOLLM2.about.name,
        "When Mary and John went to the store, John gave a drink to",
        layer=23,
        head=3,
        query=13,
        second="When Mary and John went to the store, Mary gave a drink to",
    ),
    KnownHead(
        "A verb agrees with a far noun",
        SMOLLM2.about.name,
        "The keys to the old wooden cabinet",
        layer=26,
        head=0,
        query=6,
        second="The key to the old wooden cabinet",
    ),
    KnownHead(
        "A pattern is repeated",
        SMOLLM2.about.name,
        "Mr and Mrs Dursley of number four, Privet Drive, were proud. Mr and Mrs Dursley of",
        layer=18,
        head=6,
        query=23,
        second="Mr and Mrs Dursley of house nine, Privet Drive, were proud. Mr and Mrs Dursley of",
    ),
)


def first_cause() -> str:
    """The query of a link to the first of those that there are, "" where there is none."""
    return first_link(KNOWN_CAUSES, intervention=EXCHANGED)


@dataclass(frozen=True)
class Question:
    """Question to be worked out for each head of a model.

    text, second: the sentences, the second one "" where there is none; intervention, part: as in
    `CauseSettings`; words: the ids of the two pieces that are told apart, None for models that say
    no next piece.
    """

    model: str
    text: str
    second: str
    intervention: str
    part: str
    words: tuple[int, int] | None = None


def question(
    model: Model, run: Run, other: Run | None, asked: Question, words: Sequence[str]
) -> Question:
    """The question with the ids of the two words.

    run: of its text; other: of its second sentence, None where there is none; words: as typed, ""
    for the likeliest. Raises ValueError, in words for the page, where it cannot be answered.
    """
    if asked.part == "weights" and asked.intervention == MEAN:
        raise ValueError("Weights have no mean over sentences of different lengths.")
    if len(run.pieces.ids) > MAX_PIECES:
        raise ValueError(
            f"Each head is changed in sentences of up to {MAX_PIECES} pieces; this one has "
            f"{len(run.pieces.ids)}."
        )
    if other is not None:
        try:
            check_same_length(run, other)
        except ValueError as error:
            raise ValueError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    if not goes_on(model):
        return asked
    likeliest = _likeliest(model, run)
    word, against = (piece_of(model, asked.text, typed) if typed else None for typed in words)
    if word is None:
        word = next(piece for piece in likeliest if piece != against)
    if against is None and other is not None:
        against = _likeliest(model, other)[0]
    if against is None:
        against = next(piece for piece in likeliest if piece != word)
    if word == against:
        raise ValueError(
            f"Both words are “{model.shown([word])[0]}”: type two that can be told apart."
        )
    return Question(
        asked.model, asked.text, asked.second, asked.intervention, asked.part, (word, against)
    )


def _likeliest(model: Transformer, run: Run) -> list[int]:
    found: list[int] = model.scores(run.hidden[-1]).topk(2).indices.tolist()
    return found


def piece_of(model: Transformer, text: str, word: str) -> int:
    """The first piece of a word that comes after a text.

    Raises ValueError, in words for the page, where the text has other pieces before it.
    """
    before = model.pieces(text).ids.tolist()
    longer = model.pieces(f"{text} {word.strip()}").ids.tolist()
    if longer[: len(before)] != before or len(longer) == len(before):
        raise ValueError("After this sentence the word makes no piece of its own: type another.")
    return int(longer[len(before)])


@dataclass(frozen=True, eq=False)
class Answer:
    """Answer of a model with each of its heads changed.

    metric: of the run as it is, and of the second sentence's, where there is one; total: the total
    effect of each head (layers, heads); direct: its direct effect, where that can be told.
    """

    metric: tuple[float, float | None]
    total: Tensor
    direct: Tensor | None = None

    @property
    def through(self) -> Tensor | None:
        """The rest of the total effect: by later parts, and by the last norm that changes too."""
        return None if self.direct is None else self.total - self.direct

    @property
    def strongest(self) -> list[tuple[int, int]]:
        """The (layer, head) with the greatest total effects, the greatest first."""
        order = self.total.abs().flatten().argsort(descending=True, stable=True)
        return [divmod(index, self.total.shape[1]) for index in order[:STRONGEST].tolist()]


def is_quick(model: Model, run: Run) -> bool:
    """True if each head of a run is changed in about a second."""
    heads: int = sum(layer.attention.config.heads for layer in model.layers)
    return heads * len(run.pieces.ids) * model.nbytes <= QUICK


def answer(
    model: Model, asked: Question, run: Run, other: Run | None, progress: Progress
) -> Answer:
    """Change each head in turn. Effects are what is lost without the head, or brought back by it.

    For models that go on, of the difference of both words' scores, as a share of that between the
    sentences where heads are exchanged; for encoder-decoders, of the mean probability of the pieces
    they write; for others, how far the last hidden states move, as a mean of 1 - cosine.
    """
    metric = _metric(model, asked, run if other is None else other)
    if other is None:
        return _without(model, asked, run, metric, progress)
    found = causes.patch_heads(model, other, run, metric, asked.part, progress=progress)
    clean, corrupted = metric(run.hidden), found.before
    if asked.words is None:
        sign = -1 if isinstance(model, EncoderDecoder) else 1
        total = _per_head(sign * found.change)
        return Answer((_number(clean), _number(corrupted)), total)
    assert isinstance(model, Transformer)
    total, direct = causes.scaled(found.after, clean, corrupted), None
    if asked.part == "output":
        votes = [causes.votes(model, each, *asked.words).heads for each in (run, other)]
        direct = (votes[0] - votes[1]) / (clean - corrupted)
    return Answer((_number(clean), _number(corrupted)), total, direct)


def _without(model: Model, asked: Question, run: Run, metric: Metric, progress: Progress) -> Answer:
    to = None
    if asked.intervention == MEAN:
        to = means(model, sentences_for(model.about.name)[:MEANS_OVER], asked.part)
    found = causes.ablate_heads(model, run, metric, asked.part, to=to, progress=progress)
    if asked.words is None and not isinstance(model, EncoderDecoder):
        return Answer((_number(found.before), None), _per_head(found.change))
    direct = None
    if asked.words is not None and to is None and asked.part == "output":
        assert isinstance(model, Transformer)
        direct = causes.votes(model, run, *asked.words).heads
    return Answer((_number(found.before), None), _per_head(-found.change), direct)


def _metric(model: Model, asked: Question, run: Run) -> Metric:
    if asked.words is not None:
        assert isinstance(model, Transformer)
        return causes.logit_difference(model, *asked.words)
    if isinstance(model, EncoderDecoder):
        return causes.written_probability(model, run)
    return causes.movement(run)


def _per_head(numbers: Tensor) -> Tensor:
    """One number for each head: the mean over pieces where there is one for each of these."""
    return numbers.flatten(2).mean(-1) if numbers.dim() > 2 else numbers


def _number(metric: Tensor) -> float:
    return float(metric.mean())


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
