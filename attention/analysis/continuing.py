"""Next pieces of a model that goes on: which are likely, which is chosen, and the text they add."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.core.settings import decimal, whole
from attention.trained.models import Run, Transformer
from attention.trained.sampling import Narrowing, greedy, narrow, next_scores, sample
from attention.trained.writing import Written, begin, longer

LIKELIEST = 12


@dataclass(frozen=True)
class SamplingSettings:
    """Settings of the choice of the next piece, for models that were trained to go on."""

    sample_temperature: float = decimal(
        1.0,
        "Temperature",
        0.05,
        5.0,
        0.05,
        help="What the scores are divided by: below 1 the likely get likelier, above 1 all get "
        "more alike.",
    )
    top_k: int = whole(
        0, "Top k", 0, 1000, help="Only the k likeliest pieces stay. 0: all of them."
    )
    top_p: float = decimal(
        1.0,
        "Top p",
        0.05,
        1.0,
        0.05,
        help="Of these the fewest that hold this share of the probability together.",
    )
    sample_seed: int = whole(
        0, "Seed of the draw", 0, 9999, help="Draws another piece, repeatably."
    )


@dataclass(frozen=True, eq=False)
class Next:
    """Next piece that a model would write.

    narrowing: from its scores to the probabilities drawn from; ids, texts: of the likeliest.
    """

    narrowing: Narrowing
    ids: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def shares(self) -> list[float]:
        """The probability of each, 0 where it is out."""
        shares: list[float] = self.narrowing.probabilities[list(self.ids)].tolist()
        return shares

    @property
    def trained(self) -> list[float]:
        """The probability of each as the model has it."""
        shares: list[float] = self.narrowing.scores.softmax(-1)[list(self.ids)].tolist()
        return shares

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
        """Names and columns: the probability of each piece after each filter."""
        kept = list(self.ids)
        scores = {
            "as trained": self.narrowing.scores,
            "temperature": self.narrowing.temperature.scores,
            "top k": self.narrowing.top_k.scores,
            "top p": self.narrowing.top_p.scores,
        }
        columns = {}
        for title, left in scores.items():
            shares = left.double().softmax(-1)[kept].tolist()
            there = left[kept].isfinite().tolist()
            columns[title] = [
                share if stays else "out" for share, stays in zip(shares, there, strict=True)
            ]
        return list(self.texts), columns


def next_pieces(model: Transformer, run: Run, settings: SamplingSettings) -> Next:
    """The likeliest pieces to come next, and what temperature, top k and top p make of them."""
    narrowed = _narrowed(next_scores(model, run), settings)
    ids = narrowed.scores.topk(min(LIKELIEST, len(narrowed.scores))).indices.tolist()
    return Next(narrowed, tuple(ids), model.shown(ids))


def _narrowed(scores: Tensor, settings: SamplingSettings) -> Narrowing:
    return narrow(scores, settings.sample_temperature, settings.top_k, settings.top_p)


def go_on(
    model: Transformer, text: str, pieces: int, settings: SamplingSettings, likeliest: bool
) -> str:
    """The text with so many pieces more, each the likeliest or drawn, as far as there is room.

    Pieces at the end that are only parts of a character are left out: no text says them.
    """
    given: list[int] = model.pieces(text).ids.tolist()
    room = max(0, min(pieces, model.limit - len(given)))
    added = [*itertools.islice(pieces_after(model, given, settings, likeliest), room)]
    return text + text_added(model, given, added)


def pieces_after(
    model: Transformer, given: Sequence[int], settings: SamplingSettings, likeliest: bool
) -> Iterator[int]:
    """The pieces that a text goes on with, one after the other, without an end."""
    written = begin(model, given)
    while True:
        piece = chosen_piece(written, settings, likeliest)
        yield piece
        written = longer(model, written, piece)


def chosen_piece(written: Written, settings: SamplingSettings, likeliest: bool) -> int:
    """The piece that a text goes on with, the likeliest or one that is drawn."""
    narrowed = _narrowed(written.scores, settings).probabilities
    if likeliest:
        return greedy(narrowed)
    return sample(narrowed, settings.sample_seed, len(written.ids))


def ends_sentence(model: Transformer, piece: int) -> bool:
    """True if a piece is the end of a sentence."""
    (text,) = model.shown([piece])
    return text.rstrip("\"'”’)").endswith((".", "!", "?", "…"))


def text_added(model: Transformer, given: Sequence[int], added: Sequence[int]) -> str:
    """The text that these pieces add to those given, as far as there is a text that says them."""
    for end in range(len(added), 0, -1):
        text = model.text_of(added[:end], given)
        if text is not None:
            return text
    return ""
