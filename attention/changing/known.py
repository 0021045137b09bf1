"""Runs of known models, run again with something changed from the first changed layer on."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention.changing.answers import Metric
from attention.changing.change import PATH, Change, Head, Intervention, Token, changes, chosen
from attention.core.arguments import must_be, must_be_several, must_be_within
from attention.trained.layers import LayerRun
from attention.trained.models import Model, Padded, Run

MAX_PIECES_AT_ONCE = 512  # of all changed runs that are worked out together
# which parts are changed at once; those of a later step follow from the earlier ones
STEPS = (
    *(("x",), ("queries", "keys", "values"), ("weights",), ("output",)),
    *(("attended",), ("middle",), ("fed",)),
)

Progress = Callable[[int, int], None]


def check_same_length(run: Run, other: Run) -> None:
    """Raise ValueError, naming both lengths, unless two sentences have as many pieces."""
    for one in (run, other):
        must_be("run", one, Run, how="model.run(text) gives one")
    pairs = [(run.pieces, other.pieces), (run.inputs[-1].pieces, other.inputs[-1].pieces)]
    for lengths in ((len(one.ids), len(another.ids)) for one, another in pairs):
        if lengths[0] != lengths[1]:
            raise ValueError(
                "both sentences must have the same number of pieces, "
                f"the first has {lengths[0]}, the second {lengths[1]}"
            )


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
                assert isinstance(change.layer, int)
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
                    change.write(part if len(several) == 1 else part[index])
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
    metric: Metric = lambda states: states,
    progress: Progress | None = None,
    apart: bool = False,
) -> Tensor:
    """The last hidden states of changed runs. (interventions, pieces, d_model).

    All are worked out in batches, each from the first layer on that one of it changes; apart: each
    run from the first that it changes itself. metric: is kept of the states instead, batch by
    batch: (interventions, …) of them. progress: is told how many of how many are done; an exception
    that it raises stops the work. There are gradients unless the caller switches them off. Raises
    ValueError where a change does not fit.
    """
    _check_interventions(model, run, several)
    batches: list[Tensor] = []
    done, n_pieces = 0, max(len(layer_input.pieces.ids) for layer_input in run.inputs)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_pieces)
    order = sorted(range(len(several)), key=lambda at: _first_layer(several[at]))
    for _, together in itertools.groupby(order, lambda at: apart and _first_layer(several[at])):
        group = [several[at] for at in together]
        for begin in range(0, len(group), at_once):
            some = group[begin : begin + at_once]
            ((_, last),) = deque(changed_runs(model, run, some), maxlen=1)
            states = model.final(last.output)
            batches.append(metric(states.expand(len(some), *states.shape[-2:])))
            done += len(some)
            if progress is not None:
                progress(done, len(several))
    return torch.cat(batches)[torch.tensor(order).argsort()]


@torch.no_grad()
def states_without(model: Model, run: Run, off: Collection[Head], to: Any) -> Tensor:
    """The last hidden states with heads off, (pieces, d_model). to: see `Change`.

    Layers before the first of these heads are not run again; without any it is the run's own.
    """
    return hidden(model, run, [changes(off, to)])[0] if off else run.hidden


class Known:
    """A known model with a sentence and an answer, see `experiment.Experiment`.

    metric: of the last hidden states, (…, pieces, d_model) -> (…); begun: changes that are made in
    the run already, of which those of later layers are made again.
    """

    def __init__(
        self, model: Model, run: Run, metric: Metric, begun: Sequence[Change] = ()
    ) -> None:
        if not callable(metric):
            must_be("metric", metric, Callable, how="as movement(run) gives one")
        must_be("run", run, Run, how="model.run(text) gives one")
        self.model, self.run, self.metric, self._begun = model, run, metric, begun
        self.before = metric(run.hidden).detach()
        self.counts = {at: layer.attention.heads for at, layer in enumerate(model.layers)}

    @torch.no_grad()
    def beside(self, some: Sequence[Change]) -> Known:
        """This experiment with these changes in all runs: those of later layers begin there."""
        if not some:
            return self
        inputs = [*self.run.inputs]
        last: LayerRun | None = None
        several = [[*self._begun, *some]]
        for layer, last in changed_runs(self.model, self.run, several):
            before = inputs[layer]
            memory = None if before.memory is None else last.memory
            inputs[layer] = replace(before, entered=last.entered, x=last.x, memory=memory)
        assert last is not None
        run = Run(self.run.pieces, tuple(inputs), self.model.final(last.output))
        return Known(self.model, run, self.metric, several[0])

    @torch.no_grad()
    def after(self, several: Sequence[Intervention], progress: Progress | None = None) -> Tensor:
        """The answer of each of some changed runs. (several, …)."""
        if self._begun:
            several = [
                [*(one for one in self._begun if _first_layer([one]) >= _first_layer(some)), *some]
                for some in several
            ]
        how: Any = {"metric": self.metric, "progress": progress, "apart": bool(self._begun)}
        return hidden(self.model, self.run, several, **how)


def run_of(model: Model, inputs: Any) -> Run:
    """A run of a model, or that of a text."""
    must_be("inputs", inputs, str, Run, how="a text, or model.run(text)")
    return model.run(inputs) if isinstance(inputs, str) else inputs


def _check_interventions(model: Model, run: Run, several: Sequence[Intervention]) -> None:
    """Raise ValueError where something is of another kind than `hidden` takes, or not there."""
    must_be("model", model, Model)
    must_be("run", run, Run, how="model.run(text) gives one")
    example = "[[Change(0)]], one list for each run"
    must_be_several("interventions", several, Sequence, example=example)
    if not several:
        raise ValueError("there must be at least one intervention, got none")
    for some in several:
        must_be_several("an intervention", some, Change, Token, example="[Change(0)]")
        for change in some:
            if isinstance(change, Token):
                must_be_within("piece", change.piece, len(model.parts.embedding.pieces))
            elif isinstance(change.layer, str) or not 0 <= change.layer < len(model.layers):
                raise ValueError(
                    f"layer must be one of {len(model.layers)}, counted from 0, got {change.layer}"
                )


def _first_layer(some: Intervention) -> int:
    """The first layer that an intervention changes; one behind all where there is none."""
    layers = [int(change.layer) if isinstance(change, Change) else 0 for change in some]
    return min(layers, default=1 << 30)


def _changed_ids(run: Run, several: Sequence[Intervention]) -> Tensor:
    """The ids of each changed sentence. (interventions, pieces), of one alone (pieces,)."""
    ids = run.pieces.ids.repeat(len(several), 1)
    for index, some in enumerate(several):
        for change in some:
            if isinstance(change, Token):
                ids[index, chosen("positions", [change.position], ids.shape[1])] = change.piece
    return ids[0] if len(several) == 1 else ids


def _copies(part: Tensor, count: int, dims: int) -> Tensor:
    """A part of so many dimensions to write into, once for each intervention; of one alone without
    a dimension more."""
    return part.clone() if count == 1 else part.expand(count, *part.shape[-dims:]).clone()
