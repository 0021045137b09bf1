"""Statements that are true or false: each is guessed first, then both of its sides are compared."""

from __future__ import annotations

from dataclasses import dataclass

from attention.subjects.identities.claim import ClaimResult
from attention.subjects.identities.identities import ClaimSettings, check_claim, random_case

TRUE, FALSE, SHOWN = "t", "f", "s"  # of a guess in a link; SHOWN: seen without one
TITLES = {TRUE: "True", FALSE: "False"}


@dataclass(frozen=True)
class Question:
    """A statement, and the check of a claim, or of a mistake, that decides it. at: which of its
    checks."""

    statement: str
    claim: str
    at: int = 0
    mistake: str = "values"

    @property
    def settings(self) -> ClaimSettings:
        """Settings of the claim, on a few random numbers."""
        return ClaimSettings(self.claim, mistake=self.mistake)

    def checked(self) -> ClaimResult:
        """Both sides of the claim, computed."""
        return check_claim(self.claim, random_case(self.settings))

    def answer(self, checked: ClaimResult) -> str:
        """`TRUE` or `FALSE`, as the check of its claim has come out."""
        return TRUE if checked.checks[self.at].same else FALSE


QUESTIONS = (
    Question("It does not matter where you scale: the queries, the keys or their scores.", "scale"),
    Question("Averaging x gives the same output as averaging the values.", "mistakes"),
    Question("Additive attention gives the same weights without its tanh.", "mistakes", 0, "tanh"),
    Question("One matrix can do the work of both W_q and W_k.", "merge"),
    Question("A matrix Z that solves X Z = scores serves another sentence, too.", "merge", 2),
    Question("Shuffled words give the same outputs, shuffled.", "permute"),
    Question("Heads never meet, nor do the sentences of a batch.", "leading"),
    Question("Padding whose scores become 0 is hidden.", "mistakes", 0, "fill"),
    Question("When two words change places, their weights go with them.", "influence"),
    Question(
        "Dividing by the count of all numbers gives the same weights as by √d_k.",
        *("mistakes", 0, "count"),
    ),
)

FIRST = (0, 1, 3, 5, 7)  # their places; links have the guesses by these
FURTHER = tuple(at for at in range(len(QUESTIONS)) if at not in FIRST)  # which are folded


def guess_of(guesses: str, at: int) -> str:
    """The guess on a question, `SHOWN` where it is seen without one, "" before."""
    guess = guesses[at : at + 1]
    return guess if guess in (TRUE, FALSE, SHOWN) else ""


def with_guess(guesses: str, at: int, guess: str) -> str:
    """Guesses with that on one question set."""
    letters = [*guesses.ljust(len(QUESTIONS), "-")[: len(QUESTIONS)]]
    letters[at] = guess
    return "".join(letters)


def all_shown(guesses: str) -> str:
    """Guesses with those shown that are not guessed yet."""
    return "".join(guess_of(guesses, at) or SHOWN for at in range(len(QUESTIONS)))


def tally(guesses: str) -> str:
    """Say of how many guesses how many are right, and how many are left."""
    made = {at: guess_of(guesses, at) for at in range(len(QUESTIONS))}
    guessed = {at: guess for at, guess in made.items() if guess in TITLES}
    if not guessed:
        return "True or false? Guess first: then both sides are computed, and compared."
    right = sum(QUESTIONS[at].answer(QUESTIONS[at].checked()) == it for at, it in guessed.items())
    return f"{right} of {len(guessed)} right, {len(QUESTIONS) - len(guessed)} to go."
