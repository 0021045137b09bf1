"""Calls become runs: a forward pass, and further ones that go on from its keys.

A model that writes token by token is called once for each. Its calls are one run where their keys
are those of before and new ones: the number of keys says how many, and the last one of before says
that they are the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from attention.capture.calls import Call, Masks
from attention.capture.masking import Rules, join
from attention.capture.recording import Attention, Kind, Recording
from attention.core.arguments import must_be_several

CROSS = re.compile(r"cross|enc_?dec|encoder_attn", re.IGNORECASE)

NO_CACHE = (
    "Each forward pass had all tokens of the one before and more, as `generate` without a cache: "
    "each is a run, and the last one has all."
)
BEAMS = (
    "A forward pass went on from other keys than those before it, as beams do: each choice of a "
    "beam begins a run, which has the queries since then alone."
)


class NoContinuation(Exception):
    """The keys of a call are not those of before."""


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


@dataclass
class Growing:
    """One attention of a run under way: what came with each call."""

    number: int
    name: str
    kind: Kind
    heads: tuple[int, ...]
    groups: tuple[int, ...]
    scale: float
    cap: float | None
    sinks: Tensor | None
    n_keys: int = 0
    queries: list[Tensor] = field(default_factory=list)
    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    rules: list[tuple[Rules, int]] = field(default_factory=list)

    def fresh(self, call: Call, used: int) -> tuple[int, int]:
        """Number of new keys in a call, and the index of the first one among all.

        Raises NoContinuation.
        """
        if not self.keys:
            return used, 0
        key_heads = sorted(set(self.groups))
        last = self.keys[-1][:, :, -1]
        if call.queries.shape[0] != len(last) or call.keys.shape[-1] != last.shape[-1]:
            raise NoContinuation
        new = 0 if self.kind == "cross" else call.n_queries
        place = used - new - 1
        if place < 0 or (new == 0 and used != self.n_keys) or used - new > self.n_keys:
            raise NoContinuation
        if not torch.equal(call.keys[:, key_heads, place], last):
            raise NoContinuation
        return new, self.n_keys + new - used

    def add(self, call: Call, rules: Rules, values: bool) -> None:
        """Keeps what a call brings that is new. Raises NoContinuation, with nothing kept."""
        used = call.n_keys
        if self.kind == "self" and used > self.n_keys + call.n_queries:
            used = max(min(used, self.n_keys + call.n_queries), rules.reach)
        new, offset = self.fresh(call, used)
        key_heads = sorted(set(self.groups))
        some = slice(used - new, used)
        self.queries.append(_kept(call.queries, self.heads))
        if new:
            self.keys.append(_kept(call.keys[:, :, some], key_heads))
            if values:
                self.values.append(_kept(call.values()[:, :, some], key_heads))
        self.n_keys = offset + used
        self.rules.append((rules.of(self.heads, used), offset))

    def attention(self) -> Attention:
        """All of it together. What came with each call is let go of."""
        queries, keys, values = map(_together, (self.queries, self.keys, self.values))
        assert queries is not None
        assert keys is not None
        key_heads = sorted(set(self.groups))
        rules = join(self.rules, queries.shape[2], self.n_keys)
        return Attention(
            self.number,
            self.name,
            self.kind,
            queries,
            keys,
            values,
            self.heads,
            tuple(key_heads.index(group) for group in self.groups),
            self.scale,
            self.cap,
            self.sinks,
            rules,
        )


class Run:
    """A run under way: its attentions by the module and how often that was called before."""

    def __init__(self, choice: Choice, masks: Masks, model: str, step: int) -> None:
        self.choice, self.masks, self.model, self.step = choice, masks, model, step
        self.numbers: dict[str, int] = {}
        self.growing: dict[str, Growing] = {}
        self.left_out: dict[str, str] = {}
        self.unasked: list[str] = []

    def add(self, name: str, call: Call) -> None:
        """Takes a call of the module `name`. Raises NoContinuation where it cannot go on."""
        number = self.numbers.setdefault(name, len(self.numbers))
        if (number, name) not in self.choice:
            if name not in self.unasked:
                self.unasked.append(name)
            return
        if name not in self.growing:
            self.growing[name] = self._begun(number, name, call)
        self.growing[name].add(call, self.masks.rules(call), self.choice.values)

    def goes_on(self, name: str, call: Call) -> bool:
        """If a call of the module `name`, the first one of a forward pass, goes on from here."""
        known = self.growing.get(name)
        if known is None or known.kind == "cross":
            return False
        rules = self.masks.rules(call)
        used = min(call.n_keys, max(known.n_keys + call.n_queries, rules.reach))
        try:
            known.fresh(call, used)
        except NoContinuation:
            return False
        return True

    def begun_anew(self, name: str, call: Call) -> str | None:
        """The reason why a further forward pass is a run of its own, None where it is another text.

        call: its first one, of the module `name`, which does not go on from here.
        """
        known = self.growing.get(name)
        if known is None or known.kind == "cross" or not known.keys:
            return None
        if call.n_queries == 1 < self.masks.rules(call).reach:
            return BEAMS
        last = known.keys[-1][:, :, -1]
        keys = call.keys[:, sorted(set(known.groups))]
        if keys.shape[0] != len(last) or keys.shape[3] != last.shape[2]:
            return None
        longer = call.n_queries > known.n_keys and known.n_keys > 0
        return NO_CACHE if longer and torch.equal(keys[:, :, known.n_keys - 1], last) else None

    def recording(self) -> Recording:
        """The run as it is kept."""
        names = list(self.growing)
        attentions = [self.growing.pop(name).attention() for name in names]
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

    def _begun(self, number: int, name: str, call: Call) -> Growing:
        n_heads, key_heads = call.queries.shape[1], call.keys.shape[1]
        heads = self.choice.of(name, n_heads)
        groups = tuple(head * key_heads // n_heads for head in heads)
        kind: Kind = "self"
        if call.cross or (call.cross is None and CROSS.search(name)):
            kind = "cross"
        sinks = None if call.sinks is None else _kept(call.sinks.reshape(1, -1), heads)[0]
        return Growing(number, name, kind, heads, groups, call.scale, call.cap, sinks)


def _joined(prefix: str, name: str) -> str:
    return ".".join(part for part in (prefix, name) if part)


def _kept(tensor: Tensor, heads: Sequence[int]) -> Tensor:
    """A copy of some heads that holds on to nothing else of the model's."""
    tensor = tensor.detach()
    some = tensor if [*heads] == [*range(tensor.shape[1])] else tensor[:, list(heads)]
    return some.clone(memory_format=torch.contiguous_format)


def _together(parts: list[Tensor]) -> Tensor | None:
    """One tensor along the tokens; the parts are let go of."""
    whole = parts[0] if len(parts) == 1 else torch.cat(parts, 2) if parts else None
    parts.clear()
    return whole
