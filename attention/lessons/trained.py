"""What the layers of a trained model do: all heads at a glance, what they add, which matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.core import analysis
from attention.core.functional import Trace, WeightsAlone
from attention.core.settings import decimal, whole
from attention.display.captions import distinct_names
from attention.display.tables import number
from attention.lessons import heads
from attention.lessons.heads import Additions, Overview
from attention.pipeline import Result
from attention.trained.models import Entering, Model, Pieces, Run, Transformer
from attention.trained.sampling import Narrowing, greedy, narrow, next_scores, sample
from attention.trained.translator import Translation

MARKS = re.compile("^(##|▁|·)")  # of WordPiece, SentencePiece and byte-level pieces
LIKELIEST = 12
MAX_PIECES_AT_ONCE = 64  # up to which all heads are cut out in one go, then fewer


@dataclass(frozen=True)
class SamplingSettings:
    """How the next piece is chosen, for models that were trained to go on."""

    sample_temperature: float = decimal(
        1.0,
        "Temperature",
        0.05,
        5.0,
        0.05,
        help="What the scores are divided by: below 1 the likely get likelier, above 1 all get "
        "more alike.",
    )
    top_k: int = whole(
        0, "Top k", 0, 1000, help="Only the k likeliest pieces stay. 0: all of them."
    )
    top_p: float = decimal(
        1.0,
        "Top p",
        0.05,
        1.0,
        0.05,
        help="Of these the fewest that hold this share of the probability together.",
    )
    sample_seed: int = whole(
        0, "Seed of the draw", 0, 9999, help="Draws another piece, repeatably."
    )


@dataclass(frozen=True, eq=False)
class Next:
    """Which piece a model would write next.

    narrowing: from its scores to the probabilities drawn from; ids, texts: of the likeliest.
    """

    narrowing: Narrowing
    ids: tuple[int, ...]
    texts: tuple[str, ...]

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
        """Names and columns: the probability of each piece after each filter."""
        kept = list(self.ids)
        scores = {
            "as trained": self.narrowing.scores,
            "temperature": self.narrowing.temperature.scores,
            "top k": self.narrowing.top_k.scores,
            "top p": self.narrowing.top_p.scores,
        }
        columns = {}
        for title, left in scores.items():
            shares = left.double().softmax(-1)[kept].tolist()
            there = left[kept].isfinite().tolist()
            columns[title] = [
                share if stays else "out" for share, stays in zip(shares, there, strict=True)
            ]
        return list(self.texts), columns


def next_pieces(model: Transformer, run: Run, settings: SamplingSettings) -> Next:
    """The likeliest pieces to come next, and what temperature, top k and top p make of them."""
    narrowed = narrow(
        next_scores(model, run), settings.sample_temperature, settings.top_k, settings.top_p
    )
    ids = narrowed.scores.topk(min(LIKELIEST, len(narrowed.scores))).indices.tolist()
    return Next(narrowed, tuple(ids), model.shown(ids))


def go_on(
    model: Transformer, text: str, pieces: int, settings: SamplingSettings, likeliest: bool
) -> str:
    """The text with so many pieces more, each the likeliest or drawn, as far as there is room.

    Pieces at the end that are only parts of a character are left out: no text says them.
    """
    given: list[int] = model.pieces(text).ids.tolist()
    added: list[int] = []
    for _ in range(min(pieces, model.limit - len(given))):
        ids = [*given, *added]
        run = model.run_pieces(Pieces(torch.tensor(ids), model.shown(ids), (0,) * len(ids)))
        shares = next_pieces(model, run, settings).narrowing.probabilities
        chosen = greedy(shares) if likeliest else sample(shares, settings.sample_seed, len(ids))
        added.append(chosen)
    while added and model.text_of(added, given) is None:
        added.pop()
    return text + (model.text_of(added, given) or "")


def translation_table(
    made: Translation,
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """One row for each piece of a translation, in the order in which it was decoded."""
    sources = distinct_names(made.source.texts)
    columns: dict[str, Sequence[float | str]] = {
        "probability": [step.probability for step in made.steps],
        "drawn most from": [sources[int(step.alignment.argmax())] for step in made.steps],
        "with weight": [float(step.alignment.max()) for step in made.steps],
        "next likeliest": [
            f"{step.alternatives[1][0]} {step.alternatives[1][1]:.4f}"
            if len(step.alternatives) > 1
            else ""
            for step in made.steps
        ],
    }
    return distinct_names(made.output.texts), columns


@dataclass(frozen=True, eq=False)
class Glance:
    """Layers of one kind at a glance: every head of every layer.

    layers: their positions in the model; heads: how many each has; seen: all heads, layer after
    layer; shape: queries and keys.
    """

    layers: tuple[int, ...]
    heads: int
    seen: Overview
    shape: tuple[int, ...]

    def names(self, title_of: Callable[[int], str]) -> list[str]:
        """What each head is called. title_of: what a layer is."""
        titles = map(title_of, self.layers)
        return [f"{title} head {head}" for title in titles for head in range(self.heads)]

    def place(self, index: int) -> tuple[int, int]:
        """The layer and the head that one of all heads is."""
        row, head = divmod(index, self.heads)
        return self.layers[row], head


def glances(run: Run) -> list[Glance]:
    """All heads of all layers: those over the sentence itself, and those over another one.

    One layer's weights are worked out at a time, and only their picture and measures are kept.
    """
    kinds: dict[bool, list[int]] = {}
    for position, entering in enumerate(run.entering):
        kinds.setdefault(entering.memory is not None, []).append(position)
    return [_glance(run, layers) for layers in kinds.values()]


def glance_of(weights: Tensor) -> Glance:
    """Weights (layers, heads, queries, keys) without a model at a glance."""
    layers, n_heads, *shape = weights.shape
    seen = heads.overview(WeightsAlone(weights.flatten(0, 1)))
    return Glance(tuple(range(layers)), n_heads, seen, tuple(shape))


@torch.no_grad()
def _glance(run: Run, layers: Sequence[int]) -> Glance:
    made = []
    n_heads = run.entering[layers[0]].layer.attention.heads
    for position in layers:
        place = run.entering[position]
        keys = place.memory_pieces or place.pieces
        mask = place.layer.mask(len(place.pieces.ids), len(keys.ids))
        weights = torch.cat([some.weights for some in place.layer.traces(place.x, place.memory)])
        others = n_heads * (len(layers) - 1)
        made.append(heads.overview_of(weights, mask, keys.special, others))
    measured = {name: torch.cat([one.measures[name] for one in made]) for name in made[0].measures}
    seen = Overview(
        torch.cat([one.dots for one in made]), made[0].block, measured, made[0].even_spread
    )
    return Glance(tuple(layers), n_heads, seen, tuple(weights.shape[-2:]))


@dataclass(frozen=True, eq=False)
class Words:
    """The pieces of a trained model joined into words.

    tokens, keys: the words of queries and keys; rows, columns: for each piece of these the
    position of its word.
    """

    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    rows: list[int]
    columns: list[int]

    def joined(self, weights: Tensor, mask: Tensor | None = None) -> WeightsAlone:
        """Weights of pieces as those of words, see `analysis.join`. (…, words, words)

        mask: over pieces; a word is hidden where all its pieces are.
        """
        seen = None if mask is None else analysis.join(mask.float(), self.rows, self.columns) > 0
        return WeightsAlone(analysis.join(weights, self.rows, self.columns), seen)

    def weights_for(self, result: Result, word: int) -> Tensor:
        """The weights of all heads over words; of one word where they are too many to keep."""
        trace = result.layer_trace
        if isinstance(trace, Trace):
            return self.joined(trace.weights).weights
        pieces = [at for at, its in enumerate(self.rows) if its == word]
        rows = torch.cat([trace.query(piece).weights for piece in pieces], -2)
        return analysis.join(rows, [0] * len(pieces), self.columns)


def words_of(result: Result) -> Words | None:
    """The words a result is to be shown in, None where it is shown in its tokens or pieces."""
    if result.settings.join != "words" or result.groups is None:
        return None
    memory = result.memory or result
    rows, columns = slots(result.groups), slots(memory.groups or ())
    words = whole_words(result.tokens, rows), whole_words(memory.tokens, columns)
    return Words(*words, rows, columns)


def shown(result: Result) -> tuple[Sequence[str], Sequence[str], Trace]:
    """The tokens of queries and keys, and the trace of the head a result shows, in its words."""
    if words := words_of(result):
        trace = result.trace
        return words.tokens, words.keys, words.joined(trace.weights, trace.mask)
    return result.tokens, result.key_tokens, result.trace


def overview(result: Result) -> Overview:
    """All heads of a result at a glance, in its words."""
    words, trace = words_of(result), result.layer_trace
    if words is None:
        return heads.overview(trace, result.head, result.special)
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(result.head)
    joined = words.joined(weights, None if trace.mask is None else trace.mask[0])
    special = [False] * len(words.keys)
    for word, is_special in zip(words.columns, result.special, strict=True):
        special[word] = is_special
    return heads.overview_of(joined.weights, joined.mask, special)


def piece_at(result: Result, query: int) -> int:
    """The position of the chosen piece, or of the first one of the chosen word; the last if there
    is no such one."""
    if words := words_of(result):
        return words.rows.index(min(query, len(words.tokens) - 1))
    return min(query, len(result.tokens) - 1)


def slots(groups: Sequence[int | None]) -> list[int]:
    """For each piece the position of its word; a special token is a word of its own."""
    found: list[int] = []
    for at, word in enumerate(groups):
        goes_on = at > 0 and word is not None and word == groups[at - 1]
        found.append(len(set(found)) - (1 if goes_on else 0))
    return found


def whole_words(pieces: Sequence[str], slots: Sequence[int]) -> tuple[str, ...]:
    """The words of some pieces, without the marks that say how pieces hang together."""
    words = [""] * (max(slots, default=-1) + 1)
    for piece, slot in zip(pieces, slots, strict=True):
        words[slot] += MARKS.sub("", piece) or piece
    return tuple(words)


@torch.no_grad()
def additions(place: Entering, query: int) -> Additions:
    """What all heads, the bias and the residual path add up to for one token of a layer.

    That sum is what enters the layer norm, or in a layer that norms first what goes on.
    """
    layer, residual = place.layer, place.x[query]
    one = layer.sliced(place.x, place.memory)(slice(query, query + 1), slice(None))
    added = heads.additions(layer.attention, one, 0)
    attended, parts = added.output, added.parts
    if (norm := layer.attention_norms.added) is not None:
        attended, parts = norm(attended), norm.split(parts, attended)
    parts = torch.cat([residual[None], parts])
    return heads.summed("Σ", ["residual", *added.names], parts, residual + attended)


@torch.no_grad()
def moved(model: Model, run: Run, result: Result) -> Tensor:
    """How far a changed layer moves what comes out of the model. (rows,).

    Of each last hidden state the cosine between the trained one and the one that comes out if the
    heads of that layer put out what they do in `result`. What is set aside there stays as it was
    trained.
    """
    assert result.trained is not None
    position = result.trained.position
    changed = result.layer_trace.output.clone()
    changed[[*result.trained.cut]] = 0.0
    special = run.entering[position].pieces.special
    kept = ~torch.tensor(special) if len(result.tokens) < len(special) else slice(None)

    def edit(layer: int, trace: Trace) -> Trace:
        output = trace.output.clone()
        output[:, kept] = changed
        return replace(trace, output=output)

    hidden = model.hidden(run.batch, edit=edit, layers=(position,), start=run.start(position))
    return cosine_similarity(hidden, run.hidden, dim=-1)


def moved_table(
    names: Sequence[str], cosines: Mapping[str, Tensor]
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, columns and means of the cosines of A and B by name; see `tables.table`."""
    means = [number(float(column.double().mean())) for column in cosines.values()]
    columns = {f"cosine {side}": column.double().tolist() for side, column in cosines.items()}
    return [*names], columns, ["mean", *means]


