"""A sentence whose associations are asked for, and its run through a model."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.changing.change import Intervention
from attention.changing.known import MAX_PIECES_AT_ONCE, Progress, changed_runs
from attention.trained.layers import Layer, LayerRun
from attention.trained.models import Edit, LayerInput, Model, Padded, Pieces, Run, goes_on


@dataclass(frozen=True, eq=False)
class Followed:
    """A sentence whose associations are asked for; the model runs over it once.

    words: for decoders the ids of two pieces to tell apart, the first rather than the second; None:
    the likeliest next piece at each position. progress: is told how much of how much is done by
    methods that take long; an exception that it raises stops the work.
    """

    model: Model
    pieces: Pieces
    words: tuple[int, int] | None = None
    progress: Progress = lambda done, of: None

    @functools.cached_property
    def layers(self) -> list[Layer]:
        """Layers over the sentence itself, which come first."""
        return [layer for layer in self.model.layers if not layer.crosses]

    @functools.cached_property
    def runs(self) -> list[LayerRun]:
        """A run of each of these layers."""
        with torch.no_grad():
            forward = self.model.forward(Padded(self.pieces.ids))
            return [*itertools.islice(forward, len(self.layers))]

    @functools.cached_property
    def run(self) -> Run:
        """Run of these layers, which can be changed."""
        pairs = zip(self.layers, self.runs, strict=True)
        inputs = (LayerInput(layer, self.pieces, run.entered, run.x) for layer, run in pairs)
        return Run(self.pieces, tuple(inputs), self.hidden)

    @property
    def causal(self) -> bool:
        """True if no query sees a later key."""
        return all(layer.causal for layer in self.layers)

    def seen(self, numbers: Tensor) -> Tensor:
        """Set to 0 what a query cannot see, whatever rounding says. (…, n, n)."""
        return numbers.tril() if self.causal else numbers

    @functools.cached_property
    def whole(self) -> bool:
        """True if these layers are all of the model, so that its last norm follows them."""
        return len(self.layers) == len(self.model.layers)

    def final(self, output: Tensor) -> Tensor:
        """Apply what follows the last of these layers. (…, pieces, d_model)."""
        return self.model.final(output) if self.whole else output

    @functools.cached_property
    def hidden(self) -> Tensor:
        """The last hidden states. (pieces, d_model)."""
        with torch.no_grad():
            return self.final(self.runs[-1].output)

    @property
    def goes_on(self) -> bool:
        """True if the model predicts the next piece."""
        return goes_on(self.model)

    @functools.cached_property
    def directions(self) -> Tensor:
        """Direction at each position whose product with the hidden state is the target.

        For decoders the column of the unembedding of the word that is likeliest next, or the
        difference of those of both words; for others the hidden state itself, of length 1.
        (pieces, d_model).
        """
        if not goes_on(self.model):
            lengths: Tensor = self.hidden.norm(dim=-1, keepdim=True)
            return self.hidden / lengths
        U = self.model.unembedding
        if self.words is None:
            return U[:, (self.hidden @ U).argmax(-1)].T
        return (U[:, self.words[0]] - U[:, self.words[1]]).expand_as(self.hidden)

    @property
    def positions(self) -> range:
        """Positions of all pieces."""
        return range(len(self.pieces.ids))

    def changed(self, several: Sequence[Intervention]) -> Iterator[dict[int, Tensor]]:
        """The outputs of changed runs, by layer, some runs after the others.

        Each (interventions, pieces, d_model).
        """
        at_once = max(1, MAX_PIECES_AT_ONCE // len(self.pieces.ids))
        for first in range(0, len(several), at_once):
            self.progress(first, len(several))
            some = several[first : first + at_once]
            runs = itertools.islice(changed_runs(self.model, self.run, some), len(self.layers))
            yield {
                layer: run.output.expand(len(some), *run.output.shape[-2:]) for layer, run in runs
            }

    def rest_of(self, rows: Tensor, first: int, edit: Edit | None = None) -> dict[int, Tensor]:
        """The outputs of each layer for sentences that have these of its pieces, by position.

        rows (sentences, pieces); first: the sentences begin with so many pieces of this one, which
        are not in rows; edit: see `Model.forward`. (sentences, pieces, d_model).
        """
        kept = [run.kept.truncate(first, len(rows)) for run in self.runs] if first else []
        batch, layers = Padded(self.pieces.ids[rows]), range(len(self.layers))
        forward = self.model.forward(batch, edit=edit, layers=layers, after=kept)
        runs = itertools.islice(forward, len(self.layers))
        return {layer: run.output for layer, run in enumerate(runs)}

    def target(self, hidden: Tensor) -> Tensor:
        """The number that a gradient or an erasure is asked about, at each position.

        hidden (…, pieces, d_model) -> (…, pieces), see `directions`.
        """
        return (hidden * self.directions).sum(-1)
