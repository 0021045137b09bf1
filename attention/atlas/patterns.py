"""Measures and names of the keys that heads look at, beside shuffled keys and heads of twins.

Two nulls stand beside each number. *Shuffled*: the keys of each row in any other order, among those
that it may see. A number's mean over all orders needs no draw: measures ask how much weight lies
where, so it is that of even rows, but for the entropy, which asks for no order; and the greatest
weight of a row lies on each key equally often, so that a name holds as often as more than half of
so many uneven coins show heads. *Untrained*: of the heads of the twin, see `twin`. A name is held
against the best of them all on all texts: a head that is chosen among hundreds must do better than
the luckiest of hundreds that learned nothing.

A name is found on one half of the sentences: it holds on more than `EARNED` of them, and its
interval lies above both nulls. It is checked on the other half likewise, and told either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from attention.analysis.heads import MEASURES, NAMINGS, Keys, Measure, measures
from attention.analysis.names import EARNED, HOLDS, holds, shown, targets_of
from attention.atlas.blocks import Block, blocks_over
from attention.atlas.corpus import Corpus, CorpusItem
from attention.atlas.passport import CHECKED, HALVES, Mean, Measured, Name, Row
from attention.atlas.stages import Subject
from attention.atlas.statistics import clear_of, mean_of, middle_of, share_of
from attention.changing.change import Head

Raw = Mapping[str, Tensor]

ROWS = 8  # of a head, in its sample


class Patterns:
    """Stage that measures where all heads look in a sentence.

    It gives, heads by layer: measures, and shuffled: of even rows, (measures, heads); right: on
    which share of its rows each name shows, chance: of the name to hold where keys are shuffled,
    and weight: the mean weight on its keys, (names, heads); untrained (measures, twins * heads) and
    right_untrained (names, twins * heads), of twins; sink: the share on what is set aside,
    (heads,); sets: names as bits, and by_set: the share of attention on keys that have these names
    and no other, (sets, heads). NaN where a sentence says nothing. Of each block its weights, which
    keys some head may see, and which queries and keys count with sinks aside. A row that may see no
    key of a name does not count for it.
    """

    name: str = "patterns"
    version: int = 1

    def texts(self, corpus: Corpus) -> Sequence[CorpusItem]:
        """All sentences."""
        return corpus.sentences

    @torch.no_grad()
    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        """Measure a sentence."""
        parts: dict[str, list[Tensor]] = {}
        found: dict[str, Tensor] = {}
        for at, (block, twins) in enumerate(blocks_over(subject, asked.text)):
            queries, keys = block.pieces.kept(True), block.keys.kept(True)
            counted = {
                **_measured(block, twins),
                **_named(block, twins),
                "sink": _aside(block.weights[:, queries], keys),
                "by_set": _by_set(block, queries),
            }
            for name, each in counted.items():
                parts.setdefault(name, []).append(each)
            found[f"weights.{at}"], found[f"seen.{at}"] = block.weights, block.seen
            found[f"queries.{at}"], found[f"keys.{at}"] = map(torch.tensor, (queries, keys))
        found |= {name: torch.cat(each, -1) for name, each in parts.items()}
        some = found["by_set"].any(-1)
        return found | {"sets": some.nonzero().flatten(), "by_set": found["by_set"][some]}


def _measured(block: Block, twins: Block) -> dict[str, Tensor]:
    """Measures of a block: `measures`, `shuffled` and `untrained`."""
    keys = Keys.of(block.keys)
    by_name = [
        measures(weights, keys, block.crosses)
        for weights in (block.weights, block.even, twins.weights)
    ]
    by_name[1]["entropy"] = by_name[0]["entropy"]
    found = {}
    for name, numbers in zip(("measures", "shuffled", "untrained"), by_name, strict=True):
        nothing = torch.full_like(numbers["entropy"], torch.nan)
        found[name] = torch.stack([numbers.get(each, nothing) for each in MEASURES]).double()
    return found


def _named(block: Block, twins: Block) -> dict[str, Tensor]:
    """Names of a block: `right`, `right_untrained`, `chance` and `weight`."""
    heads = (len(block.weights), len(twins.weights), len(block.weights), len(block.weights))
    right, untrained, chance, weight = (
        torch.full((len(NAMINGS), many), torch.nan, dtype=torch.float64) for many in heads
    )
    pieces = block.pieces
    for at, naming in enumerate([] if block.crosses else NAMINGS.values()):
        targets, kept = targets_of(naming, pieces, block.seen), pieces.kept(not naming.sinks)
        shares, on = holds(block.weights, targets, kept)
        if len(shares):
            right[at], weight[at] = shares, on
            untrained[at], _ = holds(twins.weights, targets, kept)
            chance[at] = _chances(block.allowed, targets, kept)
    return {"right": right, "right_untrained": untrained, "chance": chance, "weight": weight}


def _chances(allowed: Tensor, targets: Tensor, kept: Sequence[int]) -> Tensor:
    """Chance of a name to hold in each head, its keys shuffled. (heads,). See `chance_of`."""
    rows = torch.tensor([*kept])
    among, seen = targets[rows[:, None], rows], allowed[:, rows[:, None], rows]
    shares = (among & seen).sum(-1).double() / seen.sum(-1).clamp_min(1)
    different, back = shares[:, among.any(-1)].unique(dim=0, return_inverse=True)
    return torch.tensor([chance_of(row.tolist()) for row in different], dtype=torch.float64)[back]


def chance_of(shares: Sequence[float]) -> float:
    """Chance that more than `HOLDS` of some coins show heads. shares: of each its own chance."""
    counts = torch.ones(1, dtype=torch.float64)  # the chance of so many, from none on
    nothing = torch.zeros(1, dtype=torch.float64)
    for share in shares:
        counts = torch.cat([counts * (1 - share), nothing]) + torch.cat([nothing, counts * share])
    over = torch.arange(len(counts)) / max(1, len(shares)) > HOLDS
    return float(counts[over].sum())


def _aside(rows: Tensor, keys: Sequence[int]) -> Tensor:
    """Share of rows (heads, rows, keys) on all keys but these. (heads,)."""
    aside = torch.ones(rows.shape[-1], dtype=torch.bool)
    aside[[*keys]] = False
    return rows[..., aside].sum(-1).double().mean(-1)


def _by_set(block: Block, queries: Sequence[int]) -> Tensor:
    """Share of the attention of these queries on keys of each set of names. (2 ^ names, heads)."""
    rows = block.weights[:, [*queries]].double() / max(1, len(queries))
    sets = torch.zeros(1 << len(NAMINGS), len(rows), dtype=torch.float64)
    bits = torch.zeros(rows.shape[1:], dtype=torch.int64)
    for at, naming in enumerate([] if block.crosses else NAMINGS.values()):
        bits += targets_of(naming, block.pieces, block.seen)[[*queries]].long() << at
    return sets.index_add_(0, bits.flatten(), rows.flatten(1).T)


@dataclass(frozen=True)
class Pattern:
    """Attention of a head over all sentences, see `passport.Passport`."""

    measures: tuple[Measured, ...]
    names: tuple[Name, ...]
    rows: tuple[Row, ...]
    unexplained: Mean
    sink: Mean


def summarised(subject: Subject, raw: Sequence[Raw]) -> dict[Head, Pattern]:
    """Summarise what the stage found in each sentence, for each head.

    unexplained is of the checked half, by names that hold alone; sink is of all sentences.
    """
    summary = _Summary(subject, raw)
    names, rows = summary.names(), summary.rows()
    return {
        head: Pattern(
            summary.measures(at),
            names[at],
            rows[at],
            summary.unexplained(at, names[at]),
            mean_of(summary.all["sink"][:, at].tolist()),
        )
        for at, head in enumerate(subject.heads)
    }


class _Summary:
    """All sentences together: `all` has what is of one shape in each."""

    def __init__(self, subject: Subject, raw: Sequence[Raw]) -> None:
        self.raw, self.model = raw, subject.model
        self.texts = Patterns().texts(subject.corpus)
        self.half = {
            half: [at for at, asked in enumerate(self.texts) if asked.half == half]
            for half in HALVES
        }
        single = ("sets", "by_set")
        self.all = {
            name: torch.stack([each[name] for each in raw])
            for name in raw[0]
            if "." not in name and name not in single
        }
        layers = subject.model.layers
        self.kinds = [layers[at].crosses for at, _ in subject.heads]
        self.untrained = [self._untrained(at) for at in range(len(MEASURES))]

    def _untrained(self, measure: int) -> dict[bool, Mean]:
        """Mean of the heads of twins of each kind, and the interval that they lie in."""
        by_head = self.all["untrained"][:, measure].nanmean(0)
        twins = len(by_head) // len(self.kinds)
        kinds = [kind for _, block in groupby(self.kinds) for kind in [*block] * twins]
        found = {}
        for kind in {*kinds}:
            heads = by_head[[at for at, each in enumerate(kinds) if each == kind]]
            found[kind] = Mean(float(heads.mean()), *middle_of(heads), len(heads))
        return found

    def measures(self, at: int) -> tuple[Measured, ...]:
        """Measures of a head that sentences of both halves say something of."""
        found = []
        for place, name in enumerate(MEASURES):
            here, shuffled = (self.all[of][:, place, at] for of in ("measures", "shuffled"))
            counted = [_said(here[self.half[half]]) for half in HALVES]
            if all(counted):
                means = mean_of(counted[0]), mean_of(counted[1]), mean_of(_said(shuffled))
                found.append(Measured(name, *means, self.untrained[place][self.kinds[at]]))
        return tuple(found)

    def names(self) -> list[tuple[Name, ...]]:
        """Names of each head, the one that holds most often first."""
        found: list[list[Name]] = [[] for _ in self.kinds]
        for place, naming in enumerate(NAMINGS.values()):
            right, twins = (self.all[of][:, place] for of in ("right", "right_untrained"))
            said = (~twins.isnan()).sum(0)
            untrained = float(((twins > HOLDS).sum(0) / said.clamp_min(1)).max())
            shuffled = self.all["chance"][:, place].nanmean(0).nan_to_num(0.0).tolist()
            showing: _Showing | None = None
            for at, names in enumerate(found):
                shares = [_share(right[self.half[half], at]) for half in HALVES]
                null = max(untrained, shuffled[at])
                if not shares[0] or not shares[1] or not _beats(shares[0], null):
                    continue
                showing = showing or _Showing(self, naming)
                weight = mean_of(_said(self.all["weight"][:, place, at]))
                holding = _beats(shares[1], null)
                nulls = shuffled[at], untrained
                one = Name(naming.name, shares[0], shares[1], weight, *nulls, holding, *showing(at))
                names.append(one)
        return [tuple(sorted(each, key=lambda name: -name.found.mean)) for each in found]

    def rows(self) -> list[tuple[Row, ...]]:
        """A sample of rows of each head, the one with the greatest weight first.

        Of the checked half, where that has enough; sinks count for no row's greatest weight.
        """
        found: list[tuple[Row, ...]] = []
        for block in range(sum(name.startswith("weights.") for name in self.raw[0])):
            places, greatest = self._greatest(block, self.half[CHECKED])
            if len(places) < ROWS:
                places, greatest = self._greatest(block, range(len(self.raw)))
            for at, chosen in enumerate(spread(greatest, ROWS)):
                found.append(tuple(self.row(block, at, *places[one]) for one in chosen))
        return found

    def _greatest(self, block: int, texts: Sequence[int]) -> tuple[list[tuple[int, int]], Tensor]:
        """Text and query of each row that counts, and its greatest weight. (heads, rows)."""
        places, greatest = [], []
        for text in texts:
            weights, queries, keys = (
                self.raw[text][f"{part}.{block}"] for part in ("weights", "queries", "keys")
            )
            places += [(text, query) for query in queries.tolist()]
            greatest.append(weights[:, queries][..., keys].amax(-1))
        return places, torch.cat(greatest, -1)

    def row(self, block: int, at: int, text: int, query: int) -> Row:
        """A row of a head of a block."""
        return Row(text, query, tuple(self.raw[text][f"weights.{block}"][at, query].tolist()))

    def unexplained(self, at: int, names: Sequence[Name]) -> Mean:
        """Share of a head's attention that no name that holds foretells."""
        own = sum(1 << [*NAMINGS].index(name.name) for name in names if name.holds)
        raw = [self.raw[text] for text in self.half[CHECKED]]
        return mean_of([float(one["by_set"][(one["sets"] & own) == 0, at].sum()) for one in raw])


