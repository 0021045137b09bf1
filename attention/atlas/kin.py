"""Heads that look at the same words of the same sentences, in a model and in others.

Models cut sentences into pieces differently, so that weights are brought from word to word, as
blanks part words: the sum over the pieces of a key's word, the mean over those of a query's. Pieces
that the reader puts in are set aside, and where there are none the whole first word, with the sink
in it. Rows are not made up to 1 again: one that lies on a sink says little of words, and counts
little. Of two heads only keys count that both may see.

Alike is the correlation of two heads' weights in a sentence, each row about its mean over these
keys, then the mean over sentences. Chance is the most that any head of the other model's untrained
twins, within a model of its own ones, is like this head.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from attention.atlas.blocks import Block, blocks_over
from attention.atlas.corpus import Asked, Corpus
from attention.atlas.passport import HALVES, Alike
from attention.atlas.patterns import Raw
from attention.atlas.stages import Subject
from attention.atlas.statistics import clear_of, mean_of
from attention.changing.change import Head
from attention.trained.models import Pieces
from attention.trained.pieces import SPACES

WITHIN, ACROSS = 3, 2  # heads that are named: of the model, and of each other one
EVEN = 1e-6  # length of a head's weights that differ by rounding alone
WITHIN_WORD = "##"  # what a piece begins with that goes on with a word, as BERT's


class Kin:
    """Stage that measures where heads look from word to word.

    It gives heads (heads, 2): the layer and the place of each, those of layers that decode left
    out; weights (heads, words, words), and untrained (twins * heads, words, words); seen (words,
    words): which keys count. All but heads are empty where pieces do not make up the words.
    """

    name: str = "kin"
    version: int = 1

    def texts(self, corpus: Corpus) -> Sequence[Asked]:
        """All sentences."""
        return corpus.sentences

    @torch.no_grad()
    def measure(self, subject: Subject, asked: Asked) -> dict[str, Tensor]:
        """Measure a sentence."""
        layers = subject.model.layers
        heads = torch.tensor([head for head in subject.heads if not layers[head[0]].crosses])
        block, twins = blocks_over(subject, asked.text)[0]
        words = words_of(block.pieces, asked.text)
        untrained = by_word(twins, words)["weights"]
        return {"heads": heads, **by_word(block, words), "untrained": untrained}


def words_of(pieces: Pieces, text: str) -> list[int | None]:
    """For each piece which word of the text it is of, None of special ones; of all pieces where
    they do not make up the words, letter by letter or in number."""
    words, special = text.split(), pieces.special
    plain = [
        "" if put_in else piece.strip(SPACES).removeprefix(WITHIN_WORD)
        for piece, put_in in zip(pieces.texts, special, strict=True)
    ]
    if "".join(words).lower().startswith("".join(plain).lower()):
        letters = [at for at, word in enumerate(words) for _ in word]
        starts = [0, *accumulate(map(len, plain))]
        return [
            None if put_in else letters[min(at, len(letters) - 1)]
            for put_in, at in zip(special, starts, strict=False)
        ]
    if len({*pieces.words} - {None}) == len(words):
        return list(pieces.words)
    return [None] * len(plain)


def by_word(block: Block, words: Sequence[int | None]) -> dict[str, Tensor]:
    """Weights from word to word, (heads, words, words), and which keys count for each query,
    (words, words). words: of each piece, see `words_of`."""
    if not any(block.pieces.special):
        words = [None if word == 0 else word for word in words]
    many = max((word + 1 for word in words if word is not None), default=0)
    within = torch.tensor([[word == at for word in words] for at in range(many)]).float()
    within = within.reshape(many, len(words))
    mean = within / within.sum(-1, keepdim=True).clamp_min(1)
    seen = within @ block.allowed.any(0).float() @ within.T > 0
    return {"weights": mean @ block.weights @ within.T, "seen": seen}


def summarised(
    subject: Subject, raw: Sequence[Raw], others: Mapping[str, Mapping[str, Raw]]
) -> dict[Head, tuple[Alike, ...]]:
    """Heads that are alike, the most alike first: at most `WITHIN` of the model, then at most
    `ACROSS` of each other one.

    They are found on one half of the sentences; where similarity is not surely above chance there
    and on the other half, nothing is said. others: of each other model by its name, what the stage
    found, by text.
    """
    own = {
        asked.text: (asked.half, one)
        for asked, one in zip(Kin().texts(subject.corpus), raw, strict=True)
    }
    found: dict[Head, list[Alike]] = {head: [] for head in subject.heads}
    within = {text: one for text, (_, one) in own.items()}
    for name, other in ((subject.model.about.name, within), *others.items()):
        pairs = [
            (half, Pair.of(one, other[text])) for text, (half, one) in own.items() if text in other
        ]
        halves = {half: [pair for of, pair in pairs if of == half and pair.says] for half in HALVES}
        if min(map(len, halves.values())) > 1:
            for head, alike in _alike(name, halves, other is within):
                found[head].append(alike)
    return {head: tuple(alike) for head, alike in found.items()}


@dataclass(frozen=True, eq=False)
class Pair:
    """One sentence in two models: of the heads of each, and of the other's twin, the weights on
    what both see, each row about its mean, all of one length. (heads, words * words)."""

    heads: tuple[list[Head], list[Head]]
    one: Tensor
    other: Tensor
    twin: Tensor

    @classmethod
    def of(cls, one: Raw, other: Raw) -> Pair:
        """Pair of what the stage found."""
        many = min(len(one["seen"]), len(other["seen"]))
        seen = one["seen"][:many, :many] & other["seen"][:many, :many]
        heads = tuple([(at, head) for at, head in each["heads"].tolist()] for each in (one, other))
        weights = one["weights"], other["weights"], other["untrained"]
        return cls((heads[0], heads[1]), *(about_mean(each, seen) for each in weights))

    @property
    def says(self) -> bool:
        """True if any head of both looks somewhere."""
        return bool(self.one.any()) and bool(self.other.any())


def about_mean(weights: Tensor, seen: Tensor) -> Tensor:
    """Weights (heads, words, words) about the mean of each row, 0 where they are not seen, each
    head's of length 1; of a head that is even in each row 0. (heads, words * words)."""
    some = seen.float()
    kept = weights[:, : len(seen), : len(seen)] * some
    means = kept.sum(-1, keepdim=True) / some.sum(-1, keepdim=True).clamp_min(1)
    flat = ((kept - means) * some).flatten(1)
    lengths = flat.norm(dim=-1, keepdim=True)
    return torch.where(lengths > EVEN, flat / lengths, 0.0)


