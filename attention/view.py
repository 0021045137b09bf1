"""The way of a sentence: settings -> tokens -> vectors -> variant -> everything a page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention import masks
from attention.blocks import BlockSettings
from attention.functional import STAGES, Trace
from attention.hand import HandSettings
from attention.identities import ClaimSettings
from attention.params import (
    Config,
    Declared,
    Value,
    check,
    complaint,
    read,
    seed_setting,
    setting,
    settings_of,
)
from attention.positions import sinusoidal
from attention.steps import StepSettings
from attention.text import MAX_TOKENS, tokenize
from attention.variants import VARIANTS, Variant
from attention.vectors import look_up, own_vectors_path, random_vectors


def variant_names() -> tuple[str, ...]:
    """What the variant menu offers."""
    return tuple(VARIANTS)


def vector_names() -> tuple[str, ...]:
    """What the vectors menu offers; `own` only where the owner has named a file."""
    return ("glove", "own", "random") if own_vectors_path() else ("glove", "random")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers. The names and defaults are those of every link sent."""

    s: str = setting("the cat walks on the street", "Sentence", maximum=5000)
    variant: str = setting("dot", "Variant", options=variant_names)
    vectors: str = setting(
        "glove",
        "Vectors",
        options=vector_names,
        help="glove: GloVe 6B, 50 dimensions. random: a random vector a word, the same each time.",
    )
    d_model: int = setting(
        50, "Dimensions", minimum=1, maximum=300, step=1, when=("vectors", "random")
    )
    scale: str = setting(
        "1/√d_k",
        "Scale",
        options=("1/√d_k", "none", "factor"),
        help="What the scores are multiplied by before the softmax.",
    )
    factor: float = setting(
        1.0, "Factor", minimum=0.0, maximum=10.0, step=0.05, when=("scale", "factor")
    )
    mask: str = setting(
        "none",
        "Mask",
        options=("none", "causal", "length", "window", "custom"),
        help="Which keys a query may attend to.",
    )
    valid_len: int = setting(
        3,
        "Valid length",
        minimum=0,
        maximum=MAX_TOKENS,
        step=1,
        when=("mask", "length"),
        help="Keys from this position on are padding.",
    )
    radius: int = setting(
        1,
        "Window radius",
        minimum=0,
        maximum=MAX_TOKENS,
        step=1,
        when=("mask", "window"),
        help="A query sees this many tokens to each side.",
    )
    cells: str = setting(
        "",
        "Hidden cells",
        maximum=8000,
        when=("mask", "custom"),
        help="One entry a query, query:keys, counted from 0. 0:1,3-5 hides keys 1, 3, 4 and 5 "
        "from query 0; 4:* hides everything from query 4.",
    )
    positions: str = setting(
        "none",
        "Positions",
        options=("none", "sinusoidal"),
        help="Added to the vectors. Without them the order of the words does not matter.",
    )
    seed: int = seed_setting()
    config: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        check(self)

    @property
    def scale_factor(self) -> float | None:
        """What the scores are multiplied by, None = 1/√d_k."""
        return {"1/√d_k": None, "none": 1.0, "factor": self.factor}[self.scale]

    def variant_config(self, d_model: int) -> Config:
        """The config of the chosen variant: its own fields, and the shared seed if it has one.

        Raises ValueError when a field is unknown to the variant or out of bounds.
        """
        schema = VARIANTS[self.variant].Config
        values = dict(self.config)
        unknown = values.keys() - settings_of(schema).keys()
        if unknown:
            raise ValueError(
                f"variant {self.variant!r} has no setting {', '.join(sorted(unknown))}"
            )
        if "seed" in settings_of(schema):
            values["seed"] = self.seed
        return schema(d_model, **values)


