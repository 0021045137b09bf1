"""Write a lesson: a card for each chapter with a live preview, a class, a link and a file."""

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
from attention.figures.scene import Words, note, scene
from attention.subjects.guide import carried, chapter_page, chosen_lesson
from attention.subjects.guide.chapters import (
    CARRIED,
    HIDDEN,
    MAX_CHOICES,
    WORDLESS,
    Lesson,
    escaped,
)
from attention.subjects.guide.classes import name_of, new_key
from attention.subjects.guide.reading import (
    MAX_CHAPTER,
    MAX_LINE,
    MAX_WORDS,
    chapter_name,
)
from attention.subjects.teach import class_page, draft_page, files, view_to_chapter
from attention.subjects.teach.cards import EXAMPLE_CARD, NEW, Card, Draft, on_card
from attention.subjects.teach.view_to_chapter import LookedAt
from attention.trained import sources
from attention.trained.sources import NONE

HEIGHT, LONGEST_LABEL, LONGEST_LINK = 720, 40, 8000
PROBLEM, FRAME, KEY = "lesson_problem", "frame_of_lesson", "key_of_next_class"
NO_FRAME = (None, "", 0)  # of a card, its link, and the place in which it is drawn

Write = Callable[[Card, Any], Card]


def write(view: View) -> None:
    """The lesson as cards, what is wrong with it, and ways to hand it out; with a class in the link
    its screen."""
    if class_page.is_shown(view):
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
    wrong = map(on_card, lesson.problems)
    if problems := [*filter(None, (too_long, problem, refused, *wrong))]:
        draw(scene(*map(note, problems)), key="problems")
    way(draft)
    left, right = st.columns([5, 6], gap="large")
    with left:
        card(draft)
    with right, st.container(border=True, key="card_preview"):
        preview(draft, lesson, packed)


def hand_out(draft: Draft, lesson: Lesson, packed: str) -> None:
    """The title of the lesson; the lesson as a link and as a file, the page for its answers.

    packed: as the link carries it, "" where it is too long.
    """
    link = urlencode({"lesson": CARRIED, "carried": packed})
    whole = bool(lesson.chapters) and not lesson.problems
    with st.container(horizontal=True, vertical_alignment="bottom", key="hand_out"):
        st.text_input(
            "Name of the lesson",
            draft.title,
            max_chars=MAX_LINE,
            placeholder="That of its first card",
            **draft_page.field("lesson_title", draft.title, Draft.titled),
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
        help="In a new tab: what pupils choose comes to your screen by itself. It is yours in this "
        "browser alone; pupils take its QR code or link.",
    )
    st.link_button("or with the guide", f"write?{urlencode(of_class)}", type="tertiary")


def way(draft: Draft) -> None:
    """The cards, one of which is open, and a way to add one."""
    titles = [each.text("title") or each.text("question") for each in draft.cards]
    with st.container(horizontal=True, vertical_alignment="center", key="cards_way"):
        with st.container(key="opened_card", width="content"):
            st.pills(
                "Card",
                draft.names,
                format_func=lambda name: (
                    f"{(at := draft.names.index(name)) + 1} · {label(titles[at] or 'Untitled')}"
                ),
                required=True,
                default=draft.opened,
                label_visibility="collapsed",
                **draft_page.field("opened_card", draft.opened, Draft.with_opened, titles),
            )
        act("Add a card", Draft.added, icon=":material/add:")
        if draft.card == NEW:
            example = partial(Draft.changed, name=draft.opened, change=lambda _: EXAMPLE_CARD)
            act("Example", example, type="tertiary")
    if before := draft.before:
        with st.container(horizontal=True, vertical_alignment="center"):
            draw(scene(Words(f"Card {before.at + 1} is removed.", "told")), key="removed")
            act("Undo", lambda now: now.before or now)


