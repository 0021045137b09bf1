"""Numbers that a part of a head is set to: zero, a mean, given ones, or those of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention.capture.capturing import Captured
from attention.capture.recording import Recording

WORDS = '"zero", "mean", a number, a tensor, means (one tensor per layer) or a recording'


class Asked(NamedTuple):
    """A part of a head as it is, for which other numbers are asked.

    number, name: of the attention; at: the positions that are changed, counted in the whole
    sequence; now: (entries, positions of this call, width); kept: bool (entries, positions of this
    call), True = no padding, None = all.
    """

    number: int
    name: str
    head: int
    part: str
    at: Tensor
    now: Tensor
    kept: Tensor | None


def checked(to: Any, part: str) -> Any:
    """A replacement that is known. Raises ValueError for what is none."""
    if isinstance(to, Captured):
        to = to.one()
    if isinstance(to, bool) or not (
        (isinstance(to, str) and to in ("zero", "mean"))
        or isinstance(to, Real | Tensor | Recording)
        or (isinstance(to, Mapping | Sequence) and not isinstance(to, str) and len(to))
    ):
        raise ValueError(f"to must be {WORDS}, got {to!r:.60}")
    several = [*to.values()] if isinstance(to, Mapping) else to
    if isinstance(several, Sequence) and not isinstance(several, str):
        for each in several:
            if not isinstance(each, Tensor):
                raise ValueError(f"means must be tensors, got {each!r:.60}")
    if part == "weights" and not isinstance(to, Real | Tensor | Recording) and to != "zero":
        raise ValueError(
            "to must be a number, a tensor or a recording for weights, which have no mean, got "
            f"{to!r:.60}"
        )
    return to


def spares_the_first(to: Any) -> bool:
    """True for means, with which the first position stays as it is unless positions are given: it
    often takes a role of its own (Xiao et al. 2023)."""
    return to == "mean" if isinstance(to, str) else isinstance(to, Sequence)


def value_of(to: Any, asked: Asked) -> Tensor | float:
    """The numbers to set, which broadcast to (entries, positions, width).

    Raises ValueError where there are none for this head.
    """
    where = f"head {asked.head} of layer {asked.number} ({asked.name})"
    if isinstance(to, str):
        return 0.0 if to == "zero" else _mean(asked, where)
    if isinstance(to, Real):
        return float(to)
    if isinstance(to, Tensor):
        return to
    if isinstance(to, Recording):
        return _recorded(to, asked, where)
    if isinstance(to, Mapping):
        for key in ((asked.number, asked.head), (asked.name, asked.head)):
            if key in to:
                given: Tensor = to[key]
                return given
        raise ValueError(f"to must have {where}, got those of {[*to]!s:.80}")
    if asked.number >= len(to) or asked.head >= len(to[asked.number]):
        raise ValueError(f"means must have {where}, got {[tuple(each.shape) for each in to]!s:.80}")
    mean: Tensor = to[asked.number][asked.head]
    return mean


def _mean(asked: Asked, where: str) -> Tensor:
    now = asked.now.float()
    if now.shape[1] < 2:
        raise ValueError(
            f"a mean over positions needs several, {where} has {now.shape[1]} in this forward "
            "pass: give means of other runs, see attention.means"
        )
    counted = torch.ones(now.shape[:2], dtype=torch.bool, device=now.device)
    if asked.kept is not None and asked.kept.shape == counted.shape:
        counted = asked.kept & (asked.kept.cumsum(-1) > 1)
    else:
        counted[:, 0] = False
    return now[counted].mean(0)


def _recorded(run: Recording, asked: Asked, where: str) -> Tensor:
    """A part as it was in a recording, at the same positions. (entries, positions, width)."""
    named = [one for one in run.attentions if one.name == asked.name]
    found = named[0] if named else run.attention(asked.number)
    group = found.groups[found.position(asked.head)]
    entries, count = asked.now.shape[0], found.shape[3 if asked.part in ("keys", "values") else 2]
    if found.shape[0] not in (1, entries):
        raise ValueError(
            f"the recording of {where} must have 1 or {entries} entries, got {found.shape[0]}"
        )
    if len(asked.at) and int(asked.at.max()) >= count:
        raise ValueError(
            f"the recording of {where} has {count} positions, got position {int(asked.at.max())}: "
            "both must have the same number of tokens"
        )
    if asked.part == "queries":
        return found.queries[:, found.position(asked.head)][:, asked.at]
    if asked.part == "keys":
        return found.keys[:, group][:, asked.at]
    if asked.part == "values":
        if found.values is None:
            raise ValueError(
                "the recording must have values: capture(values=True) keeps them, got none in "
                f"{where}"
            )
        return found.values[:, group][:, asked.at]
    every = range(found.shape[0])
    if asked.part == "weights":
        rows = [run.weights(found.number, asked.head, asked.at, entry=entry) for entry in every]
    else:
        rows = [run.output(found.number, asked.head, asked.at, entry=entry) for entry in every]
    return torch.stack(rows)
