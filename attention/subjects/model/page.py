"""A real model: its answer, all its heads with a switch on each, and more behind tabs."""

import streamlit as st

from attention.app.cached import long_texts, runs
from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import long_text_box, notes, widgets, works
from attention.app.shell import frame
from attention.app.shell.heading import PageHeading
from attention.app.state import session, shared
from attention.app.state.view import View
from attention.figures import files
from attention.figures.scene import note, scene
from attention.subjects.model import (
    choices,
    head_sentences,
    long_text_page,
    numbers,
    options,
    pair_numbers,
    pair_scene,
    pair_sentences,
    tab_associations,
    tab_layers,
    tab_passport,
    tab_reasons,
    tab_set,
    team_scene,
    team_work,
    window,
    writing,
)
from attention.subjects.model import scene as scenes
from attention.subjects.model.answers import kind_of
from attention.subjects.model.figures import HeadCards
from attention.subjects.model.known_heads import EXAMPLES, EXHIBITED, KnownHead, known_of
from attention.subjects.model.options import AS_IN, DECIDES
from attention.subjects.model.program import program
from attention.trained import sources
from attention.trained.sources import NONE

TABS = {
    options.PASSPORT: tab_passport.draw_passport,
    options.LAYERS: tab_layers.draw_layers,
    options.REASONS: tab_reasons.draw_reasons,
    options.ASSOCIATIONS: tab_associations.draw_associations,
    options.SET: tab_set.draw_set,
}
# Tabs that are opened without the fold of further settings.
UNFOLDED = (options.CLOSED, options.PASSPORT)
TITLE_WAITS = "title_waits"  # whether the title of this run was told before all effects were known
# Where a figure stands that a link asks for alone.
OF_FIGURES = {
    "layers": options.LAYERS,
    "passport": options.PASSPORT,
    "association": options.ASSOCIATIONS,
}


def page(view: View) -> None:
    """The window, the ways to write on and to switch off, and the chosen tab."""
    if view["model"] == NONE:
        notes.explain_missing_models()
        return
    if asked := long_texts.text_of(view):
        long_text_page.draw_model(view, asked)
        return
    if long_texts.is_missing(view):
        return
    words = runs.as_trained(view) is not None
    if words:
        again = pause(view)
        if st.session_state.pop(TITLE_WAITS, False) and not is_under_way(view):
            st.rerun()
        session.fragment(drawn, again)(followed(view), again is not None)
    else:
        st.info("Type a sentence above, or take one of the examples.")
        further(view, words)
    notes.tell_refused_models()
    if words:
        tell_selection(view.selection, choices.select)
        tab = view["more"]
        if tab == options.CLOSED or view["figure"] == "layers":
            tab = OF_FIGURES.get(view["figure"], tab)
        if draw_tab := TABS.get(tab):
            with notes.telling_unknown_layouts():
                draw_tab(view)
    draw_cards(view)


def pause(view: View) -> float | None:
    """Seconds from one look at the effects of all heads to the next, None once all are there."""
    try:
        return works.pause(choices.effects_of(view))
    except ValueError:
        return None


def is_under_way(view: View) -> bool:
    """True if effects of heads are still to be worked out."""
    try:
        return bool(choices.effects_of(view).steps)
    except ValueError:
        return False


def followed(view: View) -> tuple[object, ...]:
    """The settings that what stands around the window depends on."""
    open_tab = ("layer", "head", "key") if view["more"] != options.CLOSED else ()
    return tuple(view[name] for name in ("s", "model", "query", *open_tab))


def drawn(around: tuple[object, ...], looks_again: bool) -> None:
    """The window as far as it is worked out, how far that is, and what is switched off.

    around: what stands around it was drawn for, see `followed`; looks_again: whether it is drawn
    anew by itself, as long as something is being worked out.
    """
    view = session.shown_view()
    if followed(view) != around:
        st.rerun()
    try:
        shown = window.window_state(view)
        task = choices.effects_of(view)
        under_way = works.pause(task, waits=False) is not None
        if under_way != looks_again:
            st.rerun()
        figure = window.figure_of(view, shown, every_lens=files.are_wanted())
        if shown.erased < 0 and view["more"] != options.SET:  # a set has a program of its own
            head = window.chosen(view, shown.model) or (0, 0)
            files.offer_program(lambda: program(shown.asked, shown.off, head))
        taken = {figure.key: choices.taken_from(figure, shown)}
        film = team_scene.figure_of(shown)
        if film is not None:
            taken[film.key] = team_work.taken_from(film, shown)
        draw(scenes.window(view, shown, figure, film), key="window", taken=taken)
        if under_way or (task.steps and not task.is_asked_for):
            works.show(task)
        team_work.work(shown)
    except ValueError as problem:
        draw(scene(note(str(problem))), key="no_window")
    with st.expander("More", expanded=view["more"] not in UNFOLDED):
        widgets.widget(view, "more", narrow=False, label_visibility="collapsed")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            widgets.widget(view, "off", placeholder="none; 23.4, or 23 for its layer", width=250)
            ways = pair_scene.ways_of(view)
            if ways:
                widgets.widget(view, "heads_of", offered=ways, width="content")
            if not numbers.other_model(view):
                widgets.widget(view, "off_to", width="content")
            widgets.widget(view, "words_by", width="content")
            if view["off_to"] == AS_IN and not numbers.other_model(view):
                widgets.widget(view, "off_second", live="200ms", width=340)
        further(view, words=True)
        draw(scenes.to_play(view), key="to_play")
    if numbers.other_model(view) and kind_of(shared.load_model(view["model"])) == "piece":
        draw_moved(view)


