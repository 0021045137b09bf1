"""Scenes of the answers of a class: codes that are not counted, and choices with their counts."""

from __future__ import annotations

from collections.abc import Sequence

from attention.figures.scene import Scene, Words, heading, scene
from attention.subjects.guide.carried import Class
from attention.subjects.guide.chapters import Lesson
from attention.subjects.guide.votes import VOTES, Ballot, Vote
from attention.subjects.teach import figures
from attention.subjects.teach.figures import Choices


def codes(answers: Class) -> Scene:
    """Codes that are not counted, and where those are that are."""
    twice = [
        f"“{code}” stands there {count} times, and is counted as one learner's."
        for code, count in answers.repeats.items()
    ]
    kept = Words("These codes stand in the address of this page, and nowhere else.")
    return scene(*(Words(words, "told") for words in (*answers.problems, *twice)), kept)


def scores(answers: Class, lesson: Lesson) -> Scene:
    """Numbers of learners by how many questions they have right."""
    counts = answers.scores(lesson)
    names = [f"{right} of {len(lesson.chapters)} right" for right in range(len(counts))]
    title = "learners by right answers"
    return scene(figures.choices(title, names, {"first": counts}, key="scores"))


def choices(
    answers: Class, lesson: Lesson, position: int, ballot: Ballot, joined: int | None = None
) -> Scene:
    """The choices of one question: counted once both votes are closed or the answer is revealed,
    which marks the right one.

    joined: number of those who have opened the link of the class, None where no class is open.
    """
    counted = ballot.phase in ("closed", "revealed")
    table = _counted(answers, lesson, position, counted, ballot.phase == "revealed")
    count = f"{joined or 'nobody'} in the class"
    told = [" · ".join([_votes(answers, position, ballot), *([] if joined is None else [count])])]
    if ballot.phase == "talk":
        told.append("Talk it over: who chose otherwise, and why?")
    if counted and ballot.second:
        right, wrong = ballot.turned(lesson.chapters[position].answer)
        once = len(ballot.first.keys() ^ ballot.second.keys())
        told.append(
            f"From wrong to right {right}, from right to wrong {wrong}"
            f"{f'; voted only once: {once}' if once else ''}."
        )
    return scene(table, *(Words(words, "told") for words in told))


def _votes(answers: Class, position: int, ballot: Ballot) -> str:
    """Number of answers in the vote that is or was on, in words; of both once the answer is
    revealed."""
    phase = ballot.phase
    votes: Sequence[Vote] = ("second",) if phase in ("second", "closed") else ("first",)
    if phase == "revealed" and answers.answered(position, "second"):
        votes = VOTES
    so_far = " so far" if phase in VOTES else ""
    told = ["Begun anew: both votes are cleared"] if ballot.begins_anew else []
    for vote in votes:
        count = answers.answered(position, vote)
        answer = f"{count} answer{'' if count == 1 else 's'}{so_far}"
        told.append(f"{vote.capitalize()} vote: {answer if count else 'nobody has voted'}")
    return " · ".join([*told, *(["closed"] if phase in ("talk", "closed") else [])])


def everything(answers: Class, lesson: Lesson) -> Scene:
    """The right answers of all learners, and all questions with theirs."""
    parts = [
        (heading(chapter.plain_question), _counted(answers, lesson, position, True, True))
        for position, chapter in enumerate(lesson.chapters)
    ]
    first = scores(answers, lesson).parts if answers.of("first") else ()
    return scene(*first, *(figure for pair in parts for figure in pair))


def _counted(answers: Class, lesson: Lesson, position: int, counted: bool, marked: bool) -> Choices:
    """The choices of a question; counted: with a bar for each vote in which somebody has voted;
    marked: the right one."""
    chapter = lesson.chapters[position]
    names = [
        f"{choice} ✓" if marked and index == chapter.answer else choice
        for index, choice in enumerate(chapter.plain_choices)
    ]
    counts = {vote: answers.counts(position, len(names), vote) for vote in VOTES if counted}
    counts = {vote: its for vote, its in counts.items() if any(its)}
    title, key = f"choices of chapter {position + 1}", f"choices_{position}"
    return figures.choices(title, names, counts, key=key)
