"""Attention from one sequence over another, and over a padded batch of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention import functional, masks
from attention.functional import Trace
from attention.matrix import Matrix, Misprint, cells, read_stack
from attention.params import setting
from attention.tables import Working, number
from attention.text import tokenize
from attention.variants import Variant

PAD = "·pad·"
MOST_SENTENCES, MOST_TOKENS, MOST_QUERIES, LONGEST_NAME = 6, 16, 4, 24
LENGTHS = "One length a sequence: 2 6. Or one a query, sequences apart by semicolons: 1 3; 2 2."

MASK_WORDS = {
    "none": "Every query may attend to all of the memory.",
    "causal": "Causal: the query at position i sees keys 0 to i, each counted in its own sentence. "
    "A decoder masks its own sentence so; over a memory, read beforehand, it seldom means much.",
    "length": "Length: the memory's keys from the valid length on are padding, for every query.",
    "window": "Window: the query at position i sees keys near position i of the memory, as if both "
    "sentences went in step. Queries beyond the end of the memory may see nothing.",
    "custom": "Custom: each cell is a query of the first sentence and a key of the memory.",
}
POSITION_WORDS = {
    "none": "",
    "sinusoidal": "Positions count from 0 in each sentence.",
    "rotary": "Positions count from 0 in each sentence, and each turns by its own.",
    "alibi": "Positions count from 0 in each sentence; what ALiBi takes off grows with their gap.",
}


@dataclass(frozen=True)
class CrossSettings:
    """What the page "Two sequences" is set to, besides the settings all pages share."""

    cross: str = setting(
        "sentences",
        "Show",
        options=("sentences", "batch"),
        help="sentences: one asks the other. batch: several memories, padded to one length.",
    )
    asking: str = setting("bonjour le monde", "Queries from", maximum=5000)
    memory: str = setting("hello world", "Keys and values from: the memory", maximum=5000)
    batch_example: str = setting(
        "toy",
        "Batch of",
        options=("toy", "sentences"),
        help="toy: the example of Dive into Deep Learning, identical keys. sentences: your own.",
    )
    toy_queries: str = setting(
        "1 2 | 3 -1",
        "Queries",
        maximum=400,
        help="The two sequences apart by a bar, queries by semicolons, two numbers each.",
    )
    toy_lens: str = setting("2 6", "Valid lengths", maximum=400, help=LENGTHS)
    batch: str = setting(
        "hello world | the cat walks on the street | good morning my friend",
        "Memories, apart by |",
        maximum=2000,
        help=f"Up to {MOST_SENTENCES} sentences of up to {MOST_TOKENS} tokens.",
    )
    batch_lens: str = setting(
        "", "Valid lengths", maximum=400, help=f"Empty: counted from the sentences. {LENGTHS}"
    )
    element: int = setting(
        0, "Sequence", minimum=0, maximum=MOST_SENTENCES - 1, step=1, help="Of the batch, from 0."
    )
    dimension: int = setting(
        0, "Dimension", minimum=0, maximum=299, step=1, help="Of the output, from 0."
    )


@dataclass(frozen=True, eq=False)
class Batch:
    """Attention over a padded batch, and what its parts are called.

    titles: a name a sequence; queries: a name a query; keys: a name a key of each sequence;
    own: how long each is by itself (batch,); valid_lens: (batch,) or (batch, queries);
    trace: scores (batch, queries, keys), mask expanded;
    unknown: the words without a vector; notes: what could not be taken as asked, in words;
    lesson: what there is to see.
    """

    titles: tuple[str, ...]
    queries: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    own: Tensor
    valid_lens: Tensor
    trace: Trace
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lesson: str = ""


def read_lens(text: str, batch: int, n_queries: int, n_keys: int) -> Tensor:
    """The valid lengths that `text` writes: (batch,), or (batch, queries) where it has a `;`.

    Raises Misprint on anything but whole numbers from 0 to n_keys, one a sequence or a query.
    """
    per_query = ";" in text
    lines = [cells(line) for line in text.strip().removesuffix(";").split(";")]
    if lines == [[""]]:
        raise Misprint("there are no lengths yet")
    for word in (word for line in lines for word in line):
        if not re.fullmatch(r"[0-9]{1,4}", word):
            raise Misprint(f"a length is a whole number, got {word[:20]!r}")
        if int(word) > n_keys:
            raise Misprint(f"a length lies between 0 and {n_keys}, the number of keys, got {word}")
    if not per_query and len(lines[0]) != batch:
        raise Misprint(f"one length a sequence makes {batch}, got {len(lines[0])}")
    if per_query and len(lines) != batch:
        raise Misprint(f"the batch has {batch} sequences, got lengths for {len(lines)}")
    for line in lines if per_query else ():
        if len(line) != n_queries:
            raise Misprint(f"one length a query makes {n_queries} a sequence, got {len(line)}")
    numbers = torch.tensor([[int(word) for word in line] for line in lines])
    return numbers if per_query else numbers[0]


def toy(asked: CrossSettings, scale: float | None = None) -> Batch:
    """The toy of Dive into Deep Learning (classic edition, attention scoring functions).

    All ten keys are (1, 1), so that whatever is asked, every key in sight gets the same weight;
    values (2, 10, 4) count from 0 to 39, the same in both sequences.
    """
    notes: list[str] = []
    keys = torch.ones(2, 10, 2)
    values = torch.arange(40, dtype=torch.float32).reshape(1, 10, 4).repeat(2, 1, 1)
    try:
        queries = read_stack(asked.toy_queries)
        if queries.shape[0] != 2 or queries.shape[2] != 2 or queries.shape[1] > MOST_QUERIES:
            raise Misprint(
                f"two sequences of up to {MOST_QUERIES} queries with two numbers each are needed, "
                f"got shape {tuple(queries.shape)}"
            )
    except Misprint as error:
        queries = read_stack(CrossSettings.toy_queries)
        notes.append(f"Queries: {error}; showing {CrossSettings.toy_queries} instead.")
    own = torch.tensor([2, 6])
    lens = _lens(asked.toy_lens, own, queries.shape[1], 10, notes)
    trace = functional.attend(queries, keys, values, scale=scale, mask=_mask(lens, 10))
    return Batch(
        titles=("", ""),
        queries=tuple(f"q{row}" for row in range(queries.shape[1])),
        keys=(tuple(f"k{key}" for key in range(10)),) * 2,
        own=own,
        valid_lens=lens,
        trace=trace,
        notes=tuple(notes),
        lesson="All keys are (1, 1) here: whatever is asked, the valid ones share the weight "
        "equally.",
    )


def read_memories(text: str) -> tuple[list[list[str]], list[str]]:
    """The tokens of each sentence of a batch, apart by `|`, and words on what is left out.

    A sentence may be empty. None at all come of a text without a word.
    """
    sentences = [tokenize(part) for part in re.split(r"[|\n]", text)]
    notes = []
    if len(sentences) > MOST_SENTENCES:
        notes.append(f"Of {len(sentences)} sentences the first {MOST_SENTENCES} are shown.")
    kept = []
    for index, tokens in enumerate(sentences[:MOST_SENTENCES]):
        kept.append(shorten(tokens, f"Sequence {index}", notes))
    return (kept if any(kept) else []), notes


def shorten(tokens: Sequence[str], name: str, notes: list[str]) -> list[str]:
    """The tokens a batch has room for; a note is added where some are left out."""
    if len(tokens) > MOST_TOKENS:
        notes.append(f"{name} has {len(tokens)} tokens; the first {MOST_TOKENS} are shown.")
    return list(tokens[:MOST_TOKENS])


def padded(
    variant: Variant,
    queries: Sequence[str],
    x: Tensor,
    memories: Sequence[tuple[Sequence[str], Tensor]],
    lens: str = "",
    *,
    scale: float | None = None,
    rotate: bool = False,
    bias: Tensor | None = None,
    notes: Sequence[str] = (),
) -> Batch:
    """One sentence that asks several memories at once, these padded with zeros to one length.

    queries: the tokens of x (queries, d_model); memories: tokens and vectors (tokens, d_model) of
    each; lens: valid lengths as text, empty = each memory's own; bias: (queries, keys).
    """
    said = list(notes)
    sizes = [len(tokens) for tokens, _ in memories]
    longest = max(sizes)
    memory = x.new_zeros(len(memories), longest, x.shape[-1])
    for row, (_, vectors) in zip(memory, memories, strict=True):
        row[: len(vectors)] = vectors
    valid_lens = _lens(lens, torch.tensor(sizes), len(queries), longest, said)
    with torch.no_grad():
        trace = variant(
            x.expand(len(memories), *x.shape),
            _mask(valid_lens, longest),
            memory=memory,
            scale=scale,
            rotate=rotate,
            bias=bias,
        )
    for index, size in enumerate(sizes):
        if int(valid_lens[index].max()) > size:
            share = float(trace.weights[index, :, size:].sum(-1).max())
            said.append(
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
        notes=tuple(said),
    )


def lengths_to_try(batch: Batch) -> tuple[str, ...]:
    """Valid lengths that show something: nothing for the first sequence, one length a query."""
    own = batch.own.tolist()
    none = " ".join(map(str, [0, *own[1:]]))
    growing = [
        [min(size, 1 + query + 2 * element) for query in range(len(batch.queries))]
        for element, size in enumerate(own)
    ]
    per_query = "; ".join(" ".join(map(str, line)) for line in growing)
    return none, per_query if len(own) > 1 else f"{per_query};"


def mask_words(mask: str, positions: str) -> str:
    """What a mask and positions of these names mean between two sequences."""
    return f"{MASK_WORDS[mask]} {POSITION_WORDS[positions]}".strip()


def heading(batch: Batch, element: int) -> str:
    """What a sequence of the batch is, and how much of it is valid."""
    lens = batch.valid_lens[element]
    n_keys = len(batch.keys[element])
    if lens.dim() == 0:
        valid = f"valid length {int(lens)} of {n_keys}"
    else:
        valid = f"valid lengths {', '.join(map(str, lens.tolist()))} of {n_keys}, one a query"
    title = f", “{batch.titles[element]}”" if batch.titles[element] else ""
    return f"Sequence {element}{title}: {valid}"


def overview(batch: Batch, element: int) -> list[Matrix | str]:
    """Scores, weights and output of one sequence; what is padding is masked."""
    trace, names, keys = batch.trace, batch.queries, batch.keys[element]
    allowed = None if trace.mask is None else trace.mask[element]
    return [
        Matrix("scaled scores", trace.scaled[element], names, keys, allowed=allowed, lights="row"),
        "→",
        Matrix("weights", trace.weights[element], names, keys, "share", allowed, lights="row"),
        "× V =",
        Matrix("output", trace.output[element], names),
    ]


def origin(batch: Batch, element: int) -> list[Matrix | str]:
    """Where the scores of one sequence come from: its queries and keys."""
    trace, names, keys = batch.trace, batch.queries, batch.keys[element]
    return [
        Matrix("Q", trace.queries.expand(*trace.scores.shape[:-1], -1)[element], names),
        "and",
        Matrix("K", trace.keys[element], keys),
        "→",
        Matrix("scores", trace.scores[element], names, keys),
    ]


def sources(batch: Batch, element: int) -> list[Matrix | str]:
    """Weights times values is the output, of one sequence; masked weights are 0."""
    trace, names, keys = batch.trace, batch.queries, batch.keys[element]
    allowed = None if trace.mask is None else trace.mask[element]
    return [
        Matrix("weights", trace.weights[element], names, keys, "share", allowed, lights="row"),
        "×",
        Matrix("V", trace.values[element], keys, lights="column"),
        "=",
        Matrix("output", trace.output[element], names),
    ]


def working(batch: Batch, element: int, row: int, dimension: int) -> Working:
    """How one number of the output comes about, from the scores on, a row a key."""
    trace = batch.trace
    scores, scaled, weights = (
        part[element, row] for part in (trace.scores, trace.scaled, trace.weights)
    )
    values, output = trace.values[element, :, dimension], trace.output[element, row, dimension]
    n_keys = len(scores)
    allowed = torch.ones(n_keys, dtype=torch.bool)
    if trace.mask is not None:
        allowed = trace.mask[element, row]
    place = f"Output of “{batch.queries[row]}” in sequence {element}, dimension {dimension}"
    columns: dict[str, list[float | str]] = {"score": scores.tolist()}
    if trace.bias is not None:
        columns["added"] = trace.bias[element, row].tolist()
    softmaxed = scaled.masked_fill(~allowed, -torch.inf)
    columns["scaled, masked"] = softmaxed.tolist()
    if allowed.any():
        greatest = scaled[allowed].max()
        powers = (softmaxed - greatest).exp()
        columns["exp(scaled − greatest)"] = powers.tolist()
        words = (
            f"{place}: {number(trace.scale)} times each score"
            f"{' plus what is added' if trace.bias is not None else ''}; what is not among the "
            f"{int(allowed.sum())} valid keys becomes −∞. Each weight is its exponential over the "
            f"sum of them all, {number(float(powers.sum()))}."
        )
    else:
        plain = softmaxed.softmax(-1)
        columns["plain softmax"] = plain.tolist()
        words = f"{place}. {_empty(plain)}"
    columns["weight"] = weights.tolist()
    columns["v"] = values.tolist()
    columns["weight · v"] = (weights * values).tolist()
    return Working(words, batch.keys[element], columns, "sum", float(output))


def empty_words(trace: Trace, query: int) -> str:
    """What to say of a row of a 2-D trace that may attend to nothing; empty for other rows."""
    if trace.mask is None or trace.mask[query].any():
        return ""
    return _empty(torch.full_like(trace.scaled[query], -torch.inf).softmax(-1))


def _empty(plain: Tensor) -> str:
    return (
        "No key is valid, so there is nothing to attend to: weights and output are 0. The plain "
        f"softmax over −∞ alone would make each weight {number(float(plain[0]))}, and that spreads "
        "through all that follows."
    )


def _short(token: str) -> str:
    return token if len(token) <= LONGEST_NAME else token[: LONGEST_NAME - 1] + "…"


def _mask(valid_lens: Tensor, n_keys: int) -> Tensor:
    return masks.lengths(valid_lens, n_keys)


def _lens(text: str, own: Tensor, n_queries: int, n_keys: int, notes: list[str]) -> Tensor:
    """The lengths that `text` writes; `own` where it writes none, with a note if it tries to."""
    if not text.strip():
        return own
    try:
        return read_lens(text, len(own), n_queries, n_keys)
    except Misprint as error:
        shown = " ".join(map(str, own.tolist()))
        notes.append(f"Valid lengths: {error}; showing {shown} instead.")
        return own
