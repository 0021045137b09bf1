"""A lesson that a link carries, and the result code that a learner hands in. Nothing is stored."""

from __future__ import annotations

import base64
import binascii
import functools
import random
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attention.core.settings import text
from attention.subjects.guide.chapters import MAX_CHOICES, Lesson
from attention.subjects.guide.reading import MAX_LESSON, MAX_PROBLEMS, text_told
from attention.subjects.guide.votes import VOTES, Ballot, Vote

LONGEST = 6000  # letters of a packed lesson; an address of 8,000 is taken everywhere
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # no I, L, O and U, which are mistaken for others
LOOKS_LIKE = str.maketrans("ILO", "110")
CHECKS = len(LETTERS) ** 2
MOST_CODES = 500
SEPARATED = re.compile(r"[,;]|(?=×)")
TIMES = re.compile(r"×(\d{1,3})")  # behind a code: so many learners have it
EXAMPLE = Path(__file__).with_name("example.md").read_text("utf-8")


@dataclass(frozen=True)
class CarriedSettings:
    """A lesson within a link."""

    carried: str = text("", "Lesson in the link", LONGEST)


def pack(lesson: str) -> str:
    """The text of a lesson as letters that a link carries.

    Raises ValueError where they are too many.
    """
    packed = base64.urlsafe_b64encode(zlib.compress(lesson.encode(), 9)).decode().rstrip("=")
    if len(packed) > LONGEST:
        raise ValueError(
            f"a link carries up to {LONGEST} letters, this lesson takes {len(packed)}: save it as "
            "a file, or make it shorter"
        )
    return packed


def unpack(packed: str) -> str:
    """The text of a lesson that a link carries. Raises ValueError where it is none."""
    try:
        if len(packed) > LONGEST:
            raise ValueError
        content = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(content, 4 * MAX_LESSON)  # of UTF-8
        if unpacking.unconsumed_tail or not unpacking.eof:
            raise ValueError
        return found.decode()
    except (binascii.Error, zlib.error, ValueError):
        raise ValueError("the link carries no lesson that can be read; is it whole?") from None


def is_whole(packed: str) -> bool:
    """True if a link carries a text that can be read."""
    try:
        return bool(unpack(packed))
    except ValueError:
        return False


@functools.lru_cache(maxsize=256)  # up to 6 kB each
def told(packed: str) -> tuple[str, str] | None:
    """The title of a lesson that a link carries, and a line on it; None where there is none."""
    try:
        return text_told(unpack(packed))
    except ValueError:
        return None


@dataclass(frozen=True)
class Result:
    """Choices of one learner in each chapter, None where nothing was chosen; vote: whether at
    first, or in the second vote of a class."""

    guesses: tuple[int | None, ...]
    vote: Vote = "first"

    def right(self, lesson: Lesson) -> int:
        """Number of these that are the right ones."""
        pairs = zip(self.guesses, lesson.chapters, strict=True)
        return sum(guess == chapter.answer for guess, chapter in pairs)


def code_of(result: Result, lesson: Lesson) -> str:
    """A result as letters and digits, in fours; the last two letters check it.

    Another vote makes other letters, other questions, choices or answers make another check.
    """
    number = 1 + VOTES.index(result.vote)
    for guess in result.guesses:
        number = number * (MAX_CHOICES + 1) + (0 if guess is None else guess + 1)
    letters = _letters(number) + _check(number, lesson)
    return "-".join(letters[at : at + 4] for at in range(0, len(letters), 4))


def codes_of(voter: str, ballots: Sequence[Ballot], lesson: Lesson) -> list[str]:
    """A code for each vote in which somebody has chosen anything. ballots: one for each chapter."""
    results = [Result(tuple(each.of(vote).get(voter) for each in ballots), vote) for vote in VOTES]
    return [code_of(result, lesson) for result in results if {*result.guesses} - {None}]


def result_of(code: str, lesson: Lesson) -> Result:
    """The result that a code says. Raises ValueError where it is not one of this lesson."""
    letters = _canonical(code)
    if len(letters) < 3 or set(letters) - set(LETTERS):
        raise ValueError("a code is letters and digits, as in 1A2B-3C")
    number = 0
    for letter in letters[:-2]:
        number = number * len(LETTERS) + LETTERS.index(letter)
    if letters[-2:] != _check(number, lesson):
        raise ValueError("this code does not belong to this lesson. Check the spelling")
    guesses: list[int | None] = []
    while number > len(VOTES):
        number, guess = divmod(number, MAX_CHOICES + 1)
        guesses.insert(0, guess - 1 if guess else None)
    if not number or len(guesses) != len(lesson.chapters):
        raise ValueError("this code does not belong to this lesson. Check the spelling")
    return Result(tuple(guesses), VOTES[number - 1])


