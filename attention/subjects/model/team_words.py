"""Sentences on heads that go out one after the other, and on what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attention.analysis.losses_on_corpus import LOSSES_OVER
from attention.analysis.switches import Head
from attention.analysis.team import DRAWS
from attention.core.printing import fixed
from attention.subjects.model.words import (
    LEAST_SEEN,
    SURE,
    Answered,
    apart,
    fall_words,
    name_of,
    percent,
    points,
)

COUNTS = ("no", "one", "two", "three", "four", "five", "six")
HARDER = 0.1  # nats a piece, below which a cost elsewhere is little
AS_MUCH = 0.5  # of a team's loss: if chance takes it too, the team is not to be believed
NEARLY = 0.8  # of it, which is nearly as much
WORTH = 0.01  # of a loss that can be believed at all
QUESTION = "What does the answer need most?"
ASK_OTHERS = f"Not asked yet: {LOSSES_OVER} other sentences without these heads."


class First(NamedTuple):
    """The first head of a team: the loss of an answer without it, and without each of the others of
    its layer; rival: that of these without which it loses most, None where there is none."""

    loss: float
    chance: Sequence[float]
    rival: Head | None


def title_of(stage: int, head: Head | None) -> str:
    """The title of a stage: which head has gone out."""
    if head is None:
        return "All on"
    return f"{name_of(head)} off" if stage == 1 else f"and {name_of(head)}"


def looked_words(looked: tuple[str, float] | None) -> str:
    """Where a head looked most before it went out."""
    return "" if looked is None else f"looked at {looked[0]}, {percent(looked[1])}"


def tried_words(tried: int | None, heads: int) -> str:
    """The number of heads a head was found among; "" where it was not searched for."""
    if tried is None:
        return ""
    return f"worst of all {heads}" if tried == heads else f"worst of {tried} of {heads} tried"


def begin_words(answered: Answered) -> str:
    """The answer with all heads on."""
    if answered.kind == "vector":
        return f"With all heads on the vector of “{answered.word}” stays as it is."
    verb = "writes" if answered.kind == "written" else "says"
    return f"With all heads on the model {verb} “{answered.word}” ({percent(answered.before)})."


def step_words(before: Answered, now: Answered, head: Head, stage: int) -> str:
    """Describe what becomes of the answer as one head more goes out, in a few sentences."""
    too = " too" if stage > 1 else ""
    goes = f"Head {name_of(head)} goes out{too}:"
    if now.kind == "vector":
        moved = f"the vector of “{now.word}” has moved by {percent(now.now)}"
        return f"{goes} {moved}{f', before by {percent(before.now)}' if stage > 1 else ''}."
    was, then = apart(before.now, now.now)
    told = [f"{goes} “{now.word}” {_moves(before.now, now.now, was, then)}."]
    if now.kind != "piece":
        return told[0]
    (led, share), (leads, after) = before.leader, now.leader
    if leads != led and leads != now.word:
        told.append(f"The model now says “{leads}” ({percent(after)}).")
    elif leads != led:
        told.append(f"The model says “{leads}” again.")
    elif leads != now.word:
        was, then = apart(share, after)
        told.append(f"“{leads}” {_moves(share, after, was, then)}.")
    return " ".join(told)


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


def elsewhere_words(kind: str, elsewhere: tuple[float, float] | None, count: int) -> str:
    """The cost of a team's loss on other sentences, no surer than its standard error."""
    others, them = f"{LOSSES_OVER} other sentences", "it" if count == 1 else "them"
    if elsewhere is None:
        return "Heads are set as in another sentence, so they cost nothing elsewhere."
    cost, error = elsewhere
    if kind == "vector":
        moved = f"{fixed(100 * cost, 1)} ± {fixed(100 * error, 1)} %"
        return f"The words of {others} move by {moved} without {them}."
    told = f"{fixed(cost, 3)} ± {fixed(error, 3)} nats a piece"
    if abs(cost) <= SURE * error or abs(cost) < LEAST_SEEN:
        return f"On {others} {told}: a little, or nothing."
    if cost < 0:
        gain = f"{fixed(-cost, 3)} ± {fixed(error, 3)} nats a piece"
        return f"{others} even become a little easier to predict: {gain}."
    if cost < HARDER:
        return f"{others} become a little harder to predict: {told}."
    return f"{others} become harder to predict: {told}. Not this answer alone needs {them}."


def ask_chance(count: int) -> str:
    """Tell that a comparison with chance is not worked out yet."""
    if count == 1:
        return "Not tried yet: the other heads of its layer."
    return f"Not tried yet: {DRAWS} times {COUNTS[count]} other heads of the same layers."


def losses_of(answered: Answered, metrics: Sequence[float]) -> list[float]:
    """By how much an answer loses, given its metric without some heads."""
    return [answered.sign * (answered.before - metric) for metric in metrics]


def believed(loss: float, chance: Sequence[float]) -> bool:
    """True if heads take something from an answer, of which no others by chance take half."""
    return loss >= WORTH and max(chance, default=0.0) < AS_MUCH * loss


def chance_words(
    kind: str, count: int, loss: float, chance: Sequence[float], first: First | None
) -> str:
    """The loss of a team beside that of others by chance, and what to believe.

    loss, chance: of the answer, without the team and without each of the others; first: its first
    head beside the others of its layer, None where that is not known.
    """
    if not chance:
        return "These layers have too few other heads to compare with."
    them = "it" if count == 1 else f"these {COUNTS[count]}"
    told = f"{_drawn(count, len(chance))}: {_range(kind, chance)}."
    if loss < WORTH:
        return f"{told} Without {them} the answer loses less than a point."
    if believed(loss, chance):
        none = "No other does" if count == 1 else "No others do"
        return f"{told} {none} half as much as {them}: believe {'it' if count == 1 else 'them'}."
    much = _as_much(loss, max(chance))
    if count == 1:
        rival = name_of(first.rival) if first and first.rival else "another"
        return f"{told} Here {rival} does {much}: do not believe this head alone."
    if first is not None and believed(first.loss, first.chance):
        return f"{told} Here chance does {much}: believe the first head, not the {COUNTS[count]}."
    told = f"{told} Here chance does {much}: do not believe {them}."
    if first is not None and first.rival and first.loss >= WORTH:
        alone = _as_much(first.loss, max(first.chance))
        told += f" Nor the first alone: {name_of(first.rival)} by itself does {alone}."
    return told


def _as_much(loss: float, most: float) -> str:
    """The part of a loss that chance does, which is half of it or more, in words."""
    if most >= loss:
        return "as much"
    return "nearly as much" if most >= NEARLY * loss else "half of it, or more"


def _drawn(count: int, draws: int) -> str:
    if count == 1:
        others = f"Each of the {draws} other heads" if draws > 1 else "The other head"
        return f"{others} of its layer"
    times = "Once" if draws == 1 else f"{draws} times"
    return f"{times} {COUNTS[count]} other heads of the same layers"


def _range(kind: str, chance: Sequence[float]) -> str:
    mean = sum(chance) / len(chance)
    if kind == "vector":
        low, high, middle = (percent(share) for share in (min(chance), max(chance), mean))
        return f"the vector moves by {low} to {high}, on average {middle}"
    low, high, middle = (_signed(-loss) for loss in (max(chance), min(chance), mean))
    return f"from {low} to {high} points, on average {middle}"


def _signed(share: float) -> str:
    number = points(share)
    return f"+{number}" if share > 0 and float(number) else number
