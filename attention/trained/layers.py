"""A layer of a trained model: its attention, what stands around it, and one run of it."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import Projected, Trace, attend, linear, merge_heads
from attention.core.positions import Rotary
from attention.core.settings import Config
from attention.core.variants import DotScores, MultiHead
from attention.trained.parts import FeedForward, GatedFeedForward, Norms, Recurrence, through

MAX_AT_ONCE = 1 << 18  # cells of some heads that are worked out at once
ALL = slice(None)


@dataclass(frozen=True)
class TrainedConfig(Config):
    """What a trained layer is built with; none of it can be set.

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
    g_k, (d_head,), where queries and keys go through an RMS norm of each head (Henry et al. 2020).
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
        cap: float | None = None,
        eps: float = 1e-6,
    ) -> None:
        d_model = parameters["W_q"].shape[0]
        super().__init__(TrainedConfig(d_model, heads, rotary, scale, cap, eps))
        for name, parameter in parameters.items():
            self.register_buffer(name, parameter)

    @property
    def groups(self) -> int:
        return self.heads * self.W_k.shape[1] // self.W_q.shape[1]

    @property
    def apart(self) -> bool:
        return True

    def norm(self, role: str) -> tuple[Tensor, float] | None:
        gain: Tensor | None = getattr(self, f"g_{role[0]}", None)
        return None if gain is None else (gain, self.config.eps)

    def outputs(self, projected: Projected, mask: Tensor | None) -> Tensor:
        """What each head makes of the values, no steps kept. (…, heads, queries, d_v).

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
            cap=self.cap,
        )
        outputs: Tensor = trace.output.unflatten(-2, (size, n_queries)).flatten(-4, -3)
        return outputs

    def without(self, heads: Iterable[int]) -> TrainedAttention:
        """The same layer where these heads add nothing: their rows of W_o are 0.

        That is what multiplying their output by 0 does (Michel et al. 2019, section 2.3).
        """
        changed = copy.copy(self)
        changed._buffers = dict(self._buffers)
        rows = self.W_o.clone().unflatten(0, (self.heads, -1))
        rows[[*heads]] = 0.0
        changed.W_o = rows.flatten(0, 1)
        return changed


@dataclass(frozen=True, eq=False)
class Kept:
    """The part of a layer's run that a run over further tokens goes on from.

    projected: their keys and values; state: where its recurrence stands, if it has one.
    """

    projected: Projected
    state: Tensor | None

    def beginning(self, tokens: int, copies: int) -> Kept:
        """That of the first tokens alone, as often as wanted; of layers without a recurrence.

        Raises ValueError where there is one: nothing is kept of where it stood before.
        """
        if self.state is not None:
            raise ValueError("nothing is kept of where a recurrence stood before")

        def first(part: Tensor) -> Tensor:
            return part[..., :tokens, :].expand(copies, *(-1,) * part.dim())

        whole = self.projected
        rotated = None if whole.rotated is None else first(whole.rotated)
        parts = first(whole.queries), first(whole.keys), first(whole.values)
        return Kept(Projected(*parts, rotated=rotated), None)

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        projected = self.projected
        parts = projected.keys, projected.values, projected.rotated
        return sum(part.nbytes for part in parts if part is not None)


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One layer over its input, with its trace; all tensors are (…, tokens, d_model).

    entered: the layer's input; x: the residual path, which is that input, after the layer's
    recurrence where it has one; attended: what the attention adds; middle = x + attended; fed: what
    the feed-forward adds; output: the next layer's input; memory: where keys and values came from,
    None: from x. projected, state: what a run over the tokens behind these goes on from.
    sliced: a function (queries, heads) -> their Trace; made: the whole one, where there was reason
    to make it.
    """

    entered: Tensor
    x: Tensor
    attended: Tensor
    middle: Tensor
    fed: Tensor
    output: Tensor
    memory: Tensor | None
    projected: Projected
    state: Tensor | None
    sliced: Callable[[slice, slice], Trace]
    made: Trace | None

    @property
    def kept(self) -> Kept:
        """The part of it that a run over further tokens needs."""
        return Kept(self.projected, self.state)

    @functools.cached_property
    def trace(self) -> Trace:
        """Every step of the attention, of all heads, as it went on: edited where there was an edit.

        Where gradients are on, `attended` came from this very trace. Where they are off, a large
        one is worked out when it is asked for.
        """
        return self.sliced(ALL, ALL) if self.made is None else self.made


