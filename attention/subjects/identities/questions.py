"""Statements that are true or false: each is guessed first, then both of its sides are compared."""

from __future__ import annotations

from dataclasses import dataclass

from attention.subjects.identities.claim import ClaimResult
from attention.subjects.identities.identities import ClaimSettings, check_claim, random_case

TRUE, FALSE, SHOWN = "t", "f", "s"  # of a guess in a link; SHOWN: seen without one
TITLES = {TRUE: "True", FALSE: "False"}


@dataclass(frozen=True)
class Question:
    """A statement, and the check of a claim, or of a mistake, that decides it.

    at: which of its checks; None: it has none, and is seen without a guess.
    """

    statement: str
    claim: str
    at: int | None = 0
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
        return TRUE if self.at is not None and checked.checks[self.at].same else FALSE


QUESTIONS = (
    Question("It does not matter where you scale: the queries, the keys or their scores.", "scale"),
    Question(
        "Softmax over the queries gives the same weights as over the keys.", "mistakes", 0, "dim"
    ),
    Question("One matrix can do the work of both W_q and W_k.", "merge"),
    Question("Shuffled words give the same outputs, shuffled.", "permute"),
    Question("With a causal mask, too, shuffled words give the same outputs.", "permute", 1),
    Question("Padding whose scores become 0 is hidden.", "mistakes", 0, "fill"),
    Question(
        "Scores of −10⁹ hide padding as −∞ does, where a query has any key left.",
        *("mistakes", 1, "finite"),
    ),
    Question("Averaging x gives the same output as averaging the values.", "mistakes"),
    Question("Average first or multiply by W_v first: the output is the same.", "values"),
    Question("Additive attention gives the same weights without its tanh.", "mistakes", 0, "tanh"),
    Question("Heads never meet, nor do the sentences of a batch.", "leading"),
    Question("A matrix Z that solves X Z = scores serves another sentence, too.", "merge", 2),
    Question("When two words change places, their weights go with them.", "influence"),
    Question("Queries by W_k and keys by W_q give the same scores.", "mistakes", 0, "exchange"),
    Question("(X W_q)(X W_k)ᵀ is X (W_q W_kᵀ) Xᵀ.", "mistakes", 1, "order"),
    Question(
        "Dividing by the count of all numbers gives the same weights as by √d_k.",
        *("mistakes", 0, "count"),
    ),
    Question("Attention on attention makes all words alike.", "stack", None),
)


def guess_of(guesses: str, at: int) -> str:
    """The guess on a question, `SHOWN` where it is seen without one, "" before. guesses: of all."""
    guess = guesses[at : at + 1]
    if QUESTIONS[at].at is None:
        return SHOWN
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
    asked = sum(question.at is not None for question in QUESTIONS)
    return f"{right} of {len(guessed)} right, {asked - len(guessed)} to go."
