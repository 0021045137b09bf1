"""A pupil's side of a class: its lesson, and what of the visit goes to the teacher's screen."""

from __future__ import annotations

import secrets

import streamlit as st

from attention.app.components.inputs import kept_name
from attention.app.components.scene import draw
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.scene import Words, note, scene
from attention.hosting.addresses import network
from attention.subjects.guide import carried, chapter_page, chosen_lesson
from attention.subjects.guide.chapters import Chapter
from attention.subjects.guide.classes import CLASSES, Room
from attention.subjects.guide.votes import Ballot

PUPIL = "pupil"  # the name of the browser in its class; nothing else is known of it
NAME_LETTERS = 32  # in base 16
SCREEN = "class_screen"  # the question that was on the class's screen when this tab looked last
EVERY = 2.0  # seconds from one look at the class to the next


def enter(view: View) -> View:
    """Open the lesson of the class, whose link has its name alone, at the question on its screen,
    and take up what this browser has voted."""
    room = CLASSES.find(view["room"])
    if room is None:
        _say_there_is_none(view)
        return view
    if view["lesson"] == "guide" and room.at[0] != "guide":
        for name, value in zip(("lesson", "carried"), room.at, strict=False):
            session.choose(name, value)
        st.rerun()
    kept_name.draw({"cookie": PUPIL, "value": _pupil(), "settings": {}}, key="kept_name")
    there = {
        chapter_page.question(view, each): each for each in chosen_lesson.lesson(view).chapters
    }
    if room.at in there and st.session_state.get(SCREEN) != room.at:
        st.session_state[SCREEN] = room.at
        if [*there].index(room.at) != chapter_page.position(view):
            chapter_page.turn_to(there[room.at])
            view = session.view()
    if _pupil() not in room.pupils and room.before is None:  # the process has begun anew
        told = chapter_page.learner(chapter_page.recall(view, view["answered"]))
        for asked in (each for each in there if each[-1] in told):
            CLASSES.vote(view["room"], _pupil(), asked, told[asked[-1]], address())
    here = CLASSES.join(view["room"], _pupil(), address())
    return _as_voted(view, CLASSES.find(view["room"]) or room) if here else view


def _as_voted(view: View, room: Room) -> View:
    """The view with the votes of this browser, and with its choice on the open question once that
    is revealed; whoever has none is shown the answer."""
    ballots, lesson = chapter_page.ballots(view, room), chosen_lesson.lesson(view)
    first = carried.Result(tuple(each.first.get(_pupil()) for each in ballots))
    code = carried.code_of(first, lesson) if any(_pupil() in each.first for each in ballots) else ""
    session.change(guesses={})
    if code != view["answered"]:
        session.choose("answered", code)
    at = chapter_page.position(view) or 0
    guess = -1
    if ballots and ballots[at].phase == "revealed":
        choice = ballots[at].choice(_pupil())
        guess = lesson.chapters[at].answer if choice is None else choice
    if guess != view["guess"]:
        session.choose("guess", guess)
    return chapter_page.recall(session.view(), code)


def ballot_of(view: View, chapter: Chapter) -> Ballot | None:
    """The votes on a chapter's question, None for whoever is in no class."""
    room = CLASSES.find(view["room"])
    here = room is not None and _pupil() in room.pupils
    return room.ballot(chapter_page.question(view, chapter)) if room and here else None


def choice(ballot: Ballot) -> int | None:
    """The choice that this browser sees on a question."""
    return ballot.choice(_pupil())


def vote(chapter: Chapter, choice: int | None) -> None:
    """Vote on a chapter's question, within a callback."""
    view = session.view()
    asked = chapter_page.question(view, chapter)
    CLASSES.vote(view["room"], _pupil(), asked, choice, address())


def hand_in(view: View) -> tuple[list[str], bool]:
    """The codes of this browser, one for each vote, and whether all its answers are revealed."""
    room = CLASSES.find(view["room"])
    if room is None or _pupil() not in room.pupils:
        return [chapter_page.result_code(view)[0]], True
    ballots = chapter_page.ballots(view, room)
    codes = carried.codes_of(_pupil(), ballots, chosen_lesson.lesson(view))
    return codes, all(each.phase == "revealed" for each in ballots if _pupil() in each.first)


def tell(view: View) -> None:
    """Tell the pupil that the class is told, and follow what its teacher does."""
    if not (name := view["room"]):
        return
    room = CLASSES.find(name)
    if room is not None and _pupil() in room.pupils:
        words = chapter_page.words_of(view)["class"].format(name=name)
        draw(scene(note(words)), key="told_to_class")
    elif room is not None:  # it takes nobody else
        _say_there_is_none(view)
    session.fragment(_watch, EVERY)(_seen(view))


def _watch(drawn: object) -> None:
    """Draw all anew where the class has gone on. drawn: what was seen of it then."""
    if _seen(session.view()) != drawn:
        st.rerun()


def _seen(view: View) -> object:
    """All of the class that this browser shows, None where it is not open."""
    room, chapter = CLASSES.find(view["room"]), chapter_page.opened(view)
    if room is None or chapter is None:
        return None
    ballot = room.ballot(chapter_page.question(view, chapter))
    mine = _pupil() in room.pupils, ballot.choice(_pupil())
    return room.at, room.is_open, ballot.phase, ballot.is_anew, mine


def _say_there_is_none(view: View) -> None:
    """Say that the class of the link, if there is one, is not open."""
    if name := view["room"]:
        words = chapter_page.words_of(view)["no_class"].format(name=name)
        draw(scene(note(words)), key="told_to_class")


def offer_to_send(view: View, chapter: Chapter) -> None:
    """A button that sends the pupil's own sentence to the class, where there is one."""
    room = CLASSES.find(view["room"])
    if room is None or not chapter_page.is_visitors(view, chapter):
        return
    sentence, words = chapter_page.sentence_of(view, chapter), chapter_page.words_of(view)
    if _pupil() in room.pupils and room.pupils[_pupil()].sentence == " ".join(sentence.split()):
        draw(scene(Words(words["sent"])), key="sent_sentence")
        return
    st.button(
        words["send"],
        key="send_sentence",
        on_click=_send,
        args=(view["room"], sentence),
    )


def _send(name: str, sentence: str) -> None:
    CLASSES.send(name, _pupil(), sentence, address())


def address() -> str:
    """Network that this visit comes from."""
    return network(st.context.ip_address or "")


def _pupil() -> str:
    """Name of this browser, which it keeps for a day; of this visit where it keeps none."""
    kept = st.context.cookies.get(PUPIL, "")
    is_name = len(kept) == NAME_LETTERS and set(kept) <= set("0123456789abcdef")
    new = kept if is_name else secrets.token_hex(NAME_LETTERS // 2)
    name: str = st.session_state.setdefault(PUPIL, new)
    return name
