"""A layer of a trained model: its attention, what stands around it, and one run of it."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention.core import masks
from attention.core.functional import Projected, Trace, attend, linear, merge_heads
from attention.core.norms import RmsNorm
from attention.core.positions import Rotary
from attention.core.printing import shapes
from attention.core.settings import Config
from attention.core.variants import DotScores, MultiHead
from attention.trained.parts import FeedForward, GatedFeedForward, Norms, Recurrence, through

MAX_AT_ONCE = 1 << 18  # cells of some heads that are worked out at once
ROWS = 256  # queries of a long text that are
ALL = slice(None)
Part = TypeVar("Part", Tensor, Trace)


@dataclass(frozen=True)
class TrainedConfig(Config):
    """Configuration of a trained layer; none of it can be set.

    rotary: how queries and keys are rotated, if they are; scale: what scores are multiplied by,
    None = 1/√d_k; cap: what scaled scores stay below, see `functional.capped`; eps: what the norms
    of queries and keys add to the mean of the squares.
    """

    heads: int = 1
    rotary: Rotary | None = None
    scale: float | None = None
    cap: float | None = None
    eps: float = 1e-6


class TrainedAttention(DotScores):
    """Multi-head attention with the parameters a model has learned.

    parameters: W_q, W_k, W_v, W_o, each (d_in, d_out), and their biases b_q, b_k, b_v, b_o where
    there are any; those of keys and values are narrower where heads share them, in groups. g_q and
    g_k, (d_head,), where queries and keys go through an RMS norm of each head.
    They are buffers: memory they share with the model's file is not this layer's.
    """

    name = "trained"
    title = "Trained multi-head attention"
    formula = (
        r"s^h_{ij} = (x_i W_q^h + b_q^h) \cdot (x_j W_k^h + b_k^h)"
        r" \\ y_i = b_o + \sum_h \sum_j w^h_{ij}\, (x_j W_v^h + b_v^h)\, W_o^h"
    )
    source = MultiHead.source
    published_scale = MultiHead.published_scale
    projections: ClassVar[dict[str, str]] = MultiHead.projections
    origin = "learned"

    W_q: Tensor
    W_k: Tensor
    W_o: Tensor

    def __init__(
        self,
        heads: int,
        parameters: Mapping[str, Tensor],
        *,
        rotary: Rotary | None = None,
        scale: float | None = None,
        eps: float = 1e-6,
    ) -> None:
        d_model = parameters["W_q"].shape[0]
        super().__init__(TrainedConfig(d_model, heads, rotary, scale, eps=eps))
        for name, parameter in parameters.items():
            self.register_buffer(name, parameter)

    @property
    def groups(self) -> int:
        return self.heads * self.W_k.shape[1] // self.W_q.shape[1]

    @property
    def heads_independent(self) -> bool:
        return True

    def norm(self, role: str) -> RmsNorm | None:
        gain: Tensor | None = getattr(self, f"g_{role[0]}", None)
        return None if gain is None else RmsNorm(gain, self.config.eps)

    def outputs(self, projected: Projected, mask: Tensor | None) -> Tensor:
        """Output of each head, no steps kept. (…, heads, queries, d_v).

        Heads that share keys and values are worked out as further queries of one head. mask: as in
        `forward`.
        """
        queries, n_queries = projected.queries, projected.queries.shape[-2]
        if self.rotary is not None:
            queries = self.rotary(queries, projected.first)
        size = self.heads // self.groups
        trace = attend(
            queries.unflatten(-3, (self.groups, size)).flatten(-3, -2),
            projected.keys if projected.rotated is None else projected.rotated,
            projected.values,
            scores=self.scores,
            scale=self.scale,
            mask=None if mask is None else torch.cat([mask] * size, -2).unsqueeze(-3),
        )
        outputs: Tensor = trace.output.unflatten(-2, (size, n_queries)).flatten(-4, -3)
        return outputs

    def fused(self, projected: Projected, mask: Tensor | None) -> Tensor:
        """Output of each head by torch's own kernel, see `outputs`."""
        queries = projected.queries
        if self.rotary is not None:
            queries = self.rotary(queries, projected.first)
        keys = projected.keys if projected.rotated is None else projected.rotated
        factor = self.scale(keys.shape[-1], keys.shape[-1]) if callable(self.scale) else self.scale
        q, k, v = (part.reshape(-1, *part.shape[-3:]) for part in (queries, keys, projected.values))
        made = scaled_dot_product_attention(q, k, v, mask, scale=factor, enable_gqa=True)
        return made.view(*queries.shape[:-1], -1)

    def without(self, heads: Iterable[int]) -> TrainedAttention:
        """Copy the layer without these heads: they add nothing, their rows of W_o are 0.

        That is what multiplying their output by 0 does (Michel et al. 2019, section 2.3).
        """
        changed = copy.copy(self)
        changed._buffers = dict(self._buffers)
        rows = self.W_o.clone().unflatten(0, (self.heads, -1))
        rows[[*heads]] = 0.0
        changed.W_o = rows.flatten(0, 1)
        return changed


