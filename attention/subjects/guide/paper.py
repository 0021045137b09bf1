"""A whole lesson on paper: its chapters one after the other, each on a page of its own."""

from __future__ import annotations

import streamlit as st

from attention.app.components.scene import draw
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.scene import PageButton, Words, scene
from attention.subjects.guide import chapter_page, chosen_lesson, fitting
from attention.subjects.guide import scene as scenes
from attention.subjects.guide.chapters import LESSON, ONE_CHAPTER, Chapter


def offer() -> None:
    """A button that leads to the whole lesson on paper."""
    st.button("Print the lesson", type="tertiary", on_click=session.choose, args=("paper", LESSON))


def draw_lesson(view: View) -> None:
    """All chapters in order, with a button to print them and one that leads back."""
    chapters = chosen_lesson.lesson(view).chapters
    with st.container(key="lesson_on_paper"):
        draw_tools(len(chapters))
        for at, chapter in enumerate(chapters):
            with st.container(key=f"chapter_on_paper_{at}"):
                draw_chapter(chapter_page.view_of(view, chapter), chapter, at)


def draw_tools(chapters: int) -> None:
    """The button that prints so many chapters, and the one that leads back to them."""
    pages = f"{chapters} page{'' if chapters == 1 else 's'}"
    told = f"{pages} of A4, one for each chapter, with lines to write on."
    with st.container(key="paper_tools"):
        draw(scene(Words(told, "told"), PageButton("Print the lesson")), key="print_lesson")
        st.button(
            "Back to the chapters",
            type="tertiary",
            on_click=session.choose,
            args=("paper", ONE_CHAPTER),
        )


def draw_chapter(view: View, chapter: Chapter, at: int) -> None:
    """The words of a chapter, its figure, and its question with lines to answer on.

    view: the chapter's own, see `chapter_page.view_of`; at: its place, counted from 0.
    """
    told = chapter_page.on_yours(view, chapter)
    st.markdown(f"## {at + 1} · {told.title}\n\n{told.body}")
    shown = chapter_page.shown(view, told)
    if shown.figure != "finale" or fitting.is_worked_out(view, shown):
        selection = chapter_page.selection(view, shown)
        draw(scenes.whole(view, told), key=f"figure_on_paper_{at}", selection=selection, held=True)
    choices = "  \n".join(f"◯ {choice}" for choice in told.choices)
    with st.container(key=f"to_answer_on_paper_{at}"):
        st.markdown(f"#### {' '.join(told.question.split())}\n\n{choices}")
