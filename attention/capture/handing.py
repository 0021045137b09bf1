"""Heads as their model's output projection gets them: signed, gated, of the expert they belong to.

DiffLlama hands on the difference of two maps (Ye et al. 2024, 2410.05258, eq. 1), JetMoe routes
each query to some experts with an output projection of their own (Shen et al. 2024, 2404.07413),
Qwen3-Next and others gate each number (Qiu et al. 2025, 2505.06708). All of them call one attention
function, whose heads are others than those that are handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.capture.attentions import Attention, Handed, Marked, WithRows
from attention.capture.calls import Call, Function, four_axes

PROJECTIONS = {"o_proj", "out_proj", "c_proj", "dense", "o", "wo", "out_lin", "proj", "to_out"}
ROUTER = "router"
APART = 0.01  # relative: less is rounding, as to another type

Calls = Sequence[tuple[Call, Tensor]]  # each with its output, (entries, heads, queries, d_v)


def output_of(function: Function, returned: Any) -> Tensor | None:
    """The heads' outputs that a function returned, (entries, heads, queries, d_v), None where they
    are projected already."""
    if function.kind is None:
        made = returned[0] if isinstance(returned, tuple) else None
        return made.transpose(1, 2) if isinstance(made, Tensor) and made.dim() == 4 else None
    is_plain = function.kind is F.scaled_dot_product_attention and isinstance(returned, Tensor)
    return four_axes(returned) if is_plain else None


def projection_of(module: nn.Module, call: Call, function: Function) -> nn.Module | None:
    """The module within that the heads of a call enter side by side, None where none is known."""
    if type(module).__name__ in READERS or function.kind not in (
        None,
        F.scaled_dot_product_attention,
    ):
        return None
    found = [part for name, part in module.named_children() if name in PROJECTIONS]
    width = call.queries.shape[1] * call.values().shape[-1]
    d_in = [getattr(part, "in_features", getattr(part, "nx", None)) for part in found]
    return found[0] if d_in == [width] else None


def read(module: nn.Module, calls: Calls, brought: Mapping[str, Any]) -> Handed | None:
    """Way in which a module hands on the outputs of its calls; None: as they are, or not known.

    brought: what entered its output projection and what its router returned, by their names.
    """
    with torch.no_grad():
        return READERS.get(type(module).__name__, _gate)(module, calls, brought)


def _difference(module: Any, calls: Calls, brought: Mapping[str, Any]) -> Handed | None:
    """Of DiffLlama: `(A₁ − λ A₂) v`, normed, for each pair of heads h and h + heads / 2."""
    if len(calls) != 2:
        return None
    first, second = torch.cat([output for _, output in calls], -1).chunk(2, 1)
    each = [(module.lambda_q1, module.lambda_k1), (module.lambda_q2, module.lambda_k2)]
    more, less = (torch.exp((q * k).sum(dtype=torch.float32)).to(first.dtype) for q, k in each)
    weight = more - less + module.lambda_init
    made = (first - weight * second).float()
    eps = module.groupnorm.eps or torch.finfo(first.dtype).eps
    norm = (made.square().mean(-1) + eps).rsqrt() * (1 - module.lambda_init)
    half = first.shape[1]
    return Handed(
        f"head h − λ · head h + {half}, normed, is handed on",
        tuple((head, head + half) for head in range(half)),
        torch.stack([norm, -float(weight) * norm], 2),
        takes_next=True,
    )


def _experts(module: Any, calls: Calls, brought: Mapping[str, Any]) -> Handed | None:
    """Of JetMoe: head h of an expert has the rows of the tokens that are routed to it."""
    if ROUTER not in brought or len(calls) != 1:
        return None
    order, _, gates, sizes, _ = brought[ROUTER]
    call, slots, heads = calls[0][0], module.top_k, module.num_key_value_heads
    experts = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes)).to(order)
    shape = call.queries.shape[0], call.n_queries, slots
    chosen, share = torch.empty_like(order), torch.empty_like(gates)
    chosen[order], share[order] = experts, gates
    asked = chosen.view(shape)[..., None] == torch.arange(len(sizes)).to(order)
    factors = (asked * share.view(shape)[..., None]).permute(0, 3, 2, 1)
    return Handed(
        f"each {heads} heads are a slot, whose expert a router chooses for each query",
        tuple(
            tuple(slot * heads + head for slot in range(slots))
            for _ in sizes
            for head in range(heads)
        ),
        factors.repeat_interleave(heads, 1),
    )


def _gate(module: Any, calls: Calls, brought: Mapping[str, Any]) -> Handed | None:
    """Of any module: each number of the output times that by which it enters the projection."""
    entered = [brought[name] for name in PROJECTIONS & brought.keys()]
    if len(calls) != 1 or len(entered) != 1:
        return None
    call, output = calls[0]
    heads, width = output.shape[1], output.shape[-1]
    now = entered[0]
    if now.shape[:-1] != (len(output), call.n_queries) or now.shape[-1] != heads * width:
        return None
    now = now.unflatten(-1, (heads, width)).transpose(1, 2)
    if torch.equal(now, output):  # as nearly all models have it
        return None
    apart = (now - output).abs() > APART * output.abs()
    if not bool(apart.any()) or bool((apart & (output == 0)).any()):
        return None
    gate = torch.where(output == 0, 0, now / output)
    alone = tuple((head,) for head in range(heads))
    words = "each number of its output is multiplied by another after it, as by a gate"
    return Handed(words, alone, gate=gate)


READERS: dict[str, Callable[[Any, Calls, Mapping[str, Any]], Handed | None]] = {
    "DiffLlamaAttention": _difference,
    "JetMoeAttention": _experts,
}


def brings(module: nn.Module, name: str, args: Sequence[Any], made: Any) -> Any:
    """Part of a call of a module `name` within an attention that `read` needs, None without any."""
    if name in PROJECTIONS and args and isinstance(args[0], Tensor):
        return args[0].detach()
    return made if name == ROUTER and type(module).__name__ in READERS else None


@dataclass(eq=False, kw_only=True)
class Effective(WithRows):
    """One attention with its heads as they are handed on to the output projection.

    of: the attention as its function had it, made of it by `handed`; further: the one with further
    numbers of each value. heads are counted as they are handed on; of experts all heads of the
    first one, then those of the next. A row is the sum of rows of `of`, each times its factor.
    """

    of: Attention
    further: Attention | None

    @property
    def _how(self) -> Handed:
        assert self.of.handed is not None
        return self.of.handed

    @property
    def weights_are_a_distribution(self) -> bool:
        factors = self._how.factors
        return factors is None or bool(((factors >= 0) & (factors <= 1)).all())

    @property
    def words(self) -> str:
        return "as handed on to the output projection"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        entries, _, queries, keys = self.of.shape
        return entries, len(self.heads), queries, keys

    def rows_of(self, head: int, rows: Tensor, entry: int, first: int = 0) -> Tensor:
        number, factors = self.heads[head], self._how.factors
        made = []
        for at, source in enumerate(self._how.sources[number]):
            part = self.of.part(self.of.position(source), rows, None, entry)
            if factors is not None:
                part *= factors[entry, number, at, rows, None]
            made.append(part)
        return torch.stack(made).sum(0)

    def values_of(self, head: int, entry: int) -> Tensor:
        source = self.of.position(self._how.sources[self.heads[head]][0])
        both = [one for one in (self.of, self.further) if one is not None]
        return torch.cat([one.values_of(source, entry) for one in both], -1)

    def gate(self, head: int, rows: Tensor, entry: int) -> Tensor | None:
        return None if self._how.gate is None else self._how.gate[entry, head, rows]

    def marked(self) -> Marked:
        """All rows as they are, as a file has them, without values."""
        entries, heads, queries, _ = self.shape
        every = torch.arange(queries, device=self.queries.device)
        given = [
            torch.stack([self.part(head, every, None, entry) for head in range(heads)])
            for entry in range(entries)
        ]
        none = self.queries.new_zeros(entries, heads, queries, 1), self.keys[:, :1, :, :1] * 0
        further: tuple[Any, ...] = (None, self.heads, (0,) * heads, 1.0, None, None, self.rules)
        return Marked(self.number, self.name, self.kind, *none, *further, given=torch.stack(given))


def effective(attentions: Sequence[Attention]) -> list[Attention]:
    """These attentions with heads as they are handed on; others stay as they are.

    Raises ValueError where none of the heads handed on has all that it is made of.
    """
    by_name = {one.name: one for one in attentions}
    made: list[Attention] = []
    taken = {f"{one.name}#2" for one in attentions if one.handed and one.handed.takes_next}
    for one in attentions:
        if one.handed is None:
            made += [] if one.name in taken else [one]
            continue
        further = by_name.get(f"{one.name}#2") if one.handed.takes_next else None
        sources = one.handed.sources
        heads = tuple(at for at, some in enumerate(sources) if {*some} <= {*one.heads})
        if not heads:
            raise ValueError(
                f"heads must be kept that {one.name} hands on together, as {list(sources[0])}, got "
                f"{list(one.heads)}"
            )
        shared: tuple[Any, ...] = (one.number, one.name, one.kind, one.queries, one.keys)
        shared += (one.values, heads, tuple(range(len(heads))), one.scale, None, None, one.rules)
        made.append(Effective(*shared, of=one, further=further))
    return made
