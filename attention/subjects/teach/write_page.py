"""Write a lesson: a card for each chapter with a live preview, its text, a link and a file."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention.app.components.scene import draw
from attention.app.shell import frame
from attention.app.shell.heading import PageHeading
from attention.app.state import session
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures.scene import Words, note, scene
from attention.subjects.guide import carried, chapter_page, chosen_lesson
from attention.subjects.guide.chapters import (
    CARRIED,
    FIGURES,
    MAX_CHOICES,
    WORDLESS,
    Lesson,
    escaped,
)
from attention.subjects.guide.classes import name_of, new_key
from attention.subjects.guide.reading import (
    MAX_CHAPTER,
    MAX_LESSON,
    MAX_LINE,
    MAX_WORDS,
    chapter_name,
)
from attention.subjects.teach import class_page, draft_page, files, view_to_chapter
from attention.subjects.teach.cards import Card, Draft
from attention.trained import sources
from attention.trained.sources import NONE

HEIGHT, LONGEST_LABEL, LONGEST_LINK = 720, 40, 8000
PROBLEM, FRAME, KEY = "lesson_problem", "frame_of_lesson", "key_of_next_class"
HOW = f"""\
A line `===` stands between two chapters. A chapter begins with its front matter, between two lines
`---`:

- `lesson`: the title of the whole lesson, in its first chapter. May be left out.
- `title`, `question`, `because`: texts; with a colon in them they need quotes.
- `figure`: one of {", ".join(f"`{name}`" for name in FIGURES)}.
- `link`: what stands behind the `?` in a link of this app. Set up the view on its page and copy
  its link.
- `choices`: two to four; `answer`: the right one, as it is written there.
- `replies`: for each of them what is said once it is chosen. May be left out.
- `try`: a sentence on what to do with the figure, which is not printed. May be left out.

