"""The top of Play: a sentence to read from afar, where its words look, and one row of controls."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.app.cached.runs import sequence_tokens
from attention.app.components.scene import draw as draw_scene
from attention.app.controls import long_text_box, widgets
from attention.app.shell.heading import glossary
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.openings import (
    FOLDS,
    HEADS,
    HOW,
    MAP,
    NUMBERS,
    Opening,
    opening,
)
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.figures import layer_words
from attention.figures.scene import PageButton, scene
from attention.pipeline import Result
from attention.subjects.model.choices import ask_from_last
from attention.subjects.play import scene as scenes
from attention.trained import sources
from attention.trained.sources import NONE, SMOLLM2

READER, WRITER = "reader", SMOLLM2.about.name


def has_title(view: View) -> bool:
    """True if the picture of a view has the page's title, a question on the chosen word."""
    drawn = view["input"] == "sentence" and scenes.opening_result(view) is not None
    return view.calm and drawn


def ways_on(view: View) -> None:
    """The ways on: to the guide, and to a sentence of one's own."""
    if not view.page.first or st.context.is_embedded or view.hidden:
        return
    with st.container(horizontal=True, width="content", key="ways_on"):
        st.page_link("pages/guide.py", label="Take the guide")
        later = "_later" if scenes.opening_of(view) else ""  # the box is seen once it is used
        own = scene(PageButton("Type your own", widgets.BOX))
        draw_scene(own, key=f"type_own{later}", width="content")


def see_it_written() -> None:
    """Ask the model that writes for its next word after the sentence, within a callback."""
    declared = every_setting()
    for name in opening().chosen:
        session.choose(name, declared[name].default)
    session.choose("model", WRITER)
    ask_from_last()
    session.go_to("model")


def draw_sentence(view: View, result: Result) -> None:
    """The sentence with its arcs, whose last word can be changed in the opening."""
    opening, taken = scenes.opening_of(view), {}
    if opening:
        exchanged = (range(len(opening.endings)).__contains__, partial(_take, opening))
        taken = {"picture": {"word": exchanged}}
    draw_scene(scenes.sentence(view, result), key="arcs", selection=view.selection, taken=taken)


def _take(opening: Opening, ending: int) -> None:
    """Show the sentence of an opening with that ending, within a callback."""
    session.choose("s", opening.sentences[ending])


def controls(view: View, result: Result | None) -> None:
    """The settings that change most in one row, the others behind a button, and the folds.

    result: None of a long text, which has no folds.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key="calm_settings"):
        head, *others = (name for name in widgets.CALM if name == "head" or view.applies(name))
        if result is None or result.layer.heads > 1:
            widgets.widget(view, head, help=None, width=96)
        _reader_menu(view, width=170)
        for name in others:
            width = 340 if name == "mask" and len(view[name]) > 1 else 150
            widgets.widget(view, name, narrow=True, listed=True, boxed=True, help=None, width=width)
        _more(view)
        if result is not None:
            widgets.widget(
                view,
                "fold",
                # one that is not there stays chosen, and comes back with what it shows
                offered=[fold for fold in FOLDS if fold in (*folds_of(result), view["fold"])],
                help=None,
                label_visibility="collapsed",
                width="content",
            )
    if view.applies("cells") and "cells" not in view.hidden:
        widgets.cell_grid(view, sequence_tokens)


def _more(view: View) -> None:
    """All other settings, and other ways to read the sentence."""
    more = st.popover("More", key="settings_of_play", on_change="rerun")
    if not more.open:
        return
    with more:
        widgets.draw_parts(view, widgets.parts_beside(view))
        long_text_box.offer(view)
        st.html(glossary(view.page.words))
        if WRITER in sources.names() and not (st.context.is_embedded or view.hidden):
            st.button("See it in a model that writes", on_click=see_it_written)


def folds_of(result: Result) -> tuple[str, ...]:
    """The folds there are: pieces that are joined into words have weights alone."""
    joined = bool(layer_words.words_of(result))
    absent = {HOW: joined, NUMBERS: joined, HEADS: result.layer.heads == 1}
    return tuple(fold for fold in FOLDS if not absent.get(fold))


def fold_of(view: View, result: Result) -> str:
    """The fold that is open: the map where there is none of that name."""
    return str(view["fold"]) if view["fold"] in folds_of(result) else MAP


def _reader_menu(view: View, width: int) -> None:
    """The menu of variants on word vectors, and first a trained model where there is one."""
    model, variant = view["model"], view["variant"]
    if not view.applies("model"):
        widgets.variant_menu(view)
    elif not view.hidden & {"model", "variant"}:
        about = every_setting()["variant"]
        shown = variant if model == NONE else widgets.AS_TRAINED
        options = (widgets.AS_TRAINED, *about.choices)
        with st.container(key=READER, width=width):
            take, random = partial(_take_reader, variant), view["parameters"] == "seeded"
            its = session.bound(READER, shown, take, labels=random)
            told = partial(_told, random)
            st.selectbox(about.label, options, options.index(shown), format_func=told, **its)


def _told(random: bool, name: str) -> str:
    """A variant as the menu has it: its name, what it does, and if its matrices are random.

    random: whether matrices are drawn at random where there are any.
    """
    if name not in VARIANTS:
        return name
    drawn = random and "parameters" in settings_of(VARIANTS[name].Config)
    return " · ".join([name, VARIANTS[name].does, *(["random"] if drawn else [])])


def _take_reader(before: str, chosen: str) -> None:
    """Show the trained model of the opening, or a variant on word vectors, within a callback.

    before: the variant that was chosen until now.
    """
    if chosen == widgets.AS_TRAINED:
        for name, value in opening().chosen.items():
            session.choose(name, value)
    else:
        session.choose("model", NONE)
        session.choose("variant", chosen)
        widgets.propose_scale(before)
