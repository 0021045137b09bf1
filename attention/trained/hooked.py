"""Layers whose layout is not known here: blocks of a model that transformers runs.

Each is a `Layer` as others are: queries, keys and values are those that its attention function is
called with, and an edit of its heads is what that function returns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import torch
from torch import Tensor

from attention.capture.calls import Call, Function, Masks
from attention.capture.masking import Rules
from attention.core.functional import Projected, linear, merge_heads
from attention.core.variants import DotScores
from attention.trained.adding import (
    Projection,
    added_by_attention,
    distance,
    is_near,
    last_norm,
)
from attention.trained.layers import KVCache, Layer, LayerRun, TrainedAttention, TrainedConfig
from attention.trained.models import About, Parts, Tokenizer, Transformer, UnknownLayout
from attention.trained.network import KEPT, TRIED, Network, heads_of
from attention.trained.parts import Norm, Norms


def _unknown(*_: object, **__: object) -> NoReturn:
    raise UnknownLayout


class HookedAttention(TrainedAttention):
    """Attention of a block: queries, keys and values as its function is called with them."""

    def __init__(self, layer: HookedLayer, call: Call, d_model: int, has_bias: bool) -> None:
        config = TrainedConfig(d_model, call.queries.shape[1], None, call.scale, call.cap)
        DotScores.__init__(self, config)
        self._layer = layer
        self._groups, self._has_bias = call.keys.shape[1], has_bias

    @property
    def groups(self) -> int:
        return self._groups

    @property
    def has_bias(self) -> bool:
        return self._has_bias

    def position_bias(
        self, n_queries: int, n_keys: int, first: int, rows: slice, heads: slice
    ) -> Tensor | None:
        bias = self._layer.rules(n_keys).bias if self._has_bias else None
        if bias is None:
            return None
        queries, keys = torch.arange(first, first + n_queries)[rows], torch.arange(n_keys)
        some = range(self.heads)[heads]
        return torch.stack([bias.part(0, head, queries, keys) for head in some])

    def projected(
        self, x: Tensor, memory: Tensor | None = None, before: Projected | None = None
    ) -> Projected:
        return self._layer.projected(x, memory, before)

    def projection(self, role: str) -> tuple[Tensor | None, Tensor | None]:
        if role != "output" or self._layer.adds is None:
            raise UnknownLayout
        return self._layer.adds

    without = _unknown


@dataclass(frozen=True, eq=False)
class Earlier(KVCache):
    """Keys and values of a layer's run, and its inputs, over which it runs again.

    entered: (…, tokens, d_model).
    """

    entered: Tensor = field(default_factory=lambda: torch.empty(0))

    def truncate(self, tokens: int, copies: int) -> Earlier:
        cut = super().truncate(tokens, copies)
        entered = self.entered[..., :tokens, :]
        return Earlier(cut.projected, None, entered.expand(copies, *(-1,) * entered.dim()))

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.entered.nbytes


@dataclass(frozen=True, eq=False)
class HookedRun(LayerRun):
    """One layer over its input."""

    layer: HookedLayer

    @property
    def attended(self) -> Tensor:
        """Addition of the attention, where the layer's path is a sum of known parts."""
        return linear(merge_heads(self.trace.output), *self.layer.attention.projection("output"))

    @property
    def middle(self) -> Tensor:
        """The residual path with that."""
        return self.x + self.attended

    @property
    def fed(self) -> Tensor:
        """All that is added besides."""
        return self.output - self.middle

    @property
    def whole(self) -> Tensor:
        """Its input with that of the tokens before. (…, tokens, d_model)."""
        if self.before is None:
            return self.x
        assert isinstance(self.before, Earlier)
        return torch.cat([self.before.entered, self.x], -2)

    @functools.cached_property
    def projected(self) -> Projected:
        return self.layer.of_all(self.whole, self.whole.shape[-2] - self.x.shape[-2], self.padding)

    @functools.cached_property
    def output(self) -> Tensor:
        """The next layer's input."""
        changed = "trace" in self.edits or torch.is_grad_enabled()
        heads = self.trace.output if changed else None
        made = self.layer.output(self.whole, heads, self.padding)
        return self.note("output", made[..., -self.x.shape[-2] :, :])

    @property
    def kept(self) -> Earlier:
        return Earlier(self.projected, None, self.whole)

    def edited(self, **parts: Any) -> LayerRun:
        if not {"attended", "middle", "fed"}.isdisjoint(parts):
            raise UnknownLayout
        return super().edited(**parts)


