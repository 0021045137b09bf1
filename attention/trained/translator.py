"""A translator: an encoder of self-attention, and a decoder that attends over its output."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from attention.core.functional import Trace, linear
from attention.core.limits import limits
from attention.trained import marian
from attention.trained.layers import Layer, LayerRun, TrainedAttention
from attention.trained.models import About, Model, NoWords, Padded, Pieces, Run, Start
from attention.trained.parts import ACTIVATIONS, FeedForward, LayerNorm, Norms, Recurrence
from attention.trained.subwords import Vocabulary

LIMIT = 128  # pieces of a sentence
LONGER = 2.5  # times as many pieces a translation may have, as its own engine has it
MORE = 48  # and how many more at most: a sentence of one letter repeated never comes to its end
ALTERNATIVES = 5
EPS = 1e-9  # Marian's, in every layer norm

# What Marian must have been told in training for a model to be computed as it is here.
SETTINGS = {
    "type": "transformer",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-decoder-autoreg": "rnn",
    "transformer-ffn-depth": "2",
    "transformer-train-position-embeddings": "false",
    "transformer-no-projection": "false",
    "dec-cell": "ssru",
    "tied-embeddings-all": "true",
    "right-left": "false",
}


@dataclass(frozen=True, eq=False)
class DecodedPiece:
    """Step of a translation: how one of its pieces was found.

    piece: its number; text; probability: among the candidates, in [0, 1]; alternatives: the
    likeliest pieces and their probabilities, the one that was taken first; alignment (source
    pieces,): how much each piece of the source has to do with it, see `Translator.alignment`.
    """

    piece: int
    text: str
    probability: float
    alternatives: tuple[tuple[str, float], ...]
    alignment: Tensor


@dataclass(frozen=True, eq=False)
class Translation:
    """A translation, and how it was found.

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


