"""Guide: a lesson, chapter by chapter, each with a live figure and a question to answer first."""

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.analysis import sweeps
from attention.app.cached import overviews
from attention.app.components.inputs import examples, lights, next_pieces
from attention.app.components.pictures import chart, head_grid, matrices, picture
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import notes, sections, widgets, works
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES, link_of_now
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, maps, result_words, tables
from attention.figures.card import card
from attention.figures.matrix import Matrix
from attention.figures.scene import Words, scene
from attention.pipeline import Result, Settings
from attention.subjects.compare import numbers as compare_numbers
from attention.subjects.compare.figures import ComparedHeatmaps, SweptHeatmap
from attention.subjects.explore import map_page
from attention.subjects.guide import chapter_page, fitting
from attention.subjects.guide import finale as endings
from attention.subjects.guide.chapters import LIGHTS, Chapter
from attention.subjects.guide.finale import Ending
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import trainings
from attention.subjects.model import continuations
from attention.trained import sources
from attention.training import TrainingSettings

TITLES = {page.name: page.title for page in PAGES}
TALL = 560  # pixels of a heatmap that stands alone beside the text
ADDRESSES = {page.name: "." if page.first else page.name for page in PAGES}


def guide(view: View) -> None:
    """The open chapter: its words, its figure, its question."""
    view = chapter_page.enter(view)
    lesson = chapter_page.lesson(view)
    for problem in lesson.problems:
        notes.note(f"This lesson has a mistake. {problem}")
    with st.container(key="unseen"):  # so that the address has them
        for name in ("chapter", "guess", "s"):
            widgets.widget(view, name)
    chapter_page.lesson_menu(view, chapter_page.own_lesson())
    if not lesson.chapters:
        st.info("There is no chapter to show. Whoever runs this app can put the files right.")
        return
    way(view, lesson.chapters)
    at = chapter_page.position(view)
    if at is None:
        notes.note(f"There is no chapter “{view['chapter'][:40]}” here; showing the first.")
    chapter = lesson.chapters[at or 0]
    shown, box = chapter_page.shown(view, chapter), f"yours_{at or 0}"
    with st.container(key="guide_wide" if chapter.figure == "compare" else "guide"):
        with st.container(key="guide_words"):
            st.markdown(f"## {chapter.title}")
            whose_words(view, shown, box)
            st.markdown(chapter.body)
            if chapter.hint:
                st.container(key="to_try").markdown(chapter.hint)
            lights(LIGHTS, ".st-key-guide_seen", at or 0, key="lights")
        with st.container(key="guide_seen"):
            with st.container(key="guide_figure"):
                figure(view, shown, chapter_page.missing_model(chapter))
            with st.container(key="guide_more"):
                more(view, shown)
        with st.container(key="guide_question"):
            question(view, chapter)
            try_yours(view, shown, box)
            if at == len(lesson.chapters) - 1 or (at is None and len(lesson.chapters) == 1):
                hand_in(view, len(lesson.chapters))
        onward(view, lesson.chapters, at or 0, shown)
    if chapter.figure == "finale":
        invitations(view, shown)


def way(view: View, there: Sequence[Chapter]) -> None:
    """A dot for each chapter, with a tick where it is answered, and the minutes left."""
    at, done = chapter_page.position(view) or 0, chapter_page.answered(view)
    ticked = [
        f".st-key-contents button:nth-of-type({index + 1})::before"
        for index, ticks in enumerate(done)
        if ticks
    ]
    with st.container(key="way"):
        st.session_state["contents"] = at
        st.pills(
            "Chapter",
            range(len(there)),
            format_func=lambda index: (
                f"{index + 1} · {there[index].title}{', answered' if done[index] else ''}"
            ),
            key="contents",
            required=True,
            on_change=lambda: chapter_page.turn_to(there[st.session_state["contents"]]),
            label_visibility="collapsed",
        )
        left = chapter_page.minutes_left(view)
        about = f"about {left} minute{'' if left == 1 else 's'} left" if left else "done"
        ticks = f"<style>{', '.join(ticked)} {{ content: '✓'; }}</style>" if ticked else ""
        st.html(f"<p class='quiet'>{at + 1} of {len(there)} · {about}</p>{ticks}")


def whose_words(view: View, chapter: Chapter, box: str) -> None:
    """Whose sentence the words of a chapter are about, where its figure shows the visitor's.

    box: the key of the visitor's.
    """
    if chapter_page.is_visitors(view, chapter):
        result = chapter_page.result(view, chapter)
        cut = f"; {result_words.left_out_words(result)}" if result and result.left_out else ""
        notes.note(
            f"The words here, the question and its answer are about “{chapter.sentence}”. "
            f"The figure shows your sentence{cut}."
        )
        if "s" not in view.hidden:
            st.button(
                "Back to the chapter's own sentence",
                type="tertiary",
                on_click=take,
                args=("", box),
            )


