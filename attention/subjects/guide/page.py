"""Guide: a lesson, chapter by chapter, each with a live figure and a question to answer first."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention.app.components.inputs import LightsHeader, examples, lights
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.shell.heading import PageHeading
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES
from attention.app.state.view import View
from attention.figures import result_words
from attention.figures.head_grid import HeadGrid
from attention.figures.scene import Scene, note, scene
from attention.figures.word_rows import Slider, WordRows
from attention.pipeline import Settings
from attention.subjects.guide import (
    carried,
    chapter_page,
    chosen_lesson,
    fitting,
    joining,
    model_window,
)
from attention.subjects.guide import finale as endings
from attention.subjects.guide import scene as scenes
from attention.subjects.guide.chapters import CARRIED, LIGHTS, WORDLESS, Chapter, languages
from attention.subjects.guide.figures import NextPieces
from attention.subjects.guide.lesson_words import sentence_in
from attention.subjects.guide.votes import VOTES
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as learning_scenes
from attention.subjects.learning import trainings
from attention.subjects.model import continuations
from attention.subjects.model.figures import ModelWindow
from attention.training import TrainingSettings

WORKED_OUT = {"finale": fitting.is_worked_out, "window": model_window.is_worked_out}
CUT = "This link is cut: ask your teacher for it again."
TITLES = {page.name: page.title for page in PAGES}
ADDRESSES = {page.name: "." if page.first else page.name for page in PAGES}


def guide(view: View) -> None:
    """The open chapter: its words, its figure, its question."""
    view = chapter_page.enter(joining.enter(view))
    if view["lesson"] == CARRIED and not carried.is_whole(view["carried"]):
        st.info(CUT)
        return
    lesson = chosen_lesson.lesson(view)
    tell(*(f"This lesson has a mistake. {problem}" for problem in lesson.problems), key="mistakes")
    chosen_lesson.lesson_menu(view, chosen_lesson.own_lesson())
    chosen_lesson.language_menu(view)
    if view["lesson"] == "guide":
        tell(*filter(None, languages()[view["lang"]][1:]), key="stays_english")
    if not lesson.chapters:
        st.info("There is no chapter to show. Whoever runs this app can put the files right.")
        return
    way(view, lesson.chapters)
    at = chapter_page.position(view)
    if at is None:
        tell(
            f"There is no chapter “{view['chapter'][:40]}” here; showing the first.", key="nowhere"
        )
    chapter = chapter_page.on_yours(view, lesson.chapters[at or 0])
    shown = chapter_page.shown(view, chapter)
    with st.container(key="guide_wide" if chapter.figure in ("how", "against") else "guide"):
        with st.container(key="guide_words"):
            st.markdown(f"## {chapter.title}")
            whose_words(view, shown)
            st.markdown(chapter.body)
            if chapter.hint:
                st.container(key="to_try").markdown(chapter.hint)
            lit: LightsHeader = {
                "selectors": LIGHTS,
                "figure": ".st-key-guide_seen",
                "chapter": at or 0,
                "language": view["lang"] if view["lesson"] == "guide" else "",
            }
            lights.draw(lit, key="lights")
        with st.container(key="guide_seen"):
            if chapter.hidden and not chapter_page.is_answered(view, chapter):
                tell(chapter_page.words_of(view)["hidden"], key="hidden_figure")
            else:
                with st.container(key="guide_figure"):
                    figure(view, chapter)
                with st.container(key="guide_more"):
                    show(view, shown, scenes.behind(view, chapter), key="behind_figure")
        with st.container(key="guide_question"):
            question(view, chapter)
            try_yours(view, shown)
            joining.offer_to_send(view, shown)
            joining.tell(view)
            if at == len(lesson.chapters) - 1 or (at is None and len(lesson.chapters) == 1):
                hand_in(view, len(lesson.chapters))
        onward(view, lesson.chapters, at or 0, shown)
    if chapter.figure == "finale":
        invitations(view, shown)


def tell(*lines: str, key: str) -> None:
    """Draw quiet lines, if there are any."""
    if lines:
        draw(scene(*map(note, lines)), key=key)


def way(view: View, there: Sequence[Chapter]) -> None:
    """A dot for each chapter, with a tick where it is answered, and the minutes left."""
    at, done = chapter_page.position(view) or 0, chapter_page.answered(view)
    ticked = [
        f".st-key-contents button:nth-of-type({index + 1})::before"
        for index, ticks in enumerate(done)
        if ticks
    ]
    words = chapter_page.words_of(view)
    with st.container(key="way"), st.container(key="contents"):
        st.pills(
            words["chapters"],
            range(len(there)),
            format_func=lambda index: f"{index + 1} · {there[index].title}",
            required=True,
            default=at,
            label_visibility="collapsed",
            **session.bound("contents", at, lambda index: chapter_page.turn_to(there[index or 0])),
        )
        left = chapter_page.minutes_left(view)
        about = words["left"].format(minutes=left) if left else words["done"]
        place = words["place"].format(at=at + 1, count=len(there))
        tick = f"{{ content: '✓' / {json.dumps(words['answered'])}; }}"
        ticks = f"<style>{', '.join(ticked)} {tick}</style>" if ticked else ""
        st.html(f"<p class='quiet'>{place} · {about}</p>{ticks}")


def whose_words(view: View, chapter: Chapter) -> None:
    """Whose sentence the words of a chapter are about, where its figure shows the visitor's."""
    words = chapter_page.words_of(view)
    if chapter_page.is_visitors(view, chapter):
        if not chapter_page.speaks_of_yours(view, chapter):
            result = chapter_page.result(view, chapter)
            cut = f"; {result_words.left_out_words(result)}" if result and result.left_out else ""
            about = words["about"].format(sentence=chapter.sentence, cut=cut)
            tell(about, key="whose_words")
        if "s" not in view.hidden:
            st.button(words["own"], type="tertiary", on_click=chapter_page.give, args=("",))
    elif why := chapter_page.why_not_brought(view, chapter):
        tell(words["keeps"].format(why=why), key="whose_words")


