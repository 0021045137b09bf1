"""The atlas: all heads of a model, passports, and a head on one's own sentence."""

from __future__ import annotations

from functools import partial

from attention.app.components.scene import Taken, draw
from attention.app.components.selection import tell_selection
from attention.app.controls import notes, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas import files
from attention.atlas.passport import Passport
from attention.figures.scene import Words, note, scene
from attention.figures.scene import heading as part_heading
from attention.subjects.atlas import numbers, words
from attention.subjects.atlas import scene as scenes
from attention.subjects.atlas.figures import HeadAtlas, OwnSentence, Passports
from attention.subjects.atlas.numbers import Head, Opened
from attention.subjects.model.words import CHOSEN, DECIDES, name_of
from attention.trained import sources
from attention.trained.sources import NONE


def page(view: View) -> None:
    """The map with the passports, the sentence that is tried, and the model."""
    if view["model"] == NONE:
        notes.explain_missing_models()
        return
    view = follow_model(view)
    found = None
    try:
        found = numbers.read(view["model"])
    except ValueError as problem:
        notes.note(f"The passports of this model cannot be read: {problem}.")
    if found is None:
        title = load_model(view["model"]).about.title
        missing = Words(words.missing_words(view["model"], title), "info")
        draw(scene(missing), key="no_passports")
    else:
        whole(view, found)
    further(view)


def follow_model(view: View) -> View:
    """Have a sentence that nobody has typed be one of the model's own words or language."""
    usual = every_setting()["s"].default
    several = {name: sources.about(name).samples for name in sources.names()[1:]}
    first = {name: samples[0].text for name, samples in several.items() if samples}
    wanted = first.get(view["model"], usual)
    if view["s"] == wanted or view["s"] not in {usual, *first.values()}:
        return view
    session.choose("s", wanted)
    return session.view()


def whole(view: View, opened: Opened) -> None:
    """The atlas of a model, and the chosen head on one's own sentence."""
    atlas, wide = opened.atlas, opened.atlas.wide
    shown = scenes.atlas_scene(view, opened)
    tiles, passports = shown["head_atlas"], shown["passport"]
    assert isinstance(tiles, HeadAtlas)
    assert isinstance(passports, Passports)
    one = atlas.of(*numbers.chosen(view, atlas, tiles.shade))
    choose = partial(choose_head, wide)
    taken: Taken = {
        "head_atlas": {
            "head": (tiles.has_head, choose),
            "other": (tiles.has_other, partial(choose_second, wide)),
            "shade": (tiles.has_shade, partial(session.choose, "tiles")),
        },
        "passport": {
            "head": (tiles.has_head, choose),
            "name": (passports.has_name, partial(try_name, one)),
        },
    }
    draw(shown, key="atlas", taken=taken)
    draw(scene(part_heading(words.own_heading(one))), key="own_heading")
    tried = partial(try_name, one)
    widgets.sentence_box(view)
    own = scenes.own_scene(view, atlas, one)
    answers: Taken = {
        figure.key: {"name": (figure.has_name, tried)}
        for figure in own
        if isinstance(figure, OwnSentence)
    }
    draw(own, key="own", selection=view.selection, taken=answers)
    tell_selection(view.selection, session.select)


def choose_head(wide: int, position: int) -> None:
    """Choose the head at a position among all, within a callback. wide: heads of a layer."""
    name_head(divmod(position, wide))
    session.choose("head_name", words.FIRST)


def name_head(head: Head) -> None:
    """Have the link name a head, within a callback."""
    for name, value in zip(("layer", "head"), head, strict=True):
        session.choose(name, value)
    session.choose("head_by", DECIDES if any(head) else CHOSEN)


def try_name(one: Passport, name: str) -> None:
    """Have the link name a head and its name that is tried, within a callback: it is evidence."""
    name_head(one.place)
    session.choose("head_name", name or words.FIRST)


def choose_second(wide: int, position: int) -> None:
    """Choose the head that stands beside, within a callback; -1: none."""
    named = "" if position < 0 else name_of(divmod(position, wide))
    session.choose("second_head", named)


def further(view: View) -> None:
    """The model, and the ones that passports are here of but that are not installed."""
    widgets.widget(view, "model", offered=sources.names()[1:], narrow=True, width=250)
    missing = [name for name in files.available() if name not in sources.names()]
    if missing:
        draw(scene(note(words.not_installed_words(missing))), key="not_installed")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, page)
