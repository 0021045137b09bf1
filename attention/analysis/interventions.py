"""A run of a model, run again with something changed: the one way to change a run."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention.core.functional import Trace
from attention.trained.layers import LayerRun
from attention.trained.models import Model, Padded, Run

PARTS = ("output", "queries", "keys", "values", "weights")
MAX_PIECES_AT_ONCE = 768  # of all changed runs that are worked out together
Chosen = Sequence[int] | slice | None  # None: all of them
# which parts are changed at once; those of a later step follow from the earlier ones
STEPS = (("queries", "keys", "values"), ("weights",), ("output",))

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Change:
    """A part of the attention of one layer, set to other numbers.

    part: one of `PARTS`; heads, positions: of which heads, and at which queries (of output, queries
    and weights) or keys (of keys and values); to: a number, or a tensor that broadcasts to
    (heads, positions, width of the part). All that follows from the part is worked out anew.
    """

    layer: int
    part: str = "output"
    to: Tensor | float = 0.0
    heads: Chosen = None
    positions: Chosen = None

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ValueError(f"part must be one of {', '.join(PARTS)}, got {self.part!r}")

    def apply(self, part: Tensor) -> None:
        """Write it into a part (heads, positions, width) in place."""
        n_heads, n_positions = part.shape[:2]
        heads = _chosen("heads", self.heads, n_heads)
        positions = _chosen("positions", self.positions, n_positions)
        part[heads[:, None], positions] = torch.as_tensor(self.to, dtype=part.dtype)


@dataclass(frozen=True)
class Token:
    """Another piece of the vocabulary, by its id, at one position of the sentence."""

    position: int
    piece: int


Intervention = Sequence[Change | Token]


def part_of(run: Run, layer: int, part: str) -> Tensor:
    """One of `PARTS` of a layer as it was in a run. (heads, positions, width)."""
    layer_input = run.inputs[layer]
    found: Tensor = getattr(layer_input.trace(), part)
    return found


def check_same_length(run: Run, other: Run) -> None:
    """Raise ValueError, naming both lengths, unless two sentences have as many pieces."""
    pairs = [(run.pieces, other.pieces), (run.inputs[-1].pieces, other.inputs[-1].pieces)]
    for lengths in ((len(one.ids), len(another.ids)) for one, another in pairs):
        if lengths[0] != lengths[1]:
            raise ValueError(
                "both sentences must have the same number of pieces, "
                f"the first has {lengths[0]}, the second {lengths[1]}"
            )


def exchanged(
    run: Run,
    other: Run,
    layer: int,
    part: str = "output",
    heads: Chosen = None,
    positions: Chosen = None,
) -> Change:
    """A change of `run`: a part becomes what it is in `other`, a sentence of the same length.

    Raises ValueError, naming both lengths, where they differ.
    """
    check_same_length(run, other)
    there = part_of(other, layer, part)
    rows = _chosen("heads", heads, there.shape[0])[:, None]
    columns = _chosen("positions", positions, there.shape[1])
    return Change(layer, part, there[rows, columns], heads, positions)


def exchanged_tokens(run: Run, other: Run, positions: Chosen = None) -> list[Token]:
    """The pieces of `other` in place of those of `run`; raises ValueError as `exchanged` does."""
    check_same_length(run, other)
    chosen = _chosen("positions", positions, len(other.pieces.ids)).tolist()
    return [Token(position, int(other.pieces.ids[position])) for position in chosen]


@torch.no_grad()
def means(model: Model, texts: Sequence[str], part: str) -> list[Tensor]:
    """The mean of a part over all pieces of some sentences, of each layer. (heads, 1, width).

    The first position counts for nothing: it often takes a role of its own (Xiao et al. 2023).
    Raises ValueError for weights, which have no mean over sentences of different lengths, and where
    there are no pieces behind a first one.
    """
    if part == "weights" or part not in PARTS:
        kinds = ", ".join(name for name in PARTS if name != "weights")
        raise ValueError(f"a mean is that of one of {kinds}, got {part!r}")
    behind: list[list[Tensor]] = [[] for _ in model.layers]
    for text in texts:
        run = model.run(text)
        for layer, numbers in enumerate(behind):
            numbers.append(part_of(run, layer, part)[:, 1:].double())
    if not texts or any(sum(each.shape[1] for each in numbers) == 0 for numbers in behind):
        raise ValueError("a mean needs sentences of more than one piece")
    return [torch.cat(numbers, 1).mean(1, keepdim=True).float() for numbers in behind]


def changed_runs(
    model: Model, run: Run, several: Sequence[Intervention]
) -> Iterator[tuple[int, LayerRun]]:
    """(position, LayerRun) of each layer from the first changed one on, of changed runs in a batch.

    Tensors have a leading dimension for the interventions, but for one alone, and in layers before
    which no run is changed. There are gradients unless the caller switches them off.
    Raises ValueError where a change does not fit.
    """
    if not several:
        raise ValueError("there must be at least one intervention, got none")
    first = min(map(_first_layer, several))
    first = min(first, len(model.layers) - 1)
    tokens = any(isinstance(change, Token) for some in several for change in some)
    batch = Padded(_changed_ids(run, several), output=run.batch.output) if tokens else run.batch
    changed: dict[int, list[tuple[int, Change]]] = {}
    for index, some in enumerate(several):
        for change in some:
            if isinstance(change, Change):
                if not 0 <= change.layer < len(model.layers):
                    raise ValueError(
                        f"layer must be one of {len(model.layers)}, counted from 0, "
                        f"got {change.layer}"
                    )
                changed.setdefault(change.layer, []).append((index, change))

    def edit(layer: int, trace: Trace) -> Trace:
        # One step after the other: a given output would hide what other queries lead to.
        for step in STEPS:
            parts: dict[str, Any] = {}
            for index, change in changed[layer]:
                if change.part in step:
                    if change.part not in parts:
                        parts[change.part] = _copies(getattr(trace, change.part), len(several))
                    part = parts[change.part]
                    change.apply(part if len(several) == 1 else part[index])
            if parts:
                trace = model.layers[layer].attention.follow(trace, replace(trace, **parts))
        return trace

    start = None if tokens else run.start(first)
    runs = model.forward(batch, edit=edit, layers=[*changed], start=start)
    yield from enumerate(runs, first)


def hidden(
    model: Model,
    run: Run,
    several: Sequence[Intervention],
    *,
    progress: Progress | None = None,
) -> Tensor:
    """The last hidden states of changed runs. (interventions, pieces, d_model).

    All are worked out in batches, each from the first layer that it changes on. progress: is told
    how many of how many are done; an exception that it raises stops the work. There are gradients
    unless the caller switches them off. Raises ValueError where a change does not fit.
    """
    found: list[Tensor] = []
    done, n_pieces = 0, max(len(layer_input.pieces.ids) for layer_input in run.inputs)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_pieces)
    for _, together in itertools.groupby(several, _first_layer):
        group = list(together)
        for begin in range(0, len(group), at_once):
            some = group[begin : begin + at_once]
            ((_, last),) = deque(changed_runs(model, run, some), maxlen=1)
            states = model.final(last.output)
            found.append(states.expand(len(some), *states.shape[-2:]))
            done += len(some)
            if progress is not None:
                progress(done, len(several))
    if not found:
        raise ValueError("there must be at least one intervention, got none")
    return torch.cat(found)


def _chosen(name: str, chosen: Chosen, count: int) -> Tensor:
    """Positions among `count`, (chosen,). Raises ValueError where one is not among them."""
    if chosen is None:
        return torch.arange(count)
    if isinstance(chosen, slice):
        return torch.arange(count)[chosen]
    for index in chosen:
        if not -count <= index < count:
            raise ValueError(f"{name} must be among {count}, counted from 0, got {index}")
    return torch.tensor([*chosen], dtype=torch.int64)


def _first_layer(some: Intervention) -> int:
    """The first layer that an intervention changes; one behind all where there is none."""
    found = [change.layer if isinstance(change, Change) else 0 for change in some]
    return min(found, default=1 << 30)


def _changed_ids(run: Run, several: Sequence[Intervention]) -> Tensor:
    """The ids of each changed sentence. (interventions, pieces), of one alone (pieces,)."""
    ids = run.pieces.ids.repeat(len(several), 1)
    for index, some in enumerate(several):
        for change in some:
            if isinstance(change, Token):
                (position,) = _chosen("positions", [change.position], ids.shape[1]).tolist()
                ids[index, position] = change.piece
    return ids[0] if len(several) == 1 else ids


def _copies(part: Tensor, count: int) -> Tensor:
    """A part to write into, once for each intervention; of one alone without a dimension more."""
    return part.clone() if count == 1 else part.expand(count, *part.shape[-3:]).clone()
