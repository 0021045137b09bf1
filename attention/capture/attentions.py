"""One attention of a run, kept as queries and keys: weights of any part are made when asked for.

`weights = exp(scale · q·k + bias − lse)`, exact in any order (Milakov & Gimelshein 2018, "Online
normalizer calculation for softmax"; Dao et al. 2022, section 3.1).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.capture.masking import Rules

CELLS = 1 << 22  # scores that are worked out together
ROUNDING = 0.02  # of a sum of weights, in bfloat16 too

Kind = Literal["self", "cross"]
Pooling = Literal["greatest", "sum"]


@dataclass(frozen=True, eq=False)
class Handed:
    """Heads of an attention function as a model hands them on to its output projection.

    words: of it, for a report; sources: the heads of the function that each head handed on is made
    of; factors: of each of these, by which its rows are multiplied, (entries, heads, sources,
    queries), None = 1; gate: by which the numbers of its output are, (entries, heads, queries,
    d_v), None = 1; takes_next: if the module's second call has further numbers of each value.
    """

    words: str
    sources: tuple[tuple[int, ...], ...]
    factors: Tensor | None = None
    gate: Tensor | None = None
    takes_next: bool = False


@dataclass(eq=False)
class Attention:
    """One attention of a run: all heads of one module.

    number: its position among the attentions of the run, from 0; name: the module's path in the
    model; queries: (entries, heads, queries, d_k), keys: (entries, key heads, keys, d_k), values:
    likewise with d_v, or None, as the model had them; heads: the numbers of the heads that are
    kept; groups: the key head of each; scale: the factor before the softmax; cap: the bound of
    `cap · tanh(scores / cap)` (Gemma Team 2024, section 2), None without; sinks: (heads,), a
    further score of each head that takes weight to no key (OpenAI 2025, gpt-oss), None without;
    handed: how its heads are handed on, None = as they are, or not known.
    """

    number: int
    name: str
    kind: Kind
    queries: Tensor
    keys: Tensor
    values: Tensor | None
    heads: tuple[int, ...]
    groups: tuple[int, ...]
    scale: float
    cap: float | None
    sinks: Tensor | None
    rules: Rules
    handed: Handed | None = None
    _norms: dict[tuple[int, int], Tensor] = field(default_factory=dict, repr=False)

    @property
    def weights_are_a_distribution(self) -> bool:
        """True if no weight is below 0 and rows sum to up to 1."""
        return True

    @property
    def words(self) -> str:
        """Words on it for a report, beside its shape."""
        return f"{self.handed.words}: run.effective() has it" if self.handed else ""

    def values_of(self, head: int, entry: int) -> Tensor:
        """The values of a head. Raises ValueError where they were not kept. (keys, d_v)."""
        if self.values is None:
            raise ValueError("the run must have values: capture(values=True) keeps them, got none")
        return self.values[entry, self.groups[head]]

    def gate(self, head: int, rows: Tensor, entry: int) -> Tensor | None:
        """Numbers by which the output is multiplied, (rows, d_v), None = 1."""
        return None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Entries, heads that are kept, queries and keys."""
        entries, heads, queries = self.queries.shape[:3]
        return entries, heads, queries, self.keys.shape[2]

    def part(self, head: int, rows: Tensor, columns: Tensor | None, entry: int) -> Tensor:
        """Weights of these rows, (rows, columns); of all columns where these are None."""
        width = self.keys.shape[2] if columns is None else len(columns)
        found = torch.zeros(len(rows), width, dtype=self._type, device=self.queries.device)
        for at, some in self._at_once(rows):
            if columns is None:
                first, powers, sums = self._whole_rows(head, some, entry)
                found[at : at + len(some), first : first + powers.shape[1]] = powers.div_(sums)
            else:
                greatest, sums = self._normalizers(head, some, entry)
                scores = self._scores(head, some, columns, entry)
                found[at : at + len(some)] = (scores - greatest).exp_() / sums
        return found

    def pooled(
        self,
        head: int,
        rows: int,
        columns: int,
        entry: int,
        how: Pooling,
        step: int = 1,
        band: tuple[int, int] | None = None,
    ) -> Tensor:
        """Weights of blocks of so many rows and columns; only every `step`-th row counts.

        Where weights may lie below 0 the greatest is that of the greatest size, with its sign.
        band: the rows of blocks from the first up to before the second, None = all.
        """
        n_queries, n_keys = self.shape[2:]
        begin, end = band or (0, -(-n_queries // rows))
        shape = end - begin, -(-n_keys // columns)
        found = torch.zeros(shape, dtype=self._type, device=self.queries.device)
        is_signed = how == "greatest" and not self.weights_are_a_distribution
        lowest = torch.zeros_like(found) if is_signed else None
        first_row, stop = begin * rows, min(end * rows, n_queries)
        asked = torch.arange(first_row, stop, step, device=found.device)
        for _, some in self._at_once(asked):
            first, powers, sums = self._whole_rows(head, some, entry)
            before, after = first % columns, -(first + powers.shape[1]) % columns
            if before or after:
                powers = pad(powers, (before, after))
            blocks = powers.unflatten(1, (-1, columns))
            across = slice(first // columns, first // columns + blocks.shape[1])
            at = some // rows - begin
            place = at[:, None].expand(-1, blocks.shape[1])
            if how == "sum":
                found[:, across].index_add_(0, at, blocks.sum(2).div_(sums))
                continue
            found[:, across].scatter_reduce_(0, place, blocks.amax(2).div_(sums), "amax")
            if lowest is not None:
                lowest[:, across].scatter_reduce_(0, place, blocks.amin(2).div_(sums), "amin")
        if how == "sum":
            found /= torch.bincount(asked // rows - begin, minlength=shape[0])[:, None]
        return found if lowest is None else found.where(found >= -lowest, lowest)

    def position(self, head: int) -> int:
        """Position of a head of the model among those kept. Raises ValueError without it."""
        if head not in self.heads:
            raise ValueError(f"head must be one of {list(self.heads)} that are kept, got {head}")
        return self.heads.index(head)

    @property
    def _type(self) -> torch.dtype:
        return torch.promote_types(self.queries.dtype, torch.float32)

    def _at_once(self, rows: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Rows in portions whose scores take little memory, with the place of the first."""
        portion = max(1, CELLS // self.keys.shape[2])
        for at in range(0, len(rows), portion):
            yield at, rows[at : at + portion]

    def _within(self, head: int, rows: Tensor, entry: int) -> Tensor:
        """The keys that any of these rows may attend to, and those between them. (keys,)."""
        first, stop = 0, self.keys.shape[2]
        if self.rules.mask is not None:
            firsts, stops = self.rules.mask.bounds(entry, head, rows)
            first, stop = int(firsts.min()), int(stops.max())
        first = min(first, self.keys.shape[2] - 1)
        return torch.arange(first, max(first + 1, stop), device=self.keys.device)

    def _scores(self, head: int, rows: Tensor, columns: Tensor, entry: int) -> Tensor:
        """Scores as they enter the softmax, −∞ where the mask bars. (rows, columns)."""
        queries = self.queries[entry, head][rows].to(self._type) * self.scale
        keys = self.keys[entry, self.groups[head]]
        if len(columns) < len(keys):
            keys = keys[columns]
        scores = queries @ keys.to(self._type).T
        if self.cap is not None:
            scores = torch.tanh(scores / self.cap) * self.cap
        mask, bias = self.rules.mask, self.rules.bias
        if bias is not None:
            scores += bias.part(entry, head, rows, columns)
        if mask is None:
            return scores
        even = mask.evened(entry, head, rows)
        if even is not None:
            scores.masked_fill_(even[:, None], 0)
        first, stop = mask.bounds(entry, head, rows)
        places = [slice(None)]
        if mask.cells is None and len(rows):  # rows differ at the ends of their stretches alone
            places = _slices((columns < first.max()) | (columns >= stop.min()))
        for place in places:
            allowed = mask.allowed(entry, head, rows, columns[place])
            scores[:, place].masked_fill_(~allowed, -torch.inf)
        return scores

    def _whole_rows(self, head: int, rows: Tensor, entry: int) -> tuple[int, Tensor, Tensor]:
        """Weights of rows, from the first key that any of them may attend to up to the last.

        Gives that key, the numbers that are to be divided, and by what in each row, (rows, 1).
        """
        columns = self._within(head, rows, entry)
        scores = self._scores(head, rows, columns, entry)
        greatest = scores.amax(-1)
        if self.sinks is not None:
            greatest = greatest.maximum(self.sinks[head].to(greatest))
        greatest.masked_fill_(greatest == -torch.inf, 0)
        powers = scores.sub_(greatest[:, None]).exp_()
        sums = powers.sum(-1)
        if self.sinks is not None:
            sums += (self.sinks[head].to(greatest) - greatest).exp()
        sums.masked_fill_(sums == 0, 1)  # nothing to attend to: weights of 0
        norms = self._norms.get((entry, head))
        if norms is None:
            norms = greatest.new_full((2, self.queries.shape[2]), torch.nan)
            self._norms[entry, head] = norms
        norms[0, rows], norms[1, rows] = greatest, sums
        return int(columns[0]), powers, sums[:, None]

    def _normalizers(self, head: int, rows: Tensor, entry: int) -> tuple[Tensor, Tensor]:
        """The greatest score of each row, and the sum of exp(score − greatest). Two of (rows, 1).

        Two numbers instead of their lse, which would round away some of a float32; worked out once.
        """
        norms = self._norms.get((entry, head))
        if norms is None or bool(norms[0, rows].isnan().any()):
            self._whole_rows(head, rows, entry)
            norms = self._norms[entry, head]
        return norms[0, rows, None], norms[1, rows, None]


class WithRows(Attention):
    """One attention whose rows of weights are made in another way, and divided by nothing."""

    @abstractmethod
    def rows_of(self, head: int, rows: Tensor, entry: int, first: int = 0) -> Tensor:
        """Whole rows of weights, (rows, keys); of keys before `first` they may be 0."""

    def part(self, head: int, rows: Tensor, columns: Tensor | None, entry: int) -> Tensor:
        """Weights of these rows, (rows, columns); of all columns where these are None."""
        first = 0 if columns is None or not len(columns) else int(columns.min())
        made = [self.rows_of(head, some, entry, first) for _, some in self._at_once(rows)]
        found = torch.cat(made) if made else self.keys.new_zeros(0, self.keys.shape[2])
        return found.to(self._type) if columns is None else found[:, columns].to(self._type)

    def _whole_rows(self, head: int, rows: Tensor, entry: int) -> tuple[int, Tensor, Tensor]:
        """Weights of rows from the first key on, each to be divided by 1."""
        weights = self.rows_of(head, rows, entry)
        return 0, weights, weights.new_ones(len(rows), 1)


@dataclass(eq=False, kw_only=True)
class Marked(WithRows):
    """One attention of a model's own code, whose weights were handed over, see `marks.mark`.

    given: these weights, (entries, heads, queries, keys). Queries and keys are not known: one 0
    stands for each.
    """

    given: Tensor

    @property
    def weights_are_a_distribution(self) -> bool:
        sums = self.given.float().sum(-1)
        return bool((self.given >= 0).all() and (sums < 1 + ROUNDING).all())

    @property
    def words(self) -> str:
        return "marked in the model's own code, queries and keys are not known"

    def rows_of(self, head: int, rows: Tensor, entry: int, first: int = 0) -> Tensor:
        return self.given[entry, head][rows].to(self._type)


def _slices(marked: Tensor) -> list[slice]:
    """Positions at which a row of bool is True."""
    steps = pad(marked.to(torch.int8), (1, 1)).diff()
    begins, ends = ((steps == step).nonzero().flatten().tolist() for step in (1, -1))
    return [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]
