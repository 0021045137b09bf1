"""The window as a scene that needs no model: each head off alone, and its team, worked out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.changing.change import Head
from attention.figures.scene import Scene
from attention.figures.worked_out import Done
from attention.subjects.model import numbers, pair_numbers, scene, team_numbers, team_scene, window
from attention.subjects.model.figures import ModelWindow, TeamFilm, WindowSaid
from attention.subjects.model.options import LOST, PASSPORTS, write_off
from attention.subjects.model.team_numbers import search_of
from attention.subjects.model.window import ALL_ON, NEEDS, WindowState

KEPT_ACTS = (ALL_ON, NEEDS)


def with_each_off(view: View) -> tuple[Scene, dict[Done, Scene]]:
    """The window of a view with all heads on, and the scene that each of its events leads to.

    Each head is off alone, after which a further one takes its place; the heads that the answer
    needs most go out one after the other; heads link the chosen word with each other one. Lenses
    need no event: each scene has all of them.
    """
    shown, team = found_for(view)
    draw = partial(drawn, acts=KEPT_ACTS if team else KEPT_ACTS[:1])
    model, heads = shown.model, shown.model.layers[0].attention.heads
    every = [divmod(at, heads) for at in range(len(model.layers) * heads)]
    on, first = draw(view, ())
    answers: dict[Done, Scene] = {("model_window", "act", ALL_ON): first}
    query = on.said["queries"][0]
    for key in range(query):
        _, linked = draw(replace(view, values_={**view, "key": key}), ())
        answers["model_window", "pair", (query, key)] = linked
        answers["model_window", "pair", (key, query)] = linked
    for at, head in enumerate(every):
        _, answers["model_window", "switched", (at, 1)] = draw(view, (head,))
        chosen = replace(on, said={**on.said, "chosen": at})
        answers["model_window", "switched", (at, 0)] = scene.window(view, shown, chosen)
    for count in range(len(team) + 1):
        positions = tuple(layer * heads + head for layer, head in team[:count])
        _, with_film = draw(view, team[:count], films=True)
        answers["team", "team", positions] = with_film if count else first
    if team:
        answers["model_window", "act", NEEDS] = with_film
    return first, answers


def team_of(view: View) -> TeamFilm:
    """The heads that the answer needs most, as they go out one after the other.

    Raises ValueError where the answer needs none.
    """
    _, team = found_for(view)
    film = team_scene.figure_of(window.window_state(on_with(view, team)))
    if film is None:
        raise ValueError(f"a sentence whose answer needs a head is expected, got {view['s']!r}")
    return without_searches(film)


def found_for(view: View) -> tuple[WindowState, tuple[Head, ...]]:
    """The window of a view with all heads on, and the heads that its answer needs most."""
    shown = window.window_state(on_with(view, ()))
    search = search_of(shown.asked)
    for step in pair_numbers.steps_to_changes(shown.asked):
        step.work(lambda *_: None)
    for step in team_numbers.steps_to_team(search):
        step.work(lambda *_: None)
    return shown, team_numbers.found_by(search) or ()


def on_with(view: View, off: Sequence[Head]) -> View:
    """The view with these heads off, the last of them chosen."""
    model = load_model(view["model"])
    set_: dict[str, Any] = {"off": write_off(off, model), "erased": -1, "lens": LOST}
    if off:
        set_ |= {"key": -1, **dict(zip(("layer", "head"), off[-1], strict=True))}
    return numbers.on_its_head(replace(view, values_={**view, **set_}))


def drawn(
    view: View, off: Sequence[Head], films: bool = False, acts: Collection[str] = KEPT_ACTS
) -> tuple[ModelWindow, Scene]:
    """The window with these heads off, and the scene of it.

    films: whether they go out below; acts: the buttons that are kept.
    """
    now = on_with(view, off)
    shown = window.window_state(now)
    figure = window.figure_of(now, shown, every_lens=True)
    kept = [act for act in figure.said["acts"] if act[0] in acts]
    lenses = [lens for lens in figure.said["lenses"] if lens[0] != PASSPORTS]
    # Numbers of passports are asked of a server: a file has the passports themselves elsewhere.
    said: WindowSaid = {**figure.said, "acts": kept, "lenses": lenses, "shades": None}
    measures = {lens: each for lens, each in figure.measures.items() if lens != PASSPORTS}
    figure = replace(figure, said=said, measures=measures)
    film = team_scene.figure_of(shown) if films and off else None
    if film is not None:
        film = without_searches(film)
    return figure, scene.window(now, shown, figure, film)


def without_searches(film: TeamFilm) -> TeamFilm:
    """Heads that go out, without what would work out more."""
    doubts = film.said["doubts"]
    known = [] if any(doubt["act"] for doubt in doubts) else doubts
    return replace(film, said={**film.said, "acts": [], "doubts": known})
