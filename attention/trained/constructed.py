"""A model whose weights are written by hand: each head does what it was built for, by design.

After tracr (Lindner et al. 2023): a vector has a block for each thing that is known of a token, in
each of which one number is 1, and heads move blocks. Nothing is learned, and there are no norms.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import torch
from torch import Tensor

from attention.trained.layers import KnownLayer, TrainedAttention
from attention.trained.models import About, Embedding, Parts, Transformer
from attention.trained.parts import FeedForward, Norms
from attention.trained.pieces import Reader, read_tokenizer

FILE = Path(__file__).with_suffix(".json")  # its tokenizer
LENGTH = 48
SHARP = 20.0  # score of a key that a head looks for; of the one that it rests on, half of it
SURE = 10.0  # score of the word that follows


def vocabulary() -> list[str]:
    """The words of the model by id: what begins each text, what stands for all that are unknown, a
    full stop, words, and behind them the letters of the alphabet."""
    return [*json.loads(FILE.read_text("utf-8"))["model"]["vocab"]]


def construct(about: About) -> Transformer:
    """The model over single letters and some words."""
    return Transformer(about, Reader(read_tokenizer(FILE), LENGTH), parts(len(vocabulary())))


def parts(words: int) -> Parts:
    """All parts, over so many words.

    Blocks of a vector: its word, its position, the word before it, the position of an equal word
    before it, and the word that followed an earlier equal one. A head compares words, positions,
    and one number that lets it rest on the start.
    """
    sizes = {"word": words, "position": LENGTH, "before": words, "equal": LENGTH, "follows": words}
    starts = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
    d_model, d_head = sum(sizes.values()), words + LENGTH + 1
    eye, rest = torch.eye(words), words + LENGTH

    def reads(word: str = "", position: Tensor | None = None, rests: float = 0.0) -> Tensor:
        """Projection to queries or keys: a block as words, positions through a matrix, and a
        number of each word's. (d_model, d_head)."""
        W = torch.zeros(d_model, d_head)
        if word:
            W[starts[word] : starts[word] + words, :words] = eye
        if position is not None:
            W[starts["position"] : starts["position"] + LENGTH, words:rest] = position
        W[: words if rests == 1 else 1, rest] = rests  # queries: of all words; keys: of the start
        return W

    def moves(block: str, to: str) -> tuple[Tensor, Tensor]:
        """Projections of values and of the output: a block of the key, into another block."""
        W_v, W_o = torch.zeros(d_model, d_head), torch.zeros(d_head, d_model)
        size = sizes[block]
        W_v[starts[block] : starts[block] + size, :size] = torch.eye(size)
        W_o[:size, starts[to] : starts[to] + size] = torch.eye(size)
        return W_v, W_o

    here, one_before = torch.eye(LENGTH), torch.zeros(LENGTH, LENGTH)
    one_before[torch.arange(LENGTH), (torch.arange(LENGTH) - 1).clamp_min(0)] = 1
    follows_v, follows_o = moves("word", "follows")
    follows_v[0] = 0  # nothing follows where it rests on the start
    nothing = torch.zeros(d_model, d_head), torch.zeros(d_head, d_model)
    layers = [
        {
            "previous token": (
                *(reads(position=one_before), reads(position=here)),
                *moves("word", "before"),
            ),
            "same token": (
                *(reads("word", here), reads("word", -here / 2)),
                *moves("position", "equal"),
            ),
        },
        {
            "induction": (
                *(reads("word", rests=1), reads("before", rests=0.5)),
                *(follows_v, follows_o),
            ),
            "start": (reads(rests=1), reads(rests=0.5), *nothing),
        },
    ]
    embedding = Embedding(
        torch.eye(words, d_model),
        torch.eye(LENGTH, d_model).roll(starts["position"], 1),
    )
    unembedding = torch.zeros(d_model, words)
    unembedding[starts["follows"] :] = SURE * eye
    idle = torch.zeros(d_model, 1), None, torch.zeros(1, d_model), None
    made = []
    for named in layers:
        heads = [*named.values()]
        W_q, W_k, W_v = (torch.cat([head[at] for head in heads], 1) for at in range(3))
        W_o = torch.cat([head[3] for head in heads])
        scaled = SHARP * W_q
        attention = TrainedAttention(
            len(heads), {"W_q": scaled, "W_k": W_k, "W_v": W_v, "W_o": W_o}, scale=1.0
        )
        made.append(
            KnownLayer(attention, Norms(), FeedForward(*idle, torch.relu), Norms(), causal=True)
        )
    return Parts(embedding, made, LENGTH, unembedding=unembedding)
