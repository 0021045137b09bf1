"""`change`: heads of a model off, or as they were elsewhere, in all that it runs within a block."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.capture.calls import Call, Function, Masks
from attention.capture.kernels import Recurrent
from attention.capture.runs import CROSS
from attention.capture.watching import Frame, Watch
from attention.changing.edits import Chosen, Edit, Head, edits
from attention.changing.explicit import keys_of, weights_of
from attention.changing.returned import FORMS, CannotChange, Returned
from attention.core.arguments import must_be

UNDER_WAY = threading.local()  # changers of this thread, `stack`


@contextmanager
def change(
    model: nn.Module,
    *,
    off: Collection[Head],
    to: Any = "zero",
    part: str = "output",
    positions: Chosen = None,
    forwards: Collection[int] | None = None,
) -> Iterator[None]:
    """Changes heads in all that a model of PyTorch runs within the block, in this thread.

    off: pairs (layer, head); layers are numbers in the order in which attentions run, as `capture`
    has them, or names of modules. to: "zero", a number, a tensor that broadcasts to (positions,
    width), a list of means with a tensor (heads, 1, width) for each layer, a dict of tensors by
    (layer, head), a recording of `capture(values=True)` at the same positions, or "mean": over the
    positions of each forward pass but the first. part: "output" of the heads, before the output
    projection; "queries", "keys", "values" as they enter the attention function, "weights" behind
    the softmax: of these heads alone, also where they share keys. positions: which, counted in the
    whole sequence with what is cached, of keys and values those of keys; None = all, but with means
    not the first. forwards: which calls of each attention, counted from 0; those of `generate` are
    the prompt and then each token.

    The model runs on its own kernels; other heads are untouched to the bit, nothing is left behind.
    Raises ValueError where heads cannot be changed, or do not run. Heads are set to means as by
    Michel et al. 2019, to recordings as by Vig et al. 2020.
    """
    must_be("model", model, nn.Module)
    some = edits(off, to, part, positions, forwards)
    with changed(model, some) as changer:
        yield
        changer.conclude(some)


@contextmanager
def changed(model: nn.Module, some: Sequence[Edit]) -> Iterator[Changer]:
    """Edits of a model for the length of a block, beside those that are under way already."""
    stack: list[Changer] = UNDER_WAY.__dict__.setdefault("stack", [])
    known = [one for one in stack if one.model is model]
    changer = known[0] if known else Changer(model)
    before = changer.edits
    changer.edits = [*before, *some]
    try:
        if known:
            yield changer
        else:
            stack.append(changer)
            with changer.watching():
                yield changer
    finally:
        changer.edits = before
        if not known:
            stack.remove(changer)


class Met(NamedTuple):
    """One attention as it runs: what can be changed of it.

    kept: entries and positions without padding, where the model was told of padding.
    """

    number: int
    name: str
    start: int  # of the queries in the whole sequence
    first_key: int
    kept: Tensor | None


class Changer(Watch):
    """Calls of the attention functions of a model, with heads changed.

    edits: those in force; numbers: of the attentions by name, in the order in which they ran;
    told: gets each call with its name and what its function returned, before that is changed.
    """

    reads_signs = False  # classes of modules tell enough of why one cannot be changed

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.own = {id(part): name for name, part in model.named_modules()}
        self.names[id(model)] = model, self.own
        self.edits: list[Edit] = []
        self.numbers: dict[str, int] = {}
        self.met: set[str] = set()
        self.unseen: dict[str, str] = {}
        self.forwards: Counter[str] = Counter()
        self.totals: dict[str, tuple[int, Tensor]] = {}  # keys so far, and the last one
        self.masks = Masks()
        self.start = (0, 0)  # of the last attention to its own sequence: its start and queries
        self.told: Callable[[Met, Call, Returned], None] | None = None

    @contextmanager
    def telling(self, told: Callable[[Met, Call, Returned], None]) -> Iterator[None]:
        """While it lasts, `told` gets each call and what its function returned."""
        self.told = told
        try:
            yield
        finally:
            self.told = None

    def begins(self, root: nn.Module) -> bool:
        """A forward pass begins."""
        return True

    def ends(self, frame: Frame) -> None:
        """A forward pass has ended; one of the whole model without a head to change is refused."""
        self.masks.clear()
        self.unseen |= frame.left_out
        if frame.module is self.model and sys.exc_info()[1] is None:
            self.check(self.edits)

    def name_of(self, module: nn.Module | None) -> str:
        """The path of a module in the model."""
        return self.own.get(id(module)) or super().name_of(module)

    def meets(
        self, call: Call | Recurrent, function: Function, module: nn.Module | None = None
    ) -> Any:
        """A call of an attention function; of another model it runs as it is."""
        if self.silent or threading.get_ident() != self.thread:
            return function()
        if not self.stack or id(self.stack[-1].module) not in self.own:
            return self.quietly(function)
        return super().meets(call, function, module)

    def attends(self, name: str, call: Call | Recurrent, function: Function) -> Any:
        """Runs a call, with its heads changed."""
        number = self.numbers.setdefault(name, len(self.numbers))
        forward = self.forwards[name]
        self.forwards[name] += 1
        self.met.add(name)
        some = [edit for edit in self.edits if edit.of(number, name, forward)]
        if isinstance(call, Recurrent):
            if some:
                raise ValueError(f"layer {number} ({name}) cannot be changed: it has no softmax")
            return self.quietly(function)
        met = self._met(number, name, call)
        if not some and self.told is None:
            return self.quietly(function)
        try:
            returned = self.quietly(lambda: FORMS[function.kind](call, function))
        except CannotChange as error:
            raise ValueError(f"layer {number} ({name}) cannot be changed: it {error}") from None
        with self.mode.aside():
            if self.told is not None:
                self.told(met, call, returned)
            for head in dict.fromkeys(edit.head for edit in some):
                self._change(call, met, head, [one for one in some if one.head == head], returned)
            return self.quietly(returned.whole)

    def _change(
        self, call: Call, met: Met, head: int, some: list[Edit], returned: Returned
    ) -> None:
        """Sets one head in what a function returned, lane by lane of the batch."""
        heads = call.queries.shape[1]
        if not 0 <= head < heads:
            where = f"layer {met.number} ({met.name})"
            raise ValueError(f"{where} has {heads} heads, counted from 0, got {head}")
        output, weights = returned.output(head).clone(), None
        for lane in sorted({edit.lane for edit in some}, key=lambda lane: lane or (-1, 0)):
            among = [edit for edit in some if edit.lane in (None, lane)]
            entries = among[-1].entries(len(output)) if lane else slice(0, len(output))
            part = partial(_part, among, met=met, entries=entries)
            now = output[entries]
            if {edit.part for edit in among} - {"output"}:
                queries = part("queries", call.queries[entries, head])
                keys = part("keys", keys_of(call, call.keys, head)[entries])
                values = part("values", keys_of(call, call.values(), head)[entries])
                own = part("weights", weights_of(call, head, queries, keys, entries))
                now = (own @ values.to(own.dtype)).to(output.dtype)
                if lane is None:
                    weights = own
            output[entries] = part("output", now)
        returned.set(head, output, weights)

    def _met(self, number: int, name: str, call: Call) -> Met:
        """Positions of a call in the whole sequence, with what was cached before it."""
        n_queries, n_keys = call.n_queries, call.n_keys
        kept = self.stack[0].arguments.get("attention_mask")
        if not (isinstance(kept, Tensor) and kept.dim() == 2):
            kept = None
        if call.cross or (call.cross is None and CROSS.search(name)):
            start = self.start[0] if self.start[1] == n_queries else 0
            return Met(number, name, start, 0, None)
        used = n_keys
        if n_keys > n_queries:
            used = max(n_queries, min(n_keys, self.masks.rules(call).reach))
        total, before = used, self.totals.get(name)
        if used > n_queries and before is not None and before[0] + n_queries > used:
            place, last = used - n_queries - 1, before[1]
            now = call.keys[:, :, place]
            if now.shape == last.shape and torch.equal(now, last):  # older keys were let go of
                total = before[0] + n_queries
        self.totals[name] = total, call.keys[:, :, used - 1].detach().clone()
        self.start = total - n_queries, n_queries
        kept = None if kept is None or kept.shape[1] < total else kept[:, :total] != 0
        kept = None if kept is None else kept[:, total - n_queries :]
        return Met(number, name, total - n_queries, total - used, kept)

    def check(self, some: Sequence[Edit]) -> None:
        """Raise ValueError where the layer of an edit has not run."""
        ran = {*self.met, *(self.numbers[name] for name in self.met)}
        missing = list(dict.fromkeys(edit.layer for edit in some if edit.layer not in ran))
        if missing:
            there = ", ".join(f"{self.numbers[name]} ({name})" for name in self.numbers) or "none"
            unseen = "; ".join(f"{name} {why}" for name, why in [*self.unseen.items()][:5])
            more = f"; cannot be changed: {unseen}" if unseen else ""
            raise ValueError(f"layers must be among those that ran, {there}, got {missing}{more}")

    def conclude(self, some: Sequence[Edit]) -> None:
        """Raise ValueError where one of these edits was never made, once all has run."""
        self.check(some)
        for edit in some:
            where = f"head {edit.head} of layer {edit.layer}"
            ran = [name for name in self.met if edit.layer in (self.numbers[name], name)]
            count = max(self.forwards[name] for name in ran)
            if edit.forwards is not None and not any(0 <= at < count for at in edit.forwards):
                raise ValueError(
                    f"forwards must be among the {count} of {where}, counted from 0, got "
                    f"{[*edit.forwards]}"
                )
            never = edit.never
            if never or not edit.came:
                reach = max(self.totals[name][0] if name in self.totals else 0 for name in ran)
                raise ValueError(
                    f"positions must be among {f'the {reach}' if reach else 'those'} at which "
                    f"{where} ran, got {never or edit.positions}"
                )


def _part(among: Sequence[Edit], part: str, now: Tensor, *, met: Met, entries: slice) -> Tensor:
    """A part of a head of some entries, with its edits. (entries, positions, width)."""
    start = met.first_key if part in ("keys", "values") else met.start
    kept = None if met.kept is None or start != met.start else met.kept[entries]
    for edit in among:
        if edit.part == part:
            now = edit.apply(now, start, met.number, met.name, kept)
    return now
