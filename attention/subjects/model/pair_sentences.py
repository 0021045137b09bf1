"""Sentences on a model beside another of its shape: its heads, a team, and other answers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from torch import Tensor

from attention.atlas.claims import NEEDED
from attention.atlas.moved import Moved
from attention.atlas.sentences import (
    Sentences,
    apart,
    name_of,
    otherwise,
    percent,
    points,
    say,
    word_of,
)
from attention.changing.change import Head
from attention.changing.transplants import WeightChanges
from attention.core.printing import fixed
from attention.subjects.model.answers import Answered

LEAST = 0.005  # of a change that is spoken of, as is one to twice as much or half
TWICE = 2
MATRICES = ("W_QK", "W_OV")
MOVED, INTRODUCED = "What else changed?", "What did tuning change?"
TOO_LONG = "This sentence is too long to try each head on it"
QUESTION = "Which heads carry the change?"
# The claim above the window, and the line below it.
HEADING: Sentences = {
    "Tuning left the vector of {now.word:quoted} as it was": lambda n: n.now.is_vector and n.still,
    "Both say {now.word:quoted}": lambda n: n.same and (n.still or not n.carried),
    "Which of {heads} heads carries what tuning changed?": lambda n: not n.carried,
    "Both say {now.word:quoted}; head {head:head} carries most of the change": lambda n: (
        n.same and n.carries
    ),
    "Both say {now.word:quoted}; no single head carries the change": lambda n: n.same,
    "Head {head:head} carries more of the change than any other": lambda n: n.carries,
    "Head {head:head} moves “{now.word}” the other way more than any head brings it": lambda n: (
        n.against
    ),
    "No single head carries the change of {now.word:quoted}": otherwise,
}
BOTH: Sentences = {
    "The vector of {now.word:quoted} is {moved} away in {now.other.name}.": lambda n: (
        n.now.is_vector
    ),
    "{now.word:quoted}: {shares[0]} in {now.other.own}, {shares[1]} in "
    "{now.other.name}.": otherwise,
}
# The number of heads whose W_OV changed more than one's.
RANK: Sentences = {
    "": lambda n: n.most is None,
    "No head's W_OV moved.": lambda n: not n.most,
    "No head's W_OV moved less.": lambda n: n.last,
    "No head's W_OV moved more.": lambda n: not n.more,
    "The W_OV of 1 other head moved more.": lambda n: n.more == 1,
    "The W_OV of {more} other heads moved more.": otherwise,
}
WEIGHTS: Sentences = {
    "The weights are being compared.": lambda n: n.told is None,
    "Head {head:head} among {heads}: {told}.": lambda n: n.told,
    "The layout of this model is not known here: its weights cannot be compared.": otherwise,
}
CHANCE: Sentences = {
    "{told}. There are no other teams of these layers.": lambda n: not n.others,
    "{told}; {teams} teams of as many other heads of these layers {ends[0]:points} to "
    "{ends[1]:points}.": otherwise,
}
CLICK = "Click one to see which heads moved it."
OTHERS: Sentences = {
    "Of {of} packaged prompts 1 has another answer in the tuned model; the median change is "
    "{by:points} points.": lambda n: n.others == 1,
    "Of {of} packaged prompts {others} have another answer in the tuned model; the median change "
    "is {by:points} points.": otherwise,
}
PROMPT: Sentences = {
    "{one.kind}": lambda n: n.one.leader == n.one.word,
    "{one.kind}: now {leader:quoted}": otherwise,
}


def heading(now: Answered, changes: Tensor, weights: WeightChanges | None) -> tuple[str, str]:
    """The claim above the window, and the line below it.

    changes: of the answer with each head as in the other model, (layers, heads), NaN where that is
    not known yet.
    """
    assert now.other is not None
    carried = (-now.searched * changes.double()).flatten()
    (most, second), least = carried.topk(2).values.tolist(), -float(carried.min())
    carries = most >= NEEDED and most > max(second, least)
    head = divmod(int(carried.argmax() if carries else carried.argmin()), changes.shape[1])
    low, high = sorted((now.before, now.other.share))
    leaders = [one[0][0] for one in (now.likeliest[0], now.other.likeliest) if one]
    title = say(
        HEADING,
        heads=changes.numel(),
        now=now,
        carried=bool(changes.isfinite().all()),
        still=high - low < LEAST and (now.is_vector or high <= TWICE * low),
        same=leaders == [now.word] * 2,
        carries=carries,
        against=least >= NEEDED and least > most,
        head=head,
    )
    return title, (carries and rank_words(weights, head)) or both_words(now)


def both_words(now: Answered) -> str:
    """The answer in both models."""
    assert now.other is not None
    share = now.other.share
    return say(BOTH, now=now, shares=apart(now.before, share), moved=percent(share, 1))


def rank_words(weights: WeightChanges | None, head: Head) -> str:
    """The number of heads whose W_OV changed more than one's; "" where that is not known."""
    if weights is None or not weights.ov.isfinite().all():
        return say(RANK, most=None)
    ov = weights.ov
    return say(
        RANK, most=float(ov.abs().max()), more=rank_of(ov, head) - 1, last=rank_of(-ov, head) == 1
    )


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
        return say(WEIGHTS, told=None)
    told = "; ".join(
        f"{name} moved by {percent(float(each[head]), 2)}, the {ordinal(rank_of(each, head))}"
        for name, each in zip(MATRICES, weights, strict=True)
        if each.isfinite().all()
    )
    return say(WEIGHTS, told=told, head=head, heads=weights.ov.numel())


def chance_words(now: Answered, chance: Sequence[float]) -> str:
    """The change that a team undoes, beside that of as many other heads by chance."""
    assert now.other is not None
    undone, *others = (now.searched * (now.before - each) for each in (now.now, *chance))
    whole = points(abs(now.before - now.other.share))
    told = f"They undo {points(undone)} of {whole} {now.unit}"
    ends = [min(others), max(others)] if others else []
    return say(CHANCE, told=told, teams=len(others), others=others, ends=ends)


def moved_words(several: Sequence[Moved]) -> str:
    """The number of answers that are others in the tuned model, and by how much answers moved."""
    others = sum(one.leader != one.word for one in several)
    return say(OTHERS, of=len(several), others=others, by=median(one.by for one in several))


def moved_title(one: Moved) -> str:
    """The kind of a prompt, and the answer of the tuned model where that is another."""
    return say(PROMPT, one=one, leader=word_of(one.leader))
