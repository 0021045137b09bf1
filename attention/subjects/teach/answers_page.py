"""Answers of a class: pasted result codes, counted question by question once they are revealed."""

import html
from urllib.parse import urlencode

import streamlit as st

from attention.app.components.scene import draw
from attention.app.shell import frame, qr
from attention.app.state.view import View
from attention.figures.scene import note, scene
from attention.subjects.guide import carried, chapter_page
from attention.subjects.guide.carried import Class
from attention.subjects.guide.chapters import CARRIED, Lesson
from attention.subjects.teach import scene as scenes

SAID, MOST_LETTERS = "said_of_code", 20_000


def heading(view: View) -> tuple[str, str]:
    """The title of the page, with that of a lesson that is not the guide."""
    title, purpose = view.page.told
    told = chapter_page.heading(view)[0]
    return (title, purpose) if view["lesson"] == "guide" else (f"Answers: {told}", purpose)


def answers(view: View) -> None:
    """The codes, and what they come to."""
    chapter_page.lesson_menu(view, chapter_page.own_lesson())
    lesson = chapter_page.lesson(view)
    if lesson.problems:
        draw(scene(*map(note, lesson.problems)), key="problems")
    if not lesson.chapters:
        st.info("There is no chapter to count answers of.")
        return
    left, right = st.columns([5, 2], gap="large")
    with left:
        with (
            st.form("typed", clear_on_submit=True, border=False),
            st.container(horizontal=True, vertical_alignment="bottom"),
        ):
            st.text_input(
                "A learner's code",
                key="code",
                max_chars=200,
                help="The last chapter of a lesson shows it.",
            )
            st.form_submit_button("Add", on_click=take_code, args=(lesson,))
        st.html(f"<p class='quiet' role='status'>{html.escape(st.session_state.get(SAID, ''))}</p>")
        pasted = st.text_area(
            "All codes so far; or paste a list",
            key="codes",
            height=130,
            max_chars=MOST_LETTERS,
        )
        class_answers = carried.read_class(pasted, lesson)
        draw(scenes.codes(class_answers), key="of_codes")
    with right:
        way_in(view)
    counted(class_answers, lesson)


def take_code(lesson: Lesson) -> None:
    """Add a typed code to the others, or say why it cannot be counted, within a callback."""
    code = "".join(st.session_state["code"].split())
    st.session_state[SAID] = ""
    if not code:
        return
    try:
        carried.result_of(code, lesson)
    except ValueError as error:
        st.session_state[SAID] = f"“{code[:40]}” is not counted: {error}."
        return
    others = st.session_state["codes"].split()
    longer = "\n".join([*others, code.upper()])
    if len(others) == carried.MOST_CODES or len(longer) > MOST_LETTERS:
        st.session_state[SAID] = f"“{code[:40]}” is not counted: there is no room for more codes."
        return
    st.session_state["codes"] = longer
    st.session_state[SAID] = f"{code.upper()} is counted."


def way_in(view: View) -> None:
    """The link to the lesson as a QR code, for a class to photograph."""
    names = ("lesson", "carried") if view["lesson"] == CARRIED else ("lesson",)
    said = {name: view[name] for name in names if view[name] != "guide"}
    beside = (st.context.url or "").partition("?")[0].rpartition("/")[0]
    link = f"{beside}/guide" + (f"?{urlencode(said)}" if said else "")
    try:
        drawn = qr.qr_code(link, "QR code of the link to the lesson")
    except ValueError as error:
        draw(scene(note(f"{error}")), key="no_qr")
    else:
        st.html(drawn)
    st.link_button("Open the lesson", link.removeprefix(f"{beside}/"), type="tertiary")


def counted(answers: Class, lesson: Lesson) -> None:
    """Show the distribution of right answers, and each question with its choices once revealed."""
    count = len(answers.results)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{count} learner{'' if count == 1 else 's'}", width="content")
        everything = st.toggle("Reveal all", key="reveal_all")
    if everything and count:
        draw(scenes.scores(answers, lesson), key="of_scores")
    for position, chapter in enumerate(lesson.chapters):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{position + 1} · {chapter.question}**", width="content")
            revealed = everything or st.toggle("Reveal", key=f"reveal_{position}")
        draw(scenes.choices(answers, lesson, position, revealed), key=f"of_choices_{position}")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, answers, heading=heading)
