"""Write a lesson: chapters in a text box, what is wrong by its line, a link and a file."""

from urllib.parse import urlencode

import streamlit as st

from attention.app import chapters, frame, notes, session
from attention.app.view import View
from attention.lessons import carried
from attention.lessons.chapters import CARRIED, FIGURES, Lesson
from attention.lessons.reading import MAX_CHAPTER, MAX_LESSON, MAX_LINE, MAX_WORDS

DRAFT, HEIGHT = "draft", 560
HOW = f"""\
A line `===` stands between two chapters. A chapter begins with its front matter, between two lines
`---`:

- `lesson`: the title of the whole lesson, in its first chapter. May be left out.
- `title`, `question`, `because`: texts; with a colon in them they need quotes.
- `figure`: one of {", ".join(f"`{name}`" for name in FIGURES)}.
- `link`: what stands behind the `?` in a link of this app. Set up the view on its page and copy
  its link.
- `choices`: two to four; `answer`: the right one, as it is written there.

- `try`: a sentence on what to do with the figure, which is not printed. May be left out.

Then come the words before the figure, {MAX_WORDS} at most. They are shown as they are written.
A line has up to {MAX_LINE:,} letters, a chapter {MAX_CHAPTER:,}, a lesson {MAX_LESSON:,}.
"""


def write(view: View) -> None:
    """The text, what is wrong with it, and ways to hand it out."""
    if DRAFT not in st.session_state:
        st.session_state[DRAFT] = begun(view)
    left, right = st.columns(2, gap="large")
    with left:
        text = st.text_area(
            "Lesson", key=DRAFT, height=HEIGHT, on_change=keep, max_chars=MAX_LESSON
        )
        opened_file()
    lesson = chapters.text_lesson(text)
    with right:
        faults(lesson)
        hand_out(text, lesson)
        with st.expander("How a lesson is written"):
            st.markdown(HOW)


def begun(view: View) -> str:
    """The lesson in the link, or an example to begin with."""
    if not view["carried"]:
        return carried.EXAMPLE
    try:
        return carried.unpack(view["carried"])
    except ValueError as error:
        notes.note(f"{error}")
        return carried.EXAMPLE


def keep() -> None:
    """Keep the text in the link, as far as it fits, within a callback."""
    try:
        session.choose("carried", carried.pack(st.session_state[DRAFT]))
    except ValueError:
        session.choose("carried", "")


def opened_file() -> None:
    """A lesson from a file in place of the text."""
    with st.expander("Open a file"):
        st.file_uploader(
            "A text file",
            type=["md", "txt"],
            key="lesson_file",
            on_change=take_file,
            max_upload_size=1,
        )
        if problem := st.session_state.pop("lesson_problem", ""):
            notes.note(problem)


def take_file() -> None:
    """Take over the text of a file, within a callback."""
    file = st.session_state["lesson_file"]
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state["lesson_problem"] = "The file is no text in UTF-8."
        return
    if len(text) > MAX_LESSON:
        st.session_state["lesson_problem"] = f"The file has more than {MAX_LESSON:,} letters."
        return
    st.session_state[DRAFT] = text
    keep()


def faults(lesson: Lesson) -> None:
    """Count the chapters that can be read, and list all that is wrong with the others."""
    count = len(lesson.chapters)
    st.markdown(f"**{count} chapter{'' if count == 1 else 's'} can be shown**")
    for problem in lesson.problems:
        notes.note(problem)


def hand_out(text: str, lesson: Lesson) -> None:
    """The lesson as a link and as a file, the page for its answers, and how it looks."""
    try:
        packed = carried.pack(text)
    except ValueError as error:
        packed = ""
        notes.note(f"{error}.")
    link = urlencode({"lesson": CARRIED, "carried": packed})
    with st.container(horizontal=True, vertical_alignment="center"):
        if packed:
            st.link_button(
                "Open the lesson",
                f"guide?{link}",
                disabled=not lesson.chapters,
                help="In a new tab: its address is the link to hand out.",
            )
            st.link_button("Answers of a class", f"answers?{link}", help="Where codes are counted.")
        st.download_button("Save as a file", text, "lesson.md", "text/markdown", on_click="ignore")
    if packed and lesson.chapters:
        beside = (st.context.url or "").rpartition("/")[0]
        st.iframe(
            f"{beside}/guide?{link}&embed=true&hide=lesson",
            height=HEIGHT,
            alt="The lesson as it looks",
        )


frame.show(__file__, write)
