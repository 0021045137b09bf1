"""An encoder, and a decoder that writes over the sentence: translators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

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
)
from attention.trained.subwords import Vocabulary

LONGER = 2.5  # times as many pieces an output may have as its source, as Marian has it
MORE = 48  # and how many more at most: a sentence of one letter repeated never comes to its end

Scorer = Callable[[Tensor], Tensor]  # (tokens, d_model) -> (tokens, candidates)


@dataclass(frozen=True, eq=False)
class Decoded:
    """Output over a source, as a translation.

    text; source, output: its pieces, the end included; alignment (output pieces, source pieces):
    how much each piece of the source has to do with each, see `EncoderDecoder.alignment`.
    """

    text: str
    source: Pieces
    output: Pieces
    alignment: Tensor


class EncoderDecoder(Model):
    """Encoder and decoder (Vaswani et al. 2017, section 3.1).

    Layers are those of the encoder, then the decoder's: of each its attention to what the encoder
    gives, behind a recurrence.
    """

    decoder: Decoder
    _read: Vocabulary

    def __init__(self, about: About, read: Vocabulary, parts: Parts) -> None:
        super().__init__(about, read, parts)
        if parts.decoder is None or not parts.layers[-1].crosses:
            raise ValueError("an encoder-decoder must have a decoder whose last layer crosses")
        self.decoder = parts.decoder
        self._n_encoder = sum(not layer.crosses for layer in parts.layers)

    def title_of(self, layer: int) -> str:
        if layer < self._n_encoder:
            return f"encoder {layer}"
        return f"decoder {layer - self._n_encoder}"

    def run(self, text: str) -> Run:
        """A sentence through all layers, and its output through those of the decoder.

        There, row i of x is the query that produces piece i of the output, the end included; so it
        is with the rows of hidden. Raises NoWords when there is no word in the sentence.
        """
        written = self.write(text)
        return self.run_pieces(written.source, written.output)

    def embed_output(self, output: Padded) -> Tensor:
        """Embed what each piece is produced from: the one before it, for the first nothing."""
        ids = output.ids
        start = self._start.expand(*ids.shape[:-1], 1, -1)
        return torch.cat([start, self.decoder.embedding(ids[..., :-1], 1)], -2)

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
        ids, alignment = self._written(source.ids, candidates, scores)
        text = self._read.text_of([piece for piece in ids if piece not in self.parts.ends])
        return Decoded(text.strip(), source, self._read.pieces(ids, self.parts.ends), alignment)

    def alignment(self, trace: Trace) -> Tensor:
        """Align the pieces of the output with those of the source they come from.

        trace: of the last layer, whose head that training guided to align words does it. Returns
        (output pieces, source pieces), rows sum to 1.
        """
        return trace.head(self.decoder.aligns).weights

    def scorer(self, source: Tensor) -> tuple[Tensor, Scorer]:
        """Pieces that an output may be made of, ascending, (candidates,), and a function that
        scores them. source (pieces,)."""
        candidates = self.decoder.candidates(source)
        W, b = self.decoder.table[candidates].T, self.decoder.bias[candidates]
        return candidates, lambda hidden: linear(hidden, W, b)

    @property
    def _start(self) -> Tensor:
        """Embedding of what stands before the first piece. (1, d_model)."""
        nothing = torch.zeros(1, self.layers[0].attention.config.d_model)
        return self.decoder.embedding.placed(nothing)

    def _bound(self, n_source: int) -> int:
        """Bound on the pieces of an output."""
        bound = min(math.ceil(LONGER * n_source), n_source + MORE)
        positions = self.decoder.embedding.positions
        return bound if positions is None else min(bound, len(positions))

    def _written(
        self, source: Tensor, candidates: Tensor, scores: Scorer
    ) -> tuple[list[int], Tensor]:
        """Pieces one after the other, and their alignment; what depends on the source alone is
        worked out once."""
        batch = Padded(source)
        *_, encoded = itertools.islice(self.forward(batch), self._n_encoder)
        runs: list[LayerRun] = []
        ids: list[int] = []
        alignment: list[Tensor] = []
        for position in range(self._bound(len(source))):
            x = self.decoder.embedding(torch.tensor(ids[-1:]), position) if ids else self._start
            start = Start(self._n_encoder, x, encoded.output)
            runs = list(self.forward(batch, start=start, after=runs))
            alignment.append(self.alignment(runs[-1].trace)[0])
            likeliest = scores(self.final(runs[-1].output))[0].argmax()
            ids.append(int(candidates[likeliest]))
            if ids[-1] in self.parts.ends:
                break
        return ids, torch.stack(alignment)
