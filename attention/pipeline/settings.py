"""Everything that decides the numbers, and what of them is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attention.core.functional import STAGES
from attention.core.limits import MAX_TOKENS
from attention.core.positions import alibi
from attention.core.scales import SCALES, Scale
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
from attention.inputs.vectors import own_vectors_path
from attention.trained import sources
from attention.trained.sources import NONE


def variant_names() -> tuple[str, ...]:
    """Names in the variant menu."""
    return tuple(VARIANTS)


def variant_titles() -> dict[str, str]:
    """Titles in a search, each with what the variant does."""
    return {name: f"{each.title}; {each.does}" for name, each in VARIANTS.items()}


def vector_names() -> tuple[str, ...]:
    """Names in the vectors menu; `own` only where the owner has named a file."""
    return ("glove", "own", "random") if own_vectors_path() else ("glove", "random")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers. The names and defaults are those of every link sent."""

    s: str = text("the cat walks on the street", "Sentence", 5000)
    model: str = choice(
        NONE,
        "Trained model",
        sources.names,
        help="none: word vectors, and parameters drawn at random, or ones and zeros. A "
        "model: what enters one of its layers, and the parameters it has learned.",
    )
    layer: int = whole(
        0, "Layer", 0, 63, unless=("model", NONE), help="Which layer of the model, from 0."
    )
    special: str = choice(
        "shown",
        "Special tokens",
        ("shown", "ignored"),
        unless=("model", NONE),
        help="Markers that were put around the sentence, as [CLS]; in a model without markers, the "
        "first token. ignored: they are left out, and the other tokens share their weight.",
    )
    join: str = choice(
        "pieces",
        "Shown as",
        ("pieces", "words"),
        unless=("model", NONE),
        help="words: the weights of pieces joined into words, where rows are averaged and columns "
        "summed.",
    )
    cut: str = text(
        "",
        "Heads cut out",
        200,
        unless=("model", NONE),
        help="Numbers with commas between, as in 0,3: these heads add nothing to the output.",
    )
    trained_mask: str = choice(
        "kept",
        "The model's own mask",
        ("kept", "removed"),
        unless=("model", NONE),
        help="A model that was trained to go on writing never saw what comes after a token.",
    )
    trained_positions: str = choice(
        "kept",
        "The model's own positions",
        ("kept", "removed"),
        unless=("model", NONE),
        help="This model rotates queries and keys by their positions, or adds a bias for their "
        "distance. Removed: it does not in this layer.",
    )
    variant: str = choice(
        "dot", "Variant", variant_names, when=("model", NONE), names=variant_titles
    )
    vectors: str = choice(
        "glove",
        "Vectors",
        vector_names,
        when=("model", NONE),
        help="glove: GloVe 6B, 50 dimensions. random: one random vector per word, the same each "
        "time.",
        names={"glove": "GloVe; word vectors, embeddings", "random": "Random vectors"},
    )
    d_model: int = whole(50, "Dimensions", 1, 300, when=("vectors", "random"))
    scale: str = choice(
        "1/√d_k",
        "Scale",
        (*SCALES, "factor"),
        help="What the scores are multiplied by before the softmax. When scores differ a lot, "
        "softmax gives almost everything to the largest. Dot products of long vectors do, and "
        "1/√d_k makes them smaller. d_k and d_v are the widths of keys and values.",
        names={"factor": "Scale; temperature", "none": "No scale; unscaled scores"},
    )
    factor: float = decimal(
        1.0,
        "Factor",
        0.0,
        10.0,
        0.05,
        exact=True,
        when=("scale", "factor"),
        help="Any number from 0 to 10, with all its digits.",
    )
    mask: tuple[str, ...] = choice(
        (),
        "Masks",
        ("causal", "length", "window", "cells"),
        help="Which keys a query may look at: those that every chosen mask allows. causal: none "
        "that comes later, so that a model can learn to guess what comes next. length: no padding, "
        "which means nothing. window: near ones alone, which keeps long texts cheap. cells: those "
        "you leave.",
        names={
            "causal": "Causal mask; autoregressive, decoder",
            "length": "Length mask; padding, valid length",
            "window": "Window mask; local attention, sliding window",
            "cells": "Mask of your own; hidden cells",
        },
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
        help="What tells attention where a token stands: without them, and without a mask, “dog "
        "bites man” and “man bites dog” are the same bag of words. sinusoidal: added to the "
        "vectors. rotary: rotates queries and keys. alibi: takes the distance times a slope off "
        "the scaled scores.",
        names={
            "sinusoidal": "Sinusoidal positions; positional encoding",
            "rotary": "Rotary positions; RoPE",
            "alibi": "ALiBi; linear bias",
        },
    )
    head: int = whole(0, "Head", 0, MAX_HEADS - 1, help="Which head is shown, from 0.")
    seed: int = seed_setting()
    config: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        validate(self)

    @property
    def scale_factor(self) -> Scale:
        """Factor of the scores."""
        return SCALES.get(self.scale, self.factor)

    @property
    def rotate(self) -> bool | None:
        """True if queries and keys are rotated by their positions, None: as the layer has it."""
        if self.positions == "rotary":
            return True
        return False if self.trained_positions == "removed" else None

    def variant_layer(self, d_model: int) -> Variant:
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
        """Bias of the positions on the scaled scores, (heads, queries, keys), or None."""
        if self.positions != "alibi":
            return None
        return alibi(layer.heads, n_queries, n_keys, rows, heads)


@dataclass(frozen=True)
class Selection:
    """Part of a result that is looked at; it decides no number."""

    stage: str = choice("weights", "Stage", STAGES)
    query: int = whole(0, "Query token", 0, MAX_TOKENS - 1)
