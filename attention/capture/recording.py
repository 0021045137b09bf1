"""A run of any model: its attentions, a report on it, its file, and its pictures."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attention.capture import files, handing
from attention.capture.attentions import Attention, Pooling
from attention.capture.mixing import UNSEEN
from attention.capture.report import Report, Row
from attention.core.arguments import must_be, must_be_several

if TYPE_CHECKING:
    from pandas import DataFrame

Part = slice | int | Sequence[int] | Tensor | None


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
        head: int | None = None,
        rows: Part = None,
        columns: Part = None,
        *,
        entry: int = 0,
    ) -> Tensor:
        """Weights of any part of a head, or of all, as the softmax gave them, before any dropout;
        of a layer without one those that its values are summed by, of any sign: see `Recurrence`.

        layer: a number or a module's name; rows, columns: a slice, a position or a list of them,
        None = all. Returns float32 (rows, columns), of all heads (heads, rows, columns), float64
        where the model computed in that. A row with nothing to attend to is 0. Raises ValueError
        where there is no such part.
        """
        if head is None:
            every = self.attention(layer).heads
            return torch.stack(
                [self.weights(layer, at, rows, columns, entry=entry) for at in every]
            )
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
        made = weights @ values.to(weights.dtype)
        every = positions("rows", rows, attention.shape[2], made.device)
        gate = attention.gate(at, every, entry)
        return made if gate is None else made * gate

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
        both = tuple(cells) if isinstance(cells, tuple | list) else (cells, cells)
        if len(both) != 2 or not all(isinstance(each, int) and each >= 1 for each in both):
            raise ValueError(f"cells must be one or two numbers from 1 on, got {cells}")
        rows, columns = (-(-size // n) for size, n in zip(attention.shape[2:], both, strict=True))
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

    def effective(self) -> Recording:
        """The run with heads as the model's output projections get them, where that is known.

        Rows are signed where one map is subtracted from another (DiffLlama), and those of an expert
        where queries are routed (JetMoe: expert by expert, times the router's share, 0 of others);
        `output` is what enters the projection, behind a gate (Qwen3-Next, Qwen 3.5). Other
        attentions stay as they are. A file of it has rows alone.
        """
        return Recording(
            handing.effective(self.attentions),
            self.left_out,
            model=self.model,
            step=self.step,
            tokens=self.tokens,
            keys=self.keys,
            unasked=self.unasked,
        )

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
        files.save(
            files.Contents(
                self.attentions,
                self.left_out,
                self.model,
                self.step,
                self.tokens if tokens is None else list(tokens),
                self.keys if keys is None else list(keys),
                self.unasked,
            ),
            path,
        )

    @staticmethod
    def open(path: str | Path) -> Recording:
        """The run in a file, by memory map: see `files.read`."""
        return Recording(**vars(files.read(path)))

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


def report_of(runs: Sequence[Recording]) -> Report:
    """The report on some runs, each module once."""
    rows: dict[str, Row] = {}
    for run in runs:
        for one in run.attentions:
            entries, heads, queries, keys = one.shape
            words = f"{one.kind}, {heads} heads, {queries} queries, {keys} keys"
            if entries > 1:
                words += f", {entries} entries"
            if one.words:
                words += f"; {one.words}"
            rows[one.name] = Row(one.name, "kept", words)
        for name in run.unasked:
            rows.setdefault(name, Row(name, "not asked for", "is none of `layers`"))
    for run in runs:
        for name, why in run.left_out.items():
            words = f"{why} (beside attention that is kept)" if name in rows else why
            rows[f"{name} "] = Row(name, "left out", words)
    return Report(tuple(rows.values()), (UNSEEN,))
