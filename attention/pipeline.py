"""The way of a sentence: settings -> tokens -> vectors -> layer -> everything a page shows.

May import: core, inputs; torch, torchtext.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.core import masks
from attention.core.functional import STAGES, LongTrace, Trace
from attention.core.positions import alibi, sinusoidal
from attention.core.settings import (
    Config,
    Value,
    choice,
    decimal,
    seed_setting,
    settings_of,
    text,
    validate,
    whole,
    with_divisors,
)
from attention.core.variants import MAX_HEADS, VARIANTS, Variant
from attention.inputs.text import MAX_TOKENS, tokenize
from attention.inputs.vectors import look_up, own_vectors_path, random_vectors

MAX_KEPT = 1 << 18  # cells of all heads, up to which all steps of a run are kept
STEPS_OF_A_HEAD = 10  # about what a long trace keeps for each cell of a head, in numbers
MAX_AT_ONCE = 1 << 17  # cells of all heads that are worked out at once where they are not


def variant_names() -> tuple[str, ...]:
    """What the variant menu offers."""
    return tuple(VARIANTS)


def vector_names() -> tuple[str, ...]:
    """What the vectors menu offers; `own` only where the owner has named a file."""
    return ("glove", "own", "random") if own_vectors_path() else ("glove", "random")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers. The names and defaults are those of every link sent."""

    s: str = text("the cat walks on the street", "Sentence", 5000)
    variant: str = choice("dot", "Variant", variant_names)
    vectors: str = choice(
        "glove",
        "Vectors",
        vector_names,
        help="glove: GloVe 6B, 50 dimensions. random: one random vector per word, the same each "
        "time.",
    )
    d_model: int = whole(50, "Dimensions", 1, 300, when=("vectors", "random"))
    scale: str = choice(
        "1/√d_k",
        "Scale",
        ("1/√d_k", "none", "factor"),
        help="What the scores are multiplied by before the softmax.",
    )
    factor: float = decimal(1.0, "Factor", 0.0, 10.0, 0.05, when=("scale", "factor"))
    mask: tuple[str, ...] = choice(
        (),
        "Masks",
        ("causal", "length", "window", "cells"),
        help="Which keys a query may attend to: those that every chosen mask allows. None chosen: "
        "all of them.",
    )
    valid_len: int = whole(
        3,
        "Valid length",
        0,
        MAX_TOKENS,
        when=("mask", "length"),
        help="Keys from this position on are padding.",
    )
    radius: int = whole(
        1,
        "Window radius",
        0,
        MAX_TOKENS,
        when=("mask", "window"),
        help="A query sees this many tokens to each side.",
    )
    cells: str = text(
        "",
        "Hidden cells",
        8000,
        when=("mask", "cells"),
        help="One entry per query, query:keys, counted from 0. 0:1,3-5 hides keys 1, 3, 4 and 5 "
        "from query 0; 4:* hides everything from query 4.",
    )
    positions: str = choice(
        "none",
        "Positions",
        ("none", "sinusoidal", "rotary", "alibi"),
        help="Without them the order of the words does not matter. sinusoidal: added to the "
        "vectors. rotary: rotates queries and keys. alibi: subtracts the distance from the scaled "
        "scores.",
    )
    head: int = whole(0, "Head", 0, MAX_HEADS - 1, help="Which head is shown, from 0.")
    seed: int = seed_setting()
    config: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        validate(self)

    @property
    def scale_factor(self) -> float | None:
        """What the scores are multiplied by, None = 1/√d_k."""
        return {"1/√d_k": None, "none": 1.0, "factor": self.factor}[self.scale]

    @property
    def rotate(self) -> bool:
        """Whether queries and keys are rotated by their positions."""
        return self.positions == "rotary"

    def layer(self, d_model: int) -> Variant:
        """The chosen variant, with its own settings, and the shared seed if it has one.

        A number that must divide another becomes the greatest below it that does.
        Raises ValueError when a setting is unknown to the variant or out of bounds.
        """
        schema: type[Config] = VARIANTS[self.variant].Config
        declared, values = settings_of(schema), dict(self.config)
        if unknown := values.keys() - declared.keys():
            raise ValueError(
                f"variant {self.variant!r} has no setting {', '.join(sorted(unknown))}"
            )
        if "seed" in declared:
            values["seed"] = self.seed
        fields: dict[str, Any] = with_divisors(declared, values | {"d_model": d_model})
        return VARIANTS[self.variant](schema(**fields))

    def bias(
        self,
        layer: Variant,
        n_queries: int,
        n_keys: int,
        rows: slice = slice(None),
        heads: slice = slice(None),
    ) -> Tensor | None:
        """What the positions add to the scaled scores, (heads, queries, keys), or None."""
        if self.positions != "alibi":
            return None
        return alibi(layer.heads, n_queries, n_keys, rows, heads)


