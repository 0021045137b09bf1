"""A run of any model, kept as queries and keys: weights of any part are made when asked for.

`weights = exp(scale · q·k + bias − lse)`, exact in any order (Milakov & Gimelshein 2018, "Online
normalizer calculation for softmax"; Dao et al. 2022, section 3.1).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.capture.masking import Rules
from attention.capture.report import Report, report_of
from attention.core.arguments import must_be, must_be_several

if TYPE_CHECKING:
    from pandas import DataFrame

CELLS = 1 << 22  # scores that are worked out together
ROWS_OF_A_CELL = 4  # of a thumbnail, at most

Kind = Literal["self", "cross"]
Part = slice | int | Sequence[int] | Tensor | None
Pooling = Literal["greatest", "sum"]


@dataclass(eq=False)
class Attention:
    """One attention of a run: all heads of one module.

    number: its position among the attentions of the run, from 0; name: the module's path in the
    model; queries: (entries, heads, queries, d_k), keys: (entries, key heads, keys, d_k), values:
    likewise with d_v, or None, as the model had them; heads: the numbers of the heads that are
    kept; groups: the key head of each; scale: the factor before the softmax; cap: the bound of
    `cap · tanh(scores / cap)` (Gemma Team 2024, section 2), None without; sinks: (heads,), a
    further score of each head that takes weight to no key (OpenAI 2025, gpt-oss), None without.
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
    _norms: dict[tuple[int, int], Tensor] = field(default_factory=dict, repr=False)

    weights_are_a_distribution: ClassVar[bool] = True  # none is below 0, rows sum to up to 1

    @property
    def words(self) -> str:
        """Words on it for a report, beside its shape."""
        return ""

    def values_of(self, head: int, entry: int) -> Tensor:
        """The values of a head. Raises ValueError where they were not kept. (keys, d_v)."""
        if self.values is None:
            raise ValueError("the run must have values: capture(values=True) keeps them, got none")
        return self.values[entry, self.groups[head]]

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
        """Where a head of the model stands among those kept. Raises ValueError without it."""
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


