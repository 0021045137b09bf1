"""Sentences on a model beside another of its shape: its heads, a team, and other answers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from torch import Tensor

from attention.atlas.moved import Moved
from attention.changing.change import Head
from attention.changing.transplants import WeightChanges
from attention.core.printing import fixed
from attention.subjects.model.words import (
    Answered,
    apart,
    name_of,
    percent,
    points,
    quoted,
    word_of,
)

LEAST = 0.005  # of a change that is spoken of
MATRICES = ("W_QK", "W_OV")
MOVED, INTRODUCED = "What else changed?", "What did tuning change?"
TOO_LONG = "This sentence is too long to try each head on it"
QUESTION = "Which heads carry the change?"


def heading(answered: Answered, changes: Tensor, weights: WeightChanges | None) -> tuple[str, str]:
    """The claim above the window, and the line below it.

    changes: of the answer with each head as in the other model, (layers, heads), NaN where that is
    not known yet.
    """
    word, heads, other = quoted(answered.word), changes.numel(), answered.other
    assert other is not None
    line = both_words(answered)
    if not changes.isfinite().all():
        return f"Which of {heads} heads carries what tuning changed?", line
    if abs(answered.before - other.share) < LEAST:
        return f"Tuning left {word} as it was", line
    carried = -answered.searched * changes.double()
    first, second = carried.flatten().topk(2).values.tolist()
    if first < LEAST or first == second:
        return f"No single head carries the change of {word}", line
    head = divmod(int(carried.argmax()), changes.shape[1])
    title = f"Head {name_of(head)} carries more of the change than any other"
    return title, rank_words(weights, head) or line


def both_words(answered: Answered) -> str:
    """The answer in both models."""
    other = answered.other
    assert other is not None
    if answered.kind == "vector":
        moved = percent(other.share, 1)
        return f"The vector of {quoted(answered.word)} is {moved} away in {other.name}."
    here, there = apart(answered.before, other.share)
    return f"{quoted(answered.word)}: {here} in {other.own}, {there} in {other.name}."


def rank_words(weights: WeightChanges | None, head: Head) -> str:
    """The number of heads whose W_OV changed more than one's; "" where that is not known."""
    if weights is None or not weights.ov.isfinite().all():
        return ""
    if not weights.ov.any():
        return "No head's W_OV moved."
    rank, last = rank_of(weights.ov, head), rank_of(-weights.ov, head)
    if last == 1:
        return "No head's W_OV moved less."
    if rank == 1:
        return "No head's W_OV moved more."
    return f"The W_OV of {rank - 1} other head{'s' * (rank > 2)} moved more."


def rank_of(numbers: Tensor, head: Head) -> int:
    """The place of a head among all, 1 for the greatest number."""
    return 1 + int((numbers > numbers[head]).sum())


def ordinal(number: int) -> str:
    """A place as one reads it: 1st, 2nd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def map_words(maps: Tensor, head: Head, looks: str) -> str:
    """The change of the map of a head, in a sentence, before another on where it looks."""
    bits, rank = fixed(float(maps[head]), 3), ordinal(rank_of(maps, head))
    place = f"{rank} of {maps.numel()}"
    return f"The map of head {name_of(head)} moved by {bits} bits, the {place}. {looks}"


def weight_words(weights: WeightChanges | None, head: Head) -> str:
    """The change of both matrices of a head; weights: None while they are being compared."""
    if weights is None:
        return "The weights are being compared."
    told = [
        f"{name} moved by {percent(float(each[head]), 2)}, the {ordinal(rank_of(each, head))}"
        for name, each in zip(MATRICES, weights, strict=True)
        if each.isfinite().all()
    ]
    if not told:
        return "The layout of this model is not known here: its weights cannot be compared."
    return f"Head {name_of(head)} among {weights.ov.numel()}: {'; '.join(told)}."


def chance_words(answered: Answered, chance: Sequence[float]) -> str:
    """The change that a team undoes, beside that of as many other heads by chance."""
    assert answered.other is not None
    undone, *others = (
        answered.searched * (answered.before - now) for now in (answered.now, *chance)
    )
    whole = abs(answered.before - answered.other.share)
    unit = "%" if answered.kind == "vector" else "points"
    told = f"They undo {points(undone)} of {points(whole)} {unit}"
    if not others:
        return f"{told}. There are no other teams of these layers."
    low, high = points(min(others)), points(max(others))
    return f"{told}; {len(others)} teams of as many other heads of these layers {low} to {high}."


def moved_words(several: Sequence[Moved]) -> str:
    """The number of answers that are others in the tuned model, and how far half of them moved."""
    others = sum(one.leader != one.word for one in several)
    has = "has" if others == 1 else "have"
    middle = points(median(one.by for one in several))
    return (
        f"Of {len(several)} packaged prompts {others} {has} another answer in the tuned model; "
        f"half moved by {middle} points or less. Click one to see which heads moved it."
    )


def moved_title(one: Moved) -> str:
    """The kind of a prompt, and the answer of the tuned model where that is another."""
    return one.kind if one.leader == one.word else f"{one.kind}: now {quoted(word_of(one.leader))}"
