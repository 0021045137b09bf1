"""A change of a run: a part of a layer set to zero, to a mean, or as in another run; or a token."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention.capture.capturing import Captured
from attention.capture.handing import Effective, effective
from attention.capture.recording import Recording
from attention.core.arguments import must_be, must_be_several, must_be_within
from attention.trained.models import Run

PARTS = ("output", "queries", "keys", "values", "weights")  # of a head
PATH = ("x", "attended", "middle", "fed")  # of a layer of a known model, see `LayerRun`
CORPUS, ZERO, TEXT = "corpus", "zero", "text"  # ways to set heads that are off
WORDS = '"zero", "text", a number, a tensor, means (one tensor per layer) or another run'
Chosen = Sequence[int] | slice | None  # None: all of them
BEHIND_THE_FIRST = slice(1, None)  # the first token, where padding stands before it
Head = tuple[int, int]  # (layer, head)


@dataclass(frozen=True, eq=False)
class Change:
    """A part of one layer, set to something else. All that follows from it is worked out anew.

    layer: its number, or the name of a module that attends; part: one of `PARTS` of some heads, or
    one of `PATH`, which has no heads; to: "zero"; "text", the mean over the positions of this text
    but the first; a number; a tensor that broadcasts to (heads, positions, width), of `PATH` to
    (positions, d_model); means, of each layer (heads, 1, width); tensors by (layer, head); or
    another run: of a known model a `Run`, of others a recording. heads, positions: which heads, and
    which queries or, of keys and values, which keys; None = all, with means all positions but the
    first, which often takes a role of its own (Xiao et al. 2023). forwards: which calls of a
    module, counted from 0. Raises ValueError where there is no such part.
    """

    layer: int | str
    part: str = "output"
    to: Any = ZERO
    heads: Chosen = None
    positions: Chosen = None
    forwards: Collection[int] | None = None

    def __post_init__(self) -> None:
        must_be("layer", self.layer, int, str)
        if not isinstance(self.layer, str):
            object.__setattr__(self, "layer", int(self.layer))
        check_part(self.part)
        if self.part in PATH and self.heads is not None:
            raise ValueError(f"{self.part} is that of all heads together, got heads {self.heads}")
        for name, which in (("heads", self.heads), ("positions", self.positions)):
            if not (which is None or isinstance(which, slice)):
                must_be_several(name, which, int, example="[0], or a slice")
        if self.forwards is not None:
            must_be_several("forwards", self.forwards, int, example="[0]")
        to = self.to.one() if isinstance(self.to, Captured) else self.to
        _check_replacement(to, self.part)
        object.__setattr__(self, "to", to)
        if self.positions is None and _spares_the_first(to):
            object.__setattr__(self, "positions", BEHIND_THE_FIRST)

    def write(self, part: Tensor) -> None:
        """Write it into a part (heads, positions, width) or (positions, d_model) in place.

        Raises ValueError where `to` does not broadcast to what is changed of it.
        """
        at = chosen("positions", self.positions, part.shape[-2])
        heads = None if part.dim() == 2 else chosen("heads", self.heads, len(part))
        cells = (at,) if heads is None else (heads[:, None], at)
        assert isinstance(self.layer, int)
        place = Place(self.layer, "", heads, self.part, at, part if heads is None else part[heads])
        axes = "(positions, d_model)" if heads is None else "(heads, positions, width)"
        part[cells] = torch.as_tensor(self.value(place, axes, part[cells].shape), dtype=part.dtype)

    def value(self, place: Place, axes: str, shape: Sequence[int]) -> Tensor | float:
        """The numbers to set at a place, which have this shape of these axes, or are one number.

        Raises ValueError where there are none for this head, or they do not broadcast to it.
        """
        to = _value_of(self.to, place)
        if not isinstance(to, Tensor):
            return to
        try:
            return to.to(place.now).expand(*shape)
        except RuntimeError:
            where = f"layer {place.layer}{place.name and f' ({place.name})'}"
            raise ValueError(
                f"to must broadcast to {axes} = {tuple(shape)} of the {self.part} of {where}, got "
                f"{tuple(to.shape)}"
            ) from None


@dataclass(frozen=True)
class Token:
    """Another piece of the vocabulary, by its id, at one position of the sentence."""

    position: int
    piece: int

    def __post_init__(self) -> None:
        must_be("position", self.position, int)
        must_be("piece", self.piece, int, how="answers.piece_id gives that of a text")


Intervention = Sequence[Change | Token]


def changes(
    off: Collection[tuple[int | str, int]],
    to: Any = ZERO,
    part: str = "output",
    positions: Chosen = None,
    forwards: Collection[int] | None = None,
) -> list[Change]:
    """A change for each of some heads, pairs (layer, head), see `Change`."""
    must_be_several("heads that are off", off, tuple, example="[(layer, head)]")
    for pair in off:
        if len(pair) != 2:
            raise ValueError(f"heads that are off must be pairs (layer, head), got {pair}")
        must_be("a head", pair[1], int)
        if not isinstance(pair[0], str):
            must_be("a layer", pair[0], int, str)
            if pair[0] < 0:
                raise ValueError(f"a layer must be counted from 0 or named, got {pair[0]}")
    if part in PATH:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    return [Change(layer, part, to, [head], positions, forwards) for layer, head in off]


def check_part(part: object) -> None:
    """Raise ValueError unless it is a part of a head or of a layer."""
    if part not in (*PARTS, *PATH):
        raise ValueError(f"part must be one of {', '.join((*PARTS, *PATH))}, got {part!r}")


class Place(NamedTuple):
    """A part of some heads as it is, for which other numbers are asked.

    layer, name: of the attention; heads: one, several (heads,), or None for a part without heads;
    at: the positions that are changed, counted in the whole sequence; now: (entries or heads,
    positions, width); kept: bool (entries, positions), True = no padding, None = all.
    """

    layer: int
    name: str
    heads: Any
    part: str
    at: Tensor
    now: Tensor
    kept: Tensor | None = None

    def __str__(self) -> str:
        one = isinstance(self.heads, int)
        heads = [self.heads] if one else [] if self.heads is None else self.heads.tolist()
        named = f"head {', '.join(map(str, heads))} of " if heads else ""
        return f"{named}layer {self.layer}{self.name and f' ({self.name})'}"


def part_of(run: Run, layer: int, part: str) -> Tensor:
    """A part of a layer as it was in a run. (heads, positions, width), of `PATH` (positions,
    d_model). Raises ValueError where there is none."""
    must_be("run", run, Run, how="model.run(text) gives one")
    check_part(part)
    must_be_within("layer", layer, len(run.inputs))
    return _part_of(run, layer, part)


@functools.lru_cache(maxsize=2)  # heads of a layer are set one after the other
@torch.no_grad()
def _part_of(run: Run, layer: int, part: str) -> Tensor:
    layer_input = run.inputs[layer]
    if part in PARTS:
        of_heads: Tensor = getattr(layer_input.trace(), part)
        return of_heads
    of_path: Tensor = getattr(layer_input.layer.run(layer_input.entered, layer_input.memory), part)
    return of_path


def _check_replacement(to: Any, part: str) -> None:
    """Raise ValueError where a part cannot be set to it."""
    word = isinstance(to, str)
    known = to in (ZERO, TEXT) if word else isinstance(to, Real | Tensor | Recording | Run)
    several = [*to.values()] if isinstance(to, Mapping) else to
    if not known and not word and isinstance(several, Sequence) and len(several):
        for each in several:
            if not isinstance(each, Tensor):
                raise ValueError(f"means must be tensors, got {each!r:.60}")
    elif not known or isinstance(to, bool):
        raise ValueError(f"to must be {WORDS}, got {to!r:.60}")
    if part == "weights" and (to == TEXT if word else isinstance(to, Sequence)):
        raise ValueError(
            "to must be a number, a tensor or another run for weights, which have no mean, got "
            f"{to!r:.60}"
        )


def _spares_the_first(to: Any) -> bool:
    """True for means, with which the first position stays as it is unless positions are given."""
    return to == TEXT if isinstance(to, str) else isinstance(to, Sequence)


def _value_of(to: Any, place: Place) -> Tensor | float:
    """The numbers to set, which broadcast to (entries or heads, positions, width).

    Raises ValueError where there are none for these heads.
    """
    if isinstance(to, str):
        return 0.0 if to == ZERO else _mean(place)
    if isinstance(to, Real):
        return float(to)
    if isinstance(to, Tensor):
        return to
    if isinstance(to, Run):
        return _as_in(to, place)
    if isinstance(to, Recording):
        return _recorded(to, place)
    if isinstance(to, Mapping):
        return _of_each(to, place)
    means = to[place.layer] if place.layer < len(to) else torch.empty(0)
    if place.heads is None:
        return means
    most = place.heads if isinstance(place.heads, int) else int(place.heads.max())
    if most >= len(means):
        raise ValueError(f"means must have {place}, got {[tuple(each.shape) for each in to]!s:.80}")
    found: Tensor = means[place.heads]
    return found


def _of_each(to: Mapping[Any, Tensor], place: Place) -> Tensor:
    one = isinstance(place.heads, int)
    found = []
    for head in [place.heads] if one else place.heads.tolist():
        keys = [key for key in ((place.layer, head), (place.name, head)) if key in to]
        if not keys:
            raise ValueError(f"to must have {place}, got those of {[*to]!s:.80}")
        found.append(to[keys[0]])
    return found[0] if one else torch.stack(found)


def _mean(place: Place) -> Tensor:
    """Of one head over all entries, of several of each by itself."""
    now = place.now.float()
    if now.shape[1] < 2:
        raise ValueError(
            f"a mean over positions needs several, {place} has {now.shape[1]} in this forward "
            "pass: give means of other runs, see attention.means"
        )
    if not isinstance(place.heads, int):
        return now[..., 1:, :].mean(-2, keepdim=True)
    counted = torch.ones(now.shape[:2], dtype=torch.bool, device=now.device)
    if place.kept is not None and place.kept.shape == counted.shape:
        counted = place.kept & (place.kept.cumsum(-1) > 1)
    else:
        counted[:, 0] = False
    return now[counted].mean(0)


def _as_in(run: Run, place: Place) -> Tensor:
    """A part as it was in a run of a known model, at the same positions."""
    part = part_of(run, place.layer, place.part)
    if part.shape[-2] != place.now.shape[-2]:
        raise ValueError(
            f"both sentences must have the same number of pieces, the first has "
            f"{place.now.shape[-2]}, the second {part.shape[-2]}"
        )
    return part[place.at] if place.heads is None else part[place.heads][..., place.at, :]


def _recorded(run: Recording, place: Place) -> Tensor:
    """A part as it was in a recording, at the same positions. (entries, positions, width)."""
    head, at = place.heads, place.at
    named = [one for one in run.attentions if one.name == place.name]
    attention = named[0] if named else run.attention(place.layer)
    if isinstance(attention, Effective):
        raise ValueError(f"to must be a run itself, got its effective heads of {place}")
    position = attention.position(head)
    group = attention.groups[position]
    entries = place.now.shape[0]
    count = attention.shape[3 if place.part in ("keys", "values") else 2]
    if attention.shape[0] not in (1, entries):
        raise ValueError(
            f"the recording of {place} must have 1 or {entries} entries, got {attention.shape[0]}"
        )
    if len(at) and int(at.max()) >= count:
        raise ValueError(
            f"the recording of {place} has {count} positions, got position {int(at.max())}: "
            "both must have the same number of tokens"
        )
    if place.part == "queries":
        return attention.queries[:, position][:, at]
    if place.part == "keys":
        return attention.keys[:, group][:, at]
    if place.part == "values":
        if attention.values is None:
            raise ValueError(
                "the recording must have values: capture(values=True) keeps them, got none in "
                f"{place}"
            )
        return attention.values[:, group][:, at]
    if (
        place.part == "output"
        and attention.handed is not None
        and attention.handed.gate is not None
    ):
        run = Recording(effective([attention]))  # as it enters the projection
    rows_of = run.weights if place.part == "weights" else run.output
    every = range(attention.shape[0])
    return torch.stack([rows_of(attention.number, head, at, entry=entry) for entry in every])


def chosen(name: str, which: Chosen, count: int) -> Tensor:
    """Positions among `count`, (chosen,). Raises ValueError where one is not among them."""
    if which is None or isinstance(which, slice):
        return torch.arange(count)[which or slice(None)]
    for index in which:
        if not -count <= index < count:
            raise ValueError(f"{name} must be among {count}, counted from 0, got {index}")
    return torch.tensor([*which], dtype=torch.int64)
