"""What the layers of a trained model do: all heads at a glance, what they add, which matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.core import analysis
from attention.core.functional import Trace, WeightsAlone
from attention.display.tables import number
from attention.lessons import heads
from attention.lessons.heads import Additions, Overview
from attention.pipeline import Result
from attention.trained.models import Entering, Model, Run

MARKS = re.compile("^(##|▁|·)")  # of WordPiece, SentencePiece and byte-level pieces
MAX_PIECES_AT_ONCE = 64  # up to which all heads are cut out in one go


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

    @property
    def names(self) -> list[str]:
        """What each head is called."""
        return [f"layer {layer} head {head}" for layer in self.layers for head in range(self.heads)]

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


@torch.no_grad()
def _glance(run: Run, layers: Sequence[int]) -> Glance:
    made = []
    for position in layers:
        place = run.entering[position]
        trace = place.layer.trace(place.x, place.memory)
        made.append(heads.overview(trace, 0, (place.memory_pieces or place.pieces).special))
    measured = {name: torch.cat([one.measures[name] for one in made]) for name in made[0].measures}
    n_heads = len(made[0].dots)
    seen = Overview(
        torch.cat([one.dots for one in made]), made[0].block, measured, made[0].even_spread
    )
    return Glance(tuple(layers), n_heads, seen, tuple(trace.weights.shape[-2:]))


@dataclass(frozen=True, eq=False)
class Joined:
    """Weights of pieces as weights of words. tokens, keys: the words; trace: their weights."""

    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    trace: Trace


def joined(result: Result) -> Joined:
    """The weights that a result shows, its pieces joined into words; see `analysis.join`."""
    memory = result.memory or result
    rows, columns = slots(result.groups or ()), slots(memory.groups or ())
    weights = analysis.join(result.trace.weights, rows, columns)
    tokens, keys = whole_words(result.tokens, rows), whole_words(memory.tokens, columns)
    return Joined(tokens, keys, WeightsAlone(weights))


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
    layer = place.layer
    added = heads.additions(layer.attention, layer.trace(place.x, place.memory), query)
    residual = place.x[query]
    parts = torch.cat([residual[None], added.parts])
    joined = layer.run(place.x, layer.attended(place.x, place.memory)).joined[query]
    return heads.summed("the sum", ["residual", *added.names], parts, joined)


@torch.no_grad()
def moved(model: Model, run: Run, result: Result) -> Tensor:
    """How far a changed layer moves what comes out of the model. (rows,).

    Of each last hidden state the cosine between the trained one and the one that comes out if the
    layer's attention gives what `result` has. What is set aside there stays as it was trained.
    """
    assert result.trained is not None
    place = run.entering[result.trained.position]
    attended = place.layer.attended(place.x, place.memory)
    kept = torch.ones(len(attended), dtype=torch.bool)
    if len(result.tokens) < len(attended):
        kept = ~torch.tensor(place.pieces.special)
    attended[kept] = result.layer.output(result.layer_trace)
    hidden = model.rerun(run, result.trained.position, attended)
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
    place = run.entering[position]
    trace = place.layer.trace(place.x, place.memory)
    attended = place.layer.attention.output(trace)
    cut = attended - place.layer.attention.head_outputs(trace)
    at_once = len(cut) if len(place.x) <= MAX_PIECES_AT_ONCE else 1
    hidden = torch.cat([model.rerun(run, position, some) for some in cut.split(at_once)])
    return cosine_similarity(hidden, run.hidden, dim=-1)


def importance_table(cosines: Tensor) -> tuple[list[str], Mapping[str, Sequence[float]]]:
    """The heads of a layer by how much the model's output moves without them, most first."""
    means, least = cosines.double().mean(-1), cosines.double().min(-1).values
    order = means.argsort(stable=True).tolist()
    columns = {
        "mean cosine": means[order].tolist(),
        "least cosine": least[order].tolist(),
    }
    return [f"without head {head}" for head in order], columns
