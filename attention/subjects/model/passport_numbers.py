"""Atlases as they are read from files, and names of a head counted on one's own sentence."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from attention.analysis.heads import NAMINGS
from attention.analysis.names import shown, targets_of
from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas import files
from attention.atlas.passport import Atlas
from attention.atlas.sentences import place, quoted, say, title, word_of
from attention.core.printing import distinct_names
from attention.inputs.text import plain
from attention.subjects.model.head_sentences import TRIED
from attention.subjects.model.shades import Shade, shades_of
from attention.trained.models import Pieces

Head = tuple[int, int]


@dataclass(frozen=True)
class Tried:
    """A name of a head tried on a sentence.

    name: one of `heads.NAMINGS`; asking: positions of the pieces that have such a key; right: for
    each if the head's greatest weight lies there; looks: for each the key that it lies on.
    """

    name: str
    asking: Sequence[int]
    right: Sequence[bool]
    looks: Sequence[int]

    def words(self, names: Sequence[str]) -> str:
        """Its count, and the first piece that breaks it. names: of all pieces, told apart."""
        count, right = len(self.right), sum(self.right)
        at = [*self.right, False].index(False)
        query, key = self.asking[at : at + 1], self.looks[at : at + 1]
        return say(
            TRIED,
            place=place(self.name),
            count=count,
            right=right,
            words=f"{count} word{'s' * (count != 1)}",
            query="".join(names[each] for each in query),
            there="itself" if query == key else "".join(quoted(names[each]) for each in key),
        )


@dataclass(frozen=True, eq=False)
class Opened:
    """An atlas as it was read from its file, with all that follows from it alone."""

    atlas: Atlas

    @functools.cached_property
    def shades(self) -> Sequence[Shade]:
        """All that tiles can show."""
        return shades_of(self.atlas)

    @functools.cached_property
    def titles(self) -> Sequence[str]:
        """A sentence on each head, by its position; "" where there is none."""
        told = [""] * (self.atlas.wide * len(self.atlas.shape))
        for one in self.atlas.passports:
            told[self.atlas.position(one.place)] = title(self.atlas, one)
        return told


@kept(4, together=True)
def _read(path: Path, size: int, stamp: int) -> Opened | str:
    """An atlas, or why a file is none: that is kept too, as finding it may take a second.

    Raises ValueError where a file cannot be opened, which another try may mend.
    """
    try:
        return Opened(files.read(path))
    except ValueError as problem:
        if isinstance(problem.__cause__, OSError):
            raise
        return str(problem)


def read(model: str) -> Opened | None:
    """The atlas of a model, None where there are no passports of it.

    Raises ValueError where its file holds none, or those of other heads than the model has.
    """
    path = files.available().get(model)
    if path is None:
        return None
    try:
        about = path.stat()
        opened = _read(path, about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from error
    if isinstance(opened, str):
        raise ValueError(opened)
    heads = [layer.attention.heads for layer in load_model(model).layers]
    atlas = opened.atlas
    if (atlas.model, [*atlas.shape]) != (model, heads):
        raise ValueError(
            f"{path.name} must be of {model}, {sum(heads)} heads in {len(heads)} layers; it is of "
            f"{atlas.model[:40]}, {len(atlas.passports)} heads in {len(atlas.shape)}"
        )
    return opened


def darkest(shade: Shade) -> Head:
    """The head whose tile is darkest, of effects the one without which most is lost."""
    numbers = shade.coloured
    layer, head = divmod(int(numbers.nan_to_num(-math.inf).argmax()), numbers.shape[1])
    return layer, head


def tried_here(view: View, head: Head, names: Sequence[str]) -> list[str]:
    """A sentence for each of some names of a head, on the sentence of a view."""
    layer, number = head
    one = run_model(view["model"], plain(view["s"])).inputs[layer]
    if one.layer.crosses:
        return []
    trace = one.trace()
    seen = None if trace.mask is None else trace.mask[number]
    words = distinct_names([*map(word_of, one.pieces.texts)])
    return [tried_on(trace.weights[number], one.pieces, name, seen).words(words) for name in names]


def tried_on(weights: Tensor, pieces: Pieces, name: str, seen: Tensor | None) -> Tried:
    """Count on how many pieces that have such a key a head's greatest weight lies there.

    As `names.shown` counts: sinks are set aside but for names that are of them. weights:
    (pieces, pieces) of the head; seen: which keys it may see, likewise, None: all.
    """
    naming = NAMINGS[name]
    targets, kept_at = targets_of(naming, pieces, seen), pieces.kept(not naming.sinks)
    queries, right, _ = shown(weights[None], targets, kept_at)
    counted = torch.zeros(len(weights), dtype=torch.bool)
    counted[kept_at] = True
    # of a row that is even, the key that is looked at as much as the name's
    among = counted & (targets[queries] == right[0][:, None])
    looks = weights[queries].where(among, -1.0).argmax(-1)
    return Tried(name, queries.tolist(), right[0].tolist(), looks.tolist())
