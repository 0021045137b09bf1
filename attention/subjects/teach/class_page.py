"""A class on its teacher's screen: a question with its figure, the votes on it, the answer."""

import html
from functools import partial
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from attention.app.components.inputs import examples, kept_name
from attention.app.components.scene import draw
from attention.app.shell import qr
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.figures.scene import note, scene
from attention.subjects.guide import carried, chapter_page, chosen_lesson, joining
from attention.subjects.guide import page as guide_page
from attention.subjects.guide.carried import Class
from attention.subjects.guide.chapters import Chapter, Lesson
from attention.subjects.guide.classes import CLASSES, Question, Room, name_of
from attention.subjects.guide.votes import Ballot
from attention.subjects.teach import scene as scenes
from attention.subjects.teach import votes_file

KEY, SAID, BEFORE, AT = "key_of_class", "said_of_code", "codes_before", "class_looks_at"
LABELS = {"close": "Close the vote", "again": "Vote again", "reveal": "Reveal"}
EXAMPLE_SENTENCES = (
    "the river broke its banks after the rain",
    "she plays a bass guitar in a band",
    "my dog sleeps because it is tired",
)
PURPOSE = "Ask a class, reveal its answers, and see the figure on a sentence of a pupil."


def is_shown(view: View) -> bool:
    """True if a link opens the screen of a class: by its key, or by its name where that is kept."""
    return bool(view["teacher"] or view["room"])


def heading(view: View) -> tuple[str, str]:
    """The title of the lesson that a class is asked, and the line below it."""
    return chosen_lesson.heading(view)[0], PURPOSE


def ask(view: View) -> None:
    """The open question with its sentence and figure, the way in, and the votes; then the answer.

    The figure of a card may come with the answer.
    """
    view = chapter_page.enter(view)
    chosen_lesson.lesson_menu(view, chosen_lesson.own_lesson())
    lesson, (room, problem) = chosen_lesson.lesson(view), room_of(view)
    if room is not None:
        hide_key(view, key_of(view))
    if problems := [*filter(None, (problem, *lesson.problems))]:
        draw(scene(*map(note, problems)), key="problems")
    if not lesson.chapters:
        st.info("There is no chapter to count answers of.")
        return
    at = chapter_page.position(view) or 0
    chapter, ballot = lesson.chapters[at], ballot_of(view, room)
    revealed = ballot.phase == "revealed"
    if revealed != chapter_page.is_answered(view, chapter):
        session.choose("guess", chapter.answer if revealed else -1)
        view = session.view()
    with st.container(key="class"):
        with st.container(key="class_question"):
            st.markdown(f"## {' '.join(chapter.question.split())}")
            every = None if room is None else joining.EVERY
            session.fragment(live, every)((view["s"], ballot.phase))
            onward(view, lesson, at, ballot, room)
            if revealed:
                st.markdown(chapter.because)
        with st.container(key="class_side"):
            for _, sentence in chapter_page.sentences(view):
                st.html(f"<p class='class-sentence'>{html.escape(sentence)}</p>")
            if revealed or not chapter.hidden:
                figure(view, chapter, at, room)
            if room is not None and not revealed:
                way_in(view, room)
    with st.expander("Codes, typed or pasted", expanded=room is None):
        codes(view, lesson, room)
    found = class_so_far(view, lesson, room)
    with st.container(horizontal=True, vertical_alignment="center"):
        everything = st.toggle("Answers to all questions", key="reveal_all")
        made = partial(votes_file.votes, lesson, found, ballots_of(view, room), room)
        st.download_button("Votes, CSV", made, "votes.csv", "text/csv", on_click="ignore")
    if everything:
        draw(scenes.everything(found, lesson), key="of_all")


def key_of(view: View) -> str:
    """Key of the class: from the link that began the visit, later as the browser keeps it."""
    kept = st.context.cookies.get(f"class_{view['room']}", "")
    key: str = view["teacher"] or st.session_state.get(KEY) or (kept if name_of(kept) else "")
    st.session_state[KEY] = key
    return key


def hide_key(view: View, key: str) -> None:
    """Have the browser keep the key of the open class, and the address have its name alone."""
    name = name_of(key)
    wanted = {"teacher": "", "room": name} if view["teacher"] else {}
    settings = {each: text for each, text in wanted.items() if text != view[each]}

    def choose(_: bool) -> None:
        for each, text in settings.items():
            session.choose(each, text)

    kept_name.draw(
        {"cookie": f"class_{name}", "value": key, "settings": settings},
        key="kept_name",
        written=(bool, choose),
    )


