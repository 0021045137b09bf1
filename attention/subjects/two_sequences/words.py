"""Attention from one sequence over another, and over a padded batch of memories."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlencode

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.core.functional import Trace, drop
from attention.core.masks import combine, lengths
from attention.core.printing import listed, shown
from attention.core.settings import choice, decimal, text, whole
from attention.core.weighing import SOFTMAX
from attention.figures.captions import EMPTY_ROW, MASK_NAMES
from attention.figures.matrix import Matrix, MatrixError, cells
from attention.figures.stacks import HELP, MAX_TEXT
from attention.figures.tables import number
from attention.figures.working import Working
from attention.inputs.text import tokenize
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks
from attention.pipeline.preparing import read_sentence
from attention.pipeline.result import missing_head
from attention.trained.sources import EN_PT
from attention.trained.sources import names as names_of_models

TRANSLATED = "translated"
TRANSLATOR = EN_PT.about
PAD = "·pad·"
MAX_SENTENCES, MAX_TOKENS, LONGEST_NAME = 6, 16, 24
MOST_TOLD = 16  # numbers in a line
LENGTHS = "One length per sequence: 2 6. Or one per query, a semicolon between sequences: 1 3; 2 2."
GIVEN = ("cross", "numbers")
# Numbers to begin with: ten keys that are alike, and values that count from 0 to 39.
ONES = "; ".join(["1 1"] * 10)
COUNTED = "; ".join(" ".join(map(str, range(at, at + 4))) for at in range(0, 40, 4))

MASK_WORDS = {
    "causal": "Causal: query number i sees keys 0 to i.",
    "length": "Length: keys of the memory beyond the valid length are padding, for every query.",
    "window": "Window: query number i sees keys near number i of the memory.",
    "cells": "Cells: each is a query of the first sentence and a key of the memory.",
}
POSITION_WORDS = {
    "none": "",
    "sinusoidal": "Positions count from 0 in each sentence.",
    "rotary": "Positions count from 0 in each sentence, and each rotates by its own.",
    "alibi": "Positions count from 0 in each sentence; what ALiBi subtracts grows with their gap.",
}


def has_translator() -> bool:
    """Return True where the translator that the page begins with is installed."""
    return TRANSLATOR.name in names_of_models()


def translated(s: str) -> str:
    """The query of a link to a sentence that is translated, "" without a translator; s: "" for one
    with lines that cross."""
    link = {"s": s or "she drives a fast red car to her new office", "cross": TRANSLATED}
    return urlencode(link if s else link | {"query": 3}) if has_translator() else ""


@dataclass(frozen=True)
class CrossSettings:
    """Settings of the page "Two sequences", besides those all pages share."""

    cross: str = choice(
        "sentences",
        "Show",
        (TRANSLATED, "sentences", "batch", "numbers"),
        help="translated: a trained translator looks from its own words at those of the sentence. "
        "sentences: queries from one, keys and values from the other. batch: several "
        "memories, padded to one length. numbers: a batch of queries, keys and values of your own.",
        names={
            TRANSLATED: "Translation; encoder-decoder, alignment",
            "sentences": "Two sentences; cross-attention, memory",
            "batch": "Batch; padding, valid lengths, dropout",
            "numbers": "Batch of your own numbers; DotProductAttention, MLPAttention, Q K V",
        },
    )
    target: str = text("bonjour le monde", "Queries from", 5000)
    memory: str = text("hello world", "Keys and values from: the memory", 5000)
    dropout: float = decimal(
        0.0,
        "Dropout",
        0.0,
        0.9,
        0.05,
        help="How likely each weight is to be set to 0, as it is while a model is trained. Play "
        "shows none.",
    )
    dropout_seed: int = whole(0, "Dropout seed", 0, 9999, help="Draws other weights to drop.")
    batch: str = text(
        "hello world | the cat walks on the street | good morning my friend",
        "Memories, apart by |",
        2000,
        help=f"Up to {MAX_SENTENCES} sentences of up to {MAX_TOKENS} tokens.",
    )
    batch_lens: str = text(
        "", "Valid lengths", 400, help=f"Empty: counted from the sentences. {LENGTHS}"
    )
    given_q: str = text("1 1 | 1 1", "Queries", MAX_TEXT, when=GIVEN, help=HELP)
    given_k: str = text(" | ".join([ONES] * 2), "Keys", MAX_TEXT, when=GIVEN, help=HELP)
    given_v: str = text(" | ".join([COUNTED] * 2), "Values", MAX_TEXT, when=GIVEN, help=HELP)
    given_lens: str = text(
        "2 6", "Valid lengths", 400, when=GIVEN, help=f"Empty: all keys. {LENGTHS}"
    )
    sequence: int = whole(0, "Sequence", 0, MAX_SENTENCES - 1, help="Of the batch, from 0.")
    row: int = whole(0, "Row", 0, 511)
    dimension: int = whole(0, "Dimension", 0, 299, help="Of the output, from 0.")


@dataclass(frozen=True, eq=False)
class Batch:
    """Attention over a padded batch, and what its parts are called.

    titles: one name per sequence, "" = none; queries: one name per query; keys: one name per key of
    each sequence;
    own: how long each is by itself (batch,); valid_lens: (batch,) or (batch, queries);
    trace: of one head, scores (batch, queries, keys), mask expanded; masks: the names of those
    that join the lengths;
    unknown: the words without a vector; notes: what could not be used as it was set, in words.
    """

    titles: tuple[str, ...]
    queries: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    own: Tensor
    valid_lens: Tensor
    trace: Trace
    masks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_lens(text: str, batch: int, n_queries: int, n_keys: int) -> Tensor:
    """The valid lengths that `text` writes: (batch,), or (batch, queries) where it has a `;`.

    Raises MatrixError on anything but whole numbers from 0 to n_keys, one per sequence or query.
    """
    per_query = ";" in text
    lines = [cells(line) for line in text.strip().removesuffix(";").split(";")]
    if lines == [[""]]:
        raise MatrixError("there are no lengths yet")
    for word in (word for line in lines for word in line):
        if not re.fullmatch(r"[0-9]{1,4}", word):
            raise MatrixError(f"a length is a whole number, got {word[:20]!r}")
        if int(word) > n_keys:
            raise MatrixError(
                f"a length lies between 0 and {n_keys}, the number of keys, got {word}"
            )
    if not per_query and len(lines[0]) != batch:
        raise MatrixError(f"one length per sequence makes {batch}, got {len(lines[0])}")
    if per_query and len(lines) != batch:
        raise MatrixError(f"the batch has {batch} sequences, got lengths for {len(lines)}")
    for line in lines if per_query else ():
        if len(line) != n_queries:
            raise MatrixError(
                f"one length per query makes {n_queries} per sequence, got {len(line)}"
            )
    numbers = torch.tensor([[int(word) for word in line] for line in lines])
    return numbers if per_query else numbers[0]


def read_memories(text: str) -> tuple[list[list[str]], list[str]]:
    """The tokens of each sentence of a batch, apart by `|`, and a note on what is left out.

    A sentence may be empty. A text without a word gives none at all.
    """
    sentences = [tokenize(part) for part in re.split(r"[|\n]", text)]
    notes = []
    if len(sentences) > MAX_SENTENCES:
        notes.append(f"Of {len(sentences)} sentences the first {MAX_SENTENCES} are shown.")
    kept = []
    for index, tokens in enumerate(sentences[:MAX_SENTENCES]):
        kept.append(shorten(tokens, f"Sequence {index}", notes))
    return (kept if any(kept) else []), notes


def shorten(tokens: Sequence[str], name: str, notes: list[str]) -> list[str]:
    """The tokens a batch has room for; a note is added where some are left out."""
    if len(tokens) > MAX_TOKENS:
        notes.append(f"{name} has {len(tokens)} tokens; the first {MAX_TOKENS} are shown.")
    return list(tokens[:MAX_TOKENS])


def compute_batch(
    settings: Settings, cross: CrossSettings, load_vectors: Callable[[str], Vectors]
) -> Batch:
    """The memories of `cross.batch`, padded to one length, after dropout.

    The lengths of the memories are one more mask beside the chosen ones.
    Raises ValueError when there is no query, or no memory.
    """
    memories, notes = read_memories(cross.batch)
    queries = shorten(tokenize(cross.target), "The sentence of the queries", notes)
    if not queries or not memories:
        raise ValueError("a batch needs a sentence for the queries and one for the keys")
    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    sentence = read_sentence(settings, queries, vectors)
    others = [read_sentence(settings, tokens, vectors) if tokens else None for tokens in memories]
    chosen, problem = make_masks(settings, len(queries), max(map(len, memories)))
    if problem:
        notes.append(problem)
    batch = pad_batch(
        settings,
        queries,
        sentence.x,
        [(other.tokens, other.x) if other else ((), sentence.x[:0]) for other in others],
        cross.batch_lens,
        masks=chosen,
        notes=notes,
    )
    unknown = (word for part in (sentence, *others) if part for word in part.unknown)
    generator = torch.Generator().manual_seed(cross.dropout_seed)
    return replace(
        batch,
        unknown=tuple(dict.fromkeys(unknown)),
        trace=drop(batch.trace, cross.dropout, generator),
    )


def pad_batch(
    settings: Settings,
    queries: Sequence[str],
    x: Tensor,
    memories: Sequence[tuple[Sequence[str], Tensor]],
    lens: str = "",
    *,
    masks: Mapping[str, Tensor] | None = None,
    notes: Sequence[str] = (),
) -> Batch:
    """The queries of one sentence over several memories at once, padded with zeros to one length.

    queries: the tokens of x (queries, d_model); memories: tokens and vectors (tokens, d_model) of
    each; lens: valid lengths as text, empty = each memory's own; masks: further ones, (queries,
    keys) each.
    """
    notes = list(notes)
    sizes = [len(tokens) for tokens, _ in memories]
    longest = max(sizes)
    memory = x.new_zeros(len(memories), longest, x.shape[-1])
    for row, (_, vectors) in zip(memory, memories, strict=True):
        row[: len(vectors)] = vectors
    valid_lens = usable_lens(lens, torch.tensor(sizes), len(queries), longest, notes)
    layer = settings.variant_layer(x.shape[-1])
    head = min(settings.head, layer.heads - 1)
    with torch.no_grad():
        trace = layer(
            x.expand(len(memories), *x.shape),
            combine([lengths(valid_lens, longest), *(masks or {}).values()]),
            memory=memory,
            scale=settings.scale_factor,
            rotate=settings.rotate,
            bias=settings.bias(layer, len(queries), longest),
        ).head(head)
    if head < settings.head and layer.heads > 1:
        notes.append(missing_head(settings.head, layer.heads))
    for index, size in enumerate(sizes):
        share = float(trace.weights[index, :, size:].sum(-1).max())
        if share > 0:
            notes.append(
                f"The length given for sequence {index} lets padding in: up to {number(share)} "
                "of a query's weight goes to it."
            )
    return Batch(
        titles=tuple(" ".join(map(_short, tokens)) or "(empty)" for tokens, _ in memories),
        queries=tuple(map(_short, queries)),
        keys=tuple(
            (*map(_short, tokens), *(PAD,) * (longest - len(tokens))) for tokens, _ in memories
        ),
        own=torch.tensor(sizes),
        valid_lens=valid_lens,
        trace=trace,
        masks=tuple(masks or ()),
        notes=tuple(notes),
    )


def lengths_to_try(batch: Batch) -> tuple[str, ...]:
    """Valid lengths that show something: nothing for the first sequence, one length per query."""
    own = batch.own.tolist()
    none = " ".join(map(str, [0, *own[1:]]))
    growing = [
        [min(size, 1 + query + 2 * sequence) for query in range(len(batch.queries))]
        for sequence, size in enumerate(own)
    ]
    per_query = "; ".join(" ".join(map(str, line)) for line in growing)
    return none, per_query if len(own) > 1 else f"{per_query};"


def mask_words(masks: Sequence[str], positions: str) -> str:
    """Explain masks and positions of these names between two sequences."""
    words = [MASK_WORDS[name] for name in masks] or ["Every query may look at all of the memory."]
    return " ".join([*words, POSITION_WORDS[positions]]).strip()


def hatching_words(batch: Batch) -> str:
    """Explain the hatched cells of a batch."""
    more = listed(dict.fromkeys(["the valid length", *(MASK_NAMES[name] for name in batch.masks)]))
    if batch.trace.mask is None or batch.trace.mask.all():
        return "Nothing is hidden: every query may look at every key."
    return f"Hatched cells are padding or hidden by {more}: no query may look there."


def heading(batch: Batch, sequence: int) -> str:
    """Describe a sequence of the batch, and how much of it is valid."""
    lens = batch.valid_lens[sequence]
    n_keys = len(batch.keys[sequence])
    if lens.dim() == 0:
        valid = f"valid length {int(lens)} of {n_keys}"
    else:
        valid = f"valid lengths {', '.join(map(str, lens.tolist()))} of {n_keys}, one per query"
    title = f", “{batch.titles[sequence]}”" if batch.titles[sequence] else ""
    return f"Sequence {sequence}{title}: {valid}"


def outputs(batch: Batch) -> str:
    """The outputs as they would be typed, matrices of the batch apart by |; "" where they are too
    many to be read."""
    output = batch.trace.output
    if output.numel() > MOST_TOLD:
        return ""
    one_by_one = (
        "; ".join(" ".join(f"{number:.5g}" for number in row) for row in one)
        for one in output.tolist()
    )
    return shown(f"Output: {' | '.join(one_by_one)}")


def overview(batch: Batch, sequence: int) -> list[Matrix | str]:
    """Scores, weights and output of one sequence; what is padding is masked."""
    trace, names, keys = batch.trace.sequence(sequence), batch.queries, batch.keys[sequence]
    return [
        Matrix("scaled scores", trace.logits, names, keys, allowed=trace.mask, lights="row"),
        "→",
        _weights(trace, names, keys),
        *_dropped(trace, names, keys),
        "× V =",
        Matrix("output", trace.output, names),
    ]


def origin(batch: Batch, sequence: int) -> list[Matrix | str]:
    """Sources of the scores of one sequence: its queries and keys."""
    trace, names, keys = batch.trace.sequence(sequence), batch.queries, batch.keys[sequence]
    return [
        Matrix("Q", trace.queries, names),
        "and",
        Matrix("K", trace.keys, keys),
        "→",
        Matrix("scores", trace.scores, names, keys),
    ]


def sources(batch: Batch, sequence: int) -> list[Matrix | str]:
    """Weights times values is the output, of one sequence; masked weights are 0."""
    trace, names, keys = batch.trace.sequence(sequence), batch.queries, batch.keys[sequence]
    weights = [_weights(trace, names, keys), *_dropped(trace, names, keys)][-1]
    return [
        weights,
        "×",
        Matrix("V", trace.values, keys, lights="column"),
        "=",
        Matrix("output", trace.output, names),
    ]


def _weights(trace: Trace, names: Sequence[str], keys: Sequence[str]) -> Matrix:
    """The weights before dropout, mixed across heads where they are."""
    mixed = trace.mixed_weights
    name, weights = ("weights", trace.weights) if mixed is None else ("mixed weights", mixed)
    return Matrix(name, weights, names, keys, _kind(trace), trace.mask, lights="row")


def _kind(trace: Trace) -> Literal["share", "signed"]:
    return "signed" if trace.weighing.signed or trace.mixed_weights is not None else "share"


def _dropped(trace: Trace, names: Sequence[str], keys: Sequence[str]) -> list[Matrix | str]:
    """The weights after dropout behind an arrow, where there is any."""
    if trace.dropped is None:
        return []
    dropped, kind = trace.dropped, _kind(trace)
    return ["→", Matrix("after dropout", dropped, names, keys, kind, trace.mask, lights="row")]


def working(batch: Batch, sequence: int, row: int, dimension: int) -> Working:
    """Working of one number of the output, from the scores on, one row per key."""
    trace = batch.trace.sequence(sequence)
    n_keys = trace.scores.shape[-1]
    allowed = torch.ones(n_keys, dtype=torch.bool) if trace.mask is None else trace.mask[row]
    values, applied = trace.values[:, dimension], trace.applied[row]
    cell = f"Output of “{batch.queries[row]}” in sequence {sequence}, dimension {dimension}"
    columns: dict[str, list[float | str]] = {"score": trace.scores[row].tolist()}
    if trace.bias is not None:
        columns["added"] = trace.bias[row].tolist()
    if trace.mixed_scores is not None:
        columns["scaled"] = trace.scaled[row].tolist()
    zero, softmax = trace.weighing.hides_by_zero, trace.weighing == SOFTMAX
    logits = trace.logits[row].masked_fill(~allowed, 0.0 if zero else -torch.inf)
    last, weighed = trace.logits_name, trace.weighing.words
    columns[f"{last}, masked"] = logits.tolist()
    if softmax and allowed.any():
        powers = (logits - logits.max()).exp()
        columns[f"exp({last} − greatest)"] = powers.tolist()
        over = number(float(powers.sum()))
        weighed = f"each weight is its exponential over the sum of them all, {over}"
    elif softmax:
        columns["plain softmax"] = logits.softmax(-1).tolist()
    then = {"scaled": "", "mixed": ", mixed across heads"}.get(last, f", {last}")
    words = (
        f"{cell}: {number(trace.scale)} times each score"
        f"{' plus what is added' if trace.bias is not None else ''}{then}, "
        f"{'0' if zero else '−∞'} for what is not among the {int(allowed.sum())} valid keys; "
        f"{weighed}."
    )
    if not allowed.any():
        words = f"{cell}. No key is valid, so there is nothing to attend to. {EMPTY_ROW}"
    columns["weight"] = trace.weights[row].tolist()
    if trace.mixed_weights is not None:
        columns["mixed weight"] = trace.mixed_weights[row].tolist()
    if trace.dropped is not None:
        columns["after dropout"] = applied.tolist()
    columns["v"] = values.tolist()
    columns["weight · v"] = (applied * values).tolist()
    total = float(trace.output[row, dimension])
    return Working(words, batch.keys[sequence], columns, "sum", total)


def _short(token: str) -> str:
    return token if len(token) <= LONGEST_NAME else token[: LONGEST_NAME - 1] + "…"


def usable_lens(text: str, own: Tensor, n_queries: int, n_keys: int, notes: list[str]) -> Tensor:
    """The lengths that `text` writes; `own` where it writes none, with a note if it tries to."""
    if not text.strip():
        return own
    try:
        return read_lens(text, len(own), n_queries, n_keys)
    except MatrixError as error:
        shown = " ".join(map(str, own.tolist()))
        notes.append(f"Valid lengths: {error}; showing {shown} instead.")
        return own
