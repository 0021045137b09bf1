"""Attention as pure functions: score functions, the masked softmax, and `attend`.

Shapes are written `(…, queries, d_k)`: any number of leading dimensions, also none.
Scores are what a variant computes before the softmax, weights what comes out of it; rows are
queries and columns are keys. Masks are bool, True = may attend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.utils.checkpoint import checkpoint

from attention.core.printing import shapes
from attention.core.recurrence import decayed, erased
from attention.core.scales import Scale, root_of_d_k
from attention.core.weighing import MIXED, SOFTMAX, Weighing

ScoreFunction = Callable[[Tensor, Tensor], Tensor]

STAGES = ("scores", "scaled", "masked", "erased", "weights", "mixed")
# the steps of a trace in their order, and which other parts of it each follows from
FOLLOWS = {
    "scores": ("queries", "keys"),
    "scaled": ("scores", "scale", "bias"),
    "mixed_scores": ("scaled", "decay", "mask"),
    "erased": ("keys", "scaled", "mixed_scores", "mask", "decay", "strength"),
    "weights": ("scaled", "mixed_scores", "erased", "mask", "strength"),
    "mixed_weights": ("weights",),
    "dropped": ("weights", "mixed_weights"),
    "output": ("weights", "mixed_weights", "dropped", "values"),
}

OF_KEYS = ("keys", "values", "decay", "strength")  # parts of a trace with one row per key


def dot_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """`Q Kᵀ` (Luong et al. 2015, section 3.1, "dot"; Vaswani et al. 2017, eq. 1 before scaling).

    queries: (…, queries, d_k); keys: (…, keys, d_k). Returns (…, queries, keys).
    Raises ValueError when the widths differ.
    """
    _check_widths(queries, keys)
    return _matmul(queries, keys.transpose(-2, -1))


def bilinear_scores(queries: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """`Q W Kᵀ` (Luong et al. 2015, section 3.1, "general").

    queries: (…, queries, d_q); keys: (…, keys, d_k); W: (d_q, d_k).
    Returns (…, queries, keys). Raises ValueError when the widths differ.
    """
    return dot_scores(queries @ W, keys)


def additive_scores(
    queries: Tensor, keys: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor, *, chunk: int = 1 << 20
) -> Tensor:
    """`tanh(q W_q + k W_k) v`, rows as everywhere here (Bahdanau et al. 2015, appendix A.1.2).

    queries: (…, queries, d_q); keys: (…, keys, d_k); W_q: (d_q, hidden); W_k: (d_k, hidden);
    v: (hidden,). Returns (…, queries, keys).
    The (queries, keys, hidden) tensor under the tanh is made at most `chunk` numbers at a time
    (one pair of a query and a key at the least), with gradients too.
    """
    left, right = queries @ W_q, keys @ W_k
    leading = torch.broadcast_tensors(left[..., :0, :0], right[..., :0, :0])[0].shape[:-2]
    left, right = _batched(left, leading), _batched(right, leading)
    n_queries, n_keys, hidden = left.shape[-2], right.shape[-2], v.shape[0]

    key_block = min(n_keys, max(1, chunk // hidden)) or 1
    query_block = min(n_queries, max(1, chunk // (key_block * hidden))) or 1
    batch_block = max(1, chunk // (query_block * key_block * hidden))

    def block(some_queries: Tensor, some_keys: Tensor) -> Tensor:
        parts = some_queries, some_keys, v
        if torch.is_grad_enabled() and any(part.requires_grad for part in parts):
            scores: Tensor = checkpoint(_tanh_scores, *parts, use_reentrant=False)
            return scores
        return _tanh_scores(*parts)

    # Into one tensor made beforehand: small ones made in between would pin what is freed.
    found = left.new_empty(len(left), n_queries, n_keys)
    for batch in _slices(len(left), batch_block):
        for rows in _slices(n_queries, query_block):
            for columns in _slices(n_keys, key_block):
                found[batch, rows, columns] = block(left[batch, rows], right[batch, columns])
    return found.reshape(*leading, n_queries, n_keys)


def cosine_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """`q·k / (‖q‖ ‖k‖)` (Graves et al. 2014, eq. 6); 0 where a vector is zero.

    queries: (…, queries, d_k); keys: (…, keys, d_k). Returns (…, queries, keys), within [-1, 1].
    """
    return dot_scores(normalize(queries, dim=-1), normalize(keys, dim=-1))


def gaussian_scores(queries: Tensor, keys: Tensor, sigma: float = 1.0) -> Tensor:
    """`-‖q - k‖² / 2σ²`: softmax over it is Nadaraya–Watson pooling (Nadaraya 1964; Watson 1964).

    queries: (…, queries, d_k); keys: (…, keys, d_k); sigma in the unit of the vectors.
    Returns (…, queries, keys). Raises ValueError unless sigma > 0 and the widths agree.
    """
    if not sigma > 0:
        raise ValueError(f"sigma must be greater than 0, got {sigma}")
    _check_widths(queries, keys)
    distances = torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist")
    return -distances.square() / (2 * sigma**2)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys a query may look at; the others get weight 0 exactly.

    scores: (…, queries, keys); mask: bool, broadcastable to scores, True = may attend.
    Returns weights of the shape of scores. Each row sums to 1, or to 0 where nothing may be
    attended to: the mask hides all of it, or its scores are −∞ throughout, as by a bias.
    Raises ValueError when the mask is not bool or does not fit.
    """
    if mask is None:
        return _softmax(scores)
    _check_mask(mask, scores)
    empty = ~mask.any(-1, keepdim=True)
    weights = _softmax(scores.masked_fill(~(mask | empty), -math.inf))
    # Where the mask can be looked into, a pass over all weights is spared.
    return weights if _known(empty) and not empty.any() else weights.masked_fill(empty, 0.0)