def room_of(view: View) -> tuple[Room | None, str]:
    """The class whose teacher this is, None where it cannot be had, and why."""
    key, chapter = key_of(view), chapter_page.opened(view)
    at = (view["lesson"], view["carried"], chapter.name if chapter else "")
    turns = st.session_state.get(AT) != at  # else two tabs would have it turn to and fro
    st.session_state[AT] = at
    try:
        return CLASSES.look(key, joining.address(), at, turns), ""
    except ValueError as error:
        why = error if key else "this browser does not have its key"
        return None, f"The class cannot be opened: {why}."


def ballot_of(view: View, room: Room | None) -> Ballot:
    """The votes on the open question; without a class it is revealed by the link."""
    chapter = chapter_page.opened(view)
    if room is not None and chapter is not None:
        return room.ballot(chapter_page.question(view, chapter))
    answered = chapter is not None and chapter_page.is_answered(view, chapter)
    return Ballot("revealed" if answered else "first")


def ballots_of(view: View, room: Room | None) -> list[Ballot]:
    """The votes on the questions of all chapters, none without a class."""
    return chapter_page.ballots(view, room) if room else []


def class_so_far(view: View, lesson: Lesson, room: Room | None) -> Class:
    """All codes so far, those typed and those of the votes."""
    ballots, pupils = ballots_of(view, room), room.pupils if room else {}
    sent = [code for each in pupils for code in carried.codes_of(each, ballots, lesson)]
    return carried.read_class(view["codes"], lesson, sent)


def live(drawn: object) -> None:
    """Votes on the open question so far, looked at again and again while a class is open.

    drawn: the sentence that the figure of the page shows, and the phase of the votes.
    """
    view = session.view()
    lesson, (room, _) = chosen_lesson.lesson(view), room_of(view)
    at, ballot = chapter_page.position(view) or 0, ballot_of(view, room)
    if (view["s"], ballot.phase) != drawn:
        st.rerun()
    joined = len(room.pupils) if room else None
    found = class_so_far(view, lesson, room)
    draw(scenes.choices(found, lesson, at, ballot, joined), key="of_choices")
    example = view["codes"] == carried.made_up(lesson)
    sentences = [*(room.sentences if room else ()), *(EXAMPLE_SENTENCES if example else ())]
    offered = ballot.phase == "revealed" and chapter_page.takes_sentence(
        chapter_page.shown(view, lesson.chapters[at])
    )
    if sentences and offered and st.toggle(f"Sentences sent: {len(sentences)}", key="sentences"):
        told = "Click one to see it in the figure:"
        take = partial(take_sentence, sentences)
        examples(told, sentences, take, key="examples")


def take_sentence(sentences: list[str], chosen: int) -> None:
    """Show a pupil's sentence in the figure, within a callback."""
    chapter_page.give(sentences[chosen])


def onward(view: View, lesson: Lesson, at: int, ballot: Ballot, room: Room | None) -> None:
    """From phase to phase of the votes, from question to question, and what lets nobody join."""
    there, last = lesson.chapters, len(lesson.chapters) - 1
    revealed, asked = ballot.phase == "revealed", chapter_page.question(view, there[at])
    with st.container(horizontal=True, vertical_alignment="center", key="class_onward"):
        if room is None:
            label, guess = ("Hide again", -1) if revealed else ("Reveal", there[at].answer)
            st.button(label, on_click=session.choose, args=("guess", guess))
        else:
            for number, move in enumerate(ballot.moves):
                act = partial(CLASSES.move, key_of(view), asked, move)
                st.button(LABELS[move], type="secondary" if number else "primary", on_click=act)
        turn = chapter_page.turn_to
        st.button("Back", disabled=at == 0, on_click=turn, args=(there[max(at - 1, 0)],))
        kind: Literal["primary", "secondary"] = "primary" if revealed else "secondary"
        further = there[min(at + 1, last)]
        st.button("Next question", disabled=at == last, type=kind, on_click=turn, args=(further,))
        st.caption(f"{at + 1} of {last + 1}", width="content")
        if room is not None:
            if ballot.phase != "first":
                anew = partial(begin_anew, key_of(view), asked)
                st.button("Begin anew", type="tertiary", on_click=anew)
            st.button(
                "Close the door" if room.is_open else "Open the door",
                type="tertiary",
                on_click=CLASSES.open_or_close,
                args=(key_of(view), not room.is_open),
            )


def figure(view: View, chapter: Chapter, at: int, room: Room | None) -> None:
    """The figure of the question, on a pupil's sentence where one is chosen."""
    shown = chapter_page.shown(view, chapter)
    with st.container(key="guide_seen"), st.container(key="guide_figure"):
        guide_page.figure(view, chapter)
    sentence = chapter_page.sentence_of(view, shown)
    if not chapter_page.is_visitors(view, shown):
        guide_page.try_yours(view, shown)
        return
    with st.container(horizontal=True, key="whose_sentence"):
        st.button("Back to the chapter's own sentence", on_click=chapter_page.give, args=("",))
        if room is not None and sentence in room.sentences:
            drop = partial(drop_sentence, key_of(view), sentence)
            st.button("Take this sentence away", type="tertiary", on_click=drop)


