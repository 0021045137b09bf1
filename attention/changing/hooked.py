"""`change`: heads of any model off, or as they were elsewhere, by the hook that captures."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.capture import handing
from attention.capture.calls import Call, Function, Masks
from attention.capture.kernels import Recurrent
from attention.capture.runs import CROSS
from attention.capture.watching import Frame, Watch, paths_of
from attention.changing.change import BEHIND_THE_FIRST, PATH, ZERO, Change, Chosen, Place, changes
from attention.changing.explicit import keys_of, weights_of
from attention.changing.returned import FORMS, CannotChange, Entering, Returned
from attention.core.arguments import must_be

UNDER_WAY = threading.local()  # changers of this thread, `stack`


@contextmanager
def change(
    model: nn.Module,
    *,
    off: Collection[tuple[int | str, int]],
    to: Any = ZERO,
    part: str = "output",
    positions: Chosen = None,
    forwards: Collection[int] | None = None,
) -> Iterator[None]:
    """Changes heads in all that a model of PyTorch runs within the block, in this thread.

    off: pairs (layer, head); layers are numbers in the order in which attentions run, as `capture`
    has them, or names of modules. to: see `Change`; a recording is one of `capture(values=True)`.
    part: "output" of the heads, as they enter the output projection; "queries", "keys", "values" as
    they enter the attention function, "weights" behind the softmax: of these heads alone, also
    where they share keys. positions: which, counted in the whole sequence with what is cached, of
    keys and values those of keys; None = all, but with means not the first. forwards: which calls
    of each attention, counted from 0; those of `generate` are the prompt and then each token.

    The model runs on its own kernels; other heads are untouched to the bit, nothing is left behind.
    Raises ValueError where heads cannot be changed, or do not run. Heads are set to means as by
    Michel et al. 2019, to recordings as by Vig et al. 2020.
    """
    must_be("model", model, nn.Module)
    edits = [*map(Edit, changes(off, to, part, positions, forwards))]
    with changed(model, edits) as changer:
        yield
        changer.conclude(edits)


@dataclass(frozen=True, eq=False)
class Edit:
    """A change of heads of a model that runs.

    lane: which of so many equal parts of the batch, None: all of it; came: positions that were
    changed. Raises ValueError for a part that has no heads.
    """

    change: Change
    lane: tuple[int, int] | None = None
    came: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.change.part in PATH:
            raise ValueError(f"part must be of heads, got {self.change.part!r}")

    def of(self, number: int, name: str, forward: int) -> bool:
        """True where it changes this call of an attention."""
        forwards = self.change.forwards
        return self.change.layer in (number, name) and (forwards is None or forward in forwards)

    def heads(self, count: int) -> Sequence[int]:
        """The heads that it changes, among so many."""
        heads = self.change.heads
        return range(count)[heads or slice(None)] if isinstance(heads, slice | None) else heads

    def entries(self, count: int) -> slice:
        """The entries of a batch that it changes."""
        if self.lane is None:
            return slice(0, count)
        at, lanes = self.lane
        return slice(at * count // lanes, (at + 1) * count // lanes)

    @property
    def never(self) -> list[int]:
        """Positions that were asked for by their numbers, and never changed."""
        positions = self.change.positions
        if positions is None or isinstance(positions, slice):
            return []
        return [int(at) for at in positions if at >= 0 and int(at) not in self.came]

    def apply(self, now: Tensor, head: int, met: Met, start: int, kept: Tensor | None) -> Tensor:
        """The part with its changes, a new tensor. now: (entries, positions, width), of which the
        first position is `start` in the whole sequence. Raises ValueError where it does not fit."""
        at = self._chosen(start, start + now.shape[1]).to(now.device)
        if not len(at):
            return now
        self.came.update(at.tolist())
        place = Place(met.number, met.name, head, self.change.part, at, now, kept)
        shape = len(now), len(at), now.shape[2]
        after = now.clone()
        after[:, at - start] = self.change.value(place, "(entries, positions, width)", shape)
        if self.change.positions is BEHIND_THE_FIRST and kept is not None and not start:
            return torch.where((kept.cumsum(-1) > 1)[..., None], after, now)
        return after

    def _chosen(self, start: int, stop: int) -> Tensor:
        positions = self.change.positions
        if positions is None or isinstance(positions, slice):
            chosen = torch.arange(stop)[positions or slice(None)]
        else:
            asked = torch.tensor([*positions], dtype=torch.long)
            chosen = torch.where(asked < 0, asked + stop, asked)
        return chosen[(chosen >= start) & (chosen < stop)]


@contextmanager
def changed(model: nn.Module, edits: Sequence[Edit]) -> Iterator[Changer]:
    """Edits of a model for the length of a block, beside those that are under way already."""
    stack: list[Changer] = UNDER_WAY.__dict__.setdefault("stack", [])
    known = [one for one in stack if one.model is model]
    changer = known[0] if known else Changer(model)
    before = changer.edits
    changer.edits = [*before, *edits]
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
    told: gets each call with its name and its heads' outputs, before they are changed; waiting: by
    the id of a module that attends, its output projection, and what is to be changed as it runs.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.own = paths_of(model)
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
        self.waiting: dict[int, tuple[nn.Module, Met, Call, list[Edit]]] = {}

    @contextmanager
    def telling(self, told: Callable[[Met, Call, Returned], None]) -> Iterator[None]:
        """While it lasts, `told` gets each call and its heads' outputs."""
        self.told = told
        try:
            yield
        finally:
            self.told = None

    def begins(self, root: nn.Module) -> bool:
        """A forward pass begins."""
        self.waiting.clear()
        return True

    def called(
        self, original: Callable[..., Any], module: nn.Module, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """A call of a module; of an output projection, with the heads changed that enter it."""
        around = id(self.stack[-1].module) if self.stack else None
        if around in self.waiting and self.waiting[around][0] is module and args:
            _, met, call, edits = self.waiting.pop(around)
            args = self._hand_on(met, call, edits, lambda: Entering(call, args[0])), *args[1:]
        made = super().called(original, module, args, kwargs)
        if id(module) in self.waiting:
            _, met, *_ = self.waiting.pop(id(module))
            raise ValueError(
                f"layer {met.number} ({met.name}) cannot be changed: its heads must enter its "
                "output projection, which did not run"
            )
        return made

    def ends(self, frame: Frame) -> None:
        """A forward pass has ended; one of the whole model without a head to change is refused."""
        self.masks.clear()
        self.unseen |= frame.left_out
        if frame.module is self.model and sys.exc_info()[1] is None:
            self.check(self.edits)
            self.mode.signs = None  # no reason is needed any more

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
        unknown = {"queries", "keys"} & {edit.change.part for edit in some}
        if call.given is not None and unknown:
            raise ValueError(
                f"part must be output, values or weights of layer {number} ({name}), whose queries "
                f"and keys are not known, got {', '.join(unknown)}"
            )
        frame = self.stack[-1]
        projection = handing.projection_of(frame.module, call, function)
        if projection is not None:
            if id(frame.module) in self.waiting:
                raise ValueError(
                    f"layer {number} ({name}) cannot be changed: its heads must enter its output "
                    "projection alone, got those of two calls together"
                )
            outputs = [edit for edit in some if edit.change.part == "output"]
            self.waiting[id(frame.module)] = projection, met, call, outputs
            some = [edit for edit in some if edit.change.part != "output"]
            if not some:
                return self.quietly(function)
        return self._hand_on(
            met, call, some, lambda: FORMS[function.kind](call, function), projection is None
        )

    def _hand_on(
        self,
        met: Met,
        call: Call,
        some: list[Edit],
        made: Callable[[], Returned],
        is_told: bool = True,
    ) -> Any:
        """Heads with their changes, in the form in which they go on."""
        try:
            returned = self.quietly(made)
        except CannotChange as error:
            raise ValueError(
                f"layer {met.number} ({met.name}) cannot be changed: it {error}"
            ) from None
        with self.mode.aside():
            if self.told is not None and is_told:
                self.told(met, call, returned)
            count = call.queries.shape[1]
            for head in dict.fromkeys(head for edit in some for head in edit.heads(count)):
                of_head = [edit for edit in some if head in edit.heads(count)]
                self._change(call, met, head, of_head, returned)
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
            part = partial(_part, among, head=head, met=met, entries=entries)
            now = output[entries]
            if {edit.change.part for edit in among} - {"output"}:
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
        if n_keys < n_queries:  # they are pooled, or some are left out: nothing is cached
            self.totals[name], self.start = (
                (n_queries, call.keys[:, :, -1].detach()),
                (0, n_queries),
            )
            return Met(number, name, 0, 0, None if kept is None else kept != 0)
        if getattr(self.stack[-1].module, "compressor", None) is not None:  # keys of several tokens
            start = self.totals[name][0] if n_queries == 1 and name in self.totals else 0
            self.totals[name] = start + n_queries, call.keys[:, :, -1].detach()
            self.start = start, n_queries
            return Met(number, name, start, 0, None if kept is None or start else kept != 0)
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

    def check(self, edits: Sequence[Edit]) -> None:
        """Raise ValueError where the layer of an edit has not run."""
        ran = {*self.met, *(self.numbers[name] for name in self.met)}
        layers = dict.fromkeys(edit.change.layer for edit in edits)
        missing = [layer for layer in layers if layer not in ran]
        if missing:
            there = ", ".join(f"{self.numbers[name]} ({name})" for name in self.numbers) or "none"
            unseen = "; ".join(f"{name} {why}" for name, why in [*self.unseen.items()][:5])
            more = f"; cannot be changed: {unseen}" if unseen else ""
            raise ValueError(f"layers must be among those that ran, {there}, got {missing}{more}")

    def conclude(self, edits: Sequence[Edit]) -> None:
        """Raise ValueError where one of these edits was never made, once all has run."""
        self.check(edits)
        for edit in edits:
            layer, heads, forwards = edit.change.layer, edit.change.heads, edit.change.forwards
            where = f"head {', '.join(map(str, edit.heads(0) if heads else []))} of layer {layer}"
            ran = [name for name in self.met if layer in (self.numbers[name], name)]
            count = max(self.forwards[name] for name in ran)
            if forwards is not None and not any(0 <= at < count for at in forwards):
                raise ValueError(
                    f"forwards must be among the {count} of {where}, counted from 0, got "
                    f"{[*forwards]}"
                )
            never = edit.never
            if never or not edit.came:
                reach = max(self.totals[name][0] if name in self.totals else 0 for name in ran)
                raise ValueError(
                    f"positions must be among {f'the {reach}' if reach else 'those'} at which "
                    f"{where} ran, got {never or edit.change.positions}"
                )


def _part(
    among: Sequence[Edit], part: str, now: Tensor, *, head: int, met: Met, entries: slice
) -> Tensor:
    """A part of a head of some entries, with its edits. (entries, positions, width)."""
    start = met.first_key if part in ("keys", "values") else met.start
    kept = None if met.kept is None or start != met.start else met.kept[entries]
    for edit in among:
        if edit.change.part == part:
            now = edit.apply(now, head, met, start, kept)
    return now
