"""Answers of a class: pasted result codes, counted question by question."""

import streamlit as st

from attention.app import chapters, frame, notes, widgets
from attention.app.view import View
from attention.display import tables
from attention.lessons import carried
from attention.lessons.carried import Class
from attention.lessons.chapters import CARRIED, Lesson, lesson_names


def answers(view: View) -> None:
    """The codes, and what they come to."""
    offered = [name for name in lesson_names() if name != CARRIED or view["carried"]]
    if len(offered) > 1:
        widgets.widget(view, "lesson", offered=offered, width="content")
    lesson = chapters.lesson(view)
    for problem in lesson.problems:
        notes.note(problem)
    if not lesson.chapters:
        st.info("There is no chapter to count answers of.")
        return
    pasted = st.text_area(
        "Result codes",
        key="codes",
        height=160,
        placeholder="One code a line. The last chapter of a lesson shows a learner's own.",
        max_chars=20_000,
    )
    found = carried.read_class(pasted, lesson)
    for problem in found.problems:
        st.text(problem)
    if found.results:
        shown(found, lesson)
        return
    st.info("Nothing that you paste is kept, or sent to anyone else.")
    right = [chapter.plain_choices[chapter.answer] for chapter in lesson.chapters]
    titles = [f"{at + 1}" for at in range(len(right))]
    st.markdown("**The right answers**")
    st.html(tables.shares("right answers", titles, {"answer": right}))


def shown(found: Class, lesson: Lesson) -> None:
    """How many have how many right, and each question with its choices."""
    count = len(found.results)
    st.subheader(f"{count} learner{'' if count == 1 else 's'}")
    scores = found.scores(lesson)
    names = [f"{right} of {len(lesson.chapters)} right" for right in range(len(scores))]
    st.html(tables.shares("learners by right answers", names, share(scores, count)))
    for at, chapter in enumerate(lesson.chapters):
        counts = found.counts(at, len(chapter.choices))
        st.markdown(f"**{at + 1} · {chapter.question}**")
        marked = [
            f"{choice} ✓" if index == chapter.answer else choice
            for index, choice in enumerate(chapter.plain_choices)
        ]
        st.html(tables.shares(f"choices of chapter {at + 1}", marked, share(counts, count)))


def share(counts: list[int], of: int) -> dict[str, list[float | str]]:
    """The columns of a table: how many, and their share."""
    return {"learners": [str(each) for each in counts], "share": [each / of for each in counts]}


frame.show(__file__, answers)