class Translator(Model):
    """Encoder and decoder (Vaswani et al. 2017, section 3.1), the decoder's self-attention
    replaced by recurrence.

    layers: those of the encoder, then the decoder's, which cross. embedding (vocabulary, d_model):
    of both languages, and what scores the next piece with `bias` (vocabulary,).
    """

    def __init__(
        self,
        about: About,
        vocabulary: Vocabulary,
        shortlist: marian.Shortlist,
        embedding: marian.Quantised,
        bias: Tensor,
        layers: Sequence[Layer],
    ) -> None:
        self.about, self.vocabulary, self.shortlist = about, vocabulary, shortlist
        self.embedding, self.bias = embedding, bias
        self.layers = layers
        self._n_encoder = sum(not layer.crosses for layer in layers)
        self.limit = min(LIMIT, limits().tokens)
        self._d_model = embedding.numbers.shape[1]
        self._positions = positions(self._bound(self.limit) + 1, self._d_model)

    def pieces(self, text: str) -> Pieces:
        return self.vocabulary.read(text, self.limit)

    def title_of(self, layer: int) -> str:
        if layer < self._n_encoder:
            return f"encoder {layer}"
        return f"decoder {layer - self._n_encoder}"

    def run(self, text: str) -> Run:
        """A sentence through all layers, and its translation through those of the decoder.

        There, row i of x is the query that produces piece i of the translation, the end included;
        so it is with the rows of hidden. Raises NoWords when there is no word in the sentence.
        """
        translation = self.translate(text)
        return self.run_pieces(translation.source, translation.output)

    def embed(self, ids: Tensor, first: int = 0) -> Tensor:
        vectors = self.embedding.rows(ids) * math.sqrt(self._d_model)
        return vectors + self._positions_of(ids.shape[-1], first)

    def embed_output(self, output: Padded) -> Tensor:
        """Embed what each piece is produced from: the one before it, for the first one nothing."""
        before = self.embedding.rows(output.ids[..., :-1]) * math.sqrt(self._d_model)
        nothing = before.new_zeros(*before.shape[:-2], 1, self._d_model)
        return torch.cat([nothing, before], -2) + self._positions_of(output.ids.shape[-1])

    @torch.no_grad()
    def probabilities(self, run: Run) -> Tensor:
        """Probability of each piece of a run's translation, among the candidates. (pieces,)."""
        candidates, scores = self._scorer(run.pieces.ids)
        wanted = run.inputs[-1].pieces.ids
        found = torch.searchsorted(candidates, wanted)
        return scores(run.hidden).softmax(-1).gather(-1, found[:, None])[:, 0]

    @torch.no_grad()
    def translate(self, text: str) -> Translation:
        """The likeliest next piece each time, until the end or until there are too many.

        Its own engine decodes in the same way: no beam, no temperature, a shortlist.
        Raises NoWords when there is no word in the text.
        """
        source = self._some_pieces(text)
        candidates, scores = self._scorer(source.ids)
        steps = self._steps(source.ids, candidates, scores)
        ids = [step.piece for step in steps]
        return Translation(
            self.vocabulary.text(ids),
            source,
            self.vocabulary.pieces(ids),
            tuple(steps),
            len(candidates),
            ids[-1] == self.vocabulary.end,
        )

    def alignment(self, trace: Trace) -> Tensor:
        """Align the pieces of the translation with those of the source they come from.

        trace: of the last layer. Its head 0, as Marian has it: the one that training guides to
        align words (Chen et al. 2016). Returns (output pieces, source pieces), rows sum to 1.
        """
        return trace.head(0).weights

    @staticmethod
    def _bound(n_source: int) -> int:
        """Bound on the pieces of a translation: as its engine has it, but for long ones."""
        return min(math.ceil(LONGER * n_source), n_source + MORE)

    def _some_pieces(self, text: str) -> Pieces:
        pieces = self.pieces(text)
        if all(pieces.special):
            raise NoWords
        return pieces

    def _steps(
        self, source: Tensor, candidates: Tensor, scores: Callable[[Tensor], Tensor]
    ) -> list[DecodedPiece]:
        """Pieces one after the other; what depends on the source alone is worked out once."""
        batch = Padded(source)
        *_, encoded = itertools.islice(self.forward(batch), self._n_encoder)
        x = self._positions_of(1)
        runs: list[LayerRun] = []
        steps: list[DecodedPiece] = []
        for position in range(1, self._bound(len(source)) + 1):
            start = Start(self._n_encoder, x, encoded.output)
            runs = list(self.forward(batch, start=start, after=runs))
            alignment = self.alignment(runs[-1].trace)[0]
            steps.append(self._step(candidates, scores(runs[-1].output)[0], alignment))
            if steps[-1].piece == self.vocabulary.end:
                break
            x = self.embed(torch.tensor([steps[-1].piece]), position)
        return steps

    def _step(self, candidates: Tensor, scores: Tensor, alignment: Tensor) -> DecodedPiece:
        best = scores.softmax(-1).topk(min(ALTERNATIVES, len(candidates)))
        pieces = candidates[best.indices].tolist()
        texts = self.vocabulary.pieces(pieces).texts
        alternatives = tuple(zip(texts, best.values.tolist(), strict=True))
        return DecodedPiece(pieces[0], *alternatives[0], alternatives, alignment)

    def _scorer(self, source: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The candidates, and what scores them: (tokens, d_model) -> (tokens, candidates)."""
        candidates = self.shortlist.candidates(source)
        W, b = self.embedding.rows(candidates).T, self.bias[candidates]
        return candidates, lambda hidden: linear(hidden, W, b)

    def _positions_of(self, n_tokens: int, first: int = 0) -> Tensor:
        """(tokens, d_model). Raises ValueError where there are more tokens than positions."""
        end = first + n_tokens
        if end > len(self._positions):
            raise ValueError(f"there are {len(self._positions)} positions, got {end} pieces")
        return self._positions[first:end]


def positions(n_tokens: int, d_model: int) -> Tensor:
    """Marian's positions: all sines, then all cosines. (tokens, d_model), within [-1, 1].

    Dimension i of the n = d_model / 2 sines is that of pos / 10000^(i / (n - 1)), as in the
    authors' code for Vaswani et al. 2017; the paper, section 3.5, has i / n and takes turns.
    """
    n = d_model // 2
    rates = 10000 ** (-torch.arange(n, dtype=torch.float64) / (n - 1))
    angles = torch.arange(n_tokens, dtype=torch.float64)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], -1).float()


def load_translator(folder: Path, about: About) -> Translator:
    """The translator in a folder of model.*.bin, lex.*.bin and vocab.*.spm.

    Raises ValueError, saying what was expected and what came, where it cannot be read.
    """
    weights = marian.MarianFile(_only(folder, "model.*.bin"))
    for name, expected in SETTINGS.items():
        if weights.setting(name) != expected:
            raise ValueError(f"{name} must be {expected!r}, got {weights.setting(name)!r}")
    vocabulary = Vocabulary(_only(folder, "vocab.*.spm"))
    d_model = weights.number("dim-emb")
    return Translator(
        about,
        vocabulary,
        marian.Shortlist(_only(folder, "lex.*.bin"), len(vocabulary)),
        weights.table("Wemb", len(vocabulary), d_model),
        weights.vector("decoder_ff_logit_out_b", len(vocabulary)),
        (
            *(_layer(weights, f"encoder_l{number}") for number in _from_1(weights, "enc-depth")),
            *(_layer(weights, f"decoder_l{number}") for number in _from_1(weights, "dec-depth")),
        ),
    )


def _from_1(weights: marian.MarianFile, depth: str) -> range:
    return range(1, weights.number(depth) + 1)


def _layer(weights: marian.MarianFile, name: str) -> Layer:
    decodes = name.startswith("decoder")
    attends = "context" if decodes else "self"
    d_model, hidden = weights.number("dim-emb"), weights.number("transformer-dim-ffn")
    activation = weights.setting("transformer-ffn-activation")
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"its activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}"
        )
    parameters: dict[str, Tensor] = {}
    for letter in "qkvo":
        parameters[f"W_{letter}"] = weights.matrix(f"{name}_{attends}_W{letter}", d_model, d_model)
        parameters[f"b_{letter}"] = weights.vector(f"{name}_{attends}_b{letter}", d_model)
    return Layer(
        TrainedAttention(weights.number("transformer-heads"), parameters),
        Norms(after=_norm(weights, f"{name}_{attends}_Wo", d_model)),
        FeedForward(
            weights.matrix(f"{name}_ffn_W1", d_model, hidden),
            weights.vector(f"{name}_ffn_b1", hidden),
            weights.matrix(f"{name}_ffn_W2", hidden, d_model),
            weights.vector(f"{name}_ffn_b2", d_model),
            ACTIVATIONS[activation],
        ),
        Norms(after=_norm(weights, f"{name}_ffn_ffn", d_model)),
        crosses=decodes,
        recurrence=_recurrence(weights, name) if decodes else None,
    )


def _recurrence(weights: marian.MarianFile, name: str) -> Recurrence:
    d_model = weights.number("dim-emb")
    return Recurrence(
        weights.matrix(f"{name}_rnn_W", d_model, d_model),
        weights.matrix(f"{name}_rnn_Wf", d_model, d_model),
        weights.vector(f"{name}_rnn_bf", d_model),
        _norm(weights, f"{name}_rnn_ffn", d_model),
    )


def _norm(weights: marian.MarianFile, name: str, d_model: int) -> LayerNorm:
    scale, bias = f"{name}_ln_scale", f"{name}_ln_bias"
    return LayerNorm(weights.vector(scale, d_model), weights.vector(bias, d_model), EPS)


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise ValueError(f"one file {pattern} is needed, there are {len(found)}")
    return found[0]
