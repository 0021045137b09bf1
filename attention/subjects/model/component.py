"""All heads of a trained model on one map, its answer, and the chosen head beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.app.components.base import Component


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


class WindowSaid(TypedDict):
    """Everything that the window says and shows besides tensors.

    sequences: the words of the sentence, and of what is written over it; queries: the chosen one of
    each; lenses: name and title of each, with their legends; sign: see `Answered.sign`; chosen,
    off, needed: positions among all heads; told: for each head a few sentences; pair: the key that
    heads are to link with the query, -1 for none; least: the least weight of such a head; erased:
    the position of an erased word, -1 for none; whole: shares that colour the words in place of the
    head's weights, empty for none, and in wholeWords what they are.
    """

    sequences: Sequence[Sequence[str]]
    queries: Sequence[int]
    lenses: list[tuple[str, str]]
    legends: Mapping[str, str]
    lens: str
    sign: int
    chosen: int
    off: list[int]
    needed: list[int]
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


class ModelWindowHeader(WindowSaid):
    """Header of the window, besides numbers."""

    layers: list[Layer]
    heads: int
    columns: int
    greatest: int


@dataclass(frozen=True, eq=False)
class ModelWindow:
    """Content of the window.

    layers: (name, sequence of its queries, sequence of its keys, thumbnails uint8 (heads, rows,
    columns)) of each; rows: the weights of the chosen query, (heads, keys) of each layer; effects
    (layers, heads): by how much the metric changes without each head, NaN while it is not known;
    says: the vote of each head, None where there is none.
    """

    said: WindowSaid
    layers: Sequence[tuple[str, int, int, Tensor]]
    rows: Sequence[Tensor]
    effects: Tensor
    says: Tensor | None


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

    on_piece gets the position of a bar among all of them, on_act the name of one of the acts.
    """
    columns = max(row.shape[-1] for row in shown.rows)
    heads = shown.rows[0].shape[0]
    layers: list[Layer] = []
    first, rest = 0, []
    for name, queries, keys, dots in shown.layers:
        _, down, across = dots.shape
        layers.append(
            Layer(name=name, sequences=(queries, keys), first=first, rows=down, columns=across)
        )
        first += dots.numel()
        rest.append(dots.numpy().tobytes())
    known = shown.effects.isfinite()
    whole = bool(known.all()) and bool((shown.effects != 0).any())
    greatest = int(shown.effects.abs().argmax()) if whole else -1
    header: ModelWindowHeader = {
        **shown.said,
        "layers": layers,
        "heads": heads,
        "columns": columns,
        "greatest": greatest,
    }
    rows_of_all = torch.cat([pad(row, (0, columns - row.shape[-1])) for row in shown.rows])
    says = shown.effects.new_empty(0) if shown.says is None else shown.says.float()
    count, length = len(layers) * heads, max(map(len, shown.said["sequences"]))
    names, pieces = dict(shown.said["lenses"]), sum(len(bar["texts"]) for bar in shown.said["bars"])
    acts = {name for name, _ in shown.said["acts"]}
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
