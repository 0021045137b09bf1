"""The heads of one layer: small pictures of their weights, measures to find one by, edges."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.core.analysis import entropy_bits
from attention.core.functional import LongTrace, Trace
from attention.trained.models import Pieces

MANY_HEADS = 16
MAX_DOTS, FEWER_DOTS = 96, 48
PLAIN_DOTS = 32
SATURATED = 0.005
MAX_MEASURED = 1 << 18

Rows = Iterable[tuple[Tensor, Tensor]]  # positions, and their weights (heads, rows, keys)


@dataclass(frozen=True)
class Keys:
    """The tokens that may be attended to, as far as they are known.

    special: for each whether it is a special token; ids: equal for equal tokens; each is empty
    where it is not known.
    """

    special: Sequence[bool] = ()
    ids: Sequence[Hashable] = ()

    @functools.cached_property
    def numbers(self) -> Tensor:
        """A number for each token, equal for equal ones. (tokens,)."""
        numbers = {one: number for number, one in enumerate(dict.fromkeys(self.ids))}
        return torch.tensor([numbers[one] for one in self.ids])

    def followers(self, rows: Tensor) -> Tensor:
        """Keys that followed an earlier token like the query, of those at `rows`. (rows, tokens)"""
        numbers, at = self.numbers, torch.arange(len(self.ids))
        return (numbers[rows, None] == numbers.roll(1)) & (at > 0) & (at <= rows[:, None])

    @classmethod
    def of(cls, pieces: Pieces) -> Keys:
        """The pieces of a sentence."""
        return cls(pieces.special, pieces.ids.tolist())


NOTHING_KNOWN = Keys()
Targets = Callable[[Tensor, int, Keys], Tensor]


@dataclass(frozen=True)
class Measure:
    """A number that tells what a head attends to, on average over the queries.

    name; words: it in a caption, of a share the token on which the weight lies; number: that of
    each query, of weights (heads, rows, keys) and the positions of these rows, (heads, rows);
    targets: of a share instead, which keys are such a token, of queries at these positions and so
    many keys, (rows, keys) bool; compares: it compares positions of queries and keys, which are
    those of one sequence then; needs_special: there must be special tokens; needs_equal: there must
    be equal tokens; some: only queries that have such a key count, and where there are none the
    measure says nothing; sinks: special tokens and the first one count for its name, which are set
    aside otherwise, see `Pieces.kept`.
    """

    name: str
    words: str
    number: Callable[[Tensor, Tensor], Tensor] | None = None
    targets: Targets | None = None
    compares: bool = False
    needs_special: bool = False
    needs_equal: bool = False
    some: bool = False
    sinks: bool = False

    def __post_init__(self) -> None:
        """Refuse a measure that lacks a part. Raises ValueError."""
        if not self.words or (self.number is None) == (self.targets is None):
            raise ValueError(f"measure {self.name!r} must have words, and a number or targets")

    def says(self, shape: tuple[int, int], keys: Keys, crosses: bool) -> bool:
        """True if it says anything of heads over these keys. shape: queries and keys."""
        if self.compares and crosses:
            return False
        if self.needs_special and not any(keys.special):
            return False
        if self.needs_equal and len({*keys.ids}) == len(keys.ids):
            return False
        if not self.some:
            return True
        at_once = max(1, MAX_MEASURED // shape[1])
        blocks = torch.arange(shape[0]).split(at_once)
        return any(bool(self.targets_of(rows, shape[1], keys).any()) for rows in blocks)

    def targets_of(self, rows: Tensor, n_keys: int, keys: Keys = NOTHING_KNOWN) -> Tensor:
        """Keys on which its share of the weight lies, of queries at these positions.

        rows: (rows,). Returns (rows, keys), bool.
        """
        assert self.targets is not None
        return self.targets(rows, n_keys, keys)

    def of_rows(self, weights: Tensor, rows: Tensor, keys: Keys) -> tuple[Tensor, Tensor]:
        """The number of each row, and which rows count. weights (heads, rows, keys) of queries at
        the positions `rows` -> (heads, rows) twice, the latter bool."""
        counts = weights.sum(-1) > 0
        if self.number is not None:
            return self.number(weights, rows), counts
        targets = self.targets_of(rows, weights.shape[-1], keys)
        if self.some:
            counts = counts & targets.any(-1)
        return (weights * targets).sum(-1), counts


def _distance(weights: Tensor, rows: Tensor) -> Tensor:
    steps = torch.arange(weights.shape[-1]) - rows[:, None]
    return (weights * steps.abs()).sum(-1)


def _beside(offset: int) -> Targets:
    """The token so many positions further."""

    def targets(rows: Tensor, n_keys: int, keys: Keys) -> Tensor:
        return torch.arange(n_keys) == rows[:, None] + offset

    return targets


def _columns(which: Callable[[int, Keys], Tensor]) -> Targets:
    """Give every query these keys."""
    return lambda rows, n_keys, keys: which(n_keys, keys).expand(len(rows), n_keys)


def _first(n_keys: int, keys: Keys) -> Tensor:
    return torch.arange(n_keys) == 0


def _equal(rows: Tensor, n_keys: int, keys: Keys) -> Tensor:
    ids = keys.numbers
    return (ids[rows, None] == ids) & (rows[:, None] != torch.arange(n_keys))


def _separator(rows: Tensor, n_keys: int, keys: Keys) -> Tensor:
    special = torch.tensor(keys.special)
    return ~special[rows, None] & special & (torch.arange(n_keys) > 0)


def _followers(rows: Tensor, n_keys: int, keys: Keys) -> Tensor:
    return keys.followers(rows)


def _not_itself(rows: Tensor, n_keys: int, keys: Keys) -> Tensor:
    return _columns(_first)(rows, n_keys, keys) & (torch.arange(n_keys) < rows[:, None])


_PREVIOUS = Measure("previous", "the token before it", targets=_beside(-1), compares=True)
_ITSELF = Measure("itself", "the token itself", targets=_beside(0), compares=True)
_NEXT = Measure("next", "the token after it", targets=_beside(1), compares=True)
_FIRST = Measure("first", "the first token", targets=_columns(_first))
_INDUCTION = Measure(
    "induction",
    "the token that followed an earlier equal one",
    targets=_followers,
    compares=True,
    needs_equal=True,
    some=True,
)


def by_name(*measures: Measure) -> dict[str, Measure]:
    """Measures by their names. Raises ValueError where two have one name."""
    found = {measure.name: measure for measure in measures}
    if len(found) < len(measures):
        raise ValueError(f"each measure must have a name of its own, got {[*found]}")
    return found


# All measures: tables, captions and the menu to sort by follow from this.
MEASURES = by_name(
    Measure(
        "entropy", "entropy in bits", lambda weights, rows: entropy_bits(weights).nan_to_num(0.0)
    ),
    Measure("distance", "distance in tokens", _distance, compares=True),
    *(_PREVIOUS, _ITSELF, _NEXT, _FIRST),
    Measure(
        "special",
        "special tokens such as [CLS]",
        targets=_columns(lambda n_keys, keys: torch.tensor(keys.special)),
        needs_special=True,
    ),
    _INDUCTION,
)
# Names that a head can earn by its greatest weights, see `names`.
NAMINGS = by_name(
    *(_PREVIOUS, _NEXT, _ITSELF),
    Measure("same word", "an equal token elsewhere", targets=_equal),
    _INDUCTION,
    replace(_FIRST, targets=_not_itself, sinks=True),
    Measure("separator", "the special token at the end", targets=_separator, sinks=True),
)


def measures(
    weights: Tensor, keys: Keys = NOTHING_KNOWN, crosses: bool = False
) -> dict[str, Tensor]:
    """Measure each head's attention, on average over the queries: one number per head, by name.

    weights: (heads, queries, keys), before dropout. Rows with nothing to attend to count for
    nothing; a share on a token that is not there is 0 (the first query has no previous one).
    crosses: whether the keys are those of another sequence than the queries, so that positions
    cannot be compared.
    """
    every = torch.arange(weights.shape[-2])
    return measures_of_rows([(every, weights)], weights.shape, keys, crosses)[0]


def measures_of_rows(
    blocks: Rows, shape: Sequence[int], keys: Keys = NOTHING_KNOWN, crosses: bool = False
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Measure heads whose rows come in blocks: all of them, or a sample spread evenly.

    blocks, shape: as `overview_of_rows` has them. Returns the means, and the standard error of
    each, which is 0 where all rows have come. (heads,) each, by name.
    """
    seen = _Seeing(shape, keys, crosses)
    for rows, weights in blocks:
        seen.measure(weights, rows)
    return seen.means(), seen.errors()