@dataclass(frozen=True, eq=False)
class KVCache:
    """Keys and values of a layer's run, from which a run over further tokens goes on.

    projected: their keys and values; state: where its recurrence stands, if it has one.
    """

    projected: Projected
    state: Tensor | None

    __repr__ = shapes

    def truncate(self, tokens: int, copies: int) -> KVCache:
        """Truncate to the first tokens, as often as wanted; of layers without a recurrence.

        Raises ValueError where there is one: nothing is kept of where it stood before.
        """
        if self.state is not None:
            raise ValueError("nothing is kept of where a recurrence stood before")

        def first(part: Tensor) -> Tensor:
            return part[..., :tokens, :].expand(copies, *(-1,) * part.dim())

        whole = self.projected
        rotated = None if whole.rotated is None else first(whole.rotated)
        parts = first(whole.queries), first(whole.keys), first(whole.values)
        return KVCache(Projected(*parts, rotated=rotated), None)

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        projected = self.projected
        parts = projected.keys, projected.values, projected.rotated
        return sum(part.nbytes for part in parts if part is not None)


# the parts of a run of a layer in their order, and which others each follows from
FOLLOWS = {
    "projected": ("x",),
    "trace": ("projected",),
    "attended": ("trace",),
    "middle": ("x", "attended"),
    "fed": ("middle",),
    "output": ("middle", "fed"),
}
PATH = ("x", "attended", "middle", "fed", "output")


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One layer over its input; all tensors but masks are (…, tokens, d_model).

    entered: the layer's input; x: the residual path, which is that input, after the layer's
    recurrence where it has one; memory: where keys and values come from, None: from x; padding: one
    more mask, (…, queries, keys); before: its run over the tokens before these; state: where a
    recurrence stands; edits: the parts that were edited. What follows from these is worked out when
    it is asked for: projected, trace, attended: what the attention adds; middle = x + attended;
    fed: what the feed-forward adds; output: the next layer's input.
    """

    layer: Layer
    entered: Tensor
    x: Tensor
    memory: Tensor | None = None
    padding: Tensor | None = None
    before: KVCache | None = None
    state: Tensor | None = None
    edits: frozenset[str] = frozenset()
    _noted: list[tuple[str, Tensor, int]] = field(default_factory=list)

    __repr__ = shapes

    @functools.cached_property
    def projected(self) -> Projected:
        """Queries, keys and values, with those of the tokens before."""
        before = None if self.before is None else self.before.projected
        return self.layer.projected(self.x, self.memory, before)

    @functools.cached_property
    def trace(self) -> Trace:
        """Every step of the attention, of all heads, as it went on: edited where there was an edit.

        Where gradients are on, `attended` came from this very trace. Where they are off, a large
        one is worked out when it is asked for.
        """
        return self.note("", self.layer.sliced_of(self.projected, self.padding)(ALL, ALL))

    @functools.cached_property
    def attended(self) -> Tensor:
        """The attention's output, which is added to the residual path."""
        layer, projected = self.layer, self.projected
        attention = layer.attention
        whole = layer.at_once(projected) >= attention.heads
        goes_on = self.before is not None and attention.groups < attention.heads
        if "trace" in vars(self) or torch.is_grad_enabled() or (whole and not goes_on):
            outputs = self.trace.output
        elif whole:
            outputs = attention.outputs(projected, layer.mask_of(projected, self.padding))
        elif projected.first == 0 and self.padding is None and layer.is_long(projected):
            outputs = layer.outputs_in_rows(projected)
        else:
            traces = layer.traces_of(projected, self.padding)
            outputs = torch.cat([trace.output for trace in traces], -3)
        attended = linear(merge_heads(outputs), *attention.projection("output"))
        return self.note("attended", attended)

    @functools.cached_property
    def middle(self) -> Tensor:
        """The residual path between attention and feed-forward."""
        return self.note("middle", self.x + self.attended)

    @property
    def _residual(self) -> Tensor:
        return through(self.layer.attention_norms.after, self.middle)

    @functools.cached_property
    def fed(self) -> Tensor:
        """The feed-forward's output, which is added to the residual path."""
        entered = through(self.layer.feed_norms.before, self._residual)
        return self.note("fed", self.layer.feed_forward(entered))

    @functools.cached_property
    def output(self) -> Tensor:
        """The next layer's input."""
        output = through(self.layer.feed_norms.after, self._residual + self.fed)
        return self.note("output", output)

    @property
    def kept(self) -> KVCache:
        """The part of it that a run over further tokens needs."""
        return KVCache(self.projected, self.state)

    def note(self, name: str, part: Part) -> Part:
        """Note a part that was made, so that a change of it in place is noticed."""
        tensors = {name: part} if isinstance(part, Tensor) else vars(part)
        for each, tensor in tensors.items():
            if isinstance(tensor, Tensor):
                self._noted.append((each, tensor, _version(tensor)))
        return part

    def edited(self, **parts: Any) -> LayerRun:
        """A copy with other parts, and all that follows from them worked out anew.

        parts: the trace, or any of `PATH`, which may have more leading dimensions than they had.
        Of a trace that was replaced in part, by `dataclasses.replace`, all follows that
        `functional.FOLLOWS` says; so other values count, and other weights, without a word on the
        output. Raises ValueError for a part of another name or shape, TypeError for no trace.
        """
        for name, part in parts.items():
            if name == "trace":
                parts[name] = followed(self.layer.attention, self.trace, part)
            elif name not in PATH:
                known = ", ".join(("trace", *PATH))
                raise ValueError(f"a run may be edited in {known}, got {name!r}")
            else:
                _check_shape(f"{name} of an edited run", part, self.x.shape[-2:])
        changed = {*parts}
        for name, others in FOLLOWS.items():
            if not changed.isdisjoint(others):
                changed.add(name)
        made = copy.copy(self)
        for name in changed:
            vars(made).pop(name, None)
        vars(made).update(parts, edits=(self.edits - changed) | parts.keys())
        return made