def try_yours(view: View, chapter: Chapter, box: str) -> None:
    """A box for the visitor's sentence, and the one of before. box: its key."""
    if not chapter_page.offers_box(view, chapter):
        return
    if box not in st.session_state:
        st.session_state[box] = chapter_page.given(view)
    with st.container(key="try_yours"):
        st.text_input(
            "Try yours",
            key=box,
            live="200ms",
            placeholder="Try yours: type a sentence of your own",
            label_visibility="collapsed",
            max_chars=int(every_setting()["s"].maximum or 0) or None,
            on_change=lambda: chapter_page.give(st.session_state[box]),
        )
        before = view.visit.aside
        if before and before != chapter_page.given(view):
            examples("Or the one of before:", [before], lambda _: take(before, box), key="examples")


def take(sentence: str, box: str) -> None:
    """Show a sentence in the open chapter, its own for "", within a callback. box: its key."""
    chapter_page.give(sentence)
    st.session_state[box] = sentence


def question(view: View, chapter: Chapter) -> None:
    """Ask what to guess before the explanation is shown."""
    guess = view["guess"]
    answered = guess in range(len(chapter.choices))
    st.session_state["guessed"] = guess if answered else None

    def marked(index: int) -> str:
        choice = chapter.choices[index]
        if not answered or index not in (guess, chapter.answer):
            return choice
        return f"{choice} {':material/check:' if index == chapter.answer else ':material/close:'}"

    st.pills(
        chapter.question,
        range(len(chapter.choices)),
        format_func=marked,
        key="guessed",
        on_change=take_guess,
        args=(chapter,),
    )
    if answered:
        verdict = "**Right.**" if guess == chapter.answer else "**Not quite.**"
        reply = chapter.replies[guess] if chapter.replies else ""
        st.markdown(" ".join(filter(None, (verdict, reply, chapter.because))))
        if chapter.reveal:
            revealed = chapter_page.is_revealed(view, chapter)
            label = "Back to the figure before" if revealed else "Show it in the figure"
            st.button(label, key="reveal", on_click=chapter_page.reveal, args=(not revealed,))


def hand_in(view: View, count: int) -> None:
    """At the end of a lesson how many first choices were right, and the code that says which."""
    if not chapter_page.learner(view):
        return
    code, right = chapter_page.result_code(view)
    st.markdown(f"**{right} of {count}** right at the first choice. The code for your teacher:")
    st.code(code, language=None, width="content")


def take_guess(chapter: Chapter) -> None:
    """Hold the guess, or that there is none any more, within a callback."""
    guess = st.session_state["guessed"]
    if guess is not None:
        chapter_page.note_guess(session.view(), chapter, guess)
    session.choose("guess", -1 if guess is None else guess)


def onward(view: View, there: Sequence[Chapter], at: int, shown: Chapter) -> None:
    """Back, next, and to the page that shows this view. shown: the chapter as its figure has it."""
    chapter, last = there[at], len(there) - 1
    with st.container(horizontal=True, vertical_alignment="center", key="guide_onward"):
        st.button(
            "Back", disabled=at == 0, on_click=chapter_page.turn_to, args=(there[max(at - 1, 0)],)
        )
        if at < last:
            next_one = there[at + 1]
            st.button("Next", type="primary", on_click=chapter_page.turn_to, args=(next_one,))
        if chapter.page:
            said = shown.link_with(chapter_page.sentence_of(view, shown))
            page, link = link_of_now(chapter.page, said)
            st.link_button(
                f"Open this on {TITLES[page]}",
                f"{ADDRESSES[page]}?{link}",
                help="In a new tab, so that your place here stays.",
                type="tertiary",
            )


def invitations(view: View, chapter: Chapter) -> None:
    """Where to go at the end, with the sentence and the head of the card as far as it is made."""
    text = chapter_page.sentence_of(view, chapter)
    made = None if fitting.steps_to_ending(text) else fitting.ending_of(text)
    settings, query = (made[0].settings, made[0].query) if made else (Settings(text), 0)
    with st.container(key="guide_end"):
        st.markdown("### You have seen all of it. And now?")
        with st.container(horizontal=True, key="invitations"):
            for title, words, page, link in endings.ways_on(settings, query):
                label = f"**{title}**  \n{words}"
                st.link_button(label, f"{ADDRESSES[page]}?{link}", width="stretch")