def try_yours(view: View, chapter: Chapter) -> None:
    """A box for the visitor's sentence, and the one of before."""
    if not chapter_page.offers_box(view, chapter):
        return
    words, given = chapter_page.words_of(view), chapter_page.given(view)
    with st.container(key="try_yours"):
        st.text_input(
            words["yours"],
            given,
            live="200ms",
            placeholder=words["yours"],
            label_visibility="collapsed",
            max_chars=int(every_setting()["s"].maximum or 0) or None,
            **session.bound("yours", given, chapter_page.give, chapter.name),
        )
        before = view.visit.aside
        if before and before != given:
            examples(words["before"], [before], lambda _: chapter_page.give(before), key="examples")


def question(view: View, chapter: Chapter) -> None:
    """Ask what to guess before the explanation is shown; in a class there is a vote on it."""
    guess, answered = view["guess"], chapter_page.is_answered(view, chapter)
    words, ballot = chapter_page.words_of(view), joining.ballot_of(view, chapter)
    shown, take, phase = guess if answered else None, partial(take_guess, chapter), ""
    if ballot is not None:
        shown, take = joining.choice(ballot), partial(joining.vote, chapter)
        phase = "anew" if ballot.begins_anew else ballot.phase
    with st.container(key="guessed"):
        st.pills(
            chapter.question,
            range(len(chapter.choices)),
            format_func=chapter.choices.__getitem__,
            default=shown,
            disabled=phase not in ("", "anew", *VOTES),
            **session.bound("guessed", shown, take, (chapter.name, phase)),
        )
        if answered:
            marks = {guess: ("✗", words["wrong"]), chapter.answer: ("✓", words["right"])}
            st.html(f"<style>{''.join(_mark(at, *mark) for at, mark in marks.items())}</style>")
    with st.container(key="verdict"):  # there from the start: what comes below keeps its place
        if not answered:
            if phase:
                st.markdown(words[f"vote_{phase}"])
            return
        verdict = words["right" if guess == chapter.answer else "wrong"]
        reply = chapter.replies[guess] if chapter.replies else ""
        if shown is None:
            verdict, reply = words["unvoted"], ""
        st.markdown(" ".join(filter(None, (f"**{verdict}.**", reply, chapter.because))))
        if chapter.reveal:
            revealed = chapter_page.is_revealed(view, chapter)
            label = words["unreveal" if revealed else "reveal"]
            st.button(label, key="reveal", on_click=chapter_page.reveal, args=(not revealed,))


def _mark(at: int, mark: str, word: str) -> str:
    """The style that marks a choice, and has it read with a word."""
    choice = f".st-key-guessed button:nth-of-type({at + 1})::after"
    return f"{choice} {{ content: '{mark}' / {json.dumps(word)}; margin-left: 0.4rem; }}"


def hand_in(view: View, count: int) -> None:
    """At the end of a lesson how many first choices were right; in one that a teacher has given, or
    in a class, the code that says which too."""
    if not chapter_page.learner(view):
        return
    right, (codes, revealed) = chapter_page.result_code(view)[1], joining.hand_in(view)
    words = chapter_page.words_of(view)
    if revealed:
        st.markdown(words["score"].format(right=right, count=count))
    if view["room"] or view["lesson"] != "guide":
        st.markdown(words["code"])
        for code in codes:
            st.code(code, language=None, width="content")


def take_guess(chapter: Chapter, guess: int | None) -> None:
    """Hold the guess, or that there is none any more, within a callback."""
    if guess is not None:
        chapter_page.note_guess(session.view(), chapter, guess)
    session.choose("guess", -1 if guess is None else guess)


def onward(view: View, there: Sequence[Chapter], at: int, shown: Chapter) -> None:
    """Back, next, and to the page that shows this view. shown: the chapter as its figure has it."""
    chapter, last, words = there[at], len(there) - 1, chapter_page.words_of(view)
    before = there[max(at - 1, 0)]
    with st.container(horizontal=True, vertical_alignment="center", key="guide_onward"):
        turn = chapter_page.turn_to
        st.button(words["back"], disabled=at == 0, on_click=turn, args=(before,))
        if at < last:
            next_one = there[at + 1]
            st.button(words["next"], type="primary", on_click=turn, args=(next_one,))
        if chapter.page:
            said = shown.link_with(chapter_page.sentence_of(view, shown))
            st.link_button(
                words["open"].format(page=TITLES[chapter.page]),
                f"{ADDRESSES[chapter.page]}?{said}",
                help=words["opens"],
                type="tertiary",
            )