@torch.no_grad()
def without_each(model: Model, run: Run, position: int) -> Tensor:
    """Cosines of the last hidden states with and without each head of a layer. (heads, pieces).

    A head is cut out by leaving out what it adds (Michel et al. 2019, section 2.2).
    """
    start = run.start(position)
    others = ~torch.eye(run.entering[position].layer.attention.heads, dtype=torch.bool)

    def hidden(kept: Tensor) -> Tensor:
        def edit(layer: int, trace: Trace) -> Trace:
            return replace(trace, output=trace.output * kept[..., None, None])

        return model.hidden(run.batch, edit=edit, layers=(position,), start=start)

    at_once = max(1, len(others) * MAX_PIECES_AT_ONCE // len(start.x))
    found = torch.cat([hidden(kept) for kept in others.split(at_once)])
    return cosine_similarity(found, run.hidden, dim=-1)


def importance_table(cosines: Tensor) -> tuple[list[str], Mapping[str, Sequence[float]]]:
    """The heads of a layer by how much the model's output moves without them, most first."""
    means, least = cosines.double().mean(-1), cosines.double().min(-1).values
    order = means.argsort(stable=True).tolist()
    columns = {
        "mean cosine": means[order].tolist(),
        "least cosine": least[order].tolist(),
    }
    return [f"without head {head}" for head in order], columns
