"""The figure that the app shows at a link, as one file that opens without a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from attention.app.cached.long_texts import LongText
from attention.app.state.view import View
from attention.figures.scene import Scene, scene
from attention.figures.worked_out import Done, page_of_scene
from attention.subjects import declare_pages
from attention.subjects.learning import controls
from attention.subjects.learning import scene as learning
from attention.subjects.model import window_file
from attention.subjects.model.long_text_runs import layer_of
from attention.subjects.play import scene as play
from attention.subjects.teach.view_to_chapter import of_link

MOST_WEIGHTS = 3_000_000  # bytes of a text's queries and keys in a file
WorkedOut = tuple[Scene, Mapping[Done, Scene]]


def save_link(link: str, path: str | Path, *, text: str = "") -> None:
    """Write the figure that the app shows at a link, with all its answers, as a file of HTML.

    link: a page and its settings, as "model?model=smollm2&s=The+sun": the arcs of *explore*, the
    window of *model* (with `figure=team` the heads that its answer needs), a finished training of
    *learning*; text: a long one, of which the map of the link's head is written in place of the
    window. Raises ValueError where the link names no such page, or its training is not finished.
    """
    declare_pages()
    view = of_link(link)
    if view.page.name not in FIGURES:
        raise ValueError(f"link must begin with one of {', '.join(FIGURES)}, got {link[:40]!r}")
    if text:
        _, read = layer_of(LongText(view["model"], text), view.settings())
        at = {"head": view["head"], "query": view["query"]}
        read.run.save_html(path, most=MOST_WEIGHTS, **at)
        return
    shown, answers = FIGURES[view.page.name](view)
    title = f"{view.page.title} · {view['s']}" if view.page.sentence(view) else view.page.title
    Path(path).write_text(page_of_scene(shown, title, view["query"], answers), "utf-8")


def _arcs(view: View) -> WorkedOut:
    """A sentence with its arcs; of an opening its other last word too."""
    opening = play.opening_of(view)
    texts = opening.sentences if opening else (view["s"],)
    drawn = [play.arcs(replace(view, values_={**view, "s": text})) for text in texts]
    answers = {("picture", "word", at): each for at, each in enumerate(drawn)} if opening else {}
    return drawn[texts.index(view["s"])], answers


def _window(view: View) -> WorkedOut:
    """The window with each head off, or the heads that its answer needs."""
    if view["figure"] == "team":
        return scene(window_file.team_of(view)), {}
    return window_file.with_each_off(view)


def _training(view: View) -> WorkedOut:
    settings = controls.settings_of(view)
    run = controls.finished(settings)
    if run is None:
        raise ValueError(f"a finished training is expected, got {settings}")
    return learning.finished(run), {}


FIGURES: Mapping[str, Callable[[View], WorkedOut]] = {
    "explore": _arcs,
    "model": _window,
    "learning": _training,
}
