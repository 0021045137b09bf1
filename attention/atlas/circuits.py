"""Circuits: what the weights of heads say, through the vocabulary, beside random matrices.

W_V W_O of a head is U diag(σ) Vᵀ. A random matrix of the same spectrum is X diag(σ) Yᵀ, of
orthonormal columns drawn at random. Through the vocabulary that is diag(σ) Yᵀ W_U W_E X, which
holds σ once: one draw of X and Y serves all heads that read and write at one place.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.atlas.matrices import (
    HeadMatrices,
    Place,
    embedded,
    matrices_of,
    unembedded,
)
from attention.atlas.passport import SEED, Against, Circuit
from attention.atlas.statistics import middle_of
from attention.trained.models import Model
from attention.trained.pieces import SPACE

SAMPLE = 1000  # pieces that heads are asked to copy
AMONG = 10  # among so many, a piece is raised most
DRAWS = 60  # random matrices beside each head
DRAWS_OF_PIECES = 20  # of these, the ones that are asked to copy pieces
FILTER = 1024  # pieces of the vocabulary that tell of most that they are not raised most
ROWS = 128
READABLE = "⟨"  # begins the bytes of a piece that is no whole character


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The vocabulary at a place.

    read (vocabulary, d_model): the embedding, each piece of mean square 1, as a norm divides it;
    written (d_model, vocabulary): to scores; sample (pieces,): whole words.
    """

    read: Tensor
    written: Tensor
    sample: Tensor

    @functools.cached_property
    def through(self) -> Tensor:
        """W_U W_E, what all pieces have in common taken off W_E. (d_model, d_model).

        That is as good as a bias, and tells no piece from another.
        """
        return self.written @ (self.read - self.read.mean(0))

    @functools.cached_property
    def asked(self) -> Tensor:
        """Vectors of the sample. (pieces, d_model)."""
        return self.read[self.sample]


@torch.no_grad()
def circuits_of(model: Model) -> dict[tuple[int, int], Circuit]:
    """Circuits of all heads whose matrices are known, by layer and head; see `matrices`.

    That is 90 seconds of a core for SmolLM2's 270 heads.
    """
    places: dict[Place, list[HeadMatrices]] = {}
    for head in matrices_of(model):
        places.setdefault(head.place, []).append(head)
    found: dict[tuple[int, int], Circuit] = {}
    for place, heads in places.items():
        made = circuits_at(vocabulary_of(model, place), heads)
        found.update(zip([(head.layer, head.head) for head in heads], made, strict=True))
    return dict(sorted(found.items()))


def vocabulary_of(model: Model, place: Place) -> Vocabulary:
    """The vocabulary at a place of a model, with a sample of whole words."""
    written = unembedded(model, place)
    shown = model.shown([*range(min(written.shape[1], len(model.parts.embedding.pieces)))])
    legible = [
        at
        for at, text in enumerate(shown)
        if READABLE not in text and at not in model.parts.ends and not _is_special(text)
    ]
    begins = [at for at in legible if shown[at].startswith(SPACE) and _is_word(shown[at][1:])]
    words = torch.tensor(begins or [at for at in legible if _is_word(shown[at])])
    generator = torch.Generator().manual_seed(SEED)
    sample = words[torch.randperm(len(words), generator=generator)[:SAMPLE]].sort().values
    read = embedded(model, place.reads)[: len(shown)]
    read = read / read.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-12)
    return Vocabulary(read, written[:, : len(shown)], sample)


def _is_special(text: str) -> bool:
    """If a piece stands between brackets, as [CLS], <s> and <|im_end|>."""
    return len(text) > 2 and (text[0], text[-1]) in (("[", "]"), ("<", ">"))


def _is_word(text: str) -> bool:
    """If a text is letters; of other scripts than Latin, where one letter is a word or none, more
    than one."""
    return text.isalpha() and (len(text) > 1 or text.isascii())