def spread_rows(count: int, most: int) -> Tensor:
    """Positions of up to `most` of so many rows, in the middles of equal stretches. (rows,)"""
    if most >= count:
        return torch.arange(count)
    return ((torch.arange(most, dtype=torch.float64) + 0.5) * (count / most)).long()


def order(measured: dict[str, Tensor], by: str) -> list[int]:
    """The heads by one of their measures, the greatest first; by "head", in their own order."""
    if by not in measured:
        return list(range(len(next(iter(measured.values())))))
    positions: list[int] = measured[by].argsort(descending=True, stable=True).tolist()
    return positions


@dataclass(frozen=True, eq=False)
class Overview:
    """All heads of one layer at a glance; small, so that it can be kept.

    dots, block: see `_shades`, `_block`; measures: those of every head, by name; rows: how many
    queries are measured, of how many; of_sizes: whether weights are no shares, so that their sizes
    are measured.
    """

    dots: Tensor
    block: int
    measures: dict[str, Tensor]
    rows: tuple[int, int]
    of_sizes: bool = False

    def without_distributions(self) -> Overview:
        """Overview as one of sizes, without measures that need a distribution."""
        measured = {name: number for name, number in self.measures.items() if name != "entropy"}
        return replace(self, measures=measured, of_sizes=True)