Then come the words before the figure, {MAX_WORDS} at most. They are shown as they are written.
A line has up to {MAX_LINE:,} letters, a chapter {MAX_CHAPTER:,}, a lesson {MAX_LESSON:,}.
"""

Write = Callable[[Card, Any], Sequence[str]]


def write(view: View) -> None:
    """The lesson as cards or as text, what is wrong with it, and ways to hand it out; with the key
    of a class in the link its screen."""
    if view["teacher"]:
        class_page.ask(view)
        return
    draft, problem = draft_page.draft_of(view)
    lesson, packed, too_long = chosen_lesson.text_lesson(draft.text), "", ""
    try:
        packed = carried.pack(draft.text)
    except ValueError as error:
        too_long = f"{error}."
    hand_out(draft, lesson, packed)
    refused = st.session_state.pop(PROBLEM, "")
    if problems := [*filter(None, (too_long, problem, refused, *lesson.problems))]:
        draw(scene(*map(note, problems)), key="problems")
    cards, text = st.tabs(["Cards", "Text"])
    with cards:
        way(draft)
        left, right = st.columns([5, 6], gap="large")
        with left:
            card(draft, view)
        with right, st.container(border=True, key="card_preview"):
            preview(draft, lesson, packed)
    with text:
        draft_page.field("draft", draft.text, Draft.written)
        st.text_area("Lesson", key="draft", height=HEIGHT, max_chars=MAX_LESSON)
        with st.expander("How a lesson is written"):
            st.markdown(HOW)


def hand_out(draft: Draft, lesson: Lesson, packed: str) -> None:
    """The title of the lesson; the lesson as a link and as a file, the page for its answers.

    packed: as the link carries it, "" where it is too long.
    """
    link = urlencode({"lesson": CARRIED, "carried": packed})
    whole = bool(lesson.chapters) and not lesson.problems
    with st.container(horizontal=True, vertical_alignment="bottom", key="hand_out"):
        draft_page.field("lesson_title", draft.title, Draft.titled)
        st.text_input(
            "Name of the lesson",
            key="lesson_title",
            max_chars=MAX_LINE,
            placeholder="That of its first chapter",
            disabled=bool(draft.problem),
        )
        if packed:
            st.link_button(
                "Open the lesson",
                f"guide?{link}",
                disabled=not whole,
                help="In a new tab: its address is the link to hand out.",
            )
            start_a_class({"lesson": CARRIED, "carried": packed}, whole)
        with st.popover("File", type="tertiary"):
            st.download_button(
                "Save the text", draft.text, "lesson.md", "text/markdown", on_click="ignore"
            )
            st.file_uploader(
                "Open a text",
                type=["md", "txt"],
                key="lesson_file",
                on_change=take_file,
                max_upload_size=1,
            )
            if packed and whole:
                files.offer(lesson, packed)


def start_a_class(lesson: Mapping[str, str], whole: bool) -> None:
    """Buttons that open a class on the lesson, and on the guide, in a new tab.

    lesson: as links say it; whole: whether nothing is wrong with it.
    """
    key = st.session_state.setdefault(KEY, new_key())
    of_class = {"room": name_of(key), "teacher": key}
    st.link_button(
        "Start a class",
        f"write?{urlencode({**lesson, **of_class})}",
        type="primary",
        disabled=not whole,
        help="In a new tab: what pupils choose comes to your screen by itself. The address of "
        "that tab is yours alone; pupils take its QR code.",
    )
    st.link_button("or with the guide", f"write?{urlencode(of_class)}", type="tertiary")


def way(draft: Draft) -> None:
    """The chapters, one of which is open, and a way to add one."""
    titles = {name: each.text("title") for name, each in zip(draft.names, draft.cards, strict=True)}
    with st.container(horizontal=True, vertical_alignment="center", key="cards_way"):
        draft_page.field("opened_card", draft.opened, Draft.with_opened)
        st.pills(
            "Chapter",
            draft.names,
            format_func=lambda name: (
                f"{draft.names.index(name) + 1} · {label(titles[name] or 'Untitled')}"
            ),
            key="opened_card",
            required=True,
            label_visibility="collapsed",
        )
        act("Add a chapter", Draft.added, draft, icon=":material/add:")
    if draft.problem:
        with st.container(horizontal=True, vertical_alignment="center"):
            words = "The text cannot be read. The cards say what it was before."
            draw(scene(Words(words, "told")), key="unread")
            st.button("Back to the cards", on_click=draft_page.change, args=(Draft.restored,))
    if before := draft.before:
        with st.container(horizontal=True, vertical_alignment="center"):
            words = f"“{before.card.text('title')}” is removed."
            draw(scene(Words(words, "told")), key="removed")
            st.button("Undo", on_click=draft_page.change, args=(lambda now: now.before or now,))


def card(draft: Draft, view: View) -> None:
    """The open chapter in a form."""
    open_card, name = draft.card, draft.opened
    choices = open_card.texts("choices")
    field = partial(field_of, draft)
    with st.container(border=True, key="card_form"):
        field("title", st.text_input, "Title", open_card.text("title"), of_key("title"))
        field(
            "body",
            st.text_area,
            "Words before the figure",
            open_card.body,
            Card.with_body,
            help=f"Up to {MAX_WORDS}.",
        )
        figure(draft, view)
        field("question", st.text_input, "Question", open_card.text("question"), of_key("question"))
        field(
            "choices",
            st.text_area,
            "Answers, one on each line",
            "\n".join(choices),
            lambda this, text: this.with_choices([*filter(None, map(str.strip, text.split("\n")))]),
            help=f"Two to {MAX_CHOICES}.",
        )
        if choices:
            field(
                "right",
                st.pills,
                "The right one",
                open_card.right,
                lambda this, at: (
                    this.lines if at is None else this.with_values({"answer": choices[at]})
                ),
                options=range(len(choices)),
                format_func=lambda at: label(choices[at]),
            )
        field(
            "because",
            st.text_area,
            "What is said after the answer",
            open_card.text("because"),
            of_key("because"),
        )
        with st.expander("Something else to say after each answer", key=f"replies_{name}"):
            for at, (choice, reply) in enumerate(zip(choices, open_card.replies, strict=True)):
                told = f"After “{label(choice)}”"
                field(f"reply_{at}", st.text_input, told, reply, of_reply(at))
        with st.container(horizontal=True):
            last = len(draft.cards) - 1
            act("Move earlier", lambda now: now.moved(-1), draft, draft.at > 0, type="tertiary")
            act("Move later", lambda now: now.moved(1), draft, draft.at < last, type="tertiary")
            act("Remove", Draft.removed, draft, last > 0, type="tertiary")


def figure(draft: Draft, view: View) -> None:
    """The sentence of the figure, and ways to have another view in its place."""
    name = draft.opened
    if draft.card.text("figure") not in WORDLESS:
        field_of(
            draft,
            "sentence",
            st.text_input,
            "Sentence in the figure",
            draft.card.sentence,
            Card.with_sentence,
        )
    if draft.card.text("figure") in chapter_page.LOOKING:
        of_figure(draft)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        made = session.last_view()
        if made is not None:
            st.button(
                "Use the view I just made",
                help=f"That of {made.page.title}.",
                icon=":material/add_photo_alternate:",
                disabled=bool(draft.problem),
                on_click=take_view,
                args=(name,),
            )
        st.text_input(
            "A view of another page in its place",
            key=f"view_{name}",
            max_chars=LONGEST_LINK,
            placeholder="Paste its link",
            help="Or make it, say on a page of Play, and come back: a button then takes it over.",
            label_visibility="visible" if made is None else "collapsed",
            disabled=bool(draft.problem),
            on_change=take_view,
            args=(name, f"view_{name}"),
        )


def of_figure(draft: Draft) -> None:
    """The word that the figure asks, and the model, layer and head that answer."""
    shown, link = draft.card, draft.card.text("link").removeprefix("?")
    offered = list(dict.fromkeys((*sources.names(), shown.model)))
    found = view_to_chapter.looked_at(link)
    with st.container(horizontal=True):
        field_of(
            draft,
            "model",
            st.selectbox,
            "Model",
            shown.model,
            Card.with_model,
            options=offered,
            format_func=lambda name: "word vectors" if name == NONE else name,
        )
        if found is None:
            return
        tokens, layers, heads = found
        names = [label(name) for name in distinct_names(tokens)]
        last = len(names) - 1
        field_of(
            draft,
            "query",
            st.selectbox,
            "Word that looks",
            min(shown.number("query"), last),
            lambda this, at: this.with_number("query", at),
            options=range(len(names)),
            format_func=lambda at: names[min(at, last)],
        )
        for name, count in (("layer", layers), ("head", heads)):
            if count > 1:
                field_of(
                    draft,
                    name,
                    st.number_input,
                    name.capitalize(),
                    min(shown.number(name), count - 1),
                    partial(_with_number, name),
                    min_value=0,
                    max_value=count - 1,
                )


def _with_number(name: str, this: Card, number: int) -> Sequence[str]:
    return this.with_number(name, number)


def preview(draft: Draft, lesson: Lesson, packed: str) -> None:
    """The open chapter as pupils see it."""
    name = chapter_name(draft.at + 1)
    if name not in [chapter.name for chapter in lesson.chapters]:
        st.info("This chapter can be shown as soon as nothing is wrong with it.")
    elif packed:
        asked = {"lesson": CARRIED, "carried": packed, "chapter": name, "embed": "true"}
        beside = (st.context.url or "").partition("?")[0].rpartition("/")[0]
        link = f"{beside}/guide?{urlencode(asked | {'hide': 'lesson'})}"
        before, place = st.session_state.get(FRAME, ("", 0))
        if link != before:  # another frame: in the same one a link is a step of the history
            place = 1 - place
            st.session_state[FRAME] = link, place
        for _ in range(place):
            st.empty()
        st.iframe(link, height=HEIGHT, alt="The chapter as it looks")


def field_of(
    draft: Draft,
    key: str,
    draw: Callable[..., Any],
    told: str,
    value: Any,
    write: Write,
    **more: Any,
) -> None:
    """A field of the open card. write: gives the lines of the card with what the field says."""
    key, name = f"{key}_{draft.opened}", draft.opened
    draft_page.field(key, value, lambda now, said: now.changed(name, lambda it: write(it, said)))
    if draw in (st.text_input, st.text_area):
        more["max_chars"] = MAX_LINE if draw is st.text_input else MAX_CHAPTER
    if draw is st.text_area:
        more["height"] = "content"
    draw(told, key=key, disabled=bool(draft.problem), **more)


def of_key(name: str) -> Write:
    """Writes a key of the front matter."""
    return lambda this, text: this.with_values({name: text})


def of_reply(at: int) -> Write:
    """Writes what is said once a choice is chosen. at: its position."""
    return lambda this, text: this.with_reply(at, text)


def act(
    told: str, make: Callable[[Draft], Draft], draft: Draft, possible: bool = True, **more: Any
) -> None:
    """A button that changes the draft."""
    disabled = bool(draft.problem) or not possible
    st.button(told, on_click=draft_page.change, args=(make,), disabled=disabled, **more)


def label(text: str) -> str:
    """A text for a label, shortened, none of it read as Markdown."""
    return escaped(text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…")


def take_view(name: int, key: str = "") -> None:
    """Take over a view, within a callback."""
    st.session_state[PROBLEM] = draft_page.take_view(name, key)


def take_file() -> None:
    """Take over a file, within a callback."""
    if file := st.session_state["lesson_file"]:
        st.session_state[PROBLEM] = draft_page.take_file(file)


def heading(view: View) -> tuple[str, str]:
    """The title of the page, or of the lesson that a class is asked, and the line below it."""
    return class_page.heading(view) if view["teacher"] else view.page.told


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, write, PageHeading(heading))
