"""Explore without its numbers: a sentence to read from afar, and where its words look.

The bare address opens on it, see `Opening`.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.app.components.scene import draw as draw_scene
from attention.app.components.selection import tell_selection
from attention.app.controls import long_text_box, widgets
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.openings import HIDDEN, SHOWN, Opening, opening
from attention.app.state.view import View
from attention.figures.scene import PageButton, scene
from attention.pipeline import Result
from attention.subjects.explore import scene as scenes
from attention.subjects.model.choices import ask_from_last
from attention.trained import sources
from attention.trained.sources import NONE, SMOLLM2

READER, WRITER = "reader", SMOLLM2.about.name


def has_title(view: View) -> bool:
    """True if the picture of a view has the page's title, a question on the chosen word."""
    return view.calm and scenes.opening_result(view) is not None


def ways_on(view: View) -> None:
    """The ways on: to the guide, and to a sentence of one's own; from all the numbers the way
    back."""
    if not view.page.first:
        return
    widgets.widget(view, "numbers")  # never seen: it keeps what the buttons here choose
    if st.context.is_embedded or view.hidden:
        return
    with st.container(horizontal=True, width="content", key="ways_on"):
        if view.calm:
            st.page_link("pages/guide.py", label="Take the guide")
            later = "_later" if scenes.opening_of(view) else ""  # the box is seen once it is used
            own = scene(PageButton("Type your own", widgets.BOX))
            draw_scene(own, key=f"type_own{later}", width="content")
        else:
            long_text_box.offer(view)
            st.button("Hide the numbers", on_click=session.choose, args=("numbers", HIDDEN))


def see_it_written() -> None:
    """Ask the model that writes for its next word after the sentence, within a callback."""
    declared = every_setting()
    for name in opening().chosen:
        session.choose(name, declared[name].default)
    session.choose("model", WRITER)
    ask_from_last()
    session.go_to("model")


def draw(view: View) -> bool:
    """The sentence with its arcs, and below it the heatmap, the settings and the new vector.

    False, and nothing, where it cannot be drawn so.
    """
    result = scenes.opening_result(view)
    if result is None:
        return False
    opening, taken = scenes.opening_of(view), {}
    if opening:
        exchanged = (range(len(opening.endings)).__contains__, partial(_take, opening))
        taken = {"picture": {"word": exchanged}}
    with st.container(key="opening"):
        shown = scenes.opening(view, result)
        draw_scene(shown, key="arcs", selection=view.selection, taken=taken)
        if WRITER in sources.names() and not (st.context.is_embedded or view.hidden):
            with st.container(key="to_writer"):
                st.button("See it in a model that writes", on_click=see_it_written)
        _settings(view, result)
        with st.container(key="to_numbers"):
            st.button("Show the numbers", on_click=session.choose, args=("numbers", SHOWN))
    if state := scenes.state(result):
        draw_scene(scene(*state), key="state")
    _tell(view)
    return True


def _take(opening: Opening, ending: int) -> None:
    """Show the sentence of an opening with that ending, within a callback."""
    session.choose("s", opening.sentences[ending])


def _settings(view: View, result: Result) -> None:
    """The settings that change most, in one row."""
    with st.container(horizontal=True, gap="small", key="calm_settings"):
        head, *others = (name for name in widgets.CALM if name == "head" or view.applies(name))
        if result.layer.heads > 1:
            widgets.widget(view, head, help=None, width=96)
        _reader_menu(view, width=170)
        for name in others:
            widgets.widget(view, name, narrow=True, listed=True, boxed=True, help=None, width=150)


@part
def _tell(view: View) -> None:
    """Tells the server which word is chosen."""
    tell_selection(view.selection, session.select)


def _reader_menu(view: View, width: int) -> None:
    """The menu of variants on word vectors, and first a trained model where there is one."""
    model, variant = view["model"], view["variant"]
    if not view.applies("model"):
        widgets.variant_menu(view, "variant")
    elif not view.hidden & {"model", "variant"}:
        about = every_setting()["variant"]
        st.session_state[READER] = variant if model == NONE else widgets.AS_TRAINED
        options = (widgets.AS_TRAINED, *about.choices)
        st.selectbox(
            about.label, options, key=READER, width=width, on_change=_take_reader, args=(variant,)
        )


def _take_reader(before: str) -> None:
    """Show the trained model of the opening, or a variant on word vectors, within a callback.

    before: the variant that was chosen until now.
    """
    chosen = st.session_state[READER]
    if chosen == widgets.AS_TRAINED:
        for name, value in opening().chosen.items():
            session.choose(name, value)
    else:
        session.choose("model", NONE)
        session.choose("variant", chosen)
        widgets.propose_scale("variant", before)
