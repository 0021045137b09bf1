"""Sets of prompts: rows read and refused, rewordings of a sentence, and heads named by all rows."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.analysis.sentences import EXCHANGED
from attention.changing.answers import piece_id
from attention.core.arguments import must_be_within
from attention.trained.models import Transformer

FEWEST, MOST = 5, 200  # prompts of a set
MAX_PIECES = 64  # of a prompt
COLUMNS = ("prompt", "answer", "foil", "template")
OWN = -1  # the answer is the piece that the model itself says
REWORDINGS = 20  # variants of a sentence
MARKS = '.,;:!?()"'
FLIPS, LEVEL, AT_ONCE = 10_000, 0.05, 1000
ENOUGH = 20  # prompts from which on heads are named
# Metrics of an answer, each with the least mean change of a head that is named.
PROBABILITY, LOG, LOGITS = "probability", "log-probability", "logits over the foil"
LEAST = {PROBABILITY: 0.05, LOG: 0.25, LOGITS: 0.25}
MOVES = 1e-4  # of a metric, from which on it moves
_BEGINNINGS = EXCHANGED["beginnings"]
_KINDS = [lines[0].split() for name, lines in EXCHANGED.items() if name != "beginnings"]


@dataclass(frozen=True)
class Prompt:
    """A prompt with its answer.

    number: its line in the text of the set; answer, foil: ids of pieces, `OWN` for the model's own
    answer and None without a foil; template: prompts of one count as one draw, "" = each by itself.
    """

    number: int
    text: str
    answer: int = OWN
    foil: int | None = None
    template: str = ""


def read(text: str, model: Transformer) -> tuple[list[Prompt], list[str]]:
    """The prompts of a set, and a sentence with its number on each row that is refused.

    text: a line for each prompt, as CSV or pasted from a sheet: prompt, answer, and where there
    are some a foil and a template; a first line may name these columns. A word is read behind a
    blank; a foil counts by its first piece. Raises ValueError for fewer than 5 or more than 200
    rows, refused ones not counted.
    """
    how: Any = {"delimiter": "\t" if "\t" in text else ",", "skipinitialspace": True}
    lines = [next(csv.reader([line], **how)) for line in text.strip().splitlines()]
    rows = [[cell.strip() for cell in line] for line in lines]
    columns: tuple[str, ...] = COLUMNS
    first = 1
    if rows and (named := tuple(cell.lower() for cell in rows[0])) and {*named} <= {*COLUMNS}:
        columns, rows, first = named, rows[1:], 2
    if len(rows) > MOST:
        raise ValueError(f"A set has {FEWEST} to {MOST} prompts, got {len(rows)}.")
    prompts: dict[tuple[str, int], Prompt] = {}
    refused = []
    for number, cells in enumerate(rows, first):
        try:
            if len(cells) > len(columns):
                most = f"it has {len(cells)} cells, at most {len(columns)} are expected"
                raise ValueError(f"{most}: put quotes around a prompt with commas")
            one = _prompt(number, dict(zip(columns, cells, strict=False)), model)
            if (before := prompts.get((one.text, one.answer))) is not None:
                raise ValueError(f"it is there twice, see row {before.number}")
            prompts[one.text, one.answer] = one
        except ValueError as problem:
            refused.append(f"Row {number} is left out: {problem}.")
    if len(prompts) < FEWEST:
        told = f"A set has {FEWEST} to {MOST} prompts, got {len(prompts)}."
        raise ValueError(" ".join([told, *refused]))
    return [*prompts.values()], refused


def _prompt(number: int, cells: dict[str, str], model: Transformer) -> Prompt:
    text, answer, foil = (cells.get(name, "") for name in COLUMNS[:3])
    if not text:
        raise ValueError("it is empty" if not any(cells.values()) else "it has no prompt")
    count = len(model.all_pieces(text).ids)
    if not count or count > MAX_PIECES:
        raise ValueError(f"a prompt has 1 to {MAX_PIECES} pieces, this one has {count}")
    if not answer:
        raise ValueError("it has no answer")
    piece = piece_id(model, _behind_blank(answer))
    other = None
    if foil:
        pieces = model.pieces(_behind_blank(foil))
        ids = zip(pieces.ids.tolist(), pieces.special, strict=True)
        other = next(one for one, special in ids if not special)
        if other == piece:
            raise ValueError("its foil begins with the same piece as its answer")
    return Prompt(number, text, piece, other, cells.get("template", ""))


def _behind_blank(word: str) -> str:
    """A word as it follows a text: behind a blank, but for marks as a comma."""
    return f" {word}" if word[0].isalnum() else word


def rewordings(sentence: str, count: int = REWORDINGS, seed: int = 0) -> list[Prompt]:
    """Variants of a sentence: up to three of its names and words are exchanged for others of their
    kind, see `texts/exchanged.txt`, or another sentence goes before it where it has too few.

    A word that comes again is exchanged in all places. Drawn by the seed, each once, and none is
    left out for the answer it gets, which is the model's own.
    """
    chance, words = random.Random(seed), sentence.split()
    bare = {word: word.strip(MARKS) for word in words}
    kinds = {
        word: [each for each in kind if each.lower() != word.lower()]
        for word in dict.fromkeys(bare.values())
        for kind in _KINDS
        if word.lower() in map(str.lower, kind)
    }
    found: dict[str, None] = {}
    for _ in range(10 * count * bool(kinds)):
        chosen = chance.sample([*kinds], min(len(kinds), chance.randint(1, 3)))
        instead = {word: _as(word, chance.choice(kinds[word])) for word in chosen}
        several = (word.replace(bare[word], instead.get(bare[word], bare[word])) for word in words)
        found.setdefault(" ".join(several))
    found.pop(sentence, None)
    begun = [begin.format(sentence) for begin in chance.sample(_BEGINNINGS, len(_BEGINNINGS))]
    return [Prompt(at, text) for at, text in enumerate([*found, *begun][:count], 1)]


def _as(word: str, other: str) -> str:
    """Another word, with a capital where the first has one."""
    return other[0].upper() + other[1:] if word[0].isupper() else other


def metrics(states: Tensor, model: Transformer, prompt: Prompt) -> Tensor:
    """The metrics of an answer, in the order of `LEAST`, NaN for that without a foil.

    states: the last hidden states, (…, pieces, d_model); prompt: with an answer. (…, 3).
    """
    scores = model.scores(states[..., -1, :]).float()
    must_be_within("answer", prompt.answer, scores.shape[-1])
    log = scores[..., prompt.answer] - scores.logsumexp(-1)
    foil = prompt.foil
    over = log * torch.nan if foil is None else scores[..., prompt.answer] - scores[..., foil]
    return torch.stack([log.exp(), log, over], -1)


@dataclass(frozen=True, eq=False)
class Named:
    """Heads over a set of prompts, (heads,) each.

    mean: of the changes; low, high: of its interval, which holds for all heads at once; p: of no
    change, corrected for all heads; same: the number of prompts that move as the mean does; named:
    True where the mean is surely not 0 and as large as asked for.
    """

    mean: Tensor
    low: Tensor
    high: Tensor
    p: Tensor
    same: Tensor
    named: Tensor


def named(
    changes: Tensor,
    least: float,
    templates: Sequence[str] = (),
    *,
    flips: int = FLIPS,
    seed: int = 0,
) -> Named:
    """Name heads whose mean change over prompts is surely not 0, whichever heads are looked at.

    changes: (prompts, heads), of prompts drawn by chance; least: size of the mean of a head that is
    named; templates: prompts of the same one are flipped together, "" = by itself. Each flip turns
    the sign of some prompts' changes; a head is named where its |t| is above the greatest of all
    heads in 95 % of flips (max-|t|, Westfall and Young 1993), with at least `ENOUGH` prompts.
    Raises ValueError without two prompts or as many templates as prompts.
    """
    count = len(changes)
    if changes.dim() != 2 or count < 2 or len(templates) not in (0, count):
        raise ValueError(
            "changes must be (prompts, heads) of two prompts or more, each with a template or none "
            f"with one, got {tuple(changes.shape)} and {len(templates)} templates"
        )
    keys = [template or at for at, template in enumerate(templates or [""] * count)]
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    draws = torch.zeros(len(place), changes.shape[1], dtype=torch.float64)
    draws.index_add_(0, torch.tensor([place[key] for key in keys]), changes.double())
    norms = (draws**2).sum(0).sqrt()  # no sign changes them, so that |t| grows with |sum| / norm
    units = torch.where(norms > 0, draws / norms, 0.0)
    chance = torch.Generator().manual_seed(seed)
    greatest = []
    for begin in range(0, flips, AT_ONCE):
        shape = min(AT_ONCE, flips - begin), len(draws)
        signs = torch.randint(0, 2, shape, generator=chance).double() * 2 - 1
        greatest.append((signs @ units).abs().amax(-1))
    highest = torch.cat(greatest).sort().values
    sums = units.sum(0)
    below = torch.searchsorted(
        highest, sums.abs() - 1e-9
    )  # the same signs may be rounded otherwise
    p = (1 + flips - below) / (1 + flips)
    critical = highest[-max(1, int(LEVEL * (1 + flips)))]
    number = len(draws)
    t = critical * ((number - 1) / (number - critical**2).clamp_min(1e-9)).sqrt()
    error = norms * ((1 - sums**2 / number).clamp_min(0) * number / max(1, number - 1)).sqrt()
    mean, width = draws.sum(0) / count, t * error / count
    same = ((changes.double() * mean.sign()) > MOVES).sum(0)
    sure = (p <= LEVEL) & (mean.abs() >= least) & (count >= ENOUGH)
    return Named(mean, mean - width, mean + width, p, same, sure)
