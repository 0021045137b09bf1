"""One attention, or one layer without a softmax, of a run under way: what came with each call.

The number of keys of a call says how many are new, and the last one of before says that the others
are the same; of beams it says from whose each goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.capture.attentions import Attention, Handed, Kind, Marked
from attention.capture.calls import Call, Masks
from attention.capture.kernels import Recurrent
from attention.capture.masking import Rules, join
from attention.capture.recurrences import Recurrence

MOST_APART = 0.02  # of a key: by rounding, in bfloat16 too


class NoContinuation(Exception):
    """The keys of a call are not those of before, and why."""

    def __init__(self, why: str = "has other keys than in the calls before") -> None:
        super().__init__(why)


@dataclass
class Growing:
    """One attention of a run under way: what came with each call.

    kept: False where its keys are only to say if a call goes on from here; again: True where all of
    it comes again with the next call; passes, key_passes: the forward passes of what is in queries
    and in keys.
    """

    number: int
    name: str
    kind: Kind
    heads: tuple[int, ...]
    groups: tuple[int, ...]
    scale: float
    cap: float | None
    sinks: Tensor | None
    kept: bool = True
    again: bool = False
    n_keys: int = 0
    passes: list[int] = field(default_factory=list)
    key_passes: list[int] = field(default_factory=list)
    queries: list[Tensor] = field(default_factory=list)
    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    rules: list[tuple[Rules, int]] = field(default_factory=list)
    given: list[Tensor] = field(default_factory=list)
    handed: list[Handed] = field(default_factory=list)

    def fresh(self, call: Call, used: int) -> tuple[int, int, Tensor | None]:
        """Number of new keys in a call, the index of the first one among all, and from which
        entries each may go on, bool (entries, entries of before), None where each from itself.

        Raises NoContinuation.
        """
        if not self.keys:
            return used, 0, None
        key_heads = sorted(set(self.groups))
        last = self.keys[-1][:, :, -1]
        if call.queries.shape[0] != len(last) or call.keys.shape[-1] != last.shape[-1]:
            raise NoContinuation
        new = 0 if self.kind == "cross" else call.n_queries
        place = used - new - 1
        if place < 0 or (new == 0 and used != self.n_keys) or used - new > self.n_keys:
            raise NoContinuation
        parents = parents_of(call.keys[:, key_heads, place], last)
        return new, self.n_keys + new - used, parents

    def goes_on(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call, the first one of a forward pass, goes on from here."""
        if self.kind == "cross" or isinstance(call, Recurrent):
            return False
        used = min(call.n_keys, max(self.n_keys + call.n_queries, masks.rules(call).reach))
        try:
            self.fresh(call, used)
        except NoContinuation:
            return False
        return True

    def has_other_keys(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call that does not go on from here goes on from anything else."""
        if self.kind == "cross" or not self.keys or isinstance(call, Recurrent):
            return False
        return call.n_queries == 1 < masks.rules(call).reach

    def is_within(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call has all keys of here and more, which no row of here may see."""
        if self.kind == "cross" or not self.keys or isinstance(call, Recurrent):
            return False
        before, mask = self.n_keys, masks.rules(call).mask
        keys = call.keys[:, sorted(set(self.groups)), :before]
        longer = before < call.n_queries <= call.n_keys
        if not longer or mask is None or not _alike(keys, torch.cat(self.keys, 2)):
            return False
        row = torch.tensor([before - 1], device=keys.device)
        stops = [int(mask.bounds(entry, 0, row)[1]) for entry in range(len(keys))]
        return max(stops) <= before

    def add(self, call: Call | Recurrent, masks: Masks, values: bool, at: int) -> Tensor | None:
        """Keeps what is new in a call of the forward pass `at`; gives its parents, see `fresh`.

        Raises NoContinuation, with nothing kept.
        """
        if isinstance(call, Recurrent):
            raise NoContinuation
        used, rules = call.n_keys, masks.rules(call)
        if self.kind == "self" and used > self.n_keys + call.n_queries:
            used = max(min(used, self.n_keys + call.n_queries), rules.reach)
        new, offset, parents = self.fresh(call, used)
        key_heads = sorted(set(self.groups))
        some = slice(used - new, used)
        self.n_keys = offset + used
        if new:
            self.key_passes.append(at)
            self.keys.append(some_heads(call.keys[:, :, some], key_heads))
        if not self.kept:
            return parents
        self.passes.append(at)
        self.queries.append(some_heads(call.queries, self.heads))
        if new and values:
            self.values.append(some_heads(call.values()[:, :, some], key_heads))
        self.rules.append((rules.of(self.heads, used), offset))
        if call.given is not None:
            self.given.append(pad(some_heads(call.given[..., :used], self.heads), (offset, 0)))
        return parents

    def attention(self, orders: Mapping[int, Tensor]) -> Attention:
        """All of it together. What came with each call is let go of.

        orders: by the forward pass, which of its entries belongs to each of the last one, where
        these differ.
        """
        for parts, passes in (
            (self.queries, self.passes),
            (self.given, self.passes),
            (self.keys, self.key_passes),
            (self.values, self.key_passes),
        ):
            for place, (part, at) in enumerate(zip(parts, passes, strict=False)):
                if at in orders and len(part) == len(orders[at]):
                    parts[place] = part[orders[at].to(part.device)]
        queries, keys, values = map(_together, (self.queries, self.keys, self.values))
        assert queries is not None
        assert keys is not None
        key_heads = sorted(set(self.groups))
        rules = join(self.rules, queries.shape[2], self.n_keys)
        groups = tuple(key_heads.index(group) for group in self.groups)
        known = self.number, self.name, self.kind
        of_heads = self.heads, groups, self.scale, self.cap, self.sinks
        handed = self._handed(orders)
        further: tuple[Any, ...] = (values, *of_heads, rules, handed)
        if not self.given:
            return Attention(*known, queries, keys, *further)
        given = [pad(part, (0, self.n_keys - part.shape[-1])) for part in self.given]
        queries, keys = (part[..., :1].clone().zero_() for part in (queries, keys))
        return Marked(*known, queries, keys, *further, given=torch.cat(given, 2))

    def _handed(self, orders: Mapping[int, Tensor]) -> Handed | None:
        """Way in which all calls hand on heads, None where it is not known of each."""
        if not self.handed or len(self.handed) != len(self.passes):
            return None

        def together(parts: list[Tensor | None], axis: int) -> Tensor | None:
            made = [
                part[orders[at].to(part.device)] if at in orders else part
                for part, at in zip(parts, self.passes, strict=True)
                if part is not None
            ]
            return torch.cat(made, axis) if len(made) == len(self.passes) else None

        gate = together([part.gate for part in self.handed], 2)
        return replace(
            self.handed[0],
            factors=together([part.factors for part in self.handed], 3),
            gate=None if gate is None else gate[:, list(self.heads)],
        )


@dataclass
class GrowingRecurrence:
    """One layer without a softmax of a run under way: what came with each call.

    left: some numbers of the state that the last call left, to tell if the next goes on from it;
    kept, again, passes: see `Growing`.
    """

    number: int
    name: str
    heads: tuple[int, ...]
    groups: tuple[int, ...]
    first: Recurrent
    kept: bool = True
    again: bool = False
    kind: Kind = "self"
    n_keys: int = 0
    passes: list[int] = field(default_factory=list)
    left: Tensor | None = None
    parts: dict[str, list[Tensor]] = field(default_factory=dict)

    def parents(self, call: Call | Recurrent) -> Tensor | None:
        """From which entries of before each of a call goes on, see `parents_of`.

        Raises NoContinuation.
        """
        if not isinstance(call, Recurrent) or call.before is None or self.left is None:
            raise NoContinuation("goes on from another state than it left before")
        now = _some_of(call.before)
        if now.shape != self.left.shape:
            raise NoContinuation("goes on from another state than it left before")
        return parents_of(now[:, None], self.left.to(now)[:, None])

    def goes_on(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call goes on from the state that the one before it left."""
        try:
            self.parents(call)
        except NoContinuation:
            return False
        return True

    def has_other_keys(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call that does not go on from here goes on from anything else."""
        return isinstance(call, Recurrent) and bool(self.n_keys) and call.before is not None

    def is_within(self, call: Call | Recurrent, masks: Masks) -> bool:
        """True if a call has all keys of here and more."""
        if not isinstance(call, Recurrent) or call.before is not None or not self.n_keys:
            return False
        keys = call.keys[:, sorted(set(self.groups)), : self.n_keys]
        return call.n_queries > self.n_keys and _alike(keys, torch.cat(self.parts["keys"], 2))

    def add(self, call: Call | Recurrent, masks: Masks, values: bool, at: int) -> Tensor | None:
        """Keeps what a call of the forward pass `at` brings; gives its parents.

        Raises NoContinuation, with nothing kept.
        """
        if isinstance(call, Call):
            raise NoContinuation
        parents = self.parents(call) if self.n_keys else None
        if not self.n_keys and call.before is not None and call.before.any():
            raise NoContinuation("goes on from a state of tokens that were not seen")
        key_heads = sorted(set(self.groups))
        brought: dict[str, tuple[Tensor, Sequence[int]]]
        brought = {"keys": (call.keys, key_heads)}
        if self.kept:
            brought |= {
                "queries": (call.queries, key_heads),
                "strength": (call.strength, self.heads),
            }
        if self.kept and values:
            brought["values"] = call.values(), self.heads
        if self.kept and call.decay is not None:
            brought["decay"] = call.decay, self.heads
        for part, (tensor, heads) in brought.items():
            self.parts.setdefault(part, []).append(some_heads(tensor, heads))
        self.passes.append(at)
        self.n_keys += call.n_queries
        return parents

    def leaves(self, state: Tensor | None) -> None:
        """Remembers the state that a call left."""
        self.left = None if state is None else _some_of(state).clone()

    def attention(self, orders: Mapping[int, Tensor]) -> Attention:
        """All of it together, see `Growing.attention`."""
        for brought in self.parts.values():
            for place, (part, at) in enumerate(zip(brought, self.passes, strict=True)):
                if at in orders and len(part) == len(orders[at]):
                    brought[place] = part[orders[at].to(part.device)]
        whole = {part: _together(brought) for part, brought in self.parts.items()}
        queries, keys, strength = (whole[part] for part in ("queries", "keys", "strength"))
        assert queries is not None
        assert keys is not None
        assert strength is not None
        rate = self.first.rate
        key_heads = sorted(set(self.groups))
        return Recurrence(
            self.number,
            self.name,
            self.kind,
            queries,
            keys,
            whole.get("values"),
            self.heads,
            tuple(key_heads.index(group) for group in self.groups),
            self.first.scale,
            None,
            None,
            Rules(None, None, self.n_keys, self.n_keys),
            rule=self.first.rule,
            strength=strength,
            decay=whole.get("decay"),
            rate=None if rate is None else some_heads(rate[None], self.heads)[0],
            is_normed=self.first.is_normed,
            beside=self.first.beside,
        )


def parents_of(keys: Tensor, before: Tensor) -> Tensor | None:
    """From which entries of before each entry may go on, by a key. (entries, entries), bool.

    keys, before: (entries, heads, d_k). None where all are the same. Raises NoContinuation where
    one is that of none.
    """
    if torch.equal(keys, before):
        return None
    parents = torch.stack([(key == before).flatten(1).all(1) for key in keys])
    if not bool(parents.any(1).all()):
        raise NoContinuation
    return parents


def _alike(keys: Tensor, there: Tensor) -> bool:
    """True if keys are nearly those of before: other sizes of a product round otherwise."""
    if keys.shape != there.shape:
        return False
    sizes = there.float().norm(dim=-1)
    for key in keys.float():
        apart = (key - there.float()).norm(dim=-1) > MOST_APART * sizes
        if bool(apart.flatten(1).any(1).all()):
            return False
    return True


def _some_of(state: Tensor) -> Tensor:
    """Some numbers of each entry of a state, which are others after other tokens."""
    return state.detach()[:, 0, 0]


def some_heads(tensor: Tensor, heads: Sequence[int]) -> Tensor:
    """A copy of some heads that holds on to nothing else of the model's."""
    tensor = tensor.detach()
    some = tensor if [*heads] == [*range(tensor.shape[1])] else tensor[:, list(heads)]
    return some.clone(memory_format=torch.contiguous_format)


def _together(parts: list[Tensor]) -> Tensor | None:
    """One tensor along the tokens; the parts are let go of."""
    whole = parts[0] if len(parts) == 1 else torch.cat(parts, 2) if parts else None
    parts.clear()
    return whole
