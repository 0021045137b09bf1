"""Parts of a page that several pages have."""

from __future__ import annotations

from attention.app.cached import pictures, runs
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.view import View
from attention.figures import layer_words, result_pictures
from attention.figures.result_files import offer_files
from attention.figures.scene import scene
from attention.pipeline import Result, Settings

picture_of, weights_alone = result_pictures.picture_of, result_pictures.weights_alone


def attention_of(view: View, result: Result, after: str = "") -> None:
    """Show the attention of a result, and the chosen token's new vector as a weighted sum.

    after: the end of the heatmap's caption.
    """
    draw(pictures.attention_of(view, result, after), key="attention", selection=view.selection)
    if not layer_words.words_of(result):
        _rest(view, result.settings, result.memory_text)


@part
def _rest(view: View, settings: Settings, memory: str | None) -> None:
    """Show what the server adds to the chosen token: the words nearest to it, and files."""
    result = runs.result_of(settings, memory)
    tell_selection(view.selection, session.select)
    query = min(view["query"], len(result.tokens) - 1)
    draw(scene(*pictures.nearest_words(result, query)), key="nearest")
    offer_files(result, query)