def hide(scores: Tensor, mask: Tensor | None, score: float = -math.inf) -> Tensor:
    """Scores (…, queries, keys) with another one where the mask, as in `masked_softmax`, hides."""
    if mask is None:
        return scores
    _check_mask(mask, scores)
    return scores.masked_fill(~mask, score)


def over_sum(scores: Tensor) -> Tensor:
    """Each score over the sum of its row, of which those below 0 count as 0. (…, keys)."""
    shares = scores.clamp_min(0.0)
    sums = shares.sum(-1, keepdim=True)
    return shares / sums.where(sums > 0, 1.0)


@dataclass(frozen=True, eq=False)
class Trace:
    """Every step of one attention computation.

    queries (…, queries, d_k), keys (…, keys, d_k), values (…, keys, d_v);
    scores as the score function gave them, scaled = scores × scale (+ bias),
    mask (or None, else expanded), weights = masked softmax of `logits`, or what `weighing` says,
    each (…, queries, keys);
    output (…, queries, d_v) = `applied` @ values.
    None where the computation has no such step:
    mixed_scores: what became of scaled before the softmax, mixed across heads or `capped`;
    mixed_weights: what became of weights after it; dropped: the weights after dropout; bias: what
    was added after the scale, expanded; unrotated: queries and keys before rotary positions; cap:
    what mixed_scores stay below, where they are capped; decay (…, keys, 1 or d_k), the logarithm of
    each key's, which makes mixed_scores of scaled; erased (…, queries, keys): what later keys take
    back of the scores; strength (…, keys, 1): how strongly each key is written, a factor of its
    weights. scale: the factor itself.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    scaled: Tensor
    mask: Tensor | None
    weights: Tensor
    output: Tensor
    mixed_scores: Tensor | None = None
    mixed_weights: Tensor | None = None
    dropped: Tensor | None = None
    scale: float = 1.0
    bias: Tensor | None = None
    unrotated: tuple[Tensor, Tensor] | None = None
    cap: float | None = None
    decay: Tensor | None = None
    erased: Tensor | None = None
    strength: Tensor | None = None
    weighing: Weighing = SOFTMAX

    @property
    def weights_are_a_distribution(self) -> bool:
        """True if no weight is below 0 and each row sums to 1, or is 0 throughout."""
        return self.weighing.shares

    @property
    def logits(self) -> Tensor:
        """Logits that the softmax gets, or what stands in its place, before the mask. (…, queries,
        keys)."""
        return self.scaled if self.mixed_scores is None else self.mixed_scores

    @property
    def logits_name(self) -> str:
        """Name of the logits: "scaled", "mixed", "capped" or "decayed"."""
        if self.mixed_scores is None:
            return "scaled"
        if self.decay is not None:
            return "decayed"
        return "mixed" if self.cap is None else "capped"

    @property
    def applied(self) -> Tensor:
        """The weights that the values are multiplied by. (…, queries, keys)."""
        mixed = self.weights if self.mixed_weights is None else self.mixed_weights
        return mixed if self.dropped is None else self.dropped

    @property
    def handed_on(self) -> Trace:
        """The trace with those weights as its own that are mixed across heads after the softmax."""
        if self.mixed_weights is None:
            return self
        mixed = self.mixed_weights
        return replace(self, weights=mixed, mixed_weights=None, weighing=MIXED)

    @property
    def stages(self) -> dict[str, Tensor]:
        """The steps from scores to weights that this computation has, by their names in `STAGES`.

        "masked" is what the softmax gets, its hidden cells still to be left out.
        """
        last = self.erased, self.weights, self.mixed_weights
        found = (self.scores, self.scaled, self.logits, *last)
        pairs = zip(STAGES, found, strict=True)
        return {name: numbers for name, numbers in pairs if numbers is not None}

    __repr__ = shapes

    def head(self, index: int) -> Trace:
        """One head of a trace of (…, heads, queries, keys). Raises IndexError if there is none."""
        heads = self.weights.shape[-3] if self.weights.dim() > 2 else 0
        if not 0 <= index < heads:
            raise IndexError(f"head must be one of {heads}, counted from 0, got {index}")
        return self._each(lambda part: part.select(-3, index))

    def sequence(self, index: int) -> Trace:
        """One sequence of a trace of (batch, …, queries, keys)."""
        return self._each(lambda part: part[index])

    def query(self, index: int) -> Trace:
        """One query of all heads; keys and values stay. (…, heads, 1, keys)."""
        one = self._each(lambda part: part[..., index : index + 1, :])
        unrotated = one.unrotated and self.unrotated and (one.unrotated[0], self.unrotated[1])
        keys = {name: getattr(self, name) for name in OF_KEYS}
        return replace(one, **keys, unrotated=unrotated)

    def detach(self) -> Trace:
        """Copy of the trace, apart from the graph of gradients it came with."""
        return self._each(Tensor.detach)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Trace:
        def changed(part: Any) -> Any:
            if isinstance(part, tuple):
                return tuple(map(change, part))
            return change(part) if isinstance(part, Tensor) else part

        return Trace(**{name: changed(part) for name, part in vars(self).items()})


class WeightsAlone(Trace):
    """A trace of which only the weights are known, wherever they come from."""

    def __init__(
        self, weights: Tensor, mask: Tensor | None = None, weighing: Weighing = SOFTMAX
    ) -> None:
        """weights: (…, queries, keys), as `weighing` says; mask: of the same shape."""
        of_query, of_key = weights[..., :0], weights.mT[..., :0]
        super().__init__(
            queries=of_query,
            keys=of_key,
            values=of_key,
            output=of_query,
            scores=weights.log(),
            scaled=weights.log(),
            mask=mask,
            weights=weights,
            weighing=weighing,
        )

    @property
    def stages(self) -> dict[str, Tensor]:
        """The weights: other steps are not known."""
        return {"weights": self.weights}

    def query(self, index: int) -> Trace:
        """The weights of one query. (…, 1, keys)."""
        return self._each(lambda part: part[..., index : index + 1, :])

    def _each(self, change: Callable[[Tensor], Tensor]) -> Trace:
        mask = None if self.mask is None else change(self.mask)
        return WeightsAlone(change(self.weights), mask, self.weighing)


class LongTrace:
    """A trace of all heads too large to keep: what is asked of it is worked out anew.

    sliced: a function (queries, heads) -> their Trace; heads without the others only where they are
    `heads_independent`, without gradients. rows: how many of n_queries are worked out at a time;
    mask (1, queries, keys) or None.
    """

    def __init__(
        self,
        sliced: Callable[[slice, slice], Trace],
        n_queries: int,
        rows: int,
        heads_independent: bool,
        mask: Tensor | None,
    ) -> None:
        self.made_from, self.sliced = sliced, torch.no_grad()(sliced)
        self.n_queries, self.rows, self.heads_independent = n_queries, rows, heads_independent
        self.mask = mask
        self._last: tuple[int, Trace] | None = None
        self._output: Tensor | None = None

    def head(self, index: int) -> Trace:
        """One head, (queries, keys); the last one asked for is kept."""
        last = self._last  # visitors share a trace: another may ask for another head meanwhile
        if last is None or last[0] != index:
            if self.heads_independent:
                head = self.sliced(slice(None), slice(index, index + 1)).head(0)
            else:
                head, _ = self._work_out(index)
            last = self._last = index, head
        return last[1]

    def weights_beside(self, index: int) -> Tensor:
        """The weights of all heads, (heads, queries, keys); one head is worked out on the way."""
        head, weights = self._work_out(index, keep_weights=True)
        assert weights is not None
        self._last = index, head
        return weights

    @property
    def output(self) -> Tensor:
        """Output of each head. (heads, queries, d_v)."""
        if self._output is None:
            self._work_out(0)
        assert self._output is not None
        return self._output

    def _work_out(self, index: int, keep_weights: bool = False) -> tuple[Trace, Tensor | None]:
        """One head and, if wanted, the weights of all; what all heads put out is kept.

        Each goes into one tensor made beforehand: small ones in between would pin what is freed.
        """
        made: dict[str, Tensor] = {}
        for rows in _slices(self.n_queries, self.rows):
            block = self.sliced(rows, slice(None))
            head = block.head(index)
            parts: dict[str, Any] = vars(head) | {"all": block.output} | dict.fromkeys(OF_KEYS)
            if keep_weights:
                parts["weights of all"] = block.weights
            if head.unrotated is not None:
                parts["unrotated"] = head.unrotated[0]
            for name, part in parts.items():
                if isinstance(part, Tensor):
                    if name not in made:
                        shape = *part.shape[:-2], self.n_queries, part.shape[-1]
                        made[name] = part.new_empty(shape)
                    made[name][..., rows, :] = part
        self._output, weights = made.pop("all"), made.pop("weights of all", None)
        one: dict[str, Any] = {**made}
        if head.unrotated is not None:
            one["unrotated"] = made["unrotated"], head.unrotated[1]
        return replace(head, **one), weights

    def query(self, index: int) -> Trace:
        """One query of all heads, (heads, 1, keys)."""
        return self.sliced(slice(index, index + 1), slice(None))

    def drop(self, dropout: float, generator: torch.Generator) -> LongTrace:
        """As `drop` does it, for the queries in turn; not for `query`, which draws its own."""

        def dropped(rows: slice, heads: slice) -> Trace:
            drawn = torch.Generator(generator.device)
            drawn.manual_seed(generator.initial_seed() + rows.start)
            return drop(self.sliced(rows, heads), dropout, drawn)

        if not dropout:
            return self
        return LongTrace(dropped, self.n_queries, self.rows, False, self.mask)


@dataclass(frozen=True, eq=False)
class Projected:
    """Projected queries, keys and values of all heads.

    queries (…, heads, queries, d_k), keys (…, groups, keys, d_k), values (…, groups, keys, d_v), as
    they were before any rotation; first: the position of the first query; rotated: the keys as the
    layer itself rotates them, None: it does not; decay, strength: of each key, see `Variant.gates`.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor
    first: int = 0
    rotated: Tensor | None = None
    decay: Tensor | None = None
    strength: Tensor | None = None

    __repr__ = shapes

    @property
    def end(self) -> int:
        """The position behind the last query."""
        return self.first + self.queries.shape[-2]


