"""Scene of the gallery: a card for each head that one can break."""

from __future__ import annotations

from attention.analysis.gallery import Exhibit, exhibits
from attention.figures.card import card_words
from attention.figures.scene import Scene, note, scene
from attention.subjects.gallery import words
from attention.subjects.gallery.figures import HeadCard, HeadCards
from attention.subjects.model.known_heads import EXHIBITED, KnownHead
from attention.subjects.model.words import apart, name_of, word_of
from attention.trained import sources


def gallery() -> Scene:
    """All cards, and how to install the model where it is missing."""
    missing = {known.model for known in EXHIBITED} - {*sources.names()}
    return scene(
        note(f"To break them, install the model: {sources.installing()}") if missing else None,
        HeadCards(
            [card_of(*each) for each in zip(EXHIBITED, exhibits(), strict=True)], key="head_cards"
        ),
    )


def card_of(known: KnownHead, one: Exhibit) -> HeadCard:
    """The card of one head."""
    before, after = apart(one.fall.before, one.fall.after)
    there = known.model in sources.names()
    off = name_of((one.layer, one.head))
    return {
        "title": known.title,
        "words": card_words(one.pieces),
        "weights": one.weights,
        "answer": word_of(one.fall.word),
        "before": before,
        "after": after,
        "shares": (one.fall.before, one.fall.after),
        "told": [words.instead_words(one), words.looks_words(one)],
        "controls": words.control_words(one),
        "link": f"model?{known.link(off=off)}" if there else "",
    }
