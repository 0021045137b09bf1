"""A run of a model, run again with something changed: the one way to change a run."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention.core.arguments import must_be, must_be_several, must_be_within
from attention.trained.layers import LayerRun
from attention.trained.models import Model, Padded, Run

PARTS = ("output", "queries", "keys", "values", "weights")  # of a head
PATH = ("x", "attended", "middle", "fed")  # of a layer, see `LayerRun`
MAX_PIECES_AT_ONCE = 768  # of all changed runs that are worked out together
Chosen = Sequence[int] | slice | None  # None: all of them
# which parts are changed at once; those of a later step follow from the earlier ones
STEPS = (
    *(("x",), ("queries", "keys", "values"), ("weights",), ("output",)),
    *(("attended",), ("middle",), ("fed",)),
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Change:
    """A part of one layer, set to other numbers.

    part: one of `PARTS` of some heads, or one of `PATH`, which has no heads; heads, positions: of
    which heads, and at which queries or, of keys and values, at which keys; to: a number, or a
    tensor that broadcasts to (heads, positions, width of the part), of `PATH` to (positions,
    d_model). All that follows from the part is worked out anew.
    Raises ValueError where there is no such part.
    """

    layer: int
    part: str = "output"
    to: Tensor | float = 0.0
    heads: Chosen = None
    positions: Chosen = None

    def __post_init__(self) -> None:
        must_be("layer", self.layer, int)
        _check_part(self.part)
        must_be("to", self.to, float, Tensor)
        for name, chosen in (("heads", self.heads), ("positions", self.positions)):
            _check_chosen(name, chosen)
        if self.part in PATH and self.heads is not None:
            raise ValueError(f"{self.part} is that of all heads together, got heads {self.heads}")

    def apply(self, part: Tensor) -> None:
        """Write it into a part (heads, positions, width) or (positions, d_model) in place.

        Raises ValueError where `to` does not broadcast to what is changed of it.
        """
        cells = cells_of(part, self.heads, self.positions)
        to = torch.as_tensor(self.to, dtype=part.dtype)
        shape = part[cells].shape
        if not _broadcasts(to.shape, shape):
            axes = "(positions, d_model)" if len(shape) == 2 else "(heads, positions, width)"
            raise ValueError(
                f"to must broadcast to {axes} = {tuple(shape)} of the {self.part} of layer "
                f"{self.layer}, got {tuple(to.shape)}"
            )
        part[cells] = to


@dataclass(frozen=True)
class Token:
    """Another piece of the vocabulary, by its id, at one position of the sentence."""

    position: int
    piece: int

    def __post_init__(self) -> None:
        must_be("position", self.position, int)
        must_be("piece", self.piece, int, how="causes.piece_id gives that of a text")


Intervention = Sequence[Change | Token]


def part_of(run: Run, layer: int, part: str) -> Tensor:
    """A part of a layer as it was in a run. (heads, positions, width), of `PATH` (positions,
    d_model). Raises ValueError where there is none."""
    _check_run(run)
    _check_part(part)
    must_be_within("layer", layer, len(run.inputs))
    layer_input = run.inputs[layer]
    if part in PATH:
        found: Tensor = getattr(
            layer_input.layer.run(layer_input.entered, layer_input.memory), part
        )
    else:
        found = getattr(layer_input.trace(), part)
    return found


def check_same_length(run: Run, other: Run) -> None:
    """Raise ValueError, naming both lengths, unless two sentences have as many pieces."""
    for one in (run, other):
        _check_run(one)
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
    return Change(layer, part, there[cells_of(there, heads, positions)], heads, positions)


@torch.no_grad()
def means(model: Model, texts: Sequence[str], part: str) -> list[Tensor]:
    """The mean of a part over all pieces of some sentences, of each layer. (heads, 1, width), of
    `PATH` (1, d_model).

    The first position counts for nothing: it often takes a role of its own (Xiao et al. 2023).
    Raises ValueError for weights, which have no mean over sentences of different lengths, and where
    there are no pieces behind a first one.
    """
    if part == "weights" or part not in (*PARTS, *PATH):
        kinds = ", ".join(name for name in (*PARTS, *PATH) if name != "weights")
        raise ValueError(f"a mean is that of one of {kinds}, got {part!r}")
    must_be_several("texts", texts, str, example='["a sentence"]')
    behind: list[list[Tensor]] = [[] for _ in model.layers]
    for text in texts:
        run = model.run(text)
        for layer, numbers in enumerate(behind):
            numbers.append(part_of(run, layer, part)[..., 1:, :].double())
    if not texts or any(sum(each.shape[-2] for each in numbers) == 0 for numbers in behind):
        raise ValueError("a mean needs sentences of more than one piece")
    return [torch.cat(numbers, -2).mean(-2, keepdim=True).float() for numbers in behind]


def changed_runs(
    model: Model, run: Run, several: Sequence[Intervention]
) -> Iterator[tuple[int, LayerRun]]:
    """(position, LayerRun) of each layer from the first changed one on, of changed runs in a batch.

    Tensors have a leading dimension for the interventions, but for one alone, and in layers before
    which no run is changed. There are gradients unless the caller switches them off.
    Raises ValueError where a change does not fit.
    """
    _check_interventions(model, run, several)
    first = min(map(_first_layer, several))
    first = min(first, len(model.layers) - 1)
    tokens = any(isinstance(change, Token) for some in several for change in some)
    batch = Padded(_changed_ids(run, several), output=run.batch.output) if tokens else run.batch
    changed: dict[int, list[tuple[int, Change]]] = {}
    for index, some in enumerate(several):
        for change in some:
            if isinstance(change, Change):
                changed.setdefault(change.layer, []).append((index, change))

    def edit(layer: int, layer_run: LayerRun) -> LayerRun:
        # One step after the other: a given output would hide what other queries lead to.
        for step in STEPS:
            parts: dict[str, Any] = {}
            for index, change in changed[layer]:
                if change.part in step:
                    of = layer_run if change.part in PATH else layer_run.trace
                    if change.part not in parts:
                        dims = 2 if change.part in PATH else 3
                        parts[change.part] = _copies(getattr(of, change.part), len(several), dims)
                    part = parts[change.part]
                    change.apply(part if len(several) == 1 else part[index])
            if parts and not {*step} <= {*PATH}:
                parts = {"trace": replace(layer_run.trace, **parts)}
            if parts:
                layer_run = layer_run.edited(**parts)
        return layer_run

    start = None if tokens else run.start(first)
    runs = model.forward(batch, edit=edit, layers=[*changed], start=start)
    yield from enumerate(runs, first)


def hidden(
    model: Model,
    run: Run,
    several: Sequence[Intervention],
    *,
    metric: Callable[[Tensor], Tensor] = lambda states: states,
    progress: Progress | None = None,
) -> Tensor:
    """The last hidden states of changed runs. (interventions, pieces, d_model).

    All are worked out in batches, each from the first layer that it changes on. metric: is kept of
    the states instead, batch by batch: (interventions, …) of them. progress: is told
    how many of how many are done; an exception that it raises stops the work. There are gradients
    unless the caller switches them off. Raises ValueError where a change does not fit.
    """
    _check_interventions(model, run, several)
    found: list[Tensor] = []
    done, n_pieces = 0, max(len(layer_input.pieces.ids) for layer_input in run.inputs)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_pieces)
    for _, together in itertools.groupby(several, _first_layer):
        group = list(together)
        for begin in range(0, len(group), at_once):
            some = group[begin : begin + at_once]
            ((_, last),) = deque(changed_runs(model, run, some), maxlen=1)
            states = model.final(last.output)
            found.append(metric(states.expand(len(some), *states.shape[-2:])))
            done += len(some)
            if progress is not None:
                progress(done, len(several))
    return torch.cat(found)


def _check_interventions(model: Model, run: Run, several: Sequence[Intervention]) -> None:
    """Raise ValueError where something is of another kind than `hidden` takes, or not there."""
    must_be("model", model, Model)
    _check_run(run)
    example = "[[Change(0)]], one list for each run"
    must_be_several("interventions", several, Sequence, example=example)
    if not several:
        raise ValueError("there must be at least one intervention, got none")
    for some in several:
        must_be_several("an intervention", some, Change, Token, example="[Change(0)]")
        for change in some:
            if isinstance(change, Token):
                must_be_within("piece", change.piece, len(model.parts.embedding.pieces))
            elif not 0 <= change.layer < len(model.layers):
                raise ValueError(
                    f"layer must be one of {len(model.layers)}, counted from 0, got {change.layer}"
                )


def _check_run(run: object) -> None:
    must_be("run", run, Run, how="model.run(text) gives one")


def _check_part(part: object) -> None:
    if part not in (*PARTS, *PATH):
        raise ValueError(f"part must be one of {', '.join((*PARTS, *PATH))}, got {part!r}")


def _check_chosen(name: str, chosen: object) -> None:
    if not (chosen is None or isinstance(chosen, slice)):
        must_be_several(name, chosen, int, example="[0], or a slice")


def _broadcasts(shape: torch.Size, to: torch.Size) -> bool:
    """True if a tensor of the first shape can be written into one of the other."""
    try:
        return bool(torch.broadcast_shapes(shape, to) == to)
    except RuntimeError:
        return False


def _chosen(name: str, chosen: Chosen, count: int) -> Tensor:
    """Positions among `count`, (chosen,). Raises ValueError where one is not among them."""
    if chosen is None:
        return torch.arange(count)
    if isinstance(chosen, slice):
        return torch.arange(count)[chosen]
    _check_chosen(name, chosen)
    for index in chosen:
        if not -count <= index < count:
            raise ValueError(f"{name} must be among {count}, counted from 0, got {index}")
    return torch.tensor([*chosen], dtype=torch.int64)


def cells_of(part: Tensor, heads: Chosen, positions: Chosen) -> tuple[Tensor, ...]:
    """Where some heads and positions are in a part, see `part_of`.

    Raises ValueError where they are not.
    """
    chosen = _chosen("positions", positions, part.shape[-2])
    if part.dim() == 2:
        return (chosen,)
    return _chosen("heads", heads, part.shape[0])[:, None], chosen


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


def _copies(part: Tensor, count: int, dims: int) -> Tensor:
    """A part of so many dimensions to write into, once for each intervention; of one alone without
    a dimension more."""
    return part.clone() if count == 1 else part.expand(count, *part.shape[-dims:]).clone()
