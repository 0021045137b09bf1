"""Choices in the window of a model, taken over within callbacks, and the work it asks for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from attention.app.cached import runs
from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.view import View, once_a_run
from attention.changing.change import Head
from attention.inputs.text import plain
from attention.subjects.model import continuations, numbers, options, pair_numbers, window
from attention.subjects.model.answers import kind_of
from attention.subjects.model.figures import ModelWindow
from attention.subjects.model.team_numbers import search_of
from attention.subjects.model.window import ALL_ON, ENDING, ERASE, NEEDS, PASSPORT, WindowState
from attention.trained.models import Model
from attention.trained.sources import NONE


def taken_from(figure: ModelWindow, shown: WindowState) -> Mapping[str, Handler]:
    """For each event of the window what is asked of an answer, and what is done then."""
    model = shown.model
    return {
        "head": (figure.has_head, partial(choose_position, model)),
        "switched": (figure.has_switch, partial(switch, model)),
        "lens": (figure.has_lens, choose_lens),
        "pair": (figure.has_pair, partial(link, model)),
        "piece": (figure.has_piece, partial(add, shown)),
        "act": (figure.has_act, partial(act, shown)),
        "shade": (figure.has_shade, partial(session.choose, "tiles")),
    }


def choose_head(head: Head) -> None:
    """Choose a head, within a callback."""
    for name, value in zip(("layer", "head"), head, strict=True):
        session.choose(name, value)
    session.choose("head_by", options.DECIDES if any(head) else options.CHOSEN)


def choose_position(model: Model, position: int) -> Head:
    """Choose the head at a position among all, within a callback."""
    head = divmod(position, model.layers[0].attention.heads)
    choose_head(head)
    return head


def switch(model: Model, switched: tuple[int, int]) -> None:
    """Switch a head off or on again, within a callback. switched: its position, and 1 for off."""
    position, off = switched
    head = choose_position(model, position)
    others = [each for each in numbers.off_of(session.view()) if each != head]
    set_off(model, [*others, head] if off else others)


def set_off(model: Model, heads: Iterable[Head]) -> None:
    """Switch off these heads alone, in this order, within a callback."""
    session.choose("off", options.write_off(heads, model))


def act(shown: WindowState, name: str) -> None:
    """Do what a button below the map says, within a callback."""
    now = session.shown_view()
    if name == ALL_ON:
        set_off(shown.model, ())
        session.choose("erased", -1)
    elif name == ERASE:
        session.choose("erased", -1 if now["erased"] == now["key"] else now["key"])
    elif name.startswith(ENDING):
        endings = window.endings_of(shown)
        take(now, endings[int(name.removeprefix(ENDING))][0])
    elif name == PASSPORT:
        open_ = now["more"] == options.PASSPORT
        session.choose("more", options.CLOSED if open_ else options.PASSPORT)
    elif name == NEEDS:
        set_off(shown.model, ())
        begin(search_of(shown.asked))


def link(model: Model, pair: tuple[int, int]) -> None:
    """Show the heads that link a query with a key, within a callback."""
    query, key = sorted(pair, reverse=True) if model.layers[0].causal else pair
    session.choose_query(query)
    session.choose("key", key)


def choose_lens(name: str) -> None:
    """Show all heads through a lens, within a callback; one for two words stays until another."""
    if name != options.LINK:
        session.choose("lens", name)
        session.choose("key", -1)


def add(shown: WindowState, position: int) -> None:
    """Add the piece of a bar to the sentence, within a callback."""
    pieces = [piece for likeliest in window.drawn_bars(shown) for piece in likeliest]
    now = session.view()
    take(now, continuations.sentence_with(now, pieces[position][2]))


def select(chosen: Mapping[str, Any]) -> None:
    """Take over the word chosen in the browser, to be linked with no other yet."""
    session.select(chosen)
    session.choose("key", -1)


def take(now: View, longer: str | None) -> None:
    """Go on with a longer sentence, its last piece chosen, or say why not, within a callback."""
    why = continuations.why_nothing_added(load_model(now["model"]), plain(now["s"]), longer)
    session.change(not_added=((now["model"], now["s"]), why))
    if longer is not None and not why:
        session.choose("s", longer)
        open_on_its_head()


def take_sentence(text: str) -> None:
    """Show another sentence with all heads on, within a callback."""
    session.choose("s", text)
    open_typed()


def open_typed() -> None:
    """Open a sentence that was typed with all heads on, see `open_on_its_head`."""
    session.choose("off", "")
    session.choose("erased", -1)
    open_on_its_head()


def open_on_its_head() -> None:
    """Open another sentence on its last piece and the head that decides its answer, within a
    callback."""
    for name, value in (("layer", 0), ("head", 0), ("head_by", options.DECIDES)):
        session.choose(name, value)
    ask_from_last()


def ask_from_last() -> None:
    """Ask from the last piece where a model goes on from there, within a callback."""
    now = session.view()
    session.choose("key", -1)
    if now["model"] != NONE and kind_of(load_model(now["model"])) == "piece":
        session.choose_query(max(0, len(runs.pieces_of(now, now["s"]).ids) - 1))


# Work


@once_a_run
def effects_of(view: View) -> works.Task:
    """The work of finding the effects of all heads. Raises ValueError with words for the page."""
    asked = numbers.answer_query(view)
    steps = pair_numbers.steps_to_changes(asked)
    return works.Task(asked, steps, quick=True, unasked=True, key="effects_work")


@dataclass(frozen=True)
class Follows:
    """Note that something is to be done once a work on a team is over."""

    what: Hashable


def begin(what: Hashable) -> None:
    """Ask for a work on a team, in place of another one, within a callback or a run."""
    follow(what)
    works.begin(what)


def follow(what: Hashable | None) -> None:
    """Note which work on a team is followed by something, None for none."""
    others = {each for each in session.visit().begun if not isinstance(each, Follows)}
    session.change(begun=frozenset(others | ({Follows(what)} if what is not None else set())))


def followed() -> Hashable | None:
    """The work on a team that is followed by something."""
    noted = (each.what for each in session.visit().begun if isinstance(each, Follows))
    return next(noted, None)