def invitations(view: View, chapter: Chapter) -> None:
    """Links at the end, with the sentence and the head of the card as far as it is made."""
    text = chapter_page.sentence_of(view, chapter)
    made = fitting.found_ending(text)
    settings, query = (made[0].settings, made[0].query) if made else (Settings(text), 0)
    words = chapter_page.words_of(view)
    with st.container(key="guide_end"):
        st.markdown(f"### {words['end']}")
        with st.container(horizontal=True, key="invitations"):
            for title, page, link in endings.ways_on(settings, query):
                label = f"**{title}**  \n{words[f'to_{page}']}"
                st.link_button(label, f"{ADDRESSES[page]}?{link}", width="stretch")


def figure(view: View, chapter: Chapter) -> None:
    """The figure of a chapter. chapter: as the lesson has it."""
    shown = chapter_page.shown(view, chapter)
    works_out = WORKED_OUT.get(shown.figure)
    if works_out is not None and not works_out(view, shown):
        return
    take_away(view, shown)
    show(view, shown, scenes.of_chapter(view, chapter), key="figure_of_chapter")
    if shown.figure == "learning":
        learn(view, shown)
    elif shown.figure not in WORDLESS:
        of_token(view, chapter)


def show(view: View, chapter: Chapter, drawn: Scene, key: str) -> None:
    """Draw a scene of a chapter, if anything is in it."""
    if drawn.parts:
        chosen = chapter_page.selection(view, chapter)
        draw(drawn, key=key, selection=chosen, taken=answers_of(view, chapter, drawn))


def answers_of(view: View, chapter: Chapter, drawn: Scene) -> Mapping[str, Mapping[str, Handler]]:
    """For each figure that can be answered, its events: see `draw`."""
    taken: dict[str, Mapping[str, Handler]] = {}
    for each in drawn:
        match each:
            case WordRows(slider=Slider(low=low, high=high)):
                fits = partial(_lies_between, low, high)
                taken[each.key] = {"factor": (fits, partial(chapter_page.choose_in, "factor"))}
            case HeadGrid():
                there = range(len(each.dots)).__contains__
                taken[each.key] = {"head": (there, partial(session.choose, "figure_head"))}
            case ModelWindow():
                taken[each.key] = model_window.taken_from(view, chapter, each)
            case NextPieces():
                taken[each.key] = {"piece": (each.has, go_on)}
    return taken


def _lies_between(low: float, high: float, factor: float) -> bool:
    return low <= factor <= high


@part
def of_token(view: View, chapter: Chapter) -> None:
    """Tell the server what is chosen in the figures, and draw what follows from it."""
    shown = chapter_page.shown(view, chapter)
    chosen = chapter_page.selection(view, shown)
    tell_selection(chosen, partial(chapter_page.select, view, shown))
    show(view, shown, scenes.of_token(view, chapter), key="figure_of_token")


def take_away(view: View, chapter: Chapter) -> None:
    """The words of a sentence, each to be taken away from its figure, or brought back."""
    whole = chapter_page.result(view, chapter) if "away" in chapter.parts else None
    if whole is not None and chapter_page.can_take_away(whole):
        examples(
            chapter_page.words_of(view)["away"],
            whole.key_tokens,
            partial(chapter_page.take_or_bring_back, view, whole),
            gone=chapter_page.away(view, whole),
            key="away",
        )


def go_on(position: int) -> None:
    """Let the sentence grow by the word clicked, within a callback."""
    view = session.view()
    chapter = chapter_page.opened(view)
    made = chapter and fitting.found_ending(chapter_page.sentence_of(view, chapter))
    if made:
        ending, _ = made
        model, sentence = ending.settings.model, ending.settings.s
        longer = continuations.text_with(model, sentence, ending.ids[position])
        if longer is not None and not every_setting()["s"].problem(longer):
            session.choose("s", longer)


def learn(view: View, chapter: Chapter) -> None:
    """Show a head that has learned nothing, and have it learn once that is asked for."""
    settings = learning_controls.held(chapter_page.training_of(chapter))
    if chapter_page.kept(view, "learned", False):
        trainings.training(settings, brief=True)
        return
    label = sentence_in(view["lang"], "Learn")
    st.button(label, key="learn", type="primary", on_click=begin_to_learn, args=(settings,))
    untrained = learning_controls.untrained(settings)
    draw(learning_scenes.unfinished(untrained, brief=True), key=trainings.KEY)


def begin_to_learn(settings: TrainingSettings) -> None:
    """Ask for a training, within a callback."""
    chapter_page.choose_in("learned", True)
    works.begin(learning_controls.task_of(settings).what)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, guide, PageHeading(chosen_lesson.heading, chapter_page.sentences))
