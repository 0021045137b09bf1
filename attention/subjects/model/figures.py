"""Figures of A real model: the map of all its heads, heads that go out one after the other, cards
of sentences to begin with, and lines through its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.analysis.heads import strongest_edges
from attention.core.printing import percent
from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure


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


class Shades(TypedDict):
    """Numbers that tiles can show through a lens: their names by group, and the one shown."""

    lens: str
    groups: Sequence[tuple[str, Sequence[str]]]
    name: str


class Answer(TypedDict):
    """The answer, and its share as trained, now, and in another model, as they are read."""

    word: str
    before: str
    now: str
    other: str


class WindowSaid(TypedDict):
    """Everything that the window says and shows besides tensors.

    sequences: the words of the sentence, and of what is written over it; queries: the chosen one of
    each; lenses: name and title of each, with their legends; darkest: the number of the darkest
    tile through each lens that shows numbers; blue: those with blue fills alone; sign: see
    `Answered.sign`; chosen, off, needed: positions among all heads, chosen -1 while none is to be
    shown, and tried how many have been; told: through a lens a few sentences for each head, in a
    file through every lens; pair: the key that heads are to link with the query, -1 for none;
    least: the least weight of such a head; erased: the position of an erased word, -1 for none;
    whole: shares that colour the words in place of the head's weights, empty for none, and in
    wholeWords what they are; shades: None without such numbers; states: the words for a head whose
    switch is on, and off; other: the words on a second row of weights, "" where there is none.
    """

    sequences: Sequence[Sequence[str]]
    queries: Sequence[int]
    lenses: list[tuple[str, str]]
    legends: Mapping[str, str]
    darkest: Mapping[str, float]
    blue: Sequence[str]
    lens: str
    sign: int
    chosen: int
    off: list[int]
    needed: list[int]
    least: float
    pair: int
    linkWords: str
    told: Mapping[str, Sequence[str]]
    tried: str
    offWords: str
    answer: Answer | None
    bars: list[Bars]
    acts: Sequence[tuple[str, str]]
    erased: int
    whole: list[float]
    wholeWords: str
    shades: Shades | None
    states: tuple[str, str]
    other: str


class ModelWindowHeader(WindowSaid):
    """Header of the window, besides numbers. measures: the lenses that these are seen through."""

    layers: list[Layer]
    heads: int
    columns: int
    measures: list[str]
    greatest: int


@dataclass(frozen=True, eq=False)
class ModelWindow(
    Figure,
    kind="model_window",
    header=ModelWindowHeader,
    head=int,
    switched=tuple[int, int],
    lens=str,
    pair=tuple[int, int],
    piece=int,
    act=str,
    shade=str,
):
    """All heads of a model as tiles, its sentence and answer, and the chosen head beside.

    layers: (name, sequence of its queries, sequence of its keys, thumbnails uint8 (heads, rows,
    columns)) of each; rows: the weights of the chosen query, (heads, keys) of each layer, second:
    the same in another model, empty without one; measures:
    by lens the number of each head, (layers, heads), NaN while it is not known: first by how much
    the metric changes without it; of passports with its sign turned where less than 0 is orange;
    way: to set heads that are off.

    It answers `head`, the position of the one chosen among all; `switched`, that of one and whether
    it is off now; `lens`, its name; `pair`, a query and a key; `piece`, the position of a bar among
    all of them; `act`, its name; `shade`, the name of a number of passports. Pointing at a head
    shows where it looks without asking the server.
    """

    said: WindowSaid
    layers: Sequence[tuple[str, int, int, Tensor]]
    rows: Sequence[Tensor]
    second: Sequence[Tensor]
    measures: Mapping[str, Tensor]
    way: str

    @property
    def effects(self) -> Tensor:
        """By how much the metric changes without each head. (layers, heads)."""
        return next(iter(self.measures.values()))

    def content(self) -> bytes:
        columns = max(row.shape[-1] for row in self.rows)
        layers: list[Layer] = []
        first, tiles = 0, []
        for name, queries, keys, dots in self.layers:
            _, down, across = dots.shape
            layers.append(
                Layer(name=name, sequences=(queries, keys), first=first, rows=down, columns=across)
            )
            first += dots.numel()
            tiles.append(dots.numpy().tobytes())
        known = bool(self.effects.isfinite().all()) and bool((self.effects != 0).any())
        header: ModelWindowHeader = {
            **self.said,
            "layers": layers,
            "heads": self.effects.shape[1],
            "columns": columns,
            "measures": [*self.measures],
            "greatest": int(self.effects.abs().argmax()) if known else -1,
        }
        rows = (pad(row, (0, columns - row.shape[-1])) for row in (*self.rows, *self.second))
        numbers = [each.float() for each in (torch.cat([*rows]), *self.measures.values())]
        return message(header, *numbers, rest=b"".join(tiles))

    def offer(self) -> None:
        heads = self.effects.shape[1]
        names = [f"{layer}.{head}" for layer in range(len(self.layers)) for head in range(heads)]
        # The first is a change of the answer, told as a loss where it is less than 0.
        titles = dict(self.said["lenses"]) | {next(iter(self.measures)): "change without it"}
        columns = {titles[lens]: each.flatten().tolist() for lens, each in self.measures.items()}
        files.offer_table("heads", names, {**columns, "off": [self.way] * len(names)})

    def has_head(self, head: int) -> bool:
        """True if there is a head at a position."""
        return head in range(self.effects.numel())

    def has_switch(self, switched: tuple[int, int]) -> bool:
        """True if a head can be switched so."""
        head, off = switched
        return self.has_head(head) and off in (0, 1)

    def has_lens(self, name: str) -> bool:
        """True if the map has a lens of that name."""
        return name in dict(self.said["lenses"])

    def has_shade(self, name: str) -> bool:
        """True if tiles can show a number of that name."""
        shades = self.said["shades"]
        return shades is not None and any(name in names for _, names in shades["groups"])

    def has_pair(self, pair: tuple[int, int]) -> bool:
        """True if some sequence is long enough for both words."""
        longest = max(map(len, self.said["sequences"]))
        return all(position in range(longest) for position in pair)

    def has_piece(self, position: int) -> bool:
        """True if there is a bar at a position."""
        return position in range(sum(len(bar["texts"]) for bar in self.said["bars"]))

    def has_act(self, name: str) -> bool:
        """True if a button of that name is offered."""
        return name in dict(self.said["acts"])


class Stage(TypedDict):
    """Likely next words at one stage, with the words on it.

    head: the position of the one that goes out, -1 with all on; answer: the position of the answer
    among the texts; turned: whether another word leads.
    """

    head: int
    title: str
    looked: str
    tried: str
    texts: list[str]
    shares: list[float]
    answer: int
    turned: bool
    told: str


class Doubt(TypedDict):
    """One thing that stands beside a team, with an act that works it out, "" for none."""

    title: str
    text: str
    act: str


class TeamHeader(TypedDict):
    """Everything that a team of heads says and shows.

    of: a name for the answer that it is about; text: the sentence as typed; total: the answer
    without all of them.
    """

    of: str
    text: str
    question: str
    words: list[str]
    stages: list[Stage]
    total: str
    doubts: list[Doubt]
    acts: Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class TeamFilm(Figure, kind="team", header=TeamHeader, team=list[int], act=str):
    """Heads that go out one after the other, and the answer at each stage.

    heads: of the model, in all. It answers `team`, the positions of the heads that are off now in
    the order in which they went out, and `act`, the name of a button.
    """

    said: TeamHeader
    heads: int

    def content(self) -> bytes:
        return message(self.said)

    def has_team(self, team: Sequence[int]) -> bool:
        """True if there are such heads, none of them twice."""
        return len({*team}) == len(team) <= self.heads and {*team} <= {*range(self.heads)}

    def has_act(self, name: str) -> bool:
        """True if a button of that name is offered."""
        acts = [*dict(self.said["acts"]), *(doubt["act"] for doubt in self.said["doubts"])]
        return bool(name) and name in acts


class HeadCard(TypedDict):
    """One card.

    words: of the sentence, each with whether a space goes before it; weights: how much the head
    looks at each; answer: the next word; before, after: its share with the head and without, or in
    a base and in what was tuned of it, as they are read, with shares for their bars.
    """

    title: str
    words: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    answer: str
    before: str
    after: str
    shares: tuple[float, float]


class HeadCardsHeader(TypedDict):
    """All cards, and the place of the one whose sentence is shown, -1 for none."""

    cards: Sequence[HeadCard]
    chosen: int


@dataclass(frozen=True, eq=False)
class HeadCards(Figure, kind="head_cards", header=HeadCardsHeader, example=int):
    """Sentences whose answer a head decides, each on a card.

    It answers `example`, the position of a card whose sentence is to be shown.
    """

    cards: Sequence[HeadCard]
    chosen: int

    def has_card(self, at: int) -> bool:
        """True if there is such a card."""
        return at in range(len(self.cards))


@dataclass(frozen=True, eq=False)
class LayerLines:
    """Weights of one token in each layer.

    kind: mean or greatest of the heads; weights: (layers, keys); drawn: bool of the same shape, the
    strongest of each layer; heads: of the same shape, which head each weight is of, None: of all.
    """

    kind: str
    weights: Tensor
    drawn: Tensor
    heads: Tensor | None

    @classmethod
    def of(cls, rows: Tensor, kind: str, share: float) -> LayerLines:
        """Weights of one token in each layer, and the fewest keys that hold a share of each.

        rows: its weights, (layers, heads, keys).
        """
        weights, heads = (rows.mean(1), None) if kind == "mean" else rows.max(1)
        return cls(kind, weights, strongest_edges(weights, share), heads)

    @property
    def words(self) -> str:
        """Count the lines that are drawn, and the weight they hold, in a sentence."""
        numbers = self.weights.double()
        count, share = int(self.drawn.sum()), float(numbers[self.drawn].sum() / numbers.sum())
        return (
            f"{count} line{' holds' if count == 1 else 's hold'} {percent(share)} of these weights."
        )


class LayerLinesHeader(TypedDict):
    """Header before the weights: which of them are drawn, and of which head."""

    tokens: Sequence[str]
    layers: Sequence[str]
    query: int
    byHead: bool


@dataclass(frozen=True, eq=False)
class LinesThroughLayers(Figure, kind="layer_lines", header=LayerLinesHeader):
    """Layers across, tokens down: lines from a token back to those it looks at in each layer.

    titles: of the layers; query: the token. Pointing at a layer or a token tells its numbers; a
    click or arrow keys choose a token, arrow keys go through the layers.
    """

    lines: LayerLines
    tokens: Sequence[str]
    titles: Sequence[str]
    query: int

    def content(self) -> bytes:
        lines = self.lines
        header: LayerLinesHeader = {
            "tokens": list(self.tokens),
            "layers": list(self.titles),
            "query": self.query,
            "byHead": lines.heads is not None,
        }
        parts = [lines.drawn] if lines.heads is None else [lines.drawn, lines.heads]
        rest = b"".join(part.to(torch.uint8).numpy().tobytes() for part in parts)
        return message(header, lines.weights, rest=rest)

    def offer(self) -> None:
        title, of = f"{self.lines.kind} of the heads, by layer", f"token {self.query}"
        files.offer_matrix(title, self.lines.weights, self.titles, self.tokens, of=of)