class HookedLayer(Layer):
    """A block of a model of transformers, with those behind it that have no attention.

    network, at: whose, and which of its layers; width: of the queries of all heads; adds: what its
    attention adds to its path, None where that is no sum of known parts: else no norm stands on it.
    All else is not known: asking for its projections, its feed-forward, or for norms on such a path
    raises `UnknownLayout`.
    """

    norm_first = False  # as far as anybody knows

    def __init__(self, network: Network, at: int, d_model: int) -> None:
        self.network, self.at, self.d_model = network, at, d_model
        self.adds: Projection | None = None
        self.rules = functools.lru_cache(KEPT)(self._rules)
        call = network.call(at, torch.zeros(1, TRIED, d_model))
        has_bias = self.rules(TRIED).bias is not None
        self.attention = HookedAttention(self, call, d_model, has_bias)
        self.width = call.queries.shape[1] * call.queries.shape[-1]
        self.causal = not self._allowed(TRIED, TRIED, 0)[0, 1:].any()

    def __getattr__(self, name: str) -> Norms:
        """Norms around its attention, which are in no attribute."""
        if name not in ("attention_norms", "feed_norms", "feed_forward"):
            raise AttributeError(name)
        if self.adds is None or name == "feed_forward":
            raise UnknownLayout
        return Norms()

    def __repr__(self) -> str:
        return f"HookedLayer({self.at}, heads={self.attention.heads}, causal={self.causal})"

    @torch.no_grad()
    def _rules(self, tokens: int) -> Rules:
        """The mask and the bias of its attention over so many tokens."""
        return Masks().rules(self.network.call(self.at, torch.zeros(1, tokens, self.d_model)))

    def _allowed(self, n_queries: int, n_keys: int, first: int) -> Tensor:
        mask = self.rules(n_keys).mask
        if mask is None:
            return torch.ones(n_queries, n_keys, dtype=torch.bool)
        queries = torch.arange(first, first + n_queries)
        return mask.allowed(0, 0, queries, torch.arange(n_keys))

    def masks(self, n_queries: int, n_keys: int, first: int = 0) -> dict[str, Tensor]:
        own = {}
        if self.causal:
            own["causal"] = torch.arange(first, first + n_queries)[:, None] >= torch.arange(n_keys)
        allowed = self._allowed(n_queries, n_keys, first)
        if not torch.equal(allowed, own.get("causal", torch.ones_like(allowed))):
            own["window"] = allowed
        return own

    def attention_input(self, x: Tensor) -> Tensor:
        """The layer's own input: norms before the projections are among these."""
        return x

    def projected(
        self, x: Tensor, memory: Tensor | None = None, before: Projected | None = None
    ) -> Projected:
        """Queries, keys and values as its attention function gets them, rotated where they are."""
        if memory is not None or before is not None:
            raise ValueError("queries, keys and values must be of x alone")
        return self.of_all(x, 0)

    def of_all(self, x: Tensor, first: int, padding: Tensor | None = None) -> Projected:
        """Queries from the first of some tokens on, with the keys and values of all of them."""
        call = self.network.call(self.at, _batch(x), _kept(padding))
        queries, keys, values = (
            part.reshape(*x.shape[:-2], *part.shape[1:])
            for part in (call.queries[:, :, first:], call.keys, call.values())
        )
        return Projected(queries, keys, values, first)

    def output(
        self, x: Tensor, heads: Tensor | None = None, padding: Tensor | None = None
    ) -> Tensor:
        """The layer's output over x (…, tokens, d_model).

        heads: what its heads put out instead, (…, heads, tokens, d_v); of the last tokens, where
        there are fewer.
        """
        if heads is None:
            return self.network.run(self.at, _batch(x), _kept(padding)).reshape(x.shape)
        lead = torch.broadcast_shapes(x.shape[:-2], heads.shape[:-3])
        x = x.expand(*lead, *x.shape[-2:])
        wanted = _batch(heads.expand(*lead, *heads.shape[-3:]), 3)

        def takes(name: str, call: Call, function: Function) -> Any:
            made = wanted
            if wanted.shape[2] < call.n_queries:  # those before are as they were
                made = heads_of(function(), function).clone()
                made[:, :, -wanted.shape[2] :] = wanted
            return (made.transpose(1, 2).contiguous(), None) if function.kind is None else made

        keys = None if padding is None else padding.expand(*lead, *padding.shape[-2:])
        return self.network.run(self.at, _batch(x), _kept(keys), takes).reshape(x.shape)

    def run(
        self,
        entered: Tensor,
        memory: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        edit: Callable[[LayerRun], LayerRun] | None = None,
        before: LayerRun | KVCache | None = None,
    ) -> LayerRun:
        earlier = before.kept if isinstance(before, LayerRun) else before
        run: LayerRun = HookedRun(self, entered, entered, None, padding, earlier)
        return self.finished(run, edit)

    def products(self, pieces: int) -> float:
        blocks = [self.network.blocks[at] for at in self.network.parts[self.at]]
        matrices = [each for block in blocks for each in block.parameters() if each.dim() == 2]
        weights: float = sum(each.numel() for each in matrices)
        return pieces * (weights + (1 if self.causal else 2) * self.width * pieces)


def _batch(part: Tensor, dims: int = 2) -> Tensor:
    """A part with one axis before the last ones."""
    return part.reshape(-1, *part.shape[-dims:])