def overview(
    trace: Trace | LongTrace, head: int = 0, keys: Keys = NOTHING_KNOWN, shares: bool = True
) -> Overview:
    """The overview of a trace of all heads, (heads, queries, keys); head: the one that is shown.

    shares: whether the weights are shares of 1, see `Trace.weights_are_a_distribution`. Of others
    the sizes are measured, each over the sum of its row's, without an entropy.
    """
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(head)
    if shares:
        return overview_of(weights, keys)
    return overview_of(shares_of(weights), keys).without_distributions()


def shares_of(weights: Tensor) -> Tensor:
    """The size of each weight, over the sum of its row's. (…, keys)."""
    sizes = weights.abs()
    sums = sizes.sum(-1, keepdim=True)
    return sizes / sums.where(sums > 0, 1.0)


def overview_of(
    weights: Tensor, keys: Keys = NOTHING_KNOWN, beside: int = 0, crosses: bool = False
) -> Overview:
    """Overview of weights (heads, queries, keys), of any type.

    beside: how many other heads are shown with these; crosses: as `measures` has it.
    """
    return overview_of_rows(in_blocks(weights), weights.shape, keys, beside, crosses)


def in_blocks(weights: Tensor) -> Rows:
    """The rows of weights (heads, queries, keys), a few at a time, since each is measured in
    several times its room: their positions, and (heads, rows, keys) of them."""
    at_once = max(1, MAX_MEASURED // max(1, weights[:, 0].numel()))
    for rows in torch.arange(weights.shape[1]).split(at_once):
        yield rows, weights[:, rows[0] : rows[-1] + 1]


def overview_of_rows(
    blocks: Rows,
    shape: Sequence[int],
    keys: Keys = NOTHING_KNOWN,
    beside: int = 0,
    crosses: bool = False,
) -> Overview:
    """Overview of heads whose rows come in blocks: all of them, or a sample spread evenly.

    blocks: positions of rows, and their weights (heads, rows, keys), whole rows in each; shape:
    heads, queries and keys of all; the rest as `overview_of` has it. Of a sample a dot is the
    greatest weight of the rows that are in it.
    """
    heads, n_queries, n_keys = shape
    seen = _Seeing(shape, keys, crosses)
    block = _block(heads + beside, (n_queries, n_keys))
    dots = torch.zeros(heads, -(-n_queries // block), -(-n_keys // block))
    for rows, weights in blocks:
        numbers = weights.float()
        seen.measure(numbers, rows)
        across = -n_keys % block
        pooled = (pad(numbers, (0, across)) if across else numbers).unflatten(-1, (-1, block))
        at = (rows // block)[:, None].expand(heads, -1, dots.shape[-1])
        dots.scatter_reduce_(1, at, pooled.amax(-1), "amax")
    return Overview(_shades(dots), block, seen.means(), (seen.rows, n_queries))


class _Seeing:
    """Measures of heads as blocks of their rows come: for each the rows that count, the sum of
    their numbers and that of their squares. shape: heads, queries and keys."""

    def __init__(self, shape: Sequence[int], keys: Keys, crosses: bool) -> None:
        heads, self.queries, n_keys = shape
        self.keys, self.rows = keys, 0
        self.sums = {
            name: torch.zeros(3, heads, dtype=torch.float64)
            for name, measure in MEASURES.items()
            if measure.says((self.queries, n_keys), keys, crosses)
        }

    def measure(self, weights: Tensor, rows: Tensor) -> None:
        self.rows += len(rows)
        for name, sums in self.sums.items():
            numbers, counts = MEASURES[name].of_rows(weights, rows, self.keys)
            counted = numbers.double() * counts
            sums += torch.stack([counts.sum(-1), counted.sum(-1), counted.square().sum(-1)])

    def means(self) -> dict[str, Tensor]:
        """The mean over the rows that count, 0 where none does. (heads,) each."""
        return {
            name: (total / count.clamp_min(1)).float()
            for name, (count, total, _) in self.sums.items()
        }

    def errors(self) -> dict[str, Tensor]:
        """The standard error of each mean, as that of a sample without replacement: the root of
        s² / n · (1 − n / N), n of N rows (Cochran 1977, "Sampling Techniques", 2.20). (heads,)."""
        found = {}
        for name, (count, total, squares) in self.sums.items():
            n = count.clamp_min(2)
            variance = (squares - total.square() / n).clamp_min(0) / (n - 1)
            found[name] = (variance / n * (1 - self.rows / self.queries)).sqrt().float()
        return found


def _block(heads: int, lengths: Sequence[int]) -> int:
    """Number of cells that a dot spans where so many heads are shown. lengths: queries, keys.

    A dot is the greatest of block × block weights, so that no strong one is lost.
    """
    return math.ceil(max(lengths) / (MAX_DOTS if heads <= MANY_HEADS else FEWER_DOTS))


def _shades(dots: Tensor) -> Tensor:
    """Dots as uint8: 255 is the greatest of its head. With more than `PLAIN_DOTS` a side, the
    greatest few of a head are all 255, so that they do not leave the others pale."""
    flat = dots.flatten(1)
    beyond = round(flat.shape[1] * SATURATED) if max(dots.shape[-2:]) > PLAIN_DOTS else 0
    greatest = flat.topk(beyond + 1).values[:, -1, None, None]
    shades = dots * (255 / greatest.where(greatest > 0, 1.0))
    return shades.round().clamp_max(255).to(torch.uint8)


def strongest_edges(weights: Tensor, share: float) -> Tensor:
    """The fewest keys of each row that together hold `share` of the row's weight, as a mask.

    weights: (…, queries, keys); share in [0, 1]. Returns bool of the same shape. At least one key
    of every row that has any weight is kept; nothing is renormalised.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    if share == 1:
        return weights > 0
    ordered, indices = weights.sort(dim=-1, descending=True, stable=True)
    doubles = ordered.double()
    before = doubles.cumsum(-1) - doubles
    # A share such as 0.9 of a row of 0.9 + 0.1 is covered by the first, whatever floats say.
    enough = share * doubles.sum(-1, keepdim=True) - 1e-7
    needed = (before < enough) & (ordered > 0)
    needed[..., :1] |= ordered[..., :1] > 0
    edges: Tensor = torch.zeros_like(needed).scatter(-1, indices, needed)
    return edges
