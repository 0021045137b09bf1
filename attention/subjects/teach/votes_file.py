"""The votes of a class as CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from attention.figures import files
from attention.subjects.guide.carried import Class, code_of, codes_of, result_of
from attention.subjects.guide.chapters import Lesson
from attention.subjects.guide.classes import Room
from attention.subjects.guide.votes import VOTES, Ballot

COLUMNS = ("question", "asked", "first vote", "second vote")
Row = tuple[str, int, list[int | None]]  # pupil, position of the question, choice in each vote


def votes(lesson: Lesson, found: Class, ballots: Sequence[Ballot], room: Room | None) -> str:
    """Votes as CSV: a row for each pupil and question, with the choice in each vote.

    A pupil is a number, in the order in which they have joined, or else a code that was typed.
    ballots: one for each chapter, none without a class.
    """
    names, lines = [], []
    for pupil, at, chosen in _rows(lesson, found, ballots, room):
        chapter = lesson.chapters[at]
        said = [None if each is None else chapter.plain_choices[each] for each in chosen]
        names.append(pupil)
        lines.append([at + 1, chapter.plain_question, *said])
    return files.written(names, COLUMNS, lines, "pupil")


def _rows(
    lesson: Lesson, found: Class, ballots: Sequence[Ballot], room: Room | None
) -> Iterator[Row]:
    typed = Counter(found.results)
    for number, name in enumerate(room.pupils if room else (), 1):
        typed.subtract(result_of(code, lesson) for code in codes_of(name, ballots, lesson))
        for at, ballot in enumerate(ballots):
            chosen = [ballot.of(vote).get(name) for vote in VOTES]
            if {*chosen} - {None}:
                yield str(number), at, chosen
    for result in typed.elements():
        for at, guess in enumerate(result.guesses):
            if guess is not None:
                chosen = [guess if vote == result.vote else None for vote in VOTES]
                yield code_of(result, lesson), at, chosen