def _kept(padding: Tensor | None) -> Tensor | None:
    """The pieces of a batch that are none of padding, of a mask (…, queries, keys)."""
    return None if padding is None else _batch(padding.any(-2, keepdim=True))[:, 0]


class Embedded:
    """Embedding of a network. pieces: (vocabulary, d_model); limit: of its positions."""

    positions = None

    def __init__(self, network: Network, pieces: Tensor, limit: int) -> None:
        self.network, self.pieces, self.limit = network, pieces, limit

    def __call__(self, ids: Tensor, first: int = 0) -> Tensor:
        """ids (…, tokens), the first one at position `first` -> (…, tokens, d_model).

        Raises ValueError where there are more than positions.
        """
        if (end := first + ids.shape[-1]) > self.limit:
            raise ValueError(f"a sentence may have {self.limit} pieces, got {end}")
        rows = ids.reshape(-1, ids.shape[-1])
        before = torch.full((len(rows), first), self.network.filler)
        x = self.network.embed(torch.cat([before, rows], -1))[:, first:]
        return x.reshape(*ids.shape, -1)


class Final:
    """The way from the last block to the model's output. norm: as one that can be taken apart,
    None where it is none."""

    norm: Norm | None = None

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, x: Tensor) -> Tensor:
        return self.network.final(x)

    def split(self, parts: Tensor, total: Tensor) -> Tensor:
        """Pass each part of a sum through the norm, see `parts.Norm`."""
        if self.norm is None:
            raise UnknownLayout
        return self.norm.split(parts, total)


class ByTransformers(Transformer):
    """A model that transformers runs, whose layout is not known here."""

    laid_out = False

    def __init__(self, about: About, read: Tokenizer, parts: Parts, network: Network) -> None:
        super().__init__(about, read, parts)
        self.network = network

    @property
    def adds_up(self) -> bool:
        final = self.parts.final_norm
        known = all(isinstance(each, HookedLayer) and each.adds for each in self.layers)
        return known and isinstance(final, Final) and final.norm is not None

    @property
    def nbytes(self) -> int:
        whole = self.network.whole
        storages = [each.untyped_storage() for each in (*whole.parameters(), *whole.buffers())]
        return sum({each.data_ptr(): each.nbytes() for each in storages}.values())

    def scores(self, hidden: Tensor) -> Tensor:
        self.unembedding  # noqa: B018  refuses models that were not trained to go on
        return self.network.scores(hidden)


@torch.no_grad()
def parts_of(network: Network, limit: int, ends: Collection[int]) -> Parts:
    """The parts of a model of transformers.

    limit: how many pieces it takes; ends: the pieces that say that a text is over. Raises
    ValueError where its blocks, run one by one, do not give its numbers.
    """
    model: Any = network.whole
    pieces = model.get_input_embeddings().weight
    d_model = network.plain.last_hidden_state.shape[-1]
    layers = [HookedLayer(network, at, d_model) for at in range(len(network.parts))]
    scoring = model.get_output_embeddings() if network.base is not model else None
    unembedding = None if scoring is None else scoring.weight.T
    embedding: Any = Embedded(network, pieces, limit)
    parts = Parts(embedding, layers, limit, Final(network), unembedding, ends=ends)
    return replace(parts, unembedding=_tried(parts, network))


def _tried(parts: Parts, network: Network) -> Tensor | None:
    """Run blocks one by one, and find what is added in them; gives the unembedding as it scores.

    Raises ValueError where that, with outputs of heads worked out from what their functions are
    called with, does not give what the model does.
    """
    whole: Any = network.whole
    ids = torch.arange(TRIED) * 7 % len(parts.embedding.pieces)
    ids[ids == getattr(whole.config, "pad_token_id", None)] = network.filler
    x = parts.embedding(ids)
    for at, layer in enumerate(parts.layers):
        assert isinstance(layer, HookedLayer)
        y = layer.output(x)
        _same(f"the heads of layer {at}", layer.output(x, layer.trace(x).output), y)
        layer.adds = added_by_attention(network, at, x[None])
        x = y
    assert isinstance(parts.final_norm, Final)
    parts.final_norm.norm = last_norm(network, x)
    final = parts.final_norm(x)
    _same("the output", final, network.run_whole(ids).last_hidden_state[0])
    if parts.unembedding is None:
        return None
    made = whole(input_ids=ids[None], use_cache=False, return_dict=True).logits[0]
    _same("the scores", network.scores(final), made)
    plain = final @ parts.unembedding
    unembedding: Tensor = parts.unembedding * ((made * plain).sum() / plain.square().sum())
    if not is_near(final @ unembedding, made):  # a bias, or a cap: votes do not add up to scores
        parts.final_norm.norm = None
    return unembedding


def _same(name: str, made: Tensor, expected: Tensor) -> None:
    if not is_near(made, expected):
        raise ValueError(
            f"{name} worked out from what its attention is called with must be what transformers "
            f"gives, they are {distance(made, expected):.1e} apart"
        )
