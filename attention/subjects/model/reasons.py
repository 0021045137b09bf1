"""Guesses of the layers of a model, lengths beside weights, and a score as a sum of parts: as
numbers, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import torch
from torch import Tensor

from attention.changing import residual
from attention.changing.residual import Part
from attention.core.printing import distinct_names, percent
from attention.figures.maps import BASE, BLUE
from attention.figures.plots import CHOSEN, label
from attention.figures.tables import number
from attention.trained.models import Model, Run, Transformer

MOST_TERMS = 10
GRID = "rgba(128, 128, 128, 0.25)"
FREE = {"fixedrange": True, "zeroline": False, "showgrid": False, "ticks": ""}


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of each layer for the next piece.

    words: the two likeliest at the end; names: of each layer, and of the end of the last; shares,
    ranks (names, 2): the probability of each of the two words before that layer, and its rank among
    all pieces, 1 = the likeliest; likeliest: the likeliest piece there, with its probability.
    """

    words: Sequence[str]
    names: Sequence[str]
    shares: Tensor
    ranks: Tensor
    likeliest: Sequence[tuple[str, float]]

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
        """Names and columns."""
        return [*self.names], {
            "likeliest": [piece for piece, _ in self.likeliest],
            "its probability": [share for _, share in self.likeliest],
        }


@torch.no_grad()
def guesses(model: Transformer, run: Run) -> Guesses:
    """The guesses of each layer at the end of the sentence, see `residual.guesses`."""
    scores = residual.guesses(model, run)
    words: list[int] = scores[-1].topk(2).indices.tolist()
    ranks = (scores[:, None] > scores[:, words, None]).sum(-1) + 1
    shares = scores.softmax(-1)
    most, ids = shares.max(-1)
    names = [*(f"before {model.title_of(at)}" for at in range(len(model.layers))), "at the end"]
    texts = model.shown(ids.tolist())
    likeliest = [*zip(texts, most.tolist(), strict=True)]
    return Guesses(model.shown(words), names, shares[:, words], ranks, likeliest)


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why a query looks at a key: the score as a sum over what came before.

    names: of the parts, in the order of the model; query, key (parts,): what each part gives by way
    of the query, and of the key; terms (parts, parts): both ways; score: their sum.
    """

    names: Sequence[str]
    terms: Tensor

    @property
    def score(self) -> float:
        """The sum of all terms."""
        return float(self.terms.double().sum())

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]], list[str]]:
        """Names, columns and last row: the greatest terms, and the sum of all others."""
        order = self.terms.abs().flatten().argsort(descending=True, stable=True)
        flat, count = self.terms.double().flatten(), len(self.names)
        kept, rest = order[:MOST_TERMS].tolist(), order[MOST_TERMS:]
        pairs = [divmod(index, count) for index in kept]
        short = [name.replace(" of layer", "") for name in self.names]
        names = [f"{short[row]} × {short[column]}" for row, column in pairs]
        terms = [float(flat[index]) for index in kept]
        if len(rest):
            names.append(f"{len(rest)} more")
            terms.append(float(flat[rest].sum()))
        return names, {"term": terms}, ["Σ = score", number(self.score)]


@torch.no_grad()
def reasons(model: Model, run: Run, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query looks at a key, see `residual.score_parts`; the heads of a layer are one part.

    Raises ValueError where a layer before attends to another sequence.
    """
    parts, terms = residual.score_parts(model, run, layer, head, query, key)
    at = {name: index for index, name in enumerate(dict.fromkeys(map(_part_name, parts)))}
    group = torch.tensor([at[_part_name(part)] for part in parts])
    joined = torch.zeros(len(at), len(at), dtype=torch.float64)
    joined.index_put_((group[:, None], group[None]), terms.double(), accumulate=True)
    return Reasons([*at], joined)


def _part_name(part: Part) -> str:
    if part.kind == "head":
        return f"heads of layer {part.layer}"
    if part.kind == "feed-forward":
        return f"feed-forward of layer {part.layer}"
    return part.kind


def length_rows(run: Run, layer: int, head: int, query: int) -> tuple[Tensor, list[str], str]:
    """The weights of a query, and each key's share of the lengths that are added. (2, keys).

    Also the names of the keys, and a sentence on the first one and special tokens.
    """
    weights, lengths = residual.lengths(run, layer)
    pieces = run.inputs[layer].memory_pieces or run.inputs[layer].pieces
    sinks = [at == 0 or special for at, special in enumerate(pieces.special)]
    shares = lengths / lengths.sum(-1, keepdim=True).clamp_min(torch.finfo(lengths.dtype).tiny)
    of_weights, of_lengths = (
        float(numbers[..., sinks].sum(-1).double().mean()) for numbers in (weights, shares)
    )
    which = "the first token" + (" and special tokens" if any(pieces.special) else "")
    words = (
        f"Over all heads and queries of this layer, {percent(of_weights, 1)} of the weight and "
        f"{percent(of_lengths, 1)} of the lengths ‖w·v·W_o‖ come from {which}."
    )
    rows = torch.stack([weights[head, query], shares[head, query]])
    return rows, distinct_names(pieces.texts), words


# Charts


def guess_lines(of: Guesses) -> go.Figure:
    """The ranks of two words through the layers, the likeliest on top."""
    most = [f"{label(piece)} {share:.2f}" for piece, share in of.likeliest]
    lines = [
        {
            "type": "scatter",
            "x": list(range(len(of.names))),
            "y": of.ranks[:, at].tolist(),
            "customdata": [
                [label(name), share, told]
                for name, share, told in zip(of.names, of.shares[:, at].tolist(), most, strict=True)
            ],
            "name": label(word),
            "mode": "lines+markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"size": 6, "symbol": symbol},
            "hovertemplate": "%{customdata[0]}: %{y}.<br>probability %{customdata[1]:.4f}"
            "<br>likeliest: %{customdata[2]}"
            f"<extra>{label(word)}</extra>",
        }
        for at, (word, colour, symbol) in enumerate(
            zip(of.words, (CHOSEN, BLUE), ("circle", "square"), strict=True)
        )
    ]
    layout = BASE | {
        "height": 320,
        "margin": {"l": 64, "r": 8, "t": 8, "b": 84},
        "xaxis": FREE | {"title": {"text": "layers that have run", "standoff": 8}},
        "yaxis": {**FREE, "showgrid": True, "gridcolor": GRID, "type": "log"}
        | {"autorange": "reversed", "dtick": 1, "title": {"text": "rank", "standoff": 6}},
    }
    return go.Figure(lines, layout)


def part_bars(of: Reasons) -> go.Figure:
    """Bars of each part's share in a score, by way of the query and of the key."""
    bars = [
        {
            "type": "bar",
            "x": list(range(len(of.names))),
            "y": of.terms.sum(by).tolist(),
            "customdata": [label(name) for name in of.names],
            "name": title,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": "%{customdata}: %{y:.4f}<extra></extra>",
        }
        for title, colour, by in (("in the query", CHOSEN, 1), ("in the key", BLUE, 0))
    ]
    layout = BASE | {
        "height": 300,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 84},
        "xaxis": FREE
        | {"title": {"text": "parts, in the order of the model", "standoff": 8}}
        | {"showticklabels": False},
        "yaxis": {**FREE, "showgrid": True, "gridcolor": GRID, "zeroline": True},
    }
    return go.Figure(bars, layout)
