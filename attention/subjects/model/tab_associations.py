"""Associations: how strongly words influence each other, by a chosen method."""

from collections.abc import Sequence

import streamlit as st

from attention.analysis.associations import METHODS
from attention.app.cached import runs
from attention.app.components.scene import draw
from attention.app.controls import widgets, works
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.figures.scene import Words, note, scene
from attention.pipeline import NoWords
from attention.subjects.model import association_numbers, association_sentences
from attention.subjects.model import association_scene as scenes
from attention.trained.models import Pieces


def draw_associations(view: View) -> None:
    """A method, the strongest pairs, which method to trust, and how it is computed."""
    try:
        pieces = runs.run_of(view.settings()).pieces
    except NoWords:
        return
    if len(pieces.ids) > association_numbers.MAX_PIECES:
        most = association_numbers.MAX_PIECES
        followed = f"Words are followed in sentences of up to {most} pieces; "
        has = f"this one has {len(pieces.ids)}. Make it shorter."
        draw(scene(note(followed + has)), key="too_many_pieces")
        return
    model = load_model(view["model"])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        offered = association_numbers.titles_for(model)
        title = widgets.widget(view, "method", offered=offered, narrow=True, width=300)
        widgets.widget(view, "after", width=170)
        widgets.widget(view, "itself", width="content")
        widgets.widget(view, "sinks", width="content")
    if missing := association_sentences.missing_words(model):
        draw(scene(note(missing)), key="missing_methods")
    method = association_numbers.method_of(title, model).name
    shown = worked_out(view, pieces, [method], "work")
    if shown:
        draw(scenes.picture(view, method), key="picture", selection=view.selection)
    of_word(view, pieces, method if shown else "")
    explain()
    draw(scenes.by_hand(METHODS[method]), key="by_hand")


def worked_out(view: View, pieces: Pieces, methods: Sequence[str], key: str) -> bool:
    """True if methods have been worked out; else begins it, if it is quick or asked for."""
    layers, length = association_numbers.followed_layers(view), len(pieces.ids)
    for words in (association_sentences.too_long(method, length, layers) for method in methods):
        if words:
            draw(scene(Words(words, "info")), key=f"{key}_too_long")
            return False
    if not any(METHODS[name].slow for name in methods):
        return True
    quick = all(association_numbers.is_quick(name, length, layers) for name in methods)
    what = view["model"], view["s"], tuple(methods)
    steps = association_numbers.steps_to(view, methods)
    return works.done(works.Task(what, steps, quick, unasked=quick, key=key))


@part
def of_word(view: View, pieces: Pieces, method: str) -> None:
    """Show what follows from the chosen word: the strongest pairs, and the answer on it.

    method: the one that is shown, "" = none.
    """
    if method:
        draw(scenes.strongest(view, method), key="strongest_pairs")
    whole_model(view, pieces)


def whole_model(view: View, pieces: Pieces) -> None:
    """Show what the whole model makes of all heads and layers, and how far each method says so."""
    draw(scenes.question(), key="question")
    layers = association_numbers.followed_layers(view)
    offered = association_numbers.methods_here(load_model(view["model"]), len(pieces.ids), layers)
    wanted = offered if "erasure" in offered else ["erasure"]
    if worked_out(view, pieces, wanted, "work_all"):
        draw(scenes.whole_model(view, offered), key="whole_model")


@session.fragment
def explain() -> None:
    """Explain an association, with an example of weights that mislead to answer first."""
    example = association_sentences.misleading()
    draw(scenes.explained(example), key="explained")
    guess = st.pills(example.question, example.choices, key="misled")
    if guess is not None:
        draw(scenes.verdict(example, guess), key="verdict")
