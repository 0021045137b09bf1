"""An encoder, and a decoder that attends to its output as it writes: translators, T5, BART."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from attention.core.functional import Trace, linear
from attention.trained.layers import LayerRun
from attention.trained.models import (
    About,
    Decoder,
    Model,
    NoWords,
    Padded,
    Parts,
    Pieces,
    Run,
    Start,
    Tokenizer,
)

LONGER = 2.5  # times as many pieces an output may have as its source, as Marian has it
MORE = 48  # and how many more at most: a sentence of one letter repeated never comes to its end
ALTERNATIVES = 5

Scorer = Callable[[Tensor], Tensor]  # (tokens, d_model) -> (tokens, candidates)


class OutputTokenizer(Tokenizer, Protocol):
    """Text -> its pieces, and back, with the words of an output that is in pieces."""

    def pieces(self, ids: Sequence[int], special: Collection[int]) -> Pieces: ...


@dataclass(frozen=True, eq=False)
class DecodedPiece:
    """Step of decoding: how one piece of an output was found.

    piece: its number; text; probability: among the candidates, in [0, 1]; alternatives: the
    likeliest pieces and their probabilities, the one that was taken first; alignment (source
    pieces,): how much each piece of the source has to do with it, see `EncoderDecoder.alignment`.
    """

    piece: int
    text: str
    probability: float
    alternatives: tuple[tuple[str, float], ...]
    alignment: Tensor


@dataclass(frozen=True, eq=False)
class Decoded:
    """Output over a source, as a translation, and how it was found.

    text; source, output: its pieces, the end included; steps: one for each piece of the output;
    candidates: how many pieces each was chosen from; finished: whether it came to its end, not to
    its bound.
    """

    text: str
    source: Pieces
    output: Pieces
    steps: tuple[DecodedPiece, ...]
    candidates: int
    finished: bool

    @property
    def alignment(self) -> Tensor:
        """Alignment of all steps. (output pieces, source pieces)."""
        return torch.stack([step.alignment for step in self.steps])


class EncoderDecoder(Model):
    """Encoder and decoder (Vaswani et al. 2017, section 3.1).

    Layers are those of the encoder, then the decoder's: each of these is two, its self-attention
    and its attention to what the encoder gives, or the latter alone, behind a recurrence.
    """

    decoder: Decoder
    _read: OutputTokenizer

    def __init__(self, about: About, read: OutputTokenizer, parts: Parts) -> None:
        super().__init__(about, read, parts)
        if parts.decoder is None or not parts.layers[-1].crosses:
            raise ValueError("an encoder-decoder must have a decoder whose last layer crosses")
        self.decoder = parts.decoder
        self._n_encoder = sum(not layer.decodes for layer in parts.layers)

    def title_of(self, layer: int) -> str:
        if layer < self._n_encoder:
            return f"encoder {layer}"
        decoding = self.layers[self._n_encoder :]
        before = sum(each.crosses for each in decoding[: layer - self._n_encoder])
        kind = "" if all(each.crosses for each in decoding) else " self"
        return f"decoder {before}{' cross' if kind and self.layers[layer].crosses else kind}"

    def run(self, text: str) -> Run:
        """A sentence through all layers, and its output through those of the decoder.

        There, row i of x is the query that produces piece i of the output, the end included; so it
        is with the rows of hidden. Raises NoWords when there is no word in the sentence.
        """
        written = self.write(text)
        return self.run_pieces(written.source, written.output)

    def embed_output(self, output: Padded) -> Tensor:
        """Embed what each piece is produced from: the one before it, for the first the start."""
        ids = output.ids
        start = self._start.expand(*ids.shape[:-1], 1, -1)
        return torch.cat([start, self.decoder.embedding(ids[..., :-1], 1)], -2)

    def read_before(self, output: Pieces) -> Pieces:
        """The start, and all of an output but its last piece."""
        first = [] if self.decoder.start is None else [self.decoder.start]
        return self._written_pieces([*first, *output.ids.tolist()][: len(output.ids)])

    def probabilities(self, run: Run) -> Tensor:
        """Probability of each piece of a run's output, among the candidates. (pieces,)."""
        candidates, scores = self.scorer(run.pieces.ids)
        wanted = run.inputs[-1].pieces.ids
        found = torch.searchsorted(candidates, wanted)
        return scores(run.hidden).softmax(-1).gather(-1, found[:, None])[:, 0]

    @torch.no_grad()
    def write(self, text: str) -> Decoded:
        """The likeliest next piece each time, until the end or until there are too many.

        There is no beam, no temperature, and no penalty of repetition.
        Raises NoWords when there is no word in the text.
        """
        source = self.pieces(text)
        if all(source.special):
            raise NoWords
        candidates, scores = self.scorer(source.ids)
        steps = self._steps(source.ids, candidates, scores)
        ids = [step.piece for step in steps]
        said = [piece for piece in ids if piece not in self._special]
        return Decoded(
            (self._read.text_of(said) or "".join(self.shown(said))).strip(),
            source,
            self._written_pieces(ids),
            tuple(steps),
            len(candidates),
            ids[-1] in self.parts.ends,
        )

    def alignment(self, trace: Trace) -> Tensor:
        """Align the pieces of the output with those of the source they come from.

        trace: of the last layer. Its head that training guided to align words, else the mean of all
        its heads. Returns (output pieces, source pieces), rows sum to 1.
        """
        head = self.decoder.aligns
        return trace.weights.mean(-3) if head is None else trace.head(head).weights

    def scorer(self, source: Tensor) -> tuple[Tensor, Scorer]:
        """Pieces that an output may be made of, ascending, (candidates,), and a function that
        scores them. source (pieces,)."""
        decoder, factor = self.decoder, self.decoder.factor
        rows, b = decoder.table, decoder.bias
        candidates = torch.arange(len(rows))
        if decoder.candidates is not None:
            candidates = decoder.candidates(source)
            b = None if b is None else b[candidates]
        if decoder.candidates is not None or not isinstance(rows, Tensor):
            rows = rows[candidates]
        W = rows.T
        return candidates, lambda hidden: linear(hidden if factor == 1 else hidden * factor, W, b)

    @property
    def _start(self) -> Tensor:
        """Embedding of what stands before the first piece. (1, d_model)."""
        decoder = self.decoder
        if decoder.start is None:
            nothing = torch.zeros(1, self.layers[0].attention.config.d_model)
            return decoder.embedding.placed(nothing)
        return decoder.embedding(torch.tensor([decoder.start]))

    @property
    def _special(self) -> Collection[int]:
        """Pieces of an output that are no part of its text."""
        own = self.decoder.start, self.decoder.begins
        return {*self.parts.ends, *(piece for piece in own if piece is not None)}

    def _written_pieces(self, ids: Sequence[int]) -> Pieces:
        return self._read.pieces(ids, self._special)

    def _bound(self, n_source: int) -> int:
        """Bound on the pieces of an output."""
        bound = min(math.ceil(LONGER * n_source), n_source + MORE)
        positions = self.decoder.embedding.positions
        return bound if positions is None else min(bound, len(positions))

    def _steps(self, source: Tensor, candidates: Tensor, scores: Scorer) -> list[DecodedPiece]:
        """Pieces one after the other; what depends on the source alone is worked out once."""
        batch = Padded(source)
        *_, encoded = itertools.islice(self.forward(batch), self._n_encoder)
        runs: list[LayerRun] = []
        steps: list[DecodedPiece] = []
        for position in range(self._bound(len(source))):
            x = self._start
            if steps:
                x = self.decoder.embedding(torch.tensor([steps[-1].piece]), position)
            start = Start(self._n_encoder, x, encoded.output)
            runs = list(self.forward(batch, start=start, after=runs))
            alignment = self.alignment(runs[-1].trace)[0]
            found = scores(self.final(runs[-1].output))[0]
            given = None if steps else self.decoder.begins
            steps.append(self._step(candidates, found, alignment, given))
            if steps[-1].piece in self.parts.ends and given is None:
                break
        return steps

    def _step(
        self, candidates: Tensor, scores: Tensor, alignment: Tensor, given: int | None
    ) -> DecodedPiece:
        """given: the piece that is taken whatever the scores are, None: the likeliest one."""
        shares = scores.softmax(-1)
        best = shares.topk(min(ALTERNATIVES, len(candidates))).indices.tolist()
        if given is not None:
            at = int(torch.searchsorted(candidates, given))
            best = [at, *(each for each in best if each != at)][: len(best)]
        pieces = candidates[best].tolist()
        alternatives = tuple(zip(self.shown(pieces), shares[best].tolist(), strict=True))
        return DecodedPiece(pieces[0], *alternatives[0], alternatives, alignment)