class Recording:
    """A run of a model, with the queries and keys of each of its attentions.

    attentions: in the order in which they ran; left_out: modules that mix tokens, or may, in a way
    that could not be kept, by name, and why; unasked: names of attentions that ran and were not
    asked for; model: the class of the model; step: which of its
    forward passes this was, counted from 0; tokens, keys: a text for each query and key of the
    model, None where they were not given. Entries are those of a batch, heads and layers have the
    model's own numbers.
    """

    def __init__(
        self,
        attentions: Sequence[Attention],
        left_out: Mapping[str, str] | None = None,
        *,
        model: str = "",
        step: int = 0,
        tokens: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        unasked: Sequence[str] = (),
    ) -> None:
        self._attentions = tuple(attentions)
        self.left_out = dict(left_out or {})
        self.unasked = tuple(unasked)
        self.model, self.step = model, step
        self.tokens = None if tokens is None else list(tokens)
        self.keys = None if keys is None else list(keys)

    @property
    def attentions(self) -> tuple[Attention, ...]:
        return self._attentions

    def report(self) -> Report:
        """A table of every module that mixes tokens: kept, or left out and why."""
        return report_of([self])

    def attention(self, layer: int | str) -> Attention:
        """The attention of a number or a module's name; −1 is the last one that is kept.

        Raises ValueError where it is not kept.
        """
        if isinstance(layer, int) and -len(self.attentions) <= layer < 0:
            return self.attentions[layer]
        for attention in self.attentions:
            if layer in (attention.number, attention.name):
                return attention
        kept = ", ".join(f"{one.number} ({one.name})" for one in self.attentions) or "none"
        raise ValueError(f"layer must be one of those kept, {kept}, got {layer!r}")

    @torch.no_grad()
    def weights(
        self,
        layer: int | str,
        head: int,
        rows: Part = None,
        columns: Part = None,
        *,
        entry: int = 0,
    ) -> Tensor:
        """Weights of any part of a head, as the softmax gave them, before any dropout; of a layer
        without one those that its values are summed by, of any sign: see `Recurrence`.

        layer: a number or a module's name; rows, columns: a slice, a position or a list of them,
        None = all. Returns float32 (rows, columns), float64 where the model computed in that. A row
        with nothing to attend to is 0. Raises ValueError where there is no such part.
        """
        attention, at = self._asked(layer, head, entry)
        n_queries, n_keys = attention.shape[2:]
        device = attention.queries.device
        asked = None if columns is None else positions("columns", columns, n_keys, device)
        return attention.part(at, positions("rows", rows, n_queries, device), asked, entry)

    @torch.no_grad()
    def output(self, layer: int | str, head: int, rows: Part = None, *, entry: int = 0) -> Tensor:
        """Output of a head at these rows, its weights times the values. (rows, d_v).

        Raises ValueError where values were not kept, or there is no such part.
        """
        attention, at = self._asked(layer, head, entry)
        values = attention.values_of(at, entry)
        weights = self.weights(layer, head, rows, entry=entry)
        return weights @ values.to(weights.dtype)

    @torch.no_grad()
    def mean(
        self, layer: int | str, rows: Part = None, columns: Part = None, *, entry: int = 0
    ) -> Tensor:
        """Weights in the mean of all heads of a layer that are kept. (rows, columns)."""
        heads = self.attention(layer).heads
        made = (self.weights(layer, head, rows, columns, entry=entry) for head in heads)
        return functools.reduce(torch.add, made) / len(heads)

    @torch.no_grad()
    def pooled(
        self,
        layer: int | str,
        head: int,
        cells: int | tuple[int, int] = 512,
        *,
        how: Pooling = "greatest",
        entry: int = 0,
    ) -> Tensor:
        """The whole map of a head in at most so many rows and columns of blocks.

        how: "greatest" weight of each block, to find it, by size and with its sign where weights
        may lie below 0; or the "sum" over its keys, the mean of its queries, so that rows still sum
        to what they did. Blocks have ceil(queries / rows) queries and
        ceil(keys / columns) keys, the last ones fewer. Returns (rows, columns) of blocks.
        """
        attention, at = self._asked(layer, head, entry)
        rows, columns = _block_sizes(cells, attention)
        if how not in ("greatest", "sum"):
            raise ValueError(f'how must be "greatest" or "sum", got {how!r}')
        return attention.pooled(at, rows, columns, entry, how)

    @torch.no_grad()
    def blocks(
        self,
        layer: int | str,
        head: int,
        rows: int,
        columns: int,
        *,
        entry: int = 0,
        step: int = 1,
        band: tuple[int, int] | None = None,
    ) -> Tensor:
        """The greatest weight of each block of so many rows and columns of a head.

        step: only every so many-th row counts; band: the rows of blocks from the first up to
        before the second, None = all.
        """
        attention, at = self._asked(layer, head, entry)
        return attention.pooled(at, rows, columns, entry, "greatest", step, band)

    @torch.no_grad()
    def heads(self, cells: int = 32, *, entry: int = 0) -> Iterator[tuple[int, Tensor]]:
        """A thumbnail of each head: the number of each attention, and (heads, rows, columns).

        The greatest weight of each block, as `pooled` has it, of at most four of its rows: exact up
        to four times `cells` queries, and seen quickly in longer runs.
        """
        for attention in self.attentions:
            self._asked(attention.number, attention.heads[0], entry)
            rows, columns = _block_sizes(cells, attention)
            step = -(-rows // ROWS_OF_A_CELL)
            every = range(attention.shape[1])
            maps = [attention.pooled(h, rows, columns, entry, "greatest", step) for h in every]
            yield attention.number, torch.stack(maps)

    def measures(self, **options: Any) -> DataFrame:
        """Measures of all heads, one row for each: `attention.analysis.whole_runs.measures`."""
        found: DataFrame = _library().measures(self, **options)
        return found

    def links(self, **options: Any) -> DataFrame:
        """Strongest links of all heads, far or by words: `attention.analysis.whole_runs.links`."""
        found: DataFrame = _library().links(self, **options)
        return found

    def frame(
        self,
        layer: int | str,
        head: int | None = None,
        rows: Part = None,
        columns: Part = None,
        *,
        entry: int = 0,
    ) -> DataFrame:
        """Weights of a row or a tile as a table: `attention.analysis.whole_runs.frame`."""
        found: DataFrame = _library().frame(self, layer, head, rows, columns, entry=entry)
        return found

    def save(
        self,
        path: str | Path,
        *,
        tokens: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        """Writes the run to a file that `Recording.open` reads: see `files.save`.

        Raises ValueError where tokens or keys are not as many as queries or keys.
        """
        from attention.capture import files

        files.save(self, path, tokens=tokens, keys=keys)

    @staticmethod
    def open(path: str | Path) -> Recording:
        """The run in a file, by memory map: see `files.open_recording`."""
        from attention.capture import files

        return files.open_recording(path)

    def show(self, tokens: Sequence[str] | None = None, **options: Any) -> Any:
        """`attention.show(self, tokens, …)`, by the library that this room is a part of."""
        return _library().show(self, tokens, **options)

    def save_html(
        self, path: str | Path, tokens: Sequence[str] | None = None, **options: Any
    ) -> None:
        """`attention.save_html(self, path, tokens, …)`: the picture of `show` as one file."""
        _library().save_html(self, path, tokens, **options)

    def _asked(self, layer: int | str, head: int, entry: int) -> tuple[Attention, int]:
        attention = self.attention(layer)
        must_be("entry", entry, int)
        if not -attention.shape[0] <= entry < attention.shape[0]:
            raise ValueError(f"entry must lie below {attention.shape[0]}, got {entry}")
        return attention, attention.position(head)


def _library() -> Any:
    """The library that this room is a part of, whose other rooms know this one."""
    return sys.modules[__name__.partition(".")[0]]


def _slices(marked: Tensor) -> list[slice]:
    """Where a row of bool is True."""
    steps = pad(marked.to(torch.int8), (1, 1)).diff()
    begins, ends = ((steps == step).nonzero().flatten().tolist() for step in (1, -1))
    return [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]


def _block_sizes(cells: int | tuple[int, int], attention: Attention) -> tuple[int, int]:
    both = tuple(cells) if isinstance(cells, tuple | list) else (cells, cells)
    if len(both) != 2 or not all(isinstance(each, int) and each >= 1 for each in both):
        raise ValueError(f"cells must be one or two numbers from 1 on, got {cells}")
    return -(-attention.shape[2] // both[0]), -(-attention.shape[3] // both[1])


def positions(name: str, part: Part, size: int, device: torch.device | str = "cpu") -> Tensor:
    """The positions that a slice, a number or a list of them stands for. (positions,)."""
    every = torch.arange(size)
    if part is None or isinstance(part, slice):
        return every[slice(None) if part is None else part].to(device)
    if not isinstance(part, int):
        must_be_several(name, part, int, example="[0, 3], a position or a slice")
    asked = torch.as_tensor(part, dtype=torch.long, device="cpu").reshape(-1)
    if len(asked) and not (-size <= int(asked.min()) and int(asked.max()) < size):
        raise ValueError(f"{name} must lie below {size}, got {part}")
    return every[asked].to(device)
