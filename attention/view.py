"""The way of a sentence: settings -> tokens -> vectors -> variant -> everything a page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention import compare, cross, masks
from attention.blocks import BlockSettings
from attention.compare import CompareSettings
from attention.cross import Batch, CrossSettings
from attention.functional import STAGES, Trace
from attention.hand import HandSettings
from attention.heads import HeadSettings
from attention.identities import ClaimSettings
from attention.params import (
    Config,
    Declared,
    Value,
    check,
    complaint,
    divisors,
    read,
    seed_setting,
    setting,
    settings_of,
)
from attention.positions import alibi, sinusoidal
from attention.steps import StepSettings
from attention.text import MAX_TOKENS, tokenize
from attention.variants import MAX_HEADS, VARIANTS, Variant
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
        options=("none", "sinusoidal", "rotary", "alibi"),
        help="Without them the order of the words does not matter. sinusoidal: added to the "
        "vectors. rotary: turns queries and keys. alibi: takes distance off the scaled scores.",
    )
    head: int = setting(
        0, "Head", minimum=0, maximum=MAX_HEADS - 1, step=1, help="Which head is looked at, from 0."
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

        A number that must divide d_model becomes the greatest below it that does.
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
        for name, (default, about) in settings_of(schema).items():
            if about.divides:
                values[name] = max(divisors(d_model, int(values.get(name, default))))
        return schema(d_model, **values)


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
class View(Sentence):
    """What the settings come to, for every page to show: the sentence, and what is made of it.

    layer: the whole variant; variant: its chosen head, the layer itself where it has but one;
    bias: (heads, queries, keys), added to the scaled scores; trace: of the chosen head, 2-D;
    words: the vectors whose space the output lives in, None when it lives in another;
    notes: plain words for the reader on what could not be taken as asked;
    memory: the sentence that keys and values come from, None where it is the queries' own.
    """

    settings: Settings
    layer: Variant
    head: int
    variant: Variant
    scale: float | None
    rotate: bool
    bias: Tensor | None
    trace: Trace
    words: Vectors | None
    notes: tuple[str, ...]
    memory: Sentence | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens of the keys."""
        return self.tokens if self.memory is None else self.memory.tokens