def alignment(view: View, chapter: Chapter) -> None:
    """Show what a translator that has learned it draws each word of its translation from."""
    if not chapter_page.has_translator():
        notes.note(
            f"With the trained translator “{chapter_page.TRANSLATOR}” its alignment of these words "
            "would stand here. Whoever runs this app adds it with: "
            f"{sources.installing()}"
        )
        return
    made = chapter_page.alignment(view, chapter)
    if made is None:
        return
    found, aligned = made
    st.markdown("**A translator that has learned what to ask** writes:")
    st.text(found.text)
    sections.lines_and_weights(
        view,
        aligned,
        "alignment",
        "Each row is a word that it writes, </s> the end; each column a word that it reads.",
        ("heatmap",),
        chapter_page.selection(view, chapter),
    )


def figure(view: View, chapter: Chapter, missing: str) -> None:
    """The figure of a chapter, computed for the sentence.

    missing: the trained model that it should be of, "" where that is here.
    """
    if missing:
        notes.note(
            f"This chapter speaks of the trained model “{missing}”, which is not installed here. "
            "The figure shows a layer that has learned nothing. Whoever runs this app adds the "
            f"model with: {sources.installing()}"
        )
    if chapter.figure in ALONE:
        ALONE[chapter.figure](view, chapter)
        return
    shown = chapter_page.result(view, chapter)
    if shown is None:
        st.info("Type a sentence with a word in it.")
        return
    FIGURES[chapter.figure](view, chapter, shown)
    if chapter.figure != "finale":
        notes.note_reader(shown, names_head=chapter_page.knows_heads(view))
    if chapter.figure != "map":
        told(view, chapter)


def more(view: View, chapter: Chapter) -> None:
    """Show what follows the figure; on a phone it comes below the question."""
    shown = chapter_page.result(view, chapter) if chapter.figure in MORE else None
    if shown is not None:
        MORE[chapter.figure](view, chapter, shown)
    if chapter.after and view["guess"] in range(len(chapter.choices)):
        alignment(view, chapter)


@part
def told(view: View, chapter: Chapter) -> None:
    """Tell the server what is chosen in the pictures, and note what is said of it."""
    tell_selection(
        chapter_page.selection(view, chapter), partial(chapter_page.select, view, chapter)
    )
    if said := chapter_page.looks_most(view, chapter):
        notes.note_quietly(said)


def one_picture(
    view: View, chapter: Chapter, shown: Result, parts: tuple[str, ...] = (), key: str = "picture"
) -> None:
    """Picture attention and the weighted sum. parts: None given means those of the chapter."""
    drawn = parts or tuple(part for part in chapter.parts if part != "away")
    selection = chapter_page.selection(view, chapter)
    if layer_words.words_of(shown):
        sections.lines_and_weights(view, shown, key, parts=drawn, selection=selection)
        return
    longest = max(len(shown.tokens), len(shown.key_tokens))
    if "away" in chapter.parts and longest <= widgets.MAX_CLICKABLE:
        examples(
            "Take a word away, or bring it back:",
            shown.key_tokens,
            partial(chapter_page.take_or_bring_back, view, shown),
            gone=chapter_page.away(view, shown),
            key="away",
        )
        shown = chapter_page.without_those_away(view, shown)
    stage = selection["values"]["stage"]
    whole = sections.picture_of(shown, drawn, stage=stage)
    picture(
        replace(whole, height=TALL if drawn == ("heatmap",) else 0, digits=2), selection, key=key
    )


def word_vectors(view: View, chapter: Chapter, shown: Result) -> None:
    """The row of numbers of each word, and the products of each two."""
    names = distinct_names(shown.tokens)
    matrices([Matrix("one row of numbers for each word", shown.x, names)], key="vectors")
    one_picture(view, chapter, shown, ("heatmap",))


def side_by_side(view: View, chapter: Chapter, shown: Result) -> None:
    """Two settings, or two sentences, and what changes between them."""
    now = chapter_page.compared(view, chapter)
    if now is None:
        st.info("Both sentences need a word, and a layer that looks at one sentence.")
        return
    compared, _, said = now
    differs = Words([text for line in said for text in ("", line)], "differs", before="A → B")
    heatmaps = ComparedHeatmaps(compared, ["A", "B", "B − A"], key="comparison")
    draw(
        scene(differs if said else None, heatmaps),
        key="both",
        selection=chapter_page.selection(view, chapter),
    )


def sweep(view: View, chapter: Chapter, shown: Result) -> None:
    """Weights under a slider."""
    kinds = sweeps.sweeps_of(shown.trace)
    wanted = chapter_page.setting(chapter, "sweep")
    kind = wanted if wanted in kinds else kinds[0]
    swept = compare_numbers.sweep_of(
        shown, kind, chapter_page.kept(view, "at", chapter_page.setting(chapter, "sweep_at"))
    )
    names = distinct_names(shown.tokens)
    slider = SweptHeatmap(replace(swept, shown=()), names, digits=2, key="sweep_view")
    left_at = (slider.has, lambda value: chapter_page.choose_in("at", float(value)))
    draw(
        scene(slider),
        key="swept",
        selection=chapter_page.selection(view, chapter),
        taken={"sweep_view": {"at": left_at}},
    )