@dataclass(frozen=True)
class Selection:
    """What of a result is looked at; it decides no number."""

    stage: str = choice("weights", "Stage", STAGES)
    query: int = whole(0, "Query token", 0, MAX_TOKENS - 1)


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence as vectors.

    known: for each token whether it has a vector; left_out: how many tokens did not fit;
    vectors, encoding: what x (tokens, d_model) is the sum of, encoding None without positions.
    """

    tokens: tuple[str, ...]
    known: tuple[bool, ...]
    left_out: int
    vectors: Tensor
    encoding: Tensor | None
    x: Tensor

    @property
    def unknown(self) -> list[str]:
        """The words without a vector."""
        pairs = zip(self.tokens, self.known, strict=True)
        return [token for token, known in pairs if not known]


@dataclass(frozen=True, eq=False)
class Result(Sentence):
    """The result of the settings, for every page to show: the sentence, and one run of a layer.

    layer: the variant; layer_trace: its one run, all heads, (heads, queries, keys), a `LongTrace`
    where that is more than `MAX_KEPT` cells;
    masks: the chosen masks by name, (queries, keys) each;
    words: the vectors whose space the values live in, None when they live in another;
    mask_problem: why the hidden cells could not be read, empty where they could;
    memory: the sentence that keys and values come from, None where it is that of the queries;
    memory_text: it as it was written.
    """

    settings: Settings
    layer: Variant
    layer_trace: Trace | LongTrace
    masks: dict[str, Tensor]
    words: Vectors | None
    mask_problem: str = ""
    memory: Sentence | None = None
    memory_text: str | None = None

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """The tokens of the keys."""
        return self.tokens if self.memory is None else self.memory.tokens

    @property
    def head(self) -> int:
        """The head that is shown: the chosen one, or the last where there are fewer."""
        return min(self.settings.head, self.layer.heads - 1)

    @functools.cached_property
    def trace(self) -> Trace:
        """The trace of the head that is shown, (queries, keys)."""
        return self.layer_trace.head(self.head)

    @property
    def notes(self) -> list[str]:
        """What could not be used as it was set, in words."""
        notes = [self.mask_problem] if self.mask_problem else []
        wanted, heads = self.settings.head, self.layer.heads
        if self.head < wanted and heads > 1:
            notes.append(missing_head(wanted, heads))
        return notes

    def at_head(self, head: int) -> Result:
        """The same run, with another of its heads chosen."""
        if head == self.settings.head:
            return self
        return replace(self, settings=replace(self.settings, head=head))

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        trace = self.layer_trace
        tensors = [*vars(self).values(), *self.masks.values(), *self.layer.parameters()]
        if isinstance(trace, Trace):
            tensors += [*vars(trace).values(), *(trace.unrotated or ())]
        if self.memory is not None:
            tensors += vars(self.memory).values()
        storages = [part.untyped_storage() for part in tensors if isinstance(part, Tensor)]
        kept = sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
        cells = len(self.tokens) * len(self.key_tokens)
        return kept + (0 if isinstance(trace, Trace) else STEPS_OF_A_HEAD * 4 * cells)

    def weights_for(self, query: int) -> Tensor:
        """The weights of all heads and queries, or of one query where they are too many to keep."""
        trace = self.layer_trace
        return trace.weights if isinstance(trace, Trace) else trace.query(query).weights


def compute(
    settings: Settings, load_vectors: Callable[[str], Vectors], memory: str | None = None
) -> Result:
    """Everything the settings ask for, computed once. Raises ValueError on an empty sentence.

    load_vectors: a name of `vector_names()` other than "random" -> torchtext's `Vectors`;
    memory: the sentence that keys and values come from, None = the settings' own.
    """
    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    sentence = read_sentence(settings, tokenize(settings.s), vectors)
    other = None if memory is None else read_sentence(settings, tokenize(memory), vectors)
    keys, x = other or sentence, sentence.x
    n_queries, n_keys = len(sentence.tokens), len(keys.tokens)

    chosen, mask_problem = make_masks(settings, n_queries, n_keys)
    layer = settings.layer(x.shape[-1])
    mask = masks.combine(chosen.values())

    with torch.no_grad():
        some = layer.some(
            x,
            mask,
            memory=None if other is None else other.x,
            scale=settings.scale_factor,
            rotate=settings.rotate,
            bias=functools.partial(settings.bias, layer, n_queries, n_keys),
        )
        own_words = torch.equal(layer.project(keys.x, "values"), keys.x[None])
        trace: Trace | LongTrace
        if layer.heads * n_queries * n_keys <= MAX_KEPT:
            trace = some(slice(None), slice(None))
        else:
            at_once = max(1, MAX_AT_ONCE // (layer.heads * n_keys))
            trace = LongTrace(
                torch.no_grad()(some),
                n_queries,
                at_once,
                layer.apart,
                None if mask is None else mask[None],
            )
    return Result(
        **vars(sentence),
        settings=settings,
        layer=layer,
        layer_trace=trace,
        masks=chosen,
        words=vectors if own_words else None,
        mask_problem=mask_problem,
        memory=other,
        memory_text=memory,
    )


def read_sentence(
    settings: Settings, everything: Sequence[str], vectors: Vectors | None
) -> Sentence:
    """The tokens of a sentence as vectors, random ones where there are none, and positions.

    Raises ValueError when there are no tokens.
    """
    tokens = everything[:MAX_TOKENS]
    if not tokens:
        raise ValueError("the sentence has no words yet")
    if vectors is None:
        embedded = random_vectors(tokens, settings.d_model, settings.seed)
    else:
        embedded = look_up(vectors, tokens)
    encoding = sinusoidal(*embedded.x.shape) if settings.positions == "sinusoidal" else None
    return Sentence(
        tokens=tuple(tokens),
        known=embedded.known,
        left_out=len(everything) - len(tokens),
        vectors=embedded.x,
        encoding=encoding,
        x=embedded.x if encoding is None else embedded.x + encoding,
    )


def missing_head(wanted: int, heads: int) -> str:
    """A word where a head is wanted that is not there."""
    return f"There is no head {wanted} of {heads}; showing the last, {heads - 1}."


def make_masks(settings: Settings, n_queries: int, n_keys: int) -> tuple[dict[str, Tensor], str]:
    """The chosen masks by name, (queries, keys) each, and why one of them could not be made."""
    makers: dict[str, Callable[[], Tensor]] = {
        "causal": lambda: masks.causal(n_queries, n_keys),
        "length": lambda: masks.lengths(torch.tensor([settings.valid_len]), n_keys)[0].expand(
            n_queries, n_keys
        ),
        "window": lambda: masks.window(n_queries, n_keys, settings.radius),
        "cells": lambda: masks.parse_cells(settings.cells, n_queries, n_keys),
    }
    made, problem = {}, ""
    for name in settings.mask:
        try:
            made[name] = makers[name]()
        except ValueError as error:
            problem = f"No single cells are hidden: {error}."
    return made, problem
