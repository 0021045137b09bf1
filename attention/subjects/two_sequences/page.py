"""Two sequences: queries from one sentence, keys and values from another, or from a batch."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.app.cached import runs
from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import long_text_box, notes, sections, widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.shell.heading import PageHeading
from attention.app.state import session
from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures import layer_words
from attention.figures.picture import AttentionPicture
from attention.figures.result_pictures import weights_alone
from attention.figures.scene import Words, note, scene
from attention.pipeline import Result
from attention.subjects.two_sequences import crossing
from attention.subjects.two_sequences import numbers as cross_numbers
from attention.subjects.two_sequences import scene as scenes
from attention.subjects.two_sequences import words as cross_words
from attention.subjects.two_sequences.words import TRANSLATED, TRANSLATOR, CrossSettings
from attention.trained.encoder_decoder import Decoded

PAIRS = (
    ("bonjour le monde", "hello world"),
    ("who sat by the river", "she sat by the river bank"),
    ("which animal walks", "the cat walks on the street"),
)


def choices(view: View) -> None:
    """Choose the part that is shown, and its texts."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="cross_choices"):
        widgets.widget(view, "cross", width="content")
    if view["cross"] == "sentences":
        two_boxes(view)
    elif view["cross"] == "batch":
        text_boxes(view, target=260, batch="stretch", batch_lens=260)
        lengths_to_try(view, "batch_lens")
        dropout(view)
    elif view["cross"] == "numbers":
        text_boxes(view, given_q=150, given_k=260, given_v="stretch", given_lens=130)
        lengths_to_try(view, "given_lens")
        dropout(view)


def text_boxes(view: View, **widths: widgets.Width) -> None:
    """Texts that update as one types."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_texts"):
        for name, width in widths.items():
            widgets.widget(view, name, live="200ms", width=width)


def dropout(view: View) -> None:
    """Choose how much of the weights is dropped, and which."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="batch_dropout"):
        widgets.widget(view, "dropout", width=260)
        if view["dropout"]:
            widgets.widget(view, "dropout_seed", width=150)


def two_boxes(view: View) -> None:
    """Both sentences, a way to swap them, and pairs to start from."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence"):
        widgets.widget(view, "target", live="200ms")
        st.button("Swap", on_click=swap, help="Exchange the two sentences.")
        widgets.widget(view, "memory", live="200ms")
    target, memory = view.two_sequences
    examples(
        f"Queries: {notes.count_of(target)}. Memory: {notes.count_of(memory)}. Try:",
        [" / ".join(pair) for pair in PAIRS],
        lambda index: take(*PAIRS[index]),
        key="examples",
    )


def take(target: str, memory: str) -> None:
    """Put two sentences into the boxes, within a callback."""
    session.choose("target", target)
    session.choose("memory", memory)


def swap() -> None:
    """Exchange the two sentences, within a callback."""
    view = session.view()
    take(view["memory"], view["target"])


def lengths_to_try(view: View, name: str) -> None:
    """Valid lengths to start from, the usual ones first. name: of their setting."""
    made = cross_numbers.cross_batch(view)
    usual = str(settings_of(CrossSettings)[name].default)
    tries = (usual, *(() if isinstance(made, str) else cross_words.lengths_to_try(made)))
    examples(
        "Valid lengths to try:",
        [text or "counted from the sentences" for text in tries],
        lambda index: session.choose(name, tries[index]),
        key="examples",
    )


def translation(view: View) -> tuple[Decoded, Result] | None:
    """The sentence translated, and where each word of that looks; None where there are no words."""
    return runs.translation_by(TRANSLATOR.name, view["s"], "words")


def tokens(view: View) -> Sequence[str]:
    """The words of the sentence that those of its translation are made from, so that a word which
    is chosen on another page is chosen here."""
    if view["cross"] != TRANSLATED or not cross_words.has_translator():
        return long_text_box.tokens(view)
    made = translation(view)
    return crossing.sources_of(made[1]) if made else ()


def draw_translation(view: View) -> None:
    """A trained translation of the sentence, and the word that each of its words is drawn from."""
    if not cross_words.has_translator():
        st.info(f"{TRANSLATOR.title} is not installed here. Two sentences of your own are.")
        return
    made = translation(view)
    if made is None:
        st.info("Type an English sentence above, or take one of the examples.")
        return
    found, aligned = made
    crosses = Words(crossing.of_translation(aligned), "told")
    hints = [note(crossing.COPIED)] if crossing.is_copied(*layer_words.shown(aligned)[:2]) else []
    caption = "Each row is a word of the translation; its weights say which words it is made from."
    shown = weights_alone(aligned, ("lines", "heatmap"), caption)
    pictured = AttentionPicture(shown, key="picture")
    drawn = scene(Words(found.text, "told"), *hints, crosses, pictured)
    draw(drawn, key="translation", selection=view.selection)
    tell(view)


@part
def tell(view: View) -> None:
    """Tells the server which word is chosen, so that it goes along to other pages."""
    tell_selection(view.selection, session.select)


def sentences(view: View) -> None:
    """Show what the first sentence makes of the second."""
    if result := cross_numbers.cross_result(view):
        settings = result.settings
        crosses = crossing.strongest(result.tokens, result.key_tokens, result.trace)
        draw(scene(Words(crosses, "told")), key="crosses")
        sections.attention_of(
            view, result, cross_words.mask_words(settings.mask, settings.positions)
        )
    else:
        words = scenes.NO_MEMORY if view.two_sequences[0] else scenes.NO_QUERIES
        draw(scene(Words(words, "info")), key="empty")


def batch(view: View) -> None:
    """Every sequence of the batch, and how a chosen number of the output comes about."""
    made = cross_numbers.cross_batch(view)
    if isinstance(made, str):
        draw(scene(Words(made, "info")), key="empty")
        return
    sizes = made.trace.output.shape[1:]

    def fits(cell: tuple[int, int]) -> bool:
        return all(at in range(size) for at, size in zip(cell, sizes, strict=True))

    keys = (f"sequence_{sequence}" for sequence in range(len(made.titles)))
    taken = {key: {"cell": (fits, partial(choose, sequence))} for sequence, key in enumerate(keys)}
    draw(scenes.batch(view, made), key="batch_shown", taken=taken)
    st.subheader(f"How sequence {scenes.cell(view, made)[0]} gets there")
    with st.container(horizontal=True, vertical_alignment="bottom", key="cell_controls"):
        for name in scenes.CELL:
            widgets.widget(view, name, width=150)
    draw(scenes.working(view, made), key="working")


def choose(sequence: int, cell: tuple[int, int]) -> None:
    """Choose a number of the output, within a callback."""
    for name, position in zip(scenes.CELL, (sequence, *cell), strict=True):
        session.choose(name, position)


def two_sequences(view: View) -> None:
    """A translation, two sentences, or a batch."""
    choices(view)
    if view["cross"] == TRANSLATED:
        draw_translation(view)
    elif view["cross"] in ("batch", "numbers"):
        batch(view)
    else:
        sentences(view)


def read(view: View) -> list[tuple[str, str]]:
    """The sentence that is translated, or the one that asks and the one that is asked."""
    names = {TRANSLATED: ("s",), "batch": (), "numbers": ()}.get(
        view["cross"], ("target", "memory")
    )
    return [(name, view[name]) for name in names]


def translator(view: View) -> list[str]:
    """Name of the translator, where a translation is shown."""
    return [TRANSLATOR.title] if view["cross"] == TRANSLATED else []


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    told = PageHeading(sentences=read, more=translator)
    frame.show(file, two_sequences, told, frame.Around(tokens=tokens))