def compute(
    settings: Settings, load_vectors: Callable[[str], Vectors], memory: str | None = None
) -> View:
    """Everything the settings ask for, computed once. Raises ValueError on an empty sentence.

    load_vectors: a name of `vector_names()` other than "random" -> torchtext's `Vectors`;
    memory: the sentence that keys and values come from, None = the settings' own.
    """
    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    sentence = read_sentence(settings, tokenize(settings.s), vectors)
    other = None if memory is None else read_sentence(settings, tokenize(memory), vectors)
    keys, n, x = other or sentence, len(sentence.tokens), sentence.x

    notes = []
    try:
        mask = make_mask(settings, n, len(keys.tokens))
    except ValueError as error:
        mask = None
        notes.append(f"Nothing is hidden: {error}.")

    layer = VARIANTS[settings.variant](settings.variant_config(x.shape[-1]))
    head = chosen_head(settings, layer, notes)
    variant, scale = layer.head(head), settings.scale_factor
    rotate = settings.positions == "rotary"
    bias = make_bias(settings, layer.heads, n, len(keys.tokens))
    with torch.no_grad():
        trace = variant(
            x,
            mask,
            memory=None if other is None else other.x,
            scale=scale,
            rotate=rotate,
            bias=None if bias is None else bias[head],
        )
    return View(
        settings=settings,
        layer=layer,
        head=head,
        variant=variant,
        **vars(sentence),
        scale=scale,
        rotate=rotate,
        bias=bias,
        trace=trace,
        words=vectors if torch.equal(trace.values, keys.x) else None,
        notes=tuple(notes),
        memory=other,
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


def chosen_head(settings: Settings, layer: Variant, notes: list[str]) -> int:
    """The head to look at; a note is added where there is none such."""
    head = min(settings.head, layer.heads - 1)
    if head < settings.head and layer.heads > 1:
        notes.append(f"There is no head {settings.head} of {layer.heads}; showing the last, {head}")
    return head


def make_bias(settings: Settings, heads: int, n: int, n_keys: int | None = None) -> Tensor | None:
    """What the chosen positions add to the scaled scores, (heads, queries, keys), or None.

    n_keys: how many keys there are, None = as many as queries, n.
    """
    return alibi(heads, n, n_keys or n) if settings.positions == "alibi" else None


def make_mask(settings: Settings, n: int, n_keys: int | None = None) -> Tensor | None:
    """The chosen mask over n tokens, (queries, keys), or None. Raises ValueError on bad cells.

    n_keys: how many keys there are, None = as many as queries, n.
    """
    n_keys = n_keys or n
    match settings.mask:
        case "causal":
            return masks.causal(n, n_keys)
        case "length":
            return masks.lengths(torch.tensor([settings.valid_len]), n_keys)[0].expand(n, n_keys)
        case "window":
            return masks.window(n, n_keys, settings.radius)
        case "custom":
            return masks.hidden(settings.cells, n, n_keys)
        case _:
            return None


def compute_batch(
    settings: Settings, asked: CrossSettings, load_vectors: Callable[[str], Vectors]
) -> Batch:
    """The batch that is asked for: the toy, or the memories of `asked.batch` padded to one length.

    The mask of the settings counts for nothing here: the lengths are the mask.
    Raises ValueError when there is no query, or no memory.
    """
    if asked.batch_example == "toy":
        return cross.toy(asked, settings.scale_factor)
    memories, notes = cross.read_memories(asked.batch)
    queries = cross.shorten(tokenize(asked.asking), "The sentence that asks", notes)
    if not queries or not memories:
        raise ValueError("a batch needs a sentence that asks and one to be asked")
    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    sentence = read_sentence(settings, queries, vectors)
    others = [read_sentence(settings, tokens, vectors) if tokens else None for tokens in memories]

    d_model, n_keys = sentence.x.shape[-1], max(map(len, memories))
    layer = VARIANTS[settings.variant](settings.variant_config(d_model))
    head = chosen_head(settings, layer, notes)
    bias = make_bias(settings, layer.heads, len(queries), n_keys)
    batch = cross.padded(
        layer.head(head),
        queries,
        sentence.x,
        [(other.tokens, other.x) if other else ((), sentence.x[:0]) for other in others],
        asked.batch_lens,
        scale=settings.scale_factor,
        rotate=settings.positions == "rotary",
        bias=None if bias is None else bias[head],
        notes=notes,
    )
    unknown = (word for part in (sentence, *others) if part for word in part.unknown)
    return replace(batch, unknown=tuple(dict.fromkeys(unknown)))


@dataclass(frozen=True)
class Selection:
    """What of a view is looked at; it decides no number."""

    stage: str = setting("weights", "Stage", options=STAGES)
    query: int = setting(0, "Query token", minimum=0, maximum=MAX_TOKENS - 1, step=1)


SCHEMAS = (
    *(Settings, Selection, StepSettings, HandSettings, HeadSettings),
    *(CrossSettings, CompareSettings, ClaimSettings, BlockSettings),
)


def every_setting() -> Declared:
    """All names a link may carry: those of a view, of every page, and of every variant."""
    declared: Declared = {}
    for variant in VARIANTS.values():
        declared |= settings_of(variant.Config)
    declared |= compare.other_side(declared | settings_of(Settings))
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
        elif about.divides:
            vectors = asked.get(about.divides.removesuffix("d_model") + "vectors")
            width, known = declared[about.divides]
            wanted = read(width, asked.get(about.divides, ""))
            if vectors == "random" and not complaint(about.divides, width, known, wanted):
                width = wanted
            if vectors != "own" and int(width) % int(read(default, text)):
                words.append(f"{name} must divide {width} dimensions, got {text}.")
    return words
