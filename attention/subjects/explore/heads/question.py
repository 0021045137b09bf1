"""A question about the pictures of all heads of a layer, and the reply to a guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.analysis.heads import Overview
from attention.core.printing import percent

CLEAR = 0.5  # of its attention: a head that has so much of it there does little else
CLOSE = 0.05  # shares no further apart cannot be told apart in a picture
# Of each measure that a picture shows: what such a head does, and where its attention lies.
LOOKS = {
    "previous": ("looks one word back", "one word back"),
    "next": ("looks one word ahead", "one word ahead"),
    "itself": ("looks at the word itself", "on the word itself"),
    "first": ("looks at the first word", "on the first word"),
}


@dataclass(frozen=True)
class HeadQuestion:
    """Question which head of a layer puts the most attention on one kind of token.

    measure: one of `LOOKS`; shares: of each head's attention, on average over the queries.
    """

    measure: str
    shares: Sequence[float]

    @property
    def best(self) -> int:
        """The head that is asked for."""
        return max(range(len(self.shares)), key=self.shares.__getitem__)

    @property
    def lead(self) -> float:
        """Distance of the greatest share from the next."""
        next_one, greatest = sorted(self.shares)[-2:]
        return greatest - next_one

    @property
    def words(self) -> str:
        """The question, which says so where even the best of the heads does mostly something
        else."""
        does = LOOKS[self.measure][0]
        if self.shares[self.best] >= CLEAR:
            return f"Which head {does}?"
        return f"Which head {does} more than the others?"

    def verdict(self, guess: int) -> list[str]:
        """Reply to a guess, in parts, every second of which stands out."""
        best, lies = self.best, LOOKS[self.measure][1]
        greatest, share = percent(self.shares[best], 1), percent(self.shares[guess], 1)
        if guess == best:
            others = [share for head, share in enumerate(self.shares) if head != best]
            return [
                "Right: ",
                f"head {best}",
                f" has {greatest} of its attention {lies}, the next one {percent(max(others), 1)}.",
            ]
        near = self.shares[best] - self.shares[guess] < CLOSE
        return [
            f"{'Nearly' if near else 'No'}: head {guess} has {share} of its attention {lies}, ",
            f"head {best}",
            f" has {greatest}.",
        ]


def question_on(seen: Overview) -> HeadQuestion | None:
    """The question that the heads of a layer suit: the first of `LOOKS` in which one of them is
    clearly ahead, else that in which it is furthest ahead; None where heads are alike."""
    asked = [
        HeadQuestion(name, seen.measures[name].tolist()) for name in LOOKS if name in seen.measures
    ]
    if not asked or len(asked[0].shares) < 2 or seen.rows[1] < 2:
        return None
    for one in asked:
        if one.shares[one.best] >= CLEAR and one.lead >= CLOSE:
            return one
    furthest = max(asked, key=lambda one: one.lead)
    return furthest if furthest.lead >= CLOSE else None