def _alike(
    name: str, halves: Mapping[str, Sequence[Pair]], own: bool
) -> Iterator[tuple[Head, Alike]]:
    """Heads of one model, and those of another that are most like each; own: it is the same."""
    first, second = (halves[half] for half in HALVES)
    pairs = [*first, *second]
    chance = _sum(pair.one @ pair.twin.T for pair in pairs).amax(-1) / len(pairs)
    found = _sum(pair.one @ pair.other.T for pair in first)
    if own:
        found.fill_diagonal_(-torch.inf)
    ours, theirs = first[0].heads
    best = found.topk(min(WITHIN if own else ACROSS, len(theirs) - own)).indices
    by_half = [
        torch.stack([(pair.one[:, None] * pair.other[best]).sum(-1) for pair in half], -1).tolist()
        for half in (first, second)
    ]
    for at, head in enumerate(ours):
        for place, one in enumerate(best[at].tolist()):
            means = [mean_of(values[at][place]) for values in by_half]
            if all(clear_of(mean, float(chance[at])) > 0 for mean in means):
                layer, other = theirs[one]
                yield head, Alike(name, layer, other, means[0], means[1], float(chance[at]))


def _sum(tensors: Iterable[Tensor]) -> Tensor:
    return functools.reduce(torch.add, tensors)