@dataclass(frozen=True, eq=False)
class Sliced:
    """A function (queries, heads) -> their Trace, see `Variant.sliced`.

    layer: the variant; projected: queries, keys and values; queries (…, heads, queries, d_k), keys
    (…, groups, keys, d_k): as they are compared, after any rotation; mask (…, queries, keys);
    scale: None = 1/√d_k; bias: a function (queries, heads) -> what is added to their scaled scores.
    """

    layer: Any
    projected: Projected
    queries: Tensor
    keys: Tensor
    mask: Tensor | None
    scale: Scale | None
    bias: Callable[[slice, slice], Tensor | None]

    def __call__(self, rows: slice, heads: slice) -> Trace:
        layer, mask, plain = self.layer, self.mask, self.projected
        trace = attend(
            self.queries[..., heads, rows, :],
            share_heads(self.keys, layer.heads, heads),
            share_heads(plain.values, layer.heads, heads),
            scale=self.scale,
            bias=self.bias(rows, heads),
            mask=None if mask is None else mask[..., rows, :].unsqueeze(-3),
            decay=None if plain.decay is None else plain.decay[..., heads, :, :],
            strength=None if plain.strength is None else plain.strength[..., heads, :, :],
            **layer.how(),
        )
        if self.queries is plain.queries:
            return trace
        keys = share_heads(plain.keys, layer.heads, heads)
        return replace(trace, unrotated=(plain.queries[..., heads, rows, :], keys))


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    scores: ScoreFunction = dot_scores,
    scale: Scale | None = None,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    cap: float | None = None,
    before_softmax: Callable[[Tensor], Tensor] | None = None,
    after_softmax: Callable[[Tensor], Tensor] | None = None,
    weigh: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
    weighing: Weighing = SOFTMAX,
    features: Callable[[Tensor], Tensor] | None = None,
    decay: Tensor | None = None,
    strength: Tensor | None = None,
    erases: bool = False,
    given: Mapping[str, Any] | None = None,
) -> Trace:
    """`softmax(scale · scores(Q, K) + bias) V`, all steps kept (Vaswani et al. 2017, eq. 1).

    queries: (…, queries, d_k); keys: (…, keys, d_k); values: (…, keys, d_v);
    scale: a factor on the scores, or what gives it from d_k and d_v, None = 1/√d_k; bias: added
    after it, broadcastable to (…, queries, keys), as ALiBi is; mask: bool, broadcastable to
    (…, queries, keys), True = may attend; cap: of the scaled scores, see `capped`; before_softmax:
    applied to these where they have none, after_softmax: to the weights, each giving the same
    shape; weigh: makes weights of logits and mask, as weighing says; decay (…, keys, 1 or d_k), of
    which the logits come instead, and strength (…, keys, 1): of each key, see `recurrence`; erases:
    by keys as `features` has them; given: steps by their names in `FOLLOWS`, taken as they are.
    Raises ValueError when shapes or mask do not fit.
    """
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"each key needs a value: got {keys.shape[-2]} keys and {values.shape[-2]} values"
        )
    scale = root_of_d_k if scale is None else scale
    factor = scale(queries.shape[-1], values.shape[-1]) if callable(scale) else scale
    known = given or {}

    def step(name: str, work_out: Callable[[], Any]) -> Any:
        return known[name] if name in known else work_out()

    raw = step("scores", lambda: scores(queries, keys))
    if raw.dim() < queries.dim() or raw.shape[-2:] != (queries.shape[-2], keys.shape[-2]):
        raise ValueError(
            "scores must be (…, queries, keys) = "
            f"{(*queries.shape[:-1], keys.shape[-2])}, got {tuple(raw.shape)}"
        )

    def scale_scores() -> Tensor:
        found: Tensor = raw if isinstance(factor, float) and factor == 1 else raw * factor
        return found if bias is None else found + bias

    scaled = step("scaled", scale_scores)
    capping = None if cap is None else (lambda scores: capped(scores, cap))
    compared = features or (lambda vectors: vectors)

    def mix_scores() -> Tensor | None:
        if decay is None:
            return _mixed(scaled, capping or before_softmax)
        return decayed(scaled, compared(queries), compared(keys), factor, decay, mask)

    mixed_scores = step("mixed_scores", mix_scores)
    logits = scaled if mixed_scores is None else mixed_scores

    def erase() -> Tensor | None:
        if not erases or strength is None:
            return None
        return erased(logits, compared(keys), strength, decay, mask)

    taken_back = step("erased", erase)

    def weigh_scores() -> Tensor:
        left = logits if taken_back is None else logits + taken_back
        return weigh(left if strength is None else left * strength.mT, mask)

    weights = step("weights", weigh_scores)
    mixed_weights = step("mixed_weights", lambda: _mixed(weights, after_softmax))
    dropped = step("dropped", lambda: None)
    mixed = weights if mixed_weights is None else mixed_weights
    output = step("output", lambda: _matmul(mixed if dropped is None else dropped, values))
    mask, bias = (None if part is None else part.expand(weights.shape) for part in (mask, bias))
    return Trace(
        queries,
        keys,
        values,
        raw,
        scaled,
        mask,
        weights,
        output,
        mixed_scores,
        mixed_weights,
        dropped,
        factor,
        bias,
        cap=cap,
        decay=decay,
        erased=taken_back,
        strength=strength,
        weighing=weighing,
    )


