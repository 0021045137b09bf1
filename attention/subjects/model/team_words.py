"""Sentences on heads that go out one after the other, and on what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.means_on_corpus import LOSSES_OVER
from attention.atlas.claims import AS_MUCH
from attention.atlas.passport import Mean
from attention.atlas.words import capital
from attention.changing.change import Head
from attention.core.printing import fixed
from attention.subjects.model.team_numbers import OTHERS
from attention.subjects.model.words import (
    Answered,
    apart,
    fall_words,
    name_of,
    percent,
    points,
)

COUNTS = ("no", "one", "two", "three", "four", "five", "six")
WORTH = 0.01  # of a loss that can be believed at all
QUESTION = "What does the answer need most?"
ASK_CHANCE = (
    f"Not tried yet: the same search among random directions, and for {OTHERS} other answers."
)
ASK_OTHER_HEADS = "Not tried yet: as many other heads of the same layers."
ASK_OTHERS = f"Not asked yet: {LOSSES_OVER} other sentences without these heads."


def title_of(now: Answered, stage: int, head: Head | None) -> str:
    """The title of a stage: which head has gone out."""
    if head is None:
        return "All on" if now.other is None else f"All as in {now.other.own}"
    gone = "off" if now.other is None else f"as in {now.other.name}"
    return f"{name_of(head)} {gone}" if stage == 1 else f"and {name_of(head)}"


def looked_words(looked: tuple[str, float] | None) -> str:
    """Where a head looked most before it went out."""
    return "" if looked is None else f"looked at {looked[0]}, {percent(looked[1])}"


def tried_words(tried: int | None, heads: int) -> str:
    """The number of heads a head was found among; "" where it was not searched for."""
    if tried is None:
        return ""
    return (
        f"strongest of all {heads}" if tried == heads else f"strongest of {tried} of {heads} tried"
    )


def begin_words(answered: Answered) -> str:
    """The answer with all heads on."""
    if answered.kind == "vector":
        return f"With all heads on the vector of “{answered.word}” stays as it is."
    verb = "writes" if answered.kind == "written" else "says"
    if answered.other is not None:
        model = answered.other.own
        return f"{capital(model)} {verb} “{answered.word}” ({percent(answered.before)})."
    return f"With all heads on the model {verb} “{answered.word}” ({percent(answered.before)})."


def step_words(before: Answered, now: Answered, head: Head, stage: int) -> str:
    """Describe what becomes of the answer as one head more goes out, in a sentence."""
    too = " too" if stage > 1 else ""
    goes = f"Head {name_of(head)} goes out{too}:"
    if now.other is not None:
        goes = f"Head {name_of(head)}{too} as in {now.other.name}:"
    if now.kind == "vector":
        moved = f"the vector of “{now.word}” has moved by {percent(now.now)}"
        return f"{goes} {moved}{f', before by {percent(before.now)}' if stage > 1 else ''}."
    told = f"{goes} “{now.word}” {_moves(before.now, now.now, *apart(before.now, now.now))}"
    if now.kind == "piece" and now.leader[0] != now.word:
        told += f"; the model now says “{now.leader[0]}” ({percent(now.leader[1])})"
    return f"{told}."


def _moves(before: float, after: float, was: str, then: str) -> str:
    if was == then:
        return f"stays at {then}"
    return f"{'falls' if after < before else 'rises'} from {was} to {then}"


def total_words(last: Answered, off: Sequence[Head]) -> str:
    """The answer without all of some heads, and what the model says then."""
    which = f"head {name_of(off[0])}" if len(off) == 1 else f"these {COUNTS[len(off)]} heads"
    told = fall_words(last, last.now, which)
    if last.kind == "piece" and last.leader[0] != last.word:
        told += f" The model says “{last.leader[0]}” ({percent(last.leader[1])})."
    return told


def costs_title(count: int) -> str:
    """The title of what a team costs elsewhere."""
    return "Its cost elsewhere" if count == 1 else f"The cost of these {COUNTS[count]} elsewhere"


def elsewhere_words(kind: str, elsewhere: Mean, count: int) -> str:
    """The cost of a team's loss on other sentences, with its 95 % interval."""
    others, them = f"{LOSSES_OVER} other sentences", "it" if count == 1 else "them"
    cost, error = elsewhere.mean, (elsewhere.high - elsewhere.low) / 2
    if kind == "vector":
        moved = f"{fixed(100 * cost, 1)} ± {fixed(100 * error, 1)} %"
        return f"The words of {others} move by {moved} without {them}."
    return f"{others} lose {fixed(cost, 3)} ± {fixed(error, 3)} nats a piece without {them}."


def losses_of(answered: Answered, metrics: Sequence[float]) -> list[float]:
    """By how much an answer loses, given its metric without some heads."""
    return [answered.sign * (answered.before - metric) for metric in metrics]


def believed(loss: float, chance: Sequence[float]) -> bool:
    """True if heads take something from an answer, of which no search by chance takes half."""
    return loss >= WORTH and max(chance, default=0.0) < AS_MUCH * loss


def chance_words(
    kind: str, count: int, loss: float, directions: int, turned: float, others: Sequence[float]
) -> str:
    """The loss of a team beside that of the same search by chance, and what to believe.

    loss: of the answer without the team; directions: how many random ones the search has tried,
    turned: the loss there; others: the loss without the teams found for other answers.
    """
    them = "it" if count == 1 else f"these {COUNTS[count]}"
    unit = "%" if kind == "vector" else "points"
    found = "heads" if count == 1 else "teams"
    told = f"The same search among {directions} random directions takes {points(turned)} {unit}"
    if others:
        low, high = points(min(others)), points(max(others))
        told += f"; {found} that it finds for {len(others)} other answers take {low} to {high} here"
    if loss < WORTH:
        return f"{told}. Without {them} the answer loses less than a point."
    if believed(loss, [turned, *others]):
        return f"{told}. None is half as much as {them}: believe {them}."
    return f"{told}. That is half as much as {them}, or more: do not believe {them}."


def reworded_words(
    loss: float, before: float, reworded: Sequence[tuple[str, float, float]], begun: bool = False
) -> str:
    """The loss of the same answer in other words, and what the team is one of.

    loss, before: of the answer; reworded: see `team_numbers.Beside`; begun: whether the texts are
    the same words behind other beginnings.
    """
    where = "Behind other beginnings" if begun else "In other words"
    if not reworded:
        return f"{where} the model gives other answers: nothing to compare with."
    told = "; ".join(
        f"“{text}”: {percent(share)} → {percent(now)}" for text, share, now in reworded
    )
    share = AS_MUCH * loss / before
    holds = sum(has - now >= share * has for _, has, now in reworded)
    some = f"{holds} of {len(reworded)}"
    if begun:
        far = f"holds behind {some} other beginnings; the sentence in other words was not tried"
        return f"{told}. So it {far}."
    if 0 < holds < len(reworded):
        return f"{told}. So it holds in {some}."
    if holds:
        return f"{told}. So it is a team of the thought, not of these words alone."
    return f"{told}. So it is a team of this sentence alone."