def circuits_at(vocabulary: Vocabulary, heads: Sequence[HeadMatrices]) -> list[Circuit]:
    """Circuits of heads that read and write at one place."""
    spectra = [spectrum(head.W_V, head.W_O) for head in heads]
    by_chance, among_by_chance = _at_random(vocabulary, spectra)
    made = []
    for at, head in enumerate(heads):
        copied = copying(head.W_O @ vocabulary.through @ head.W_V)
        read, write = vocabulary.asked @ head.W_V, head.W_O @ vocabulary.written
        among = raised(read, write, vocabulary.sample)
        made.append(
            Circuit(
                against(copied, by_chance[at]),
                against(among[0], among_by_chance[at, :, 0]),
                against(among[1], among_by_chance[at, :, 1]),
            )
        )
    return made


def spectrum(W_V: Tensor, W_O: Tensor) -> Tensor:
    """Singular values of W_V W_O, as many as W_V has columns, the greatest first. (k,)."""
    R, S = (torch.linalg.qr(W.double())[1] for W in (W_V, W_O.T))
    strengths: Tensor = torch.linalg.svdvals(R @ S.T)
    return strengths


def copying(M: Tensor) -> float:
    """Σ Re λ / Σ |λ| over the eigenvalues of W_O W_U W_E W_V, (k, k), from -1 to 1 (Elhage et al.
    2021, "Summarizing OV/QK matrices"); 0 where all are 0.

    These are the eigenvalues of the vocabulary's own matrix, W_E W_V W_O W_U, that are not 0.
    """
    values = torch.linalg.eigvals(M.double())
    size = float(values.abs().sum())
    return float(values.real.sum()) / size if size else 0.0


def raised(read: Tensor, write: Tensor, pieces: Tensor) -> tuple[float, float]:
    """Shares of pieces that are themselves among the ten raised most, and lowered most (copy score,
    Wang et al. 2023, section 3.1).

    read (pieces, k); write (k, vocabulary); pieces (pieces,): which of the vocabulary each is.
    """
    some = write[:, :: max(1, write.shape[1] // FILTER)]
    own = (read * write[:, pieces].T).sum(-1, keepdim=True)
    scores = read @ some
    shares: list[float] = []
    for above in (scores > own, scores < own):  # the piece itself may be one, by rounding
        left = (above.sum(-1) <= AMONG).nonzero()[:, 0]
        sign = 1.0 if not shares else -1.0
        count = 0
        for rows in left.split(ROWS):
            whole = read[rows] @ write * sign
            least = whole.gather(1, pieces[rows, None])
            others = (whole >= least).sum(-1) - 1
            count += int((others < AMONG).sum())
        shares.append(count / max(len(pieces), 1))
    return shares[0], shares[1]


def orthonormal(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """A random matrix of orthonormal columns, all directions alike. (rows, columns)."""
    directions: Tensor = torch.linalg.qr(torch.randn(rows, columns, generator=generator))[0]
    return directions


def _at_random(vocabulary: Vocabulary, spectra: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Numbers of random matrices of the heads' spectra: copying (heads, DRAWS), and shares copied
    and suppressed (heads, DRAWS_OF_PIECES, 2)."""
    generator = torch.Generator().manual_seed(SEED)
    d_model, k = len(vocabulary.written), len(spectra[0])
    copied = torch.zeros(len(spectra), DRAWS, dtype=torch.float64)
    among = torch.zeros(len(spectra), DRAWS_OF_PIECES, 2, dtype=torch.float64)
    for draw in range(DRAWS):
        X, Y = (orthonormal(d_model, k, generator) for _ in range(2))
        middle = (Y.T @ vocabulary.through @ X).double()
        asked = draw < DRAWS_OF_PIECES
        read = vocabulary.asked @ X if asked else X
        write = Y.T @ vocabulary.written if asked else X
        for at, strengths in enumerate(spectra):
            copied[at, draw] = copying(strengths[:, None] * middle)
            if asked:
                shares = raised(read * strengths.float(), write, vocabulary.sample)
                among[at, draw] = torch.tensor(shares, dtype=torch.float64)
    return copied, among


def against(value: float, drawn: Tensor) -> Against:
    """A number beside the same of random draws, (draws,)."""
    return Against(value, float(drawn.double().mean()), *middle_of(drawn))