def drop_sentence(key: str, sentence: str) -> None:
    """Take a pupil's sentence off the screen, within a callback."""
    CLASSES.drop_sentence(key, sentence)
    chapter_page.give("")
    st.session_state[BEFORE] = session.view()["codes"]


def pupils_link(view: View) -> str:
    """The link for pupils, from beside the page; "" where that shows no class."""
    if not is_shown(view):
        return ""
    return f"guide?{urlencode({'room': name_of(key_of(view)) or view['room']})}"


def way_in(view: View, room: Room) -> None:
    """The link for pupils as a QR code and to be typed, while they can join."""
    if not room.is_open:
        draw(
            scene(note("The door is closed: who has joined goes on, nobody else can join.")),
            key="closed",
        )
        return
    beside = (st.context.url or "").partition("?")[0].rpartition("/")[0]
    link = f"{beside}/{pupils_link(view)}"
    st.html(qr.qr_code(link, "QR code of the link to the lesson"))
    st.html(f"<p class='way-in'>{html.escape(link.partition('://')[2] or link)}</p>")


def codes(view: View, lesson: Lesson, room: Room | None) -> None:
    """The codes that are typed and pasted; an example to start from, and ways back."""
    with (
        st.form("typed", clear_on_submit=True, border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            "A learner's code", key="code", max_chars=200, help="A lesson's last chapter shows it."
        )
        st.form_submit_button("Add", on_click=take_code, args=(lesson,))
    st.html(f"<p class='quiet' role='status'>{html.escape(st.session_state.get(SAID, ''))}</p>")
    if "codes" not in view.hidden:
        st.text_area(
            "All codes typed so far; or paste a list",
            view["codes"],
            height=130,
            max_chars=int(every_setting()["codes"].maximum or 0),
            **session.bound("codes", view["codes"], partial(session.choose, "codes")),
        )
    found = class_so_far(view, lesson, room)
    draw(scenes.codes(found), key="of_codes")
    with st.container(horizontal=True):
        if found.repeats:
            told = carried.with_repeats(view["codes"])
            st.button("Count each of them", on_click=set_codes, args=(told,))
        if not found.results:
            made_up = carried.made_up(lesson)
            st.button("Try an example class", on_click=set_codes, args=(made_up,))
        elif view["codes"] or (room and room.pupils):
            st.button("Start over", on_click=start_over, args=(key_of(view),))
        if BEFORE in st.session_state:
            st.button("Undo", on_click=undo, args=(key_of(view),))


def set_codes(codes: str) -> None:
    """Have other codes in place of those typed; *Undo* brings those back, within a callback."""
    st.session_state[BEFORE] = session.view()["codes"]
    session.choose("codes", codes)


def begin_anew(key: str, question: Question) -> None:
    """Clear both votes on a question, within a callback."""
    st.session_state[BEFORE] = session.view()["codes"]
    CLASSES.move(key, question, "anew")


def start_over(key: str) -> None:
    """Begin anew with the next group, within a callback."""
    set_codes("")
    CLASSES.empty(key)


def undo(key: str) -> None:
    """Bring back what was there before the last change, within a callback."""
    session.choose("codes", st.session_state.pop(BEFORE))
    st.session_state[SAID] = ""
    CLASSES.undo(key)


def take_code(lesson: Lesson) -> None:
    """Add a typed code to the others, or say why it cannot be counted, within a callback."""
    code = "".join(st.session_state["code"].split())
    st.session_state[SAID] = ""
    if not code:
        return
    view, known = session.view(), code.upper()
    try:
        result = carried.answers_of(code, lesson)
    except ValueError as error:
        st.session_state[SAID] = f"“{code[:40]}” is not counted: {error}."
        return
    before = class_so_far(view, lesson, room_of(view)[0])
    longer = "\n".join(filter(None, (view["codes"].strip(), known)))
    most = int(every_setting()["codes"].maximum or 0)
    if len(before.results) >= carried.MOST_CODES or len(longer) > most:
        st.session_state[SAID] = f"“{code[:40]}” is not counted: there is no room for more codes."
        return
    set_codes(longer)
    again = result in before.results
    st.session_state[SAID] = (
        f"{known} is counted already. Is it another learner's, with the same answers? Then press "
        "“Count each of them”."
        if again
        else f"{known} is counted."
    )