def draw_moved(view: View) -> None:
    """The answers to other prompts that have moved most, in a fold."""
    with st.expander(pair_sentences.MOVED, key="moved_fold"):
        pair = pair_numbers.pair_of(numbers.answer_query(view))
        steps = pair_numbers.steps_to_moved(pair)
        if not works.done(works.Task(("moved", pair), steps, False, False, "moved_work")):
            return
        moved = pair_scene.moved(view, pair)
        figure = moved["moved"]
        assert isinstance(figure, HeadCards)
        chosen = (
            figure.has_card,
            lambda place: choices.take_sentence(pair_scene.text_at(pair, place)),
        )
        draw(moved, key="moved_cards", taken={figure.key: {"example": chosen}})


def known_answers(view: View) -> None:
    """Sentences to begin with: those of the model, or the usual ones; cards stand below."""
    known = known_of(EXAMPLES, view["model"])
    if view.hidden & {"s", "layer", "head"} or known_of(EXHIBITED, view["model"]):
        return
    if not known:
        widgets.examples_row(view)
        return
    titles = [each.title for each in known]
    examples("Try:", titles, lambda place: show(known[place]), key="known_answers")


def draw_cards(view: View) -> None:
    """Cards of sentences whose answer a head decides, of a model that has some."""
    cards = scenes.cards(view)
    if not cards.parts or view.hidden & {"s", "layer", "head"}:
        return
    figure = cards["head_cards"]
    known = [*pair_scene.openings(view["model"]), *known_of(EXHIBITED, view["model"])]
    assert isinstance(figure, HeadCards)
    chosen = figure.has_card, lambda place: show(known[place])
    draw(cards, key="cards", taken={figure.key: {"example": chosen}})


def show(known: KnownHead) -> None:
    """Show an example with its head, all heads on, within a callback."""
    for name, value in {**known.settings, "off": "", "key": -1, "head_by": DECIDES}.items():
        session.choose(name, value)
    choices.ask_from_last()


def further(view: View, words: bool) -> None:
    """The model, and ways to let it write on where there are words."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "model", offered=sources.names()[1:], narrow=True, width=250)
        if words:
            writing.ways_on(view)
        with st.popover("Pieces"):
            for name in ("special", "join"):
                widgets.widget(view, name)
        long_text_box.offer(view)


def heading(view: View) -> tuple[str, str]:
    """The question that the window asks, and how it is answered."""
    if view["model"] == NONE:
        return view.page.heading
    model = shared.load_model(view["model"])
    if long_texts.text_of(view) or long_texts.is_missing(view):
        return long_text_page.heading(model)
    poor = False
    try:
        shown = window.window_state(view)
        poor = bool(window.endings_of(shown))
        # The work may be over by the time that the page below the title asks for it.
        st.session_state.setdefault(TITLE_WAITS, is_under_way(view))
        if shown.answered.other is not None:
            return pair_scene.heading(shown)
        asks = head_sentences.heading(model, shown.answered, numbers.deciding_of(shown.asked))
    except ValueError:
        asks = head_sentences.heading(model, None, None)
    return asks, head_sentences.purpose(model, poor)


def head_words(view: View) -> list[str]:
    """The head that is shown, none before it is found."""
    shows = numbers.is_on_a_head(view) or long_texts.text_of(view)
    return [f"Layer: {view['layer']}", f"Head: {view['head']}"] if shows else []


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    around = frame.Around(typed=choices.open_typed, examples=known_answers)
    frame.show(file, page, PageHeading(heading, more=head_words), around)