def heads(view: View, chapter: Chapter, shown: Result) -> None:
    """All heads of a layer, and the chosen one in detail."""
    overview = overviews.overview_of(shown.settings)
    notes.titled("Every head of the layer", hint="click one")
    head_grid(
        overview.dots,
        overview.block,
        max(len(shown.tokens), len(shown.key_tokens)),
        shown.head,
        lambda head: chapter_page.choose_in("head", head),
        key="head_grid",
    )


@part
def word_map(view: View, chapter: Chapter, shown: Result) -> None:
    """Where the chosen word goes, who pulls it, and how near it then is to others."""
    selection = chapter_page.selection(view, chapter)
    tell_selection(selection, partial(chapter_page.select, view, chapter))
    query = min(selection["values"]["query"], len(shown.tokens) - 1)
    found = map_page.draw_map(shown, query, chapter.probes, chapter_page.other_end(view, chapter))
    if found is not None:
        notes.note_quietly(found.words)


def finale(view: View, chapter: Chapter, shown: Result) -> None:
    """The sentence, and the head that fits it best, as a card and as lines."""
    text = shown.settings.s
    steps = fitting.steps_to_ending(text)
    quick = len(shown.tokens) <= endings.QUICK
    if not works.done(works.Task(("ending", text), steps, quick, unasked=True, key="ending_work")):
        return
    made = fitting.ending_of(text)
    if made is None:
        return
    ending, of_head = made
    drawn = card(
        endings.card_words(of_head.tokens),
        of_head.trace.weights[ending.query].tolist(),
        ending.query,
        ending.said,
        endings.told(ending, of_head),
    )
    with st.container(key="card"):
        packed = base64.b64encode(drawn.encode()).decode()
        said = html.escape(" ".join(endings.told(ending, of_head)), quote=True)
        st.html(f'<img src="data:image/svg+xml;base64,{packed}" alt="{said}" width="100%">')
    st.download_button("Save this card", drawn, "attention.svg", "image/svg+xml", key="save_card")


def after_finale(view: View, chapter: Chapter, shown: Result) -> None:
    """The next words, and what the head adds to the first of them."""
    text = shown.settings.s
    made = None if fitting.steps_to_ending(text) else fitting.ending_of(text)
    if made is None:
        return
    ending, _ = made
    if ending.following:
        texts, shares = zip(*ending.following, strict=True)
        notes.titled("The next word", hint="click one to go on")
        next_pieces(texts, shares, shares, partial(go_on, ending), key="next_pieces")
        if view["guess"] in range(len(chapter.choices)):
            names, columns = endings.cut_table(ending)
            st.html(tables.table(f"probability of “{ending.said}”", names, columns))


def go_on(ending: Ending, at: int) -> None:
    """Let the sentence grow by the word clicked, within a callback."""
    longer = continuations.text_with(ending.settings.model, ending.settings.s, ending.ids[at])
    if longer is not None and not every_setting()["s"].problem(longer):
        session.choose("s", longer)


def learn(view: View, chapter: Chapter) -> None:
    """Show a head that has learned nothing, and have it learn once that is asked for."""
    settings = learning_controls.held(chapter_page.training_of(chapter))
    if chapter_page.kept(view, "learned", False):
        trainings.training(settings, brief=True)
        return
    st.button("Learn", key="learn", type="primary", on_click=begin_to_learn, args=(settings,))
    trainings.nothing_learned(settings)


def begin_to_learn(settings: TrainingSettings) -> None:
    """Ask for a training, within a callback."""
    chapter_page.choose_in("learned", True)
    works.begin(learning_controls.task_of(settings).what)


def spread(view: View, chapter: Chapter) -> None:
    """Show the spread of random scores as d_k grows."""
    found = chapter_page.spread()
    drawn = maps.spread_figure(found.widths, found.spread, found.greatest)
    chart(drawn, "How the spread of the scores and the greatest share grow with d_k.", key="spread")
    st.caption(found.words)


Draw = Callable[[View, Chapter, Result], None]
FIGURES: Mapping[str, Draw] = {
    "picture": one_picture,
    "compare": side_by_side,
    "sweep": sweep,
    "heads": heads,
    "map": word_map,
    "vectors": word_vectors,
    "finale": finale,
}
ALONE: Mapping[str, Callable[[View, Chapter], None]] = {"spread": spread, "learning": learn}
MORE: Mapping[str, Draw] = {
    "map": partial(one_picture, parts=("lines",)),
    "heads": partial(one_picture, parts=("lines",)),
    "finale": after_finale,
}


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, guide, heading=chapter_page.heading, sentences=chapter_page.sentences)
