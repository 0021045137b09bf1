"""The heads of one layer: small pictures of their weights, measures to find one by, edges."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
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

    @property
    def followers(self) -> Tensor:
        """Keys that followed an earlier token like the query, (tokens, tokens)."""
        return (self.numbers[:, None] == self.numbers).tril(-1).roll(1, -1)

    @classmethod
    def of(cls, pieces: Pieces) -> Keys:
        """The pieces of a sentence."""
        return cls(pieces.special, pieces.ids.tolist())


NOTHING_KNOWN = Keys()
Targets = Callable[[int, int, Keys], Tensor]


@dataclass(frozen=True)
class Measure:
    """A number that tells what a head attends to, on average over the queries.

    name; words: it in a caption, of a share the token on which the weight lies; number: the sum
    over the queries, of weights (heads, queries, keys), (heads,); targets: of a share instead,
    which keys are such a token, of so many queries and keys, (queries, keys) bool; compares: it
    compares positions of queries and keys, which are those of one sequence then; needs_special:
    there must be special tokens; some: only queries that have such a key count, and where there are
    none the measure says nothing; example: a sentence on which it shows; sinks: special tokens and
    the first one count for its name, which are set aside otherwise, see `Pieces.kept`.
    """

    name: str
    words: str
    number: Callable[[Tensor], Tensor] | None = None
    targets: Targets | None = None
    compares: bool = False
    needs_special: bool = False
    some: bool = False
    example: str = ""
    sinks: bool = False

    def says(self, shape: tuple[int, int], keys: Keys, crosses: bool) -> bool:
        """True if it says anything of heads over these keys. shape: queries and keys."""
        if self.compares and crosses:
            return False
        if self.needs_special and not any(keys.special):
            return False
        return not self.some or bool(self.targets_of(shape[0], shape[1], keys).any())

    def targets_of(self, n_queries: int, n_keys: int, keys: Keys = NOTHING_KNOWN) -> Tensor:
        """Keys on which its share of the weight lies. (queries, keys), bool."""
        assert self.targets is not None
        return self.targets(n_queries, n_keys, keys)

    def total(self, weights: Tensor, keys: Keys) -> Tensor:
        """The sum over the queries. weights (heads, queries, keys) -> (heads,)."""
        if self.number is not None:
            return self.number(weights)
        n_queries, n_keys = weights.shape[-2:]
        return weights[:, self.targets_of(n_queries, n_keys, keys)].sum(-1)


def _distance(weights: Tensor) -> Tensor:
    n_queries, n_keys = weights.shape[-2:]
    steps = torch.arange(n_keys) - torch.arange(n_queries)[:, None]
    return weights.flatten(-2) @ steps.abs().to(weights.dtype).flatten()


def _beside(offset: int) -> Targets:
    """The token so many positions further."""

    def targets(n_queries: int, n_keys: int, keys: Keys) -> Tensor:
        return torch.ones(n_queries, n_keys).triu(offset).tril(offset) > 0

    return targets


def _columns(which: Callable[[int, Keys], Tensor]) -> Targets:
    """Give every query these keys."""
    return lambda n_queries, n_keys, keys: which(n_keys, keys).expand(n_queries, n_keys)


def _first(n_keys: int, keys: Keys) -> Tensor:
    return torch.arange(n_keys) == 0


def _equal(n_queries: int, n_keys: int, keys: Keys) -> Tensor:
    ids = keys.numbers
    return (ids[:, None] == ids) & ~torch.eye(n_keys, dtype=torch.bool)


def _separator(n_queries: int, n_keys: int, keys: Keys) -> Tensor:
    special = torch.tensor(keys.special)
    return ~special[:, None] & special & (torch.arange(n_keys) > 0)


_PREVIOUS = Measure("previous", "the token before it", targets=_beside(-1), compares=True)
_ITSELF = Measure("itself", "the token itself", targets=_beside(0), compares=True)
_NEXT = Measure("next", "the token after it", targets=_beside(1), compares=True)
_FIRST = Measure("first", "the first token", targets=_columns(_first))
_INDUCTION = Measure(
    "induction",
    "the token that followed an earlier equal one",
    targets=lambda n_queries, n_keys, keys: keys.followers,
    compares=True,
    some=True,
    example="Mr and Mrs Dursley of number four were proud. Mr and Mrs Dursley of",
)


def _by_name(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


# All measures: tables, captions and the menu to sort by follow from this.
MEASURES = _by_name(
    Measure("entropy", "entropy in bits", lambda weights: entropy_bits(weights).nansum(-1)),
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
NAMINGS = _by_name(
    *(_PREVIOUS, _NEXT, _ITSELF),
    Measure("same word", "an equal token elsewhere", targets=_equal),
    _INDUCTION,
    replace(_FIRST, targets=lambda *given: _columns(_first)(*given).tril(-1), sinks=True),
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
    rows = weights.sum(-1) > 0
    return {
        name: measure.total(weights, keys) / _counted(rows, measure, keys).sum(-1).clamp_min(1)
        for name, measure in MEASURES.items()
        if measure.says((weights.shape[-2], weights.shape[-1]), keys, crosses)
    }


def _counted(rows: Tensor, measure: Measure, keys: Keys) -> Tensor:
    """Queries of each head that count for a measure. rows: those that attend to anything."""
    if not measure.some:
        return rows
    return rows & measure.targets_of(rows.shape[-1], rows.shape[-1], keys).any(-1)


def order(measured: dict[str, Tensor], by: str) -> list[int]:
    """The heads by one of their measures, the greatest first; by "head", in their own order."""
    if by not in measured:
        return list(range(len(next(iter(measured.values())))))
    positions: list[int] = measured[by].argsort(descending=True, stable=True).tolist()
    return positions


@dataclass(frozen=True, eq=False)
class Overview:
    """All heads of one layer at a glance; small, so that it can be kept.

    dots, block: see `thumbnails`; measures: those of every head, by name; even_spread: those of a
    head that splits its weight evenly over the keys it may see.
    """

    dots: Tensor
    block: int
    measures: dict[str, Tensor]
    even_spread: dict[str, float]


def overview(trace: Trace | LongTrace, head: int = 0, keys: Keys = NOTHING_KNOWN) -> Overview:
    """The overview of a trace of all heads, (heads, queries, keys); head: the one that is shown."""
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(head)
    return overview_of(weights, None if trace.mask is None else trace.mask[0], keys)


def overview_of(
    weights: Tensor,
    mask: Tensor | None,
    keys: Keys = NOTHING_KNOWN,
    beside: int = 0,
    crosses: bool = False,
) -> Overview:
    """Overview of weights (heads, queries, keys), of any type, and the mask of all heads,
    (queries, keys).

    beside: how many other heads are shown with these; crosses: as `measures` has it.
    """
    allowed = torch.ones(1, *weights.shape[1:]) if mask is None else mask[None].float()
    even = measures(allowed / allowed.sum(-1, keepdim=True).clamp_min(1), keys, crosses)
    even_spread = {name: float(numbers[0]) for name, numbers in even.items()}
    # A few at a time: each takes several times its room.
    at_once = max(1, MAX_MEASURED // max(1, weights[0].numel()))
    dots, measured = [], []
    for some in map(Tensor.float, weights.split(at_once)):
        shades, block = thumbnails(some, beside + len(weights) - len(some))
        dots.append(shades)
        measured.append(measures(some, keys, crosses))
    together = {name: torch.cat([part[name] for part in measured]) for name in even}
    return Overview(torch.cat(dots), block, together, even_spread)


def thumbnails(weights: Tensor, beside: int = 0) -> tuple[Tensor, int]:
    """The weights of every head small enough to show all at once, and how many cells a dot spans.

    weights: (heads, queries, keys). A dot is the greatest of block × block weights, so that no
    strong one is lost; 255 is the greatest of its head. With more than `PLAIN_DOTS` a side, the
    greatest few of a head are all 255, so that they do not leave the others pale. beside: how many
    other heads are shown with these.

    Returns uint8 (heads, rows, columns).
    """
    most = MAX_DOTS if len(weights) + beside <= MANY_HEADS else FEWER_DOTS
    block = math.ceil(max(weights.shape[-2:]) / most)
    down, across = (-length % block for length in weights.shape[-2:])
    filled = pad(weights, (0, across, 0, down)) if down or across else weights
    dots = filled.unflatten(-2, (-1, block)).amax(-2).unflatten(-1, (-1, block)).amax(-1)
    flat = dots.flatten(1)
    beyond = round(flat.shape[1] * SATURATED) if max(dots.shape[-2:]) > PLAIN_DOTS else 0
    greatest = flat.topk(beyond + 1).values[:, -1, None, None]
    shades = dots * (255 / greatest.where(greatest > 0, 1.0))
    return shades.round().clamp_max(255).to(torch.uint8), block


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
