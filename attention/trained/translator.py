"""Files of a translator that Marian has trained -> an encoder-decoder.

Its decoder has recurrence in place of self-attention.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from attention.core.limits import limits
from attention.trained import marian
from attention.trained.encoder_decoder import MORE, EncoderDecoder
from attention.trained.layers import KnownLayer, Layer, TrainedAttention
from attention.trained.models import About, Decoder, Embedding, Parts
from attention.trained.parts import ACTIVATIONS, FeedForward, LayerNorm, Norms, Recurrence
from attention.trained.subwords import Vocabulary

LIMIT = 128  # pieces of a sentence
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


def positions(n_tokens: int, d_model: int) -> Tensor:
    """Marian's positions: all sines, then all cosines. (tokens, d_model), within [-1, 1].

    Dimension i of the n = d_model / 2 sines is that of pos / 10000^(i / (n - 1)), as in the
    authors' code for Vaswani et al. 2017; the paper, section 3.5, has i / n and takes turns.
    """
    n = d_model // 2
    rates = 10000 ** (-torch.arange(n, dtype=torch.float64) / (n - 1))
    angles = torch.arange(n_tokens, dtype=torch.float64)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], -1).float()


def load_translator(folder: Path, about: About) -> EncoderDecoder:
    """The translator in a folder of model.*.bin, lex.*.bin and vocab.*.spm.

    Raises ValueError, saying what was expected and what came, where it cannot be read.
    """
    weights = marian.MarianFile(_only(folder, "model.*.bin"))
    for name, expected in SETTINGS.items():
        if weights.setting(name) != expected:
            raise ValueError(f"{name} must be {expected!r}, got {weights.setting(name)!r}")
    limit = min(LIMIT, limits().tokens)
    vocabulary = Vocabulary(_only(folder, "vocab.*.spm"), limit)
    d_model = weights.number("dim-emb")
    table = weights.table("Wemb", len(vocabulary), d_model)
    embedding = Embedding(table, positions(limit + MORE + 1, d_model), scale=math.sqrt(d_model))
    shortlist = marian.Shortlist(_only(folder, "lex.*.bin"), len(vocabulary))
    bias = weights.vector("decoder_ff_logit_out_b", len(vocabulary))
    layers = (
        *(_layer(weights, f"encoder_l{number}") for number in _from_1(weights, "enc-depth")),
        *(_layer(weights, f"decoder_l{number}") for number in _from_1(weights, "dec-depth")),
    )
    decoder = Decoder(embedding, table, bias, shortlist.candidates)
    parts = Parts(embedding, layers, limit, ends=[vocabulary.end], decoder=decoder)
    return EncoderDecoder(about, vocabulary, parts)


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
    return KnownLayer(
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