def _said(numbers: Tensor) -> list[float]:
    """Numbers of the texts that say something."""
    said: list[float] = numbers[~numbers.isnan()].tolist()
    return said


def _share(right: Tensor) -> Mean | None:
    """On how many texts a name holds, None where it could on none."""
    said = _said(right)
    return share_of(sum(one > HOLDS for one in said), len(said)) if said else None


def _beats(share: Mean, null: float) -> bool:
    """True where a name is earned, and surely above what it is held against."""
    return share.mean > EARNED and clear_of(share, null) > 0


def spread(values: Tensor, most: int) -> list[list[int]]:
    """Places of values that lie nearest to so many levels between the greatest and the least.

    values (…, many). Each place once, the greatest first.
    """
    high, low = values.amax(-1), values.amin(-1)
    left, chosen = values.clone(), []
    for level in torch.linspace(1, 0, most):
        wanted = low + level * (high - low)
        nearest = (left - wanted[:, None]).abs().argmin(-1, keepdim=True)
        chosen.append(nearest)
        left = left.scatter(-1, nearest, torch.inf)
    places: list[list[int]] = torch.cat(chosen, -1)[:, : values.shape[-1]].tolist()
    return places


class _Showing:
    """Rows of the checked half in which a name can show: if it does, the weight there."""

    def __init__(self, summary: _Summary, naming: Measure) -> None:
        self.summary = summary
        self.places: list[tuple[int, int]] = []
        right, weight = [], []
        for text in summary.half[CHECKED]:
            pieces = summary.model.pieces(summary.texts[text].text)
            raw, kept = summary.raw[text], pieces.kept(not naming.sinks)
            targets = targets_of(naming, pieces, raw["seen.0"])
            queries, *found = shown(raw["weights.0"], targets, kept)
            self.places += [(text, query) for query in queries.tolist()]
            right.append(found[0])
            weight.append(found[1])
        self.right, self.weight = torch.cat(right, -1), torch.cat(weight, -1)

    def __call__(self, at: int) -> tuple[Row, Row | None]:
        """Example and counter-example of a head: of the rows that show the name the one in their
        middle by weight, where none does the heaviest; of the others the lightest."""
        right, weight = self.right[at], self.weight[at]
        order = weight.argsort(stable=True).tolist()
        showing = [place for place in order if right[place]]
        others = [place for place in order if not right[place]]
        example = showing[len(showing) // 2] if showing else order[-1]
        rows = [self.summary.row(0, at, *self.places[one]) for one in (example, *others[:1])]
        return rows[0], rows[1] if others else None