@dataclass(frozen=True, eq=False)
class View:
    """What the settings come to, for every page to show.

    known: for each token whether it has a vector; left_out: how many tokens did not fit;
    vectors, encoding: what x (tokens, d_model) is the sum of, encoding None without positions;
    words: the vectors whose space the output lives in, None when it lives in another;
    notes: plain words for the reader on what could not be taken as asked.
    """

    settings: Settings
    variant: Variant
    tokens: tuple[str, ...]
    known: tuple[bool, ...]
    left_out: int
    vectors: Tensor
    encoding: Tensor | None
    x: Tensor
    scale: float | None
    trace: Trace
    words: Vectors | None
    notes: tuple[str, ...]


def compute(settings: Settings, load_vectors: Callable[[str], Vectors]) -> View:
    """Everything the settings ask for, computed once. Raises ValueError on an empty sentence.

    load_vectors: a name of `vector_names()` other than "random" -> torchtext's `Vectors`.
    """
    everything = tokenize(settings.s)
    tokens = everything[:MAX_TOKENS]
    if not tokens:
        raise ValueError("the sentence has no words yet")

    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    if vectors is None:
        embedded = random_vectors(tokens, settings.d_model, settings.seed)
    else:
        embedded = look_up(vectors, tokens)
    encoding = sinusoidal(*embedded.x.shape) if settings.positions == "sinusoidal" else None
    x = embedded.x if encoding is None else embedded.x + encoding

    notes = []
    try:
        mask = make_mask(settings, len(tokens))
    except ValueError as error:
        mask = None
        notes.append(f"Nothing is hidden: {error}.")

    variant = VARIANTS[settings.variant](settings.variant_config(x.shape[-1]))
    scale = settings.scale_factor
    with torch.no_grad():
        trace = variant(x, mask, scale=scale)
    return View(
        settings=settings,
        variant=variant,
        tokens=tuple(tokens),
        known=embedded.known,
        left_out=len(everything) - len(tokens),
        vectors=embedded.x,
        encoding=encoding,
        x=x,
        scale=scale,
        trace=trace,
        words=vectors if torch.equal(trace.values, x) else None,
        notes=tuple(notes),
    )


def make_mask(settings: Settings, n: int) -> Tensor | None:
    """The chosen mask over n tokens, (queries, keys), or None. Raises ValueError on bad cells."""
    match settings.mask:
        case "causal":
            return masks.causal(n, n)
        case "length":
            return masks.lengths(torch.tensor([settings.valid_len]), n)[0].expand(n, n)
        case "window":
            return masks.window(n, n, settings.radius)
        case "custom":
            return masks.hidden(settings.cells, n, n)
        case _:
            return None


@dataclass(frozen=True)
class Selection:
    """What of a view is looked at; it decides no number."""

    stage: str = setting("weights", "Stage", options=STAGES)
    query: int = setting(0, "Query token", minimum=0, maximum=MAX_TOKENS - 1, step=1)


SCHEMAS = (Settings, Selection, StepSettings, HandSettings, ClaimSettings, BlockSettings)


def every_setting() -> Declared:
    """All names a link may carry: those of a view, of every page, and of every variant."""
    declared: Declared = {}
    for variant in VARIANTS.values():
        declared |= settings_of(variant.Config)
    for schema in SCHEMAS:
        declared |= settings_of(schema)
    return declared


def acceptable(name: str, text: str) -> bool:
    """Whether a link may say so: legal, or text that is merely too long and will be cut."""
    declared = every_setting()
    if name not in declared:
        return False
    default, about = declared[name]
    written = isinstance(default, str) and not about.choices()
    return written or not complaint(name, default, about, read(default, text))


def misread(asked: Mapping[str, str]) -> list[str]:
    """What a link asks for and cannot have, in words, one line each; empty for a sound link."""
    declared = every_setting()
    words = []
    for name, text in asked.items():
        if name not in declared:
            words.append(f"“{name[:40]}” is not a setting; it was left out.")
            continue
        default, about = declared[name]
        wrong = complaint(name, default, about, read(default, text))
        if wrong:
            cut = isinstance(default, str) and not about.choices()
            shown = f"its first {about.maximum}" if cut else default
            words.append(f"{wrong[:200]}; showing {shown} instead.")
    return words