class Layer:
    """Attention on a residual path, as runs of it need it.

    causal: whether a query sees no key behind it; window: how many tokens to each side it sees,
    None: all of them; crosses: whether it runs over the output, behind an encoder's layers, whose
    output its keys and values come from; recurrence: what the input goes through first, where
    something stands in the place of self-attention. attention_norms, feed_forward, feed_norms: what
    stands around it, which a layer may not know, see `hooked.HookedLayer`.
    """

    attention: TrainedAttention
    attention_norms: Norms
    feed_forward: FeedForward | GatedFeedForward
    feed_norms: Norms
    causal: bool
    window: int | None = None
    crosses: bool = False
    recurrence: Recurrence | None = None

    @property
    def norm_first(self) -> bool:
        """True if the sum with what the attention adds goes on as it is, through no norm."""
        return self.attention_norms.after is None

    def attention_input(self, x: Tensor) -> Tensor:
        """Input of the projections to queries, keys and values. (…, tokens, d_model)."""
        return through(self.attention_norms.before, x)

    def masks(self, n_queries: int, n_keys: int, first: int = 0) -> dict[str, Tensor]:
        """The masks the layer was trained with, by name, (queries, keys) each.

        first: the position of the first query.
        """
        made = {}
        if self.causal:
            made["causal"] = masks.causal(n_queries, n_keys, first)
        if self.window is not None:
            made["window"] = masks.window(n_queries, n_keys, self.window, first)
        return made

    def mask(self, n_queries: int, n_keys: int) -> Tensor | None:
        """Combine all masks, (queries, keys), None where there are none."""
        return masks.combine(self.masks(n_queries, n_keys).values())

    def sliced(self, x: Tensor, memory: Tensor | None = None) -> Callable[[slice, slice], Trace]:
        """A function (queries, heads) -> their Trace, of its attention as it was trained.

        x (…, queries, d_model); memory: (…, keys, d_model), where keys and values come from.
        """
        return self.sliced_of(self.projected(x, memory))

    def trace(self, x: Tensor, memory: Tensor | None = None) -> Trace:
        """Every step of its attention, of all heads, see `sliced`."""
        return self.sliced(x, memory)(ALL, ALL)

    def traces(self, x: Tensor, memory: Tensor | None = None) -> Iterator[Trace]:
        """Yield the trace, of some heads after the others where all at once would be large: what
        stays small is worked out in memory that is at hand."""
        yield from self.traces_of(self.projected(x, memory))

    def run(
        self,
        entered: Tensor,
        memory: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        edit: Callable[[LayerRun], LayerRun] | None = None,
        before: LayerRun | KVCache | None = None,
    ) -> LayerRun:
        """The layer over its input, (…, tokens, d_model).

        memory: (…, keys, d_model), for layers that cross; padding: one more mask, (…, queries,
        keys); edit: its run, of which nothing but the input is there yet -> the one it goes on
        with, see `edited`; before: its run over the tokens before these.
        """
        x, state = entered, None
        kept = before.kept if isinstance(before, LayerRun) else before
        if self.recurrence is not None:
            x, state = self.recurrence(entered, None if kept is None else kept.state)
        return self.finished(LayerRun(self, entered, x, memory, padding, kept, state), edit)

    def finished(self, run: LayerRun, edit: Callable[[LayerRun], LayerRun] | None) -> LayerRun:
        """A run after its edit, with its output."""
        if edit is not None:
            run = edited(run, edit)
        run.output  # noqa: B018  worked out here, with gradients or without
        return run

    def products(self, pieces: int) -> float:
        """Number of products that it takes over so many pieces, roughly."""
        parts = [*self.attention.buffers(), *vars(self.feed_forward).values()]
        weights = sum(
            part.numel() for part in parts if isinstance(part, Tensor) and part.dim() == 2
        )
        width = self.attention.W_q.shape[1]
        return pieces * (weights + (1 if self.causal else 2) * width * pieces)

    def projected(
        self, x: Tensor, memory: Tensor | None = None, before: Projected | None = None
    ) -> Projected:
        """Queries, keys and values, see `Variant.projected`; of x after its norm."""
        return self.attention.projected(self.attention_input(x), memory, before)

    def sliced_of(
        self, projected: Projected, padding: Tensor | None = None
    ) -> Callable[[slice, slice], Trace]:
        """A function (queries, heads) -> their Trace, of what was projected."""
        return self.attention.sliced(projected, self.mask_of(projected, padding))

    def mask_of(self, projected: Projected, padding: Tensor | None = None) -> Tensor | None:
        """Combine its own masks and padding, (…, queries, keys), None where there is none."""
        shape = projected.queries.shape[-2], projected.keys.shape[-2]
        own = self.masks(*shape, projected.first).values()
        return masks.combine(own if padding is None else [*own, padding])

    def traces_of(self, projected: Projected, padding: Tensor | None = None) -> Iterator[Trace]:
        """The traces of some heads after the others, as many as are worked out at once."""
        sliced, at_once = self.sliced_of(projected, padding), self.at_once(projected)
        for first in range(0, self.attention.heads, at_once):
            yield sliced(ALL, slice(first, first + at_once))

    def is_long(self, projected: Projected) -> bool:
        """True if the weights of one head alone would be large."""
        *leading, _, n_queries, _ = projected.queries.shape
        return math.prod(leading) * n_queries * projected.keys.shape[-2] > MAX_AT_ONCE

    def outputs_in_rows(self, projected: Projected) -> Tensor:
        """Output of each head, of some queries after the others. (…, heads, queries, d_v)."""
        made = []
        n_queries, n_keys = projected.queries.shape[-2], projected.keys.shape[-2]
        for first in range(0, n_queries, ROWS):
            some = slice(first, first + ROWS)
            seen = slice(some.stop if self.causal and not self.crosses else n_keys)
            keys, values, rotated = (
                None if part is None else part[..., seen, :]
                for part in (projected.keys, projected.values, projected.rotated)
            )
            assert keys is not None
            assert values is not None
            part = Projected(projected.queries[..., some, :], keys, values, first, rotated)
            shape = part.queries.shape[-2], keys.shape[-2]
            made.append(
                self.attention.fused(part, masks.combine(self.masks(*shape, first).values()))
            )
        return torch.cat(made, -2)

    def at_once(self, projected: Projected) -> int:
        """Number of heads that are worked out at once."""
        *leading, _, n_queries, _ = projected.queries.shape
        return max(1, MAX_AT_ONCE // (math.prod(leading) * n_queries * projected.keys.shape[-2]))


@dataclass(frozen=True, eq=False)
class KnownLayer(Layer):
    """Attention and feed-forward, each on a residual path, with norms around them."""

    attention: TrainedAttention
    attention_norms: Norms
    feed_forward: FeedForward | GatedFeedForward
    feed_norms: Norms
    causal: bool = False
    window: int | None = None
    crosses: bool = False
    recurrence: Recurrence | None = None

    __repr__ = shapes


def edited(run: LayerRun, edit: Callable[[LayerRun], LayerRun]) -> LayerRun:
    """The run that an edit makes of a run, see `LayerRun.edited`.

    Raises TypeError unless it gives one, and ValueError where it changed a part in place, which
    nothing would follow from.
    """
    run.note("x", run.x)
    after = edit(run)
    if not isinstance(after, LayerRun):
        raise TypeError(f"an edit must return a LayerRun, got {type(after).__name__}")
    for name, part, version in run._noted:
        if _version(part) != version:
            raise ValueError(f"an edit must return a copy with other {name}, not change its own")
    run._noted.clear()
    return after


def followed(attention: TrainedAttention, trace: Trace, after: Trace) -> Trace:
    """The trace of all heads after an edit, with all that follows from the parts it replaced.

    Raises TypeError where it is no trace, and ValueError for a part of another shape.
    """
    if not isinstance(after, Trace):
        raise TypeError(f"trace of an edited run must be a Trace, got {type(after).__name__}")
    for name in ("queries", "keys", "values", "scores", "scaled", "weights", "output"):
        _check_shape(
            f"{name} of an edited trace", getattr(after, name), getattr(trace, name).shape[-3:]
        )
    return trace if after is trace else attention.follow(trace, after)


def _check_shape(name: str, part: Tensor, expected: Sequence[int]) -> None:
    if part.shape[-len(expected) :] != tuple(expected):
        raise ValueError(
            f"{name} must be (…, {', '.join(map(str, expected))}), got {tuple(part.shape)}"
        )


def _version(part: Tensor) -> int:
    """Number of changes of a tensor in place, as far as torch counts them."""
    return 0 if part.is_inference() else part._version
