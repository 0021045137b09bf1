"""The attentions of a run that are shown together: weights made when they are asked for."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.heads import Keys, Rows
from attention.analysis.token_texts import Texts
from attention.analysis.whole_runs import blocks_of, quick_rows
from attention.capture import Attention, Recording
from attention.core.functional import Trace, WeightsAlone
from attention.core.limits import MAX_SEEN
from attention.core.weighing import SOFTMAX, UNNORMED

MAX_HEADS = 1024  # in all layers
MAX_CELLS = 1 << 32  # of a map: 65,536 tokens by as many
MAX_WORK = 4e10  # products of the rows that are shown, in all heads: some seconds


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """Attentions of a run that have as many queries and keys.

    run: the recording; shown: those of its attentions that are shown, the others have other
    lengths; where a layer has fewer heads than another, the places of the others are empty;
    texts: one for each query; key_texts: one for each key, None where they are those of the
    queries. Heads are measured on the rows of `whole_runs.quick_rows`.
    """

    run: Recording
    shown: tuple[Attention, ...]
    texts: list[str]
    key_texts: list[str] | None

    @property
    def is_long(self) -> bool:
        """True if it has more queries or keys than are shown at once."""
        return max(len(self.texts), len(self.key_texts or ())) > MAX_SEEN

    @property
    def tokens(self) -> list[str]:
        """A text for each of the first queries."""
        return self.texts[:MAX_SEEN]

    @property
    def keys(self) -> list[str] | None:
        """A text for each of the first keys, None where they are those of the queries."""
        return None if self.key_texts is None else self.key_texts[:MAX_SEEN]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, queries and keys."""
        keys = self.texts if self.key_texts is None else self.key_texts
        return len(self.shown), len(self.head_numbers), len(self.texts), len(keys)

    @functools.cached_property
    def sides(self) -> tuple[Texts, ...]:
        """Texts of the queries, and of the keys where they are others."""
        return tuple(Texts(one) for one in (self.texts, self.key_texts) if one is not None)

    @property
    def head_numbers(self) -> tuple[int, ...]:
        """The number that the model has for each head that any layer keeps."""
        return tuple(sorted({head for kept in self.shown for head in kept.heads}))

    def has(self, layer: int, head: int) -> bool:
        """True if the layer in that place has the head in that place."""
        return self.head_numbers[head] in self.shown[layer].heads

    @property
    def absent(self) -> list[int]:
        """Places of heads that their layers have not, counted layer after layer."""
        heads = range(len(self.head_numbers))
        places = [(layer, head) for layer in range(len(self.shown)) for head in heads]
        return [at for at, place in enumerate(places) if not self.has(*place)]

    @property
    def shares(self) -> list[bool]:
        """For each layer whether its weights are shares of 1: others have no softmax."""
        return [kept.weights_are_a_distribution for kept in self.shown]

    @property
    def layer_titles(self) -> list[str]:
        """A title of each layer, by the number of its attention."""
        return [f"layer {kept.number}" for kept in self.shown]

    @property
    def modules(self) -> list[str]:
        """The name of the module of each layer."""
        return [kept.name for kept in self.shown]

    @property
    def crosses(self) -> bool:
        """True if the keys are those of another sequence than the queries."""
        return self.shown[0].kind == "cross"

    @property
    def known(self) -> Keys:
        """The keys, as far as they are known: equal tokens by their texts, within one sequence."""
        return Keys(ids=() if self.key_texts is not None or self.crosses else self.texts)

    @property
    def problems(self) -> list[str]:
        """Tell what of the run is not shown, in sentences."""
        count, entries, said = len(self.run.attentions), self.shown[0].shape[0], []
        if len(self.shown) < count:
            others = "The others have other lengths."
            said.append(f"Layers shown: {len(self.shown)} of {count}. {others}")
        if entries > 1:
            said.append(f"The first of {entries} sequences is shown.")
        return said

    def trace(self, layer: int, head: int) -> Trace:
        """The first queries and keys of one head, as float32."""
        first, number = slice(MAX_SEEN), self.shown[layer].number
        found = self.run.weights(number, self.head_numbers[head], first, first)
        weighing = SOFTMAX if self.shares[layer] else UNNORMED
        return WeightsAlone(found.float().cpu(), weighing=weighing)

    def each(self, rows: Tensor | None = None) -> Iterator[Rows]:
        """Rows of one layer after the other, in blocks, of all its heads.

        rows: their positions, None = those that are measured.
        """
        layers, heads, *lengths = self.shape
        rows = quick_rows(layers * heads, *lengths) if rows is None else rows
        return (self._in_places(kept, blocks_of(self.run, kept, rows)) for kept in self.shown)

    def _in_places(self, kept: Attention, blocks: Rows) -> Rows:
        """Rows of one layer with those of heads that it has not, which are 0."""
        places = [self.head_numbers.index(head) for head in kept.heads]
        for rows, weights in blocks:
            whole = weights.new_zeros(len(self.head_numbers), *weights.shape[1:])
            whole[places] = weights
            yield rows, whole


