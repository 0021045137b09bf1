"""Sentences on heads that go out one after the other, and on what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.losses_on_corpus import LOSSES_OVER
from attention.changing.change import Head
from attention.changing.team import DRAWS
from attention.core.printing import fixed
from attention.subjects.model.words import (
    Answered,
    apart,
    fall_words,
    name_of,
    percent,
    points,
)

COUNTS = ("no", "one", "two", "three", "four", "five", "six")
AS_MUCH = 0.5  # of a team's loss: if chance takes it too, the team is not to be believed
WORTH = 0.01  # of a loss that can be believed at all
QUESTION = "What does the answer need most?"
ASK_OTHERS = f"Not asked yet: {LOSSES_OVER} other sentences without these heads."


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
    """Describe what becomes of the answer as one head more goes out, in a sentence."""
    too = " too" if stage > 1 else ""
    goes = f"Head {name_of(head)} goes out{too}:"
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


def elsewhere_words(kind: str, elsewhere: tuple[float, float] | None, count: int) -> str:
    """The cost of a team's loss on other sentences, with its standard error."""
    others, them = f"{LOSSES_OVER} other sentences", "it" if count == 1 else "them"
    if elsewhere is None:
        return "Heads are set as in another sentence, so they cost nothing elsewhere."
    cost, error = elsewhere
    if kind == "vector":
        moved = f"{fixed(100 * cost, 1)} ± {fixed(100 * error, 1)} %"
        return f"The words of {others} move by {moved} without {them}."
    return f"{others} lose {fixed(cost, 3)} ± {fixed(error, 3)} nats a piece without {them}."


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


def chance_words(kind: str, count: int, loss: float, chance: Sequence[float]) -> str:
    """The loss of a team beside that of others by chance, and what to believe.

    loss, chance: of the answer, without the team and without each of the others.
    """
    if not chance:
        return "These layers have too few other heads to compare with."
    them = "it" if count == 1 else f"these {COUNTS[count]}"
    told = f"{_drawn(count, len(chance))}: {_range(kind, chance)}"
    if loss < WORTH:
        return f"{told}; without {them} the answer loses less than a point."
    if believed(loss, chance):
        return f"{told}; none does half as much as {them}: believe {them}."
    much = "as much" if max(chance) >= loss else "half as much or more"
    return f"{told}; one does {much}: do not believe {them}."


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