def card(draft: Draft) -> None:
    """The open chapter in a form: its sentence, word, question and answers, and more to unfold."""
    shown, field = draft.card, partial(field_of, draft)
    choices = shown.texts("choices")
    found = None
    with st.container(border=True, key="card_form"):
        if shown.text("figure") not in WORDLESS:
            sentence = shown.setting("s")
            field("sentence", st.text_input, "Sentence", sentence, with_sentence)
        if shown.text("figure") in chapter_page.LOOKING and shown.setting("s"):
            found = view_to_chapter.looked_at(shown.text("link").removeprefix("?"))
        if found is not None:
            word_that_looks(draft, found.words)
        field("question", st.text_input, "Question", shown.text("question"), of_key("question"))
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
                shown.right,
                lambda this, at: this if at is None else this.with_values({"answer": choices[at]}),
                options=range(len(choices)),
                format_func=lambda at: label(choices[at]),
            )
        because, told = shown.text("because"), "What is said after the answer"
        field("because", st.text_area, told, because, of_key("because"))
        if found is not None and (doubt := found.doubt(shown)):
            draw(scene(note(doubt)), key="doubt")
        with st.expander("More", key=f"more_{draft.opened}"):
            more(draft, choices, found)


def word_that_looks(draft: Draft, words: Sequence[str]) -> None:
    """The words of the sentence, one of which the figure asks."""
    at = min(draft.card.number("query"), len(words) - 1)
    field_of(
        draft,
        "query",
        st.pills,
        "Word that looks",
        at,
        lambda this, at: this.with_settings(query=str(at)),
        options=range(len(words)),
        format_func=lambda at: label(words[at]),
        required=True,
    )


def more(draft: Draft, choices: Sequence[str], found: LookedAt | None) -> None:
    """Everything that a card need not have. found: the figure, where it has a word that looks."""
    shown, field = draft.card, partial(field_of, draft)
    field("title", st.text_input, "Title", shown.text("title"), of_key("title"))
    body = "Words before the figure"
    field("body", st.text_area, body, shown.body, Card.with_body, help=f"Up to {MAX_WORDS}.")
    tries, told = shown.text("try"), "To try in the figure"
    field("try", st.text_input, told, tries, of_key("try"))
    for at, (choice, reply) in enumerate(zip(choices, shown.replies, strict=True)):
        told = f"Only after “{label(choice)}”"
        field(f"reply_{at}", st.text_input, told, reply, partial(with_reply, at))
    hides = shown.text("hidden") == HIDDEN
    told = "The figure after the answer"
    field("hidden", st.toggle, told, hides, with_hidden)
    if found is not None:
        of_model(draft, found)
    other_view(draft.opened)
    with st.container(horizontal=True):
        last = len(draft.cards) - 1
        act("Move earlier", lambda now: now.moved(-1), draft.at > 0, type="tertiary")
        act("Move later", lambda now: now.moved(1), draft.at < last, type="tertiary")
        act("Remove", Draft.removed, last > 0, type="tertiary")


def of_model(draft: Draft, found: LookedAt) -> None:
    """The model, layer and head whose weights the figure shows."""
    field = partial(field_of, draft)
    model = draft.card.setting("model", NONE)
    with st.container(horizontal=True):
        field(
            "model",
            st.selectbox,
            "Model",
            model,
            lambda this, name: this.with_settings(
                model="" if name == NONE else name, layer="", head=""
            ),
            options=list(dict.fromkeys((*sources.names(), model))),
            format_func=lambda name: "word vectors" if name == NONE else name,
        )
        for name, count in (("layer", found.layers), ("head", found.heads)):
            if count > 1:
                field(
                    name,
                    st.number_input,
                    name.capitalize(),
                    min(draft.card.number(name), count - 1),
                    partial(_with_number, name),
                    min_value=0,
                    max_value=count - 1,
                )


def _with_number(name: str, this: Card, number: int) -> Card:
    return this.with_settings(**{name: str(number)})