def answers_of(code: str, lesson: Lesson) -> Result:
    """The result that a code says. Raises ValueError as `result_of`, and where it has no answer."""
    result = result_of(code, lesson)
    if {*result.guesses} <= {None}:
        raise ValueError("no answer is in this code")
    return result


def _letters(number: int) -> str:
    letters = ""
    while number or not letters:
        number, at = divmod(number, len(LETTERS))
        letters = LETTERS[at] + letters
    return letters


def asked_of(lesson: Lesson) -> str:
    """Everything that a lesson asks, which the last letters of a code check."""
    return str([(each.question, each.choices, each.answer) for each in lesson.chapters])


def _check(number: int, lesson: Lesson) -> str:
    told = f"{number} {asked_of(lesson)}"
    first, second = divmod(zlib.crc32(told.encode()) % CHECKS, len(LETTERS))
    return LETTERS[first] + LETTERS[second]


@dataclass(frozen=True)
class Class:
    """The results of a class, and in words which codes could not be read.

    repeats: by code how often it stands there, where that is more often than it is counted.
    """

    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()
    repeats: Mapping[str, int] = field(default_factory=dict)

    def answered(self, chapter: int, vote: Vote = "first") -> int:
        """Number of learners who have chosen something in a vote on a chapter's question."""
        return sum(result.guesses[chapter] is not None for result in self.of(vote))

    def counts(self, chapter: int, choices: int, vote: Vote = "first") -> list[int]:
        """Number of learners who chose each of the choices of a chapter in a vote."""
        chosen = Counter(result.guesses[chapter] for result in self.of(vote))
        return [chosen[choice] for choice in range(choices)]

    def of(self, vote: Vote) -> list[Result]:
        """The results of a vote."""
        return [result for result in self.results if result.vote == vote]

    def scores(self, lesson: Lesson) -> list[int]:
        """Numbers of learners who have 0, 1, … all right at first."""
        right = Counter(result.right(lesson) for result in self.of("first"))
        return [right[count] for count in range(len(lesson.chapters) + 1)]


def read_class(pasted: str, lesson: Lesson, sent: Sequence[str] = ()) -> Class:
    """The results of codes with blanks, commas or line ends between them, and of those sent.

    A code counts once, be it typed twice, or typed and sent, as it may be the same learner's: `×2`
    behind it says that two learners have it. sent: codes of as many learners, of this lesson.
    """
    found = _counted(pasted)
    results: list[Result] = []
    problems, repeats = [], {}
    learners = Counter(map(_canonical, sent))
    for number, (code, (told, said, stands)) in enumerate(found.items(), 1):
        try:
            result = answers_of(told, lesson)
        except ValueError as error:
            problems.append(f"Code {number}, “{told[:40]}”, is not counted: {error}.")
            continue
        count = max(said, learners.pop(code, 0))
        results += [result] * min(count, MOST_CODES - len(results))
        if stands > count:
            repeats[code] = stands
    for code, count in learners.items():
        results += [answers_of(code, lesson)] * min(count, MOST_CODES - len(results))
    if more := len(problems[MAX_PROBLEMS:]):
        problems[MAX_PROBLEMS:] = [f"{more} more codes are not counted."]
    total = sum(said for _, said, _ in found.values())
    if total > MOST_CODES:
        problems.append(f"Only the first {MOST_CODES} of {total} codes are counted.")
    return Class(tuple(results), tuple(problems), repeats)


def with_repeats(pasted: str) -> str:
    """The list of codes in which each that stands there several times is said to count so often."""
    return "\n".join(
        told if max(said, stands) == 1 else f"{told} ×{max(said, stands)}"
        for told, said, stands in _counted(pasted).values()
    )


def made_up(lesson: Lesson, learners: int = 24) -> str:
    """Codes of an example class, the same for the same lesson: three of five choices are right."""
    draw = random.Random(learners)
    codes = []
    for _ in range(learners):
        guesses = [
            each.answer if draw.random() < 0.6 else draw.randrange(len(each.choices))
            for each in lesson.chapters
        ]
        codes.append(code_of(Result(tuple(guesses)), lesson))
    return with_repeats(" ".join(codes))


def _canonical(code: str) -> str:
    return code.upper().translate(LOOKS_LIKE).replace("-", "")


def _counted(pasted: str) -> dict[str, tuple[str, int, int]]:
    """Each code of a list: as it is written, for how many learners it is said to stand, and how
    often it stands there."""
    found: dict[str, tuple[str, int, int]] = {}
    last = ""
    for word in SEPARATED.sub(" ", pasted).split():
        times = TIMES.fullmatch(word)
        if times and last:
            told, said, stands = found[last]
            found[last] = told, said - 1 + max(int(times[1]), 1), stands - 1 + max(int(times[1]), 1)
        elif not times:
            last = _canonical(word)
            told, said, stands = found.get(last, (word, 1, 0))
            found[last] = told, said, stands + 1
    return found
