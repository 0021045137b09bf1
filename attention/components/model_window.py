"""All heads of a trained model on one map, its answer, and the chosen head beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.components.base import Component


class Layer(TypedDict):
    """One layer: its name, the sequences that queries and keys are of, and its tiles."""

    name: str
    sequences: tuple[int, int]
    first: int
    rows: int
    columns: int


class Bars(TypedDict):
    """Likely next words, with their probabilities."""

    title: str
    texts: list[str]
    shares: list[float]


class Answer(TypedDict):
    """The answer, and its share as trained and now, as they are read."""

    word: str
    before: str
    now: str


class ModelWindowHeader(TypedDict):
    """Header of the window, besides numbers."""

    sequences: Sequence[Sequence[str]]
    queries: Sequence[int]
    layers: list[Layer]
    heads: int
    columns: int
    lenses: list[tuple[str, str]]
    legends: Mapping[str, str]
    lens: str
    sign: int
    chosen: int
    off: list[int]
    needed: list[int]
    greatest: int
    least: float
    pair: int
    linkWords: str
    linkLegend: str
    told: Sequence[str]
    offWords: str
    answer: Answer | None
    bars: list[Bars]
    acts: Sequence[tuple[str, str]]
    erased: int
    whole: list[float]
    wholeWords: str


@dataclass(frozen=True, eq=False)
class ModelWindow:
    """Content of the window.

    sequences: the words of the sentence, and of what is written over it; queries: the chosen one of
    each; layers: (name, sequence of its queries, sequence of its keys, thumbnails uint8 (heads,
    rows, columns)) of each; rows: the weights of the chosen query, (heads, keys) of each layer;
    effects (layers, heads): by how much the metric changes without each head, NaN while it is not
    known; sign: see `Answered.sign`; says: the vote of each head, None where there is none; chosen,
    off, needed: positions among all heads; told: for each head a few sentences; pair: the key that
    heads are to link with the query, -1 for none; least: the least weight of such a head; erased:
    the position of an erased word, -1 for none; whole: what colours the words in place of the
    head's weights, in words, and the share of each.
    """

    sequences: Sequence[Sequence[str]]
    queries: Sequence[int]
    layers: Sequence[tuple[str, int, int, Tensor]]
    rows: Sequence[Tensor]
    effects: Tensor
    says: Tensor | None
    lenses: Mapping[str, str]
    legends: Mapping[str, str]
    lens: str
    sign: int
    chosen: int
    off: Sequence[int]
    needed: Sequence[int]
    told: Sequence[str]
    off_words: str
    pair: int
    least: float
    link_words: str
    link_legend: str
    answer: Answer | None
    bars: Sequence[Bars]
    acts: Sequence[tuple[str, str]]
    erased: int
    whole: tuple[str, list[float]] | None


_window = Component(
    "model_window",
    ModelWindowHeader,
    head=int,
    switched=tuple[int, int],
    lens=str,
    pair=tuple[int, int],
    piece=int,
    act=str,
)


def model_window(
    shown: ModelWindow,
    *,
    key: str,
    on_head: Callable[[int], object],
    on_switch: Callable[[int, bool], object],
    on_lens: Callable[[str], object],
    on_pair: Callable[[int, int], object],
    on_piece: Callable[[int], object],
    on_act: Callable[[str], object],
) -> None:
    """Draws the window. A head, a second word, a lens, a switch and a bar are chosen in it by
    pointer or by keys; pointing at a head shows where it looks without asking the server.

    on_piece gets the position of a bar among all of them, on_act the name of one of `shown.acts`.
    """
    columns = max(row.shape[-1] for row in shown.rows)
    heads = shown.rows[0].shape[0]
    layers: list[Layer] = []
    first, rest = 0, []
    for name, queries, keys, dots in shown.layers:
        _, rows, across = dots.shape
        layers.append(
            {
                "name": name,
                "sequences": (queries, keys),
                "first": first,
                "rows": rows,
                "columns": across,
            }
        )
        first += dots.numel()
        rest.append(dots.numpy().tobytes())
    known = shown.effects.isfinite()
    whole = bool(known.all()) and bool((shown.effects != 0).any())
    header: ModelWindowHeader = {
        "sequences": [list(words) for words in shown.sequences],
        "queries": list(shown.queries),
        "layers": layers,
        "heads": heads,
        "columns": columns,
        "lenses": [*shown.lenses.items()],
        "legends": dict(shown.legends),
        "lens": shown.lens,
        "sign": shown.sign,
        "chosen": shown.chosen,
        "off": list(shown.off),
        "needed": list(shown.needed),
        "greatest": int(shown.effects.abs().argmax()) if whole else -1,
        "least": shown.least,
        "pair": shown.pair,
        "linkWords": shown.link_words,
        "linkLegend": shown.link_legend,
        "told": list(shown.told),
        "offWords": shown.off_words,
        "answer": shown.answer,
        "bars": list(shown.bars),
        "acts": list(shown.acts),
        "erased": shown.erased,
        "whole": [] if shown.whole is None else shown.whole[1],
        "wholeWords": "" if shown.whole is None else shown.whole[0],
    }
    rows_of_all = torch.cat([pad(row, (0, columns - row.shape[-1])) for row in shown.rows])
    says = shown.effects.new_empty(0) if shown.says is None else shown.says.float()
    count, length = len(layers) * heads, max(map(len, shown.sequences))
    names, pieces = dict(shown.lenses), sum(len(bar["texts"]) for bar in shown.bars)
    acts = {name for name, _ in shown.acts}
    _window.draw(
        header,
        rows_of_all.float(),
        shown.effects.float(),
        says,
        key=key,
        rest=b"".join(rest),
        head=(range(count).__contains__, on_head),
        switched=(
            lambda switched: switched[0] in range(count) and switched[1] in (0, 1),
            lambda switched: on_switch(switched[0], bool(switched[1])),
        ),
        lens=(names.__contains__, on_lens),
        pair=(
            lambda pair: all(at in range(length) for at in pair),
            lambda pair: on_pair(*pair),
        ),
        piece=(range(pieces).__contains__, on_piece),
        act=(acts.__contains__, on_act),
    )
