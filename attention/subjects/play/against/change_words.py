"""The weight that changes most, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attention.core.printing import fixed, percent

FELT = 1e-3  # a change of a weight that a tenth of a per cent shows


def change_words(
    before: Tensor,
    after: Tensor,
    names: Sequence[str],
    when: str,
    both: Tensor | None = None,
    shares: bool = True,
) -> list[str]:
    """Name the query of which a weight changes most, and the keys that gain and lose most there.

    before, after: (queries, keys), 0 where hidden; names: of both; when: begins the sentence, as
    "With B"; both: which queries and keys there are before and after, None = all of them; shares:
    whether all weights are shares of 1: of others nobody says that a query looks. The sentence
    comes in parts, every second of which stands out.
    """
    there = torch.ones(len(names), dtype=torch.bool) if both is None else both
    change = (after.double() - before.double()) * there[:, None]
    greatest = change.abs().max() if change.numel() else torch.tensor(0.0)
    if float(greatest) < FELT:
        return [f"{when} no weight changes by as much as {'0.1 %' if shares else FELT}."]
    query = int(change.abs().amax(-1).argmax())
    row, said = change[query], f"{when} “{names[query]}”"
    if not after[query].any():
        return [f"{said} {'may look at nothing' if shares else 'takes nothing in'} any more."]
    ends = [("more", int(row.argmax()), row.max()), ("less", int(row.argmin()), -row.min())]
    felt = sorted((end for end in ends if end[2] >= FELT), key=lambda end: -end[2])
    if not shares:
        return _signed(felt, before[query], after[query], names, query, when)
    parts = [f"{said} looks "]
    for at, (how, key, _) in enumerate(felt):
        name = "itself" if key == query else names[key]
        parts[-1] += f"{', and ' if at else ''}{how} at "
        parts += [name, f", {_from_to(float(before[query, key]), float(after[query, key]))}"]
    parts[-1] += ": no weight changes more."
    return parts


def _signed(
    felt: Sequence[tuple[str, int, Tensor]],
    before: Tensor,
    after: Tensor,
    names: Sequence[str],
    query: int,
    when: str,
) -> list[str]:
    """Name weights of a row that change most, of any sign, from the number to the number."""
    parts = [f"{when} the weight of “{names[query]}” on "]
    for at, (_, key, _) in enumerate(felt):
        ends = float(before[key]), float(after[key])
        digits = 2 if fixed(ends[0], 2) != fixed(ends[1], 2) else 3
        parts[-1] += ", and that on " if at else ""
        goes = "" if at else " goes"
        name = "itself" if key == query else names[key]
        parts += [name, f"{goes} from {fixed(ends[0], digits)} to {fixed(ends[1], digits)}"]
    parts[-1] += ": no weight changes more."
    return parts


def _from_to(before: float, after: float) -> str:
    """Two shares in whole per cent, or in tenths where that would show no change."""
    digits = 0 if percent(before) != percent(after) else 1
    return f"{fixed(100 * before, digits)} → {percent(after, digits)}"