def follow(trace: Trace, edited: Trace, **how: Any) -> Trace:
    """A trace of which some parts were replaced, with all that follows from these worked out anew.

    trace: as it was; edited: a copy of it, with other tensors in place of some (or another scale).
    What is the same object in both is worked out anew where something it follows from is not, see
    `FOLLOWS`; what is another one stays. how: what `attend` was told of scores and softmax.
    """
    parts = vars(edited)
    changed = {name for name, part in parts.items() if part is not getattr(trace, name)}
    given = {}
    for name, others in FOLLOWS.items():
        if name in changed or changed.isdisjoint(others):
            given[name] = parts[name]
        else:
            changed.add(name)
    inputs = {name: parts[name] for name in (*("queries", "scale", "bias", "mask"), *OF_KEYS)}
    return replace(attend(**inputs, given=given, **how), unrotated=edited.unrotated)


def drop(trace: Trace, dropout: float, generator: torch.Generator | None = None) -> Trace:
    """The trace with a share `dropout` of its weights set to 0, drawn from `generator`.

    The others grow by 1/(1 - dropout) (Srivastava et al. 2014, section 10). Nothing changes at 0.
    Raises ValueError unless dropout lies in [0, 1).
    """
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    if not dropout:
        return trace
    weights = trace.applied
    kept = torch.rand(weights.shape, generator=generator, device=weights.device) >= dropout
    dropped = weights * kept / (1 - dropout)
    return replace(trace, dropped=dropped, output=_matmul(dropped, trace.values))


