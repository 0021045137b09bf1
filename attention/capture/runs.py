"""Calls become runs: a forward pass, and further ones that go on from its keys.

A model that writes token by token is called once for each. Its calls are one run where their keys
are those of before and new ones: the number of keys says how many, and the last one of before says
that they are the same. Beams go on from each other's keys: the last key says from whose, by all
attentions of a call together, and each entry of the run is what its last call went on from. Without
a cache a call has all tokens so far: it stands for those before it where none of their rows could
see further.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.capture.attentions import Handed, Kind
from attention.capture.calls import Call, Masks
from attention.capture.growing import Growing, GrowingRecurrence, some_heads
from attention.capture.kernels import Recurrent
from attention.capture.recording import Recording
from attention.core.arguments import must_be_several

CROSS = re.compile(r"cross|enc_?dec|encoder_attn", re.IGNORECASE)
OTHER_KEYS = (
    "A forward pass went on from keys that are none of those of the calls before it: it begins a "
    "run, which has the queries since then alone."
)


@dataclass(frozen=True)
class Choice:
    """Choice of the attentions and heads that are kept, None = all; and if values are."""

    layers: Collection[int | str] | None = None
    heads: Sequence[int] | None = None
    values: bool = False

    def __post_init__(self) -> None:
        if self.layers is not None:
            must_be_several("layers", self.layers, int, str, example='[0, 2] or ["encoder.0"]')
        if self.heads is not None:
            must_be_several("heads", self.heads, int, example="[0, 3]")

    def __contains__(self, attention: tuple[int, str]) -> bool:
        return self.layers is None or not set(self.layers).isdisjoint(attention)

    def missing(self, there: Collection[tuple[int, str]]) -> list[int | str]:
        """The layers that are asked for and are none of these numbers and names."""
        known = {one for both in there for one in both}
        return [one for one in self.layers or () if one not in known]

    def of(self, name: str, heads: int) -> tuple[int, ...]:
        """The heads that are kept of so many. Raises ValueError where there are fewer."""
        kept = tuple(range(heads)) if self.heads is None else tuple(self.heads)
        if not all(0 <= head < heads for head in kept):
            raise ValueError(f"heads must lie below {heads} in {name}, got {list(kept)}")
        return kept


class Run:
    """A run under way: its attentions by the module and how often that was called before."""

    def __init__(self, choice: Choice, masks: Masks, model: str, step: int) -> None:
        self.choice, self.masks, self.model, self.step = choice, masks, model, step
        self.numbers: dict[str, int] = {}
        self.growing: dict[str, Growing | GrowingRecurrence] = {}
        self.left_out: dict[str, str] = {}
        self.unasked: list[str] = []
        self.passes = 0  # before the one under way
        self.parents: dict[int, Tensor] = {}  # of forward passes, see `Growing.fresh`

    def add(self, name: str, call: Call | Recurrent) -> None:
        """Takes a call of the module `name`. Raises NoContinuation where it cannot go on."""
        number = self.numbers.setdefault(name, len(self.numbers))
        if (number, name) not in self.choice:
            if name not in self.unasked:
                self.unasked.append(name)
            if number:  # the first one says if a call goes on
                return
        if name not in self.growing or self.growing[name].again:
            self.growing[name] = self._begun(number, name, call)
        found = self.growing[name].add(call, self.masks, self.choice.values, self.passes)
        if found is not None:
            known = self.parents.get(self.passes)
            self.parents[self.passes] = found if known is None else known & found.to(known.device)

    def hand(self, name: str, handed: Handed) -> None:
        """Takes how the heads of the last call of the module `name` were handed on."""
        known = self.growing.get(name)
        if isinstance(known, Growing) and known.kept:
            gate = handed.gate if self.choice.values else None
            known.handed.append(replace(handed, gate=gate))

    def goes_on(self, name: str, call: Call | Recurrent) -> bool:
        """True if the first call of the module `name` in a forward pass goes on from here."""
        known = self.growing.get(name)
        return known is not None and known.goes_on(call, self.masks)

    def has_other_keys(self, name: str, call: Call | Recurrent) -> bool:
        """True if a forward pass that does not go on from here goes on from anything else.

        call: its first one, of the module `name`.
        """
        known = self.growing.get(name)
        return known is not None and known.has_other_keys(call, self.masks)

    def is_within(self, name: str, call: Call | Recurrent) -> bool:
        """True if a further forward pass has all of this run and more, as without a cache.

        call: its first one, of the module `name`. Its keys begin with those of here, and a mask
        lets none of the rows of here see the others.
        """
        known = self.growing.get(name)
        return known is not None and known.is_within(call, self.masks)

    def again(self) -> None:
        """All that runs from now on has what it had before, see `is_within`."""
        self.parents.clear()
        for each in self.growing.values():
            each.again = True

    def _orders(self) -> dict[int, Tensor]:
        """By the forward pass, which of its entries belongs to each of the last one."""
        if not self.parents:
            return {}
        now = torch.arange(len(next(iter(self.parents.values()))))
        found = {}
        for at in range(self.passes, -1, -1):
            found[at] = now
            if at in self.parents:
                some = self.parents[at].cpu().float()
                some.diagonal().mul_(2)  # from itself, where that may be
                now = some.argmax(1)[now]
        return found

    def recording(self) -> Recording:
        """The run as it is kept."""
        orders, growing = self._orders(), list(self.growing.values())
        self.growing.clear()
        attentions = []
        while growing:
            if (one := growing.pop()).kept:
                attentions.append(one.attention(orders))
        attentions.sort(key=lambda attention: attention.number)
        return Recording(
            attentions,
            self.left_out,
            model=self.model,
            step=self.step,
            unasked=self.unasked,
        )

    def within(self, prefix: str) -> None:
        """Names everything as a part of a larger model, of which the module `prefix` ran."""
        for each in self.growing.values():
            each.name = _joined(prefix, each.name)
        self.growing = {each.name: each for each in self.growing.values()}
        self.numbers = {_joined(prefix, name): number for name, number in self.numbers.items()}
        self.left_out = {_joined(prefix, name): why for name, why in self.left_out.items()}
        self.unasked = [_joined(prefix, name) for name in self.unasked]

    def _begun(self, number: int, name: str, call: Call | Recurrent) -> Growing | GrowingRecurrence:
        kept = (number, name) in self.choice
        if isinstance(call, Recurrent):
            heads = self.choice.of(name, call.strength.shape[1])
            grouped = call.strength.shape[1] // call.keys.shape[1]
            groups = tuple(head // grouped for head in heads)
            return GrowingRecurrence(number, name, heads, groups, call, kept)
        n_heads, key_heads = call.queries.shape[1], call.keys.shape[1]
        heads = self.choice.of(name, n_heads)
        groups = tuple(head * key_heads // n_heads for head in heads)
        kind: Kind = "self"
        if call.cross or (call.cross is None and CROSS.search(name)):
            kind = "cross"
        sinks = None if call.sinks is None else some_heads(call.sinks.reshape(1, -1), heads)[0]
        return Growing(number, name, kind, heads, groups, call.scale, call.cap, sinks, kept)


def _joined(prefix: str, name: str) -> str:
    return ".".join(part for part in (prefix, name) if part)
