"""Scenes of the answers of a class: codes that are not counted, and choices with their counts."""

from __future__ import annotations

from attention.figures.scene import Scene, Words, scene
from attention.subjects.guide.carried import Class
from attention.subjects.guide.chapters import Lesson
from attention.subjects.teach.figures import Choices


def codes(answers: Class) -> Scene:
    """Codes that could not be read, and the promise that none is kept."""
    kept = Words("Nothing that you paste or type is kept, or sent to anyone else.")
    return scene(*(Words(problem, "told") for problem in answers.problems), kept)


def scores(answers: Class, lesson: Lesson) -> Scene:
    """Numbers of learners by how many questions they have right."""
    counts = answers.scores(lesson)
    names = [f"{right} of {len(lesson.chapters)} right" for right in range(len(counts))]
    learners = len(answers.results)
    return scene(Choices("learners by right answers", names, counts, learners, key="scores"))


def choices(answers: Class, lesson: Lesson, position: int, revealed: bool) -> Scene:
    """The choices of one question, once revealed with the right one marked and their counts."""
    chapter, learners = lesson.chapters[position], len(answers.results)
    names = [
        f"{choice} ✓" if revealed and index == chapter.answer else choice
        for index, choice in enumerate(chapter.plain_choices)
    ]
    counts = answers.counts(position, len(names)) if revealed and learners else []
    title, key = f"choices of chapter {position + 1}", f"choices_{position}"
    return scene(Choices(title, names, counts, learners, key=key))
