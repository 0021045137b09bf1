"""Questions about the heads of a model: each one changed, and the answer that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis import causes
from attention.analysis.causes import Metric
from attention.analysis.dependencies import sentences_for
from attention.analysis.interventions import PARTS, Progress, check_same_length, means
from attention.core.settings import choice, text
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer, goes_on

ZERO, MEAN, EXCHANGED = "set to zero", "set to its mean", "exchanged"


MAX_PIECES = 64


MEANS_OVER = 20  # sentences


QUICK = 4e11  # heads × pieces × bytes of the model, which take about a second


STRONGEST = 8


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
    if asked.part == "output" and model.adds_up:
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
    if asked.words is not None and to is None and asked.part == "output" and model.adds_up:
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
