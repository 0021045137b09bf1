"""Explore: which words each word looks at, and its new vector."""

from attention.app.cached import long_texts, pictures, runs
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.figures import layer_words
from attention.figures.result_files import offer_files
from attention.figures.scene import scene
from attention.subjects.explore import map_page, opening_page
from attention.subjects.explore import scene as scenes
from attention.subjects.long_run import text_page


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if asked := long_texts.text_of(view):
        text_page.draw(view, asked)
        return
    if long_texts.is_missing(view) or (view.calm and opening_page.draw(view)):
        return
    draw(scenes.attention(view), key="attention", selection=view.selection)
    result = runs.current_result(view)
    if result and not layer_words.words_of(result):
        of_token(view)


@part
def of_token(view: View) -> None:
    """Words near the chosen token's vectors, where it goes, and files of all."""
    result = runs.current_result(view)
    if result is None:
        return
    tell_selection(view.selection, session.select)
    query = min(view["query"], len(result.tokens) - 1)
    near = pictures.nearest_words(result, query)
    draw(scene(*scenes.state(result), near), key="nearest")
    map_page.draw_word_map(view, result, query)
    offer_files(result, query)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    around = frame.Around(has_title=opening_page.has_title, on_top=opening_page.ways_on)
    frame.show(file, explore, around=around)