def other_view(name: int) -> None:
    """Ways to have another view as the figure of the card of a name."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        made = session.last_view()
        if made is not None:
            st.button(
                "Use the view I just made",
                help=f"That of {made.page.title}.",
                icon=":material/add_photo_alternate:",
                on_click=take_view,
                args=(name,),
            )
        st.text_input(
            "Another figure: the link of a page",
            key=f"view_{name}",
            max_chars=LONGEST_LINK,
            placeholder="Paste the link of a page",
            help="Of Play, of a model with all its heads, or of the race. Or make it there and "
            "come back: a button then takes it over.",
            label_visibility="visible" if made is None else "collapsed",
            on_change=take_view,
            args=(name, f"view_{name}"),
        )


def preview(draft: Draft, lesson: Lesson, packed: str) -> None:
    """The open chapter as pupils see it; while something is wrong with it, as it was before."""
    name, (card, before, place) = chapter_name(draft.at + 1), st.session_state.get(FRAME, NO_FRAME)
    is_whole = bool(packed) and name in [chapter.name for chapter in lesson.chapters]
    link = before if card == draft.opened else ""
    if is_whole:
        asked = {"lesson": CARRIED, "carried": packed, "chapter": name, "embed": "true"}
        beside = (st.context.url or "").partition("?")[0].rpartition("/")[0]
        link = f"{beside}/guide?{urlencode(asked | {'hide': 'lesson'})}"
    if link:
        if link != before:  # another frame: in the same one a link is a step of the history
            place = 1 - place
        st.session_state[FRAME] = draft.opened, link, place
        for _ in range(place):
            st.empty()
        st.iframe(link, height=HEIGHT, alt="The chapter as it looks")
    if not is_whole:
        before = " Until then as it was before." if link else ""
        st.info(f"This card is shown as soon as nothing is wrong with it.{before}")


def field_of(
    draft: Draft,
    key: str,
    draw: Callable[..., Any],
    told: str,
    value: Any,
    write: Write,
    **more: Any,
) -> None:
    """A field of the open card. write: gives the card with what the field says."""
    name, options = draft.opened, more.get("options", ())
    labels = [*map(more.get("format_func", str), options)]
    more |= draft_page.field(
        f"{key}_{name}",
        value,
        lambda now, said: now.changed(name, lambda it: write(it, said)),
        labels,
    )
    if draw is st.selectbox:
        more["index"] = options.index(value)
    else:
        more["default" if draw is st.pills else "value"] = value
    if draw in (st.text_input, st.text_area):
        more["max_chars"] = MAX_LINE if draw is st.text_input else MAX_CHAPTER
    if draw is st.text_area:
        more["height"] = "content"
    draw(told, **more)


def of_key(name: str) -> Write:
    """Writes a key of the front matter."""
    return lambda this, text: this.with_values({name: text})


def with_sentence(this: Card, sentence: str) -> Card:
    """The card with another sentence in its figure."""
    return this.with_settings(s=" ".join(sentence.split()))


def with_reply(at: int, this: Card, reply: str) -> Card:
    """The card with another text after one choice. at: its position."""
    return this.with_reply(at, reply)


def with_hidden(this: Card, hides: bool) -> Card:
    """The card with its figure hidden until it is answered, or not."""
    return this.with_values({"hidden": HIDDEN if hides else ""})


def act(told: str, make: Callable[[Draft], Draft], possible: bool = True, **more: Any) -> None:
    """A button that changes the draft."""
    st.button(told, on_click=draft_page.change, args=(make,), disabled=not possible, **more)


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
        st.session_state[FRAME] = (None, *st.session_state.get(FRAME, NO_FRAME)[1:])


def heading(view: View) -> tuple[str, str]:
    """The title of the page, or of the lesson that a class is asked, and the line below it."""
    return class_page.heading(view) if class_page.is_shown(view) else view.page.heading


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, write, PageHeading(heading, link=class_page.pupils_link))