def linear(x: Tensor, W: Tensor | None, b: Tensor | None = None) -> Tensor:
    """`x W + b`; without a bias `x W`, without a matrix x itself. (…, d_in) -> (…, d_out)."""
    if W is None:
        return x
    return x @ W if b is None else x @ W + b


def capped(scores: Tensor, cap: float) -> Tensor:
    """`cap · tanh(scores / cap)`, between ±cap (Gemma Team 2024, section 2)."""
    return cap * (scores / cap).tanh()


def split_heads(vectors: Tensor, heads: int) -> Tensor:
    """(…, tokens, d_model) -> (…, heads, tokens, d_model / heads).

    Raises ValueError when heads does not divide d_model.
    """
    if vectors.shape[-1] % heads:
        raise ValueError(f"heads must divide d_model = {vectors.shape[-1]}, got {heads}")
    split: Tensor = vectors.unflatten(-1, (heads, -1))
    return split.transpose(-2, -3)


def merge_heads(vectors: Tensor) -> Tensor:
    """(…, heads, tokens, d_head) -> (…, tokens, heads · d_head); undoes `split_heads`."""
    return vectors.transpose(-2, -3).flatten(-2)


def share_heads(vectors: Tensor, heads: int, some: slice = slice(None)) -> Tensor:
    """Keys or values of groups, one for each head (Ainslie et al. 2023, section 2.2).

    vectors: (…, groups, tokens, d_head), each group serving `heads / groups` heads that follow
    each other; some: the heads that they are wanted for. Returns (…, heads, tokens, d_head).
    Raises ValueError when groups do not divide heads.
    """
    groups = vectors.shape[-3]
    if heads % groups:
        raise ValueError(f"groups must divide heads = {heads}, got {groups}")
    if groups == heads:
        return vectors[..., some, :, :]
    wanted = torch.arange(heads, device=vectors.device)[some]
    return vectors.index_select(-3, wanted // (heads // groups))


def _softmax(scores: Tensor) -> Tensor:
    """Softmax of each row; weights of 0 where its scores are −∞ throughout."""
    weights = scores.softmax(-1)
    # Such a row is NaN now: where it can be looked at, passes over all scores are spared.
    if _known(scores) and not weights[..., :1].isnan().any():
        return weights
    empty = (scores == -math.inf).all(-1, keepdim=True)
    # Anew, not filled alone: NaN would come back in gradients.
    return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


def _known(tensor: Tensor) -> bool:
    """True if numbers can be looked at: they are there, and no graph is being made."""
    return not (tensor.is_meta or torch.compiler.is_compiling())


def _slices(length: int, most: int) -> list[slice]:
    """All of a length, `most` at a time."""
    return [slice(start, start + most) for start in range(0, length, most)]


def _mixed(stage: Tensor, mix: Callable[[Tensor], Tensor] | None) -> Tensor | None:
    """Mix a stage, None where that leaves the stage itself."""
    mixed = stage if mix is None else mix(stage)
    return None if mixed is stage else mixed


def _matmul(left: Tensor, right: Tensor) -> Tensor:
    """`left @ right`; 2-D goes through the batched kernel as well, so the last digit agrees."""
    if left.dim() == right.dim() == 2:
        return torch.bmm(left.unsqueeze(0), right.unsqueeze(0)).squeeze(0)
    return left @ right


def _batched(tensor: Tensor, leading: torch.Size) -> Tensor:
    """(…, n, m) as (batch, n, m), the leading dimensions broadcast to `leading`."""
    return tensor.expand(*leading, *tensor.shape[-2:]).reshape(leading.numel(), *tensor.shape[-2:])


def _tanh_scores(left: Tensor, right: Tensor, v: Tensor) -> Tensor:
    return ((left.unsqueeze(-2) + right.unsqueeze(-3)).tanh() * v).sum(-1)


def _check_widths(queries: Tensor, keys: Tensor) -> None:
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "queries and keys must have the same width: "
            f"got {tuple(queries.shape)} and {tuple(keys.shape)}"
        )


def _check_mask(mask: Tensor, scores: Tensor) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool (True = may attend), got {mask.dtype}")
    try:
        mask.expand(scores.shape)
    except RuntimeError:
        raise ValueError(
            f"mask must broadcast to (…, queries, keys) = {tuple(scores.shape)}, "
            f"got {tuple(mask.shape)}"
        ) from None