def opened_run(run: Recording, bounded: bool = True) -> OpenedRun:
    """All attentions of a run that fit its tokens; without tokens their positions stand for them.

    bounded: whether it is a stranger's, which may not take long. Raises ValueError where there is
    none.
    """
    lengths = {kept.shape[2:] for kept in run.attentions}
    for queries, keys in sorted(lengths, key=sum, reverse=True):
        texts = run.tokens if len(run.tokens or ()) == queries else None
        of_keys = run.keys if len(run.keys or ()) == keys else None
        if of_keys is None and queries != keys:
            of_keys = run.tokens if len(run.tokens or ()) == keys else _positions(keys)
        fitting = [kept for kept in run.attentions if kept.shape[2:] == (queries, keys)]
        if texts or of_keys or not run.tokens:
            shown = tuple(fitting)
            if bounded:
                _check_work(shown)
            return OpenedRun(run, shown, texts or _positions(queries), of_keys)
    raise ValueError("the run must have an attention that fits its tokens, it has none")


def _check_work(shown: tuple[Attention, ...]) -> None:
    """Raises ValueError where a map, or all heads at a glance, would take too long."""
    heads = sum(len(kept.heads) for kept in shown)
    n_queries, n_keys = shown[0].shape[2:]
    if n_queries * n_keys > MAX_CELLS:
        raise ValueError(
            f"a run may have up to {MAX_CELLS:,} cells in a head, got {n_queries:,} by {n_keys:,}; "
            "on your own machine `attention-explorer open` shows any"
        )
    rows = min(MAX_SEEN, n_queries)
    work = heads * rows * n_keys * max(kept.keys.shape[3] + 8 for kept in shown)
    if heads > MAX_HEADS or work > MAX_WORK:
        raise ValueError(
            f"a run may have up to {MAX_HEADS} heads and {MAX_WORK:.0e} products for {MAX_SEEN} "
            f"rows of all, got {heads} and {work:.0e}: keep fewer by `layers=` or `heads=`"
        )


def _positions(count: int) -> list[str]:
    return [str(position) for position in range(count)]


def _own_keys_are_first(kept: Attention, tokens: int) -> bool:
    """True if of more keys than queries the first are of the queries, each seen from there on."""
    mask, device = kept.rules.mask, kept.keys.device
    if kept.kind == "cross" or kept.shape[2] != tokens or mask is None:
        return False
    every = torch.arange(tokens, device=device)
    allowed = mask.allowed(0, 0, every, every)
    return bool(allowed.diagonal().all() and not allowed.triu(1).any())


def fitting_run(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    layer: int | str | None,
    query: int,
) -> OpenedRun:
    """The attentions of a run that fit the tokens and have the same heads, that layer first.

    layer: a number or a module's name, None = any. Keys behind those of the tokens, which a model
    makes of several tokens (DeepSeek V4), have their positions as texts. Raises ValueError where
    there is none.
    """
    tokens, keys = tokens or run.tokens, keys or run.keys
    if tokens is None:
        raise ValueError("there must be a token for each query, as `show(run, tokens)`")
    asked = [one for one in run.attentions if layer in (None, "all", one.number, one.name)]
    if keys is None and not any(one.shape[2:] == 2 * (len(tokens),) for one in asked):
        further = (one.shape[3] for one in asked if _own_keys_are_first(one, len(tokens)))
        names = range(len(tokens), next(further, len(tokens)))
        keys = [*tokens, *(f"key {at}" for at in names)] if names else None
    expected = len(tokens), len(tokens if keys is None else keys)
    fitting = [kept for kept in run.attentions if kept.shape[2:] == expected]
    chosen = [kept for kept in fitting if kept in asked]
    if not chosen or not 0 <= query < len(tokens):
        there = ", ".join(
            f"{one.number} ({one.shape[2]}, {one.shape[3]})" for one in run.attentions
        )
        raise ValueError(
            f"tokens and keys must be as many as queries and keys of a layer, {there}, and query "
            f"one of them, got {expected[0]}, {expected[1]} and {query}"
        )
    first = chosen[0]
    others = [kept for kept in fitting if kept is not first and kept.heads == first.heads]
    return OpenedRun(run, (first, *others), list(tokens), None if keys is None else list(keys))