@dataclass(frozen=True, eq=False)
class Layer:
    """Attention and feed-forward, each on a residual path, with norms around them.

    causal: whether a query sees no key behind it; window: how many tokens to each side it sees,
    None: all of them; crosses: whether keys and values come from another sequence; recurrence: what
    the input goes through first, where something stands in the place of self-attention.
    """

    attention: TrainedAttention
    attention_norms: Norms
    feed_forward: FeedForward | GatedFeedForward
    feed_norms: Norms
    causal: bool = False
    window: int | None = None
    crosses: bool = False
    recurrence: Recurrence | None = None

    @property
    def norm_first(self) -> bool:
        """Whether the sum with what the attention adds goes on as it is, through no norm."""
        return self.attention_norms.after is None

    def attention_input(self, x: Tensor) -> Tensor:
        """What queries, keys and values are made of. (…, tokens, d_model)."""
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
        """What all of them allow, (queries, keys), None where there are none."""
        return masks.combine(self.masks(n_queries, n_keys).values())

    def sliced(self, x: Tensor, memory: Tensor | None = None) -> Callable[[slice, slice], Trace]:
        """A function (queries, heads) -> their Trace, of its attention as it was trained.

        x (…, queries, d_model); memory: (…, keys, d_model), where keys and values come from.
        """
        return self._sliced(self._projected(x, memory))

    def trace(self, x: Tensor, memory: Tensor | None = None) -> Trace:
        """Every step of its attention, of all heads, see `sliced`."""
        return self.sliced(x, memory)(ALL, ALL)

    def traces(self, x: Tensor, memory: Tensor | None = None) -> Iterator[Trace]:
        """The same, of some heads after the others where all at once would be large: what stays
        small is worked out in memory that is at hand."""
        projected = self._projected(x, memory)
        yield from self._traces(self._sliced(projected), projected)

    def run(
        self,
        entered: Tensor,
        memory: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        edit: Callable[[Trace], Trace] | None = None,
        before: LayerRun | Kept | None = None,
    ) -> LayerRun:
        """The layer over its input, (…, tokens, d_model).

        memory: (…, keys, d_model), for layers that cross; padding: one more mask, (…, queries,
        keys); edit: its trace -> the one it goes on with, see `edited`; before: its run over the
        tokens before these.
        """
        x, state = entered, None
        if self.recurrence is not None:
            x, state = self.recurrence(entered, None if before is None else before.state)
        projected = self._projected(x, memory, before)
        mask, made = self._mask(projected, padding), None
        sliced = self.attention.sliced(projected, mask)
        whole = self._at_once(projected) >= self.attention.heads
        goes_on = before is not None and self.attention.groups < self.attention.heads
        if edit is not None:
            made = edited(self.attention, sliced(ALL, ALL), edit)
        elif torch.is_grad_enabled() or (whole and not goes_on):
            made = sliced(ALL, ALL)
        if made is not None:
            outputs = made.output
        elif whole:
            outputs = self.attention.outputs(projected, mask)
        else:
            traces = self._traces(sliced, projected)
            outputs = torch.cat([trace.output for trace in traces], -3)
        attended = linear(merge_heads(outputs), *self.attention.projection("output"))
        attended = through(self.attention_norms.added, attended)
        middle = x + attended
        residual = through(self.attention_norms.after, middle)
        fed = self.feed_forward(through(self.feed_norms.before, residual))
        fed = through(self.feed_norms.added, fed)
        output = through(self.feed_norms.after, residual + fed)
        return LayerRun(
            entered, x, attended, middle, fed, output, memory, projected, state, sliced, made
        )

    def _projected(
        self, x: Tensor, memory: Tensor | None = None, before: LayerRun | Kept | None = None
    ) -> Projected:
        last = None if before is None else before.projected
        return self.attention.projected(self.attention_input(x), memory, last)

    def _sliced(self, projected: Projected) -> Callable[[slice, slice], Trace]:
        return self.attention.sliced(projected, self._mask(projected))

    def _mask(self, projected: Projected, padding: Tensor | None = None) -> Tensor | None:
        """What its own masks and padding allow, (…, queries, keys), None where there is none."""
        shape = projected.queries.shape[-2], projected.keys.shape[-2]
        own = self.masks(*shape, projected.first).values()
        return masks.combine(own if padding is None else [*own, padding])

    def _traces(
        self, sliced: Callable[[slice, slice], Trace], projected: Projected
    ) -> Iterator[Trace]:
        at_once = self._at_once(projected)
        for first in range(0, self.attention.heads, at_once):
            yield sliced(ALL, slice(first, first + at_once))

    def _at_once(self, projected: Projected) -> int:
        """How many heads are worked out at once."""
        *leading, _, n_queries, _ = projected.queries.shape
        return max(1, MAX_AT_ONCE // (math.prod(leading) * n_queries * projected.keys.shape[-2]))


def edited(attention: TrainedAttention, trace: Trace, edit: Callable[[Trace], Trace]) -> Trace:
    """What an edit makes of a trace of all heads, with all that follows from what it replaced.

    edit: a trace -> the same, or a copy of it with other parts, as `dataclasses.replace` makes it.
    What is worked out anew: `functional.FOLLOWS`. So other values count, and other weights, without
    a word on the output; an output that is replaced too stays as it is given. Parts may have more
    leading dimensions than they had.
    Raises TypeError unless it gives a trace, and ValueError where it changed a part in place, which
    nothing would follow from, or gave one of another shape.
    """
    parts = {name: part for name, part in vars(trace).items() if isinstance(part, Tensor)}
    versions = {name: _version(part) for name, part in parts.items()}
    after = edit(trace)
    if not isinstance(after, Trace):
        raise TypeError(f"an edit must return a Trace, got {type(after).__name__}")
    for name, part in parts.items():
        if _version(part) != versions[name]:
            raise ValueError(f"an edit must return a copy with other {name}, not change its own")
    for name in ("queries", "keys", "values", "scores", "scaled", "weights", "output"):
        expected, shape = parts[name].shape[-3:], getattr(after, name).shape
        if shape[-3:] != expected:
            raise ValueError(
                f"{name} of an edited trace must be (…, {', '.join(map(str, expected))}), "
                f"got {tuple(shape)}"
            )
    return trace if after is trace else attention.follow(trace, after)


def _version(part: Tensor) -> int:
    """How often a tensor was changed in place, as far as torch counts it."""
    return 0 if part.is_inference() else part._version
