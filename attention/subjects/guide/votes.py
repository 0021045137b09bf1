"""The two votes of a class on one question, from the first one to the answer, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Vote = Literal["first", "second"]
Phase = Literal["first", "talk", "second", "closed", "revealed"]
Move = Literal["close", "again", "reveal", "anew"]

VOTES: tuple[Vote, ...] = get_args(Vote)  # each is open in the phase of its name
MOVES: Mapping[Move, Mapping[Phase, Phase]] = {
    "close": {"first": "talk", "second": "closed"},
    "again": {"talk": "second"},
    "reveal": dict.fromkeys(("first", "talk", "second", "closed"), "revealed"),
}


@dataclass(frozen=True)
class Ballot:
    """Votes on a question. first, second: what each voter has chosen, from 0; is_anew: votes before
    these were cleared. Once the answer is revealed, only beginning anew opens a vote."""

    phase: Phase = "first"
    first: Mapping[str, int] = field(default_factory=dict)
    second: Mapping[str, int] = field(default_factory=dict)
    is_anew: bool = False

    @property
    def begins_anew(self) -> bool:
        """True while the first vote is open whose votes before were cleared."""
        return self.is_anew and self.phase == "first"

    @property
    def moves(self) -> list[Move]:
        """The moves that lead on from here, the next one first."""
        return [move for move, phases in MOVES.items() if self.phase in phases]

    def moved(self, move: Move) -> Ballot:
        """The ballot in the phase that a move of the teacher leads to, the same where it leads to
        none from here; "anew" clears both votes."""
        if move == "anew":
            return Ballot(is_anew=True)
        return replace(self, phase=MOVES[move].get(self.phase, self.phase))

    def voted(self, voter: str, choice: int | None) -> Ballot:
        """The ballot with a choice in the open vote, None takes it back; the same where none is."""
        if self.phase not in VOTES:
            return self
        votes = {name: it for name, it in self.of(self.phase).items() if name != voter}
        now = votes if choice is None else {**votes, voter: choice}
        return replace(self, first=now) if self.phase == "first" else replace(self, second=now)

    def of(self, vote: Vote) -> Mapping[str, int]:
        """The choices in a vote, by their voters."""
        return self.first if vote == "first" else self.second

    def choice(self, voter: str) -> int | None:
        """The choice that a voter sees: in the vote that is or was on, at the end the last one."""
        if self.phase in ("first", "talk"):
            return self.first.get(voter)
        second = self.second.get(voter)
        return self.first.get(voter) if second is None and self.phase == "revealed" else second

    def turned(self, answer: int) -> tuple[int, int]:
        """Numbers of voters who went from wrong to right, and from right to wrong."""
        both = [(self.first[each] == answer, self.second[each] == answer) for each in self.in_both]
        return both.count((False, True)), both.count((True, False))

    @property
    def in_both(self) -> frozenset[str]:
        """All who have voted twice."""
        return frozenset(self.first.keys() & self.second.keys())
