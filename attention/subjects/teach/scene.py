"""Scenes of the answers of a class: codes that are not counted, and choices with their counts."""

from __future__ import annotations

from attention.figures.scene import Scene, Words, heading, scene
from attention.subjects.guide.carried import Class
from attention.subjects.guide.chapters import Lesson
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
    learners = len(answers.results)
    title = "learners by right answers"
    return scene(figures.choices(title, names, counts, learners, key="scores"))


def choices(
    answers: Class, lesson: Lesson, position: int, revealed: bool, joined: int | None = None
) -> Scene:
    """The choices of one question, once revealed with the right one marked and their counts.

    joined: number of those who have opened the link of the class, None where no class is open.
    """
    count = answers.answered(position)
    told = f"{count} answer{'' if count == 1 else 's'} so far"
    if joined is not None:
        told += f" · {joined} in the class"
    return scene(_counted(answers, lesson, position, revealed), Words(told, "told"))


def everything(answers: Class, lesson: Lesson) -> Scene:
    """The right answers of all learners, and all questions with theirs."""
    parts = [
        (heading(chapter.plain_question), _counted(answers, lesson, position, True))
        for position, chapter in enumerate(lesson.chapters)
    ]
    first = scores(answers, lesson).parts if answers.results else ()
    return scene(*first, *(figure for pair in parts for figure in pair))


def _counted(answers: Class, lesson: Lesson, position: int, revealed: bool) -> Choices:
    chapter, learners = lesson.chapters[position], answers.answered(position)
    names = [
        f"{choice} ✓" if revealed and index == chapter.answer else choice
        for index, choice in enumerate(chapter.plain_choices)
    ]
    counts = answers.counts(position, len(names)) if revealed and learners else []
    title, key = f"choices of chapter {position + 1}", f"choices_{position}"
    return figures.choices(title, names, counts, learners, key=key)
