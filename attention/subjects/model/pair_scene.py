"""Scenes around the window of a model beside another one: its claim, and other answers."""

from __future__ import annotations

from collections.abc import Sequence

from attention.app.state.view import View
from attention.atlas.moved import Moved, packaged
from attention.atlas.sentences import apart, word_of
from attention.figures.card import card_words
from attention.figures.scene import Scene, Words, scene
from attention.subjects.model import numbers, options, pair_numbers, pair_sentences
from attention.subjects.model.figures import HeadCard, HeadCards
from attention.subjects.model.known_heads import KnownHead
from attention.subjects.model.options import IN_BASE, SWITCHED_OFF
from attention.subjects.model.pair_numbers import Pair
from attention.subjects.model.window import WindowState
from attention.trained import sources

MOST_MOVED = 12  # prompts that are shown


def heading(shown: WindowState) -> tuple[str, str]:
    """The claim above the window of two models, and the line below it."""
    if numbers.is_long(shown.asked):
        return pair_sentences.TOO_LONG, pair_sentences.both_words(shown.answered)
    weights = pair_numbers.weights_moved(pair_numbers.pair_of(shown.asked))
    return pair_sentences.heading(shown.answered, numbers.effects_so_far(shown.asked), weights)


def ways_of(view: View) -> tuple[str, ...]:
    """The ways to switch a head of a model that has a base or is one, none else."""
    name = view["model"]
    others = tuple(each for each in options.tuned_models() if sources.base_of(each) == name)
    if sources.base_of(name):
        return IN_BASE, SWITCHED_OFF
    return (IN_BASE, *others) if others else ()


def _of_prompts(pair: Pair) -> Sequence[Moved]:
    several = pair_numbers.moved_of(pair)
    assert several is not None
    return [one for one in several if one.kind]


def moved(view: View, pair: Pair) -> Scene:
    """The prompts whose answer has moved most, on cards, and all of them in a sentence."""
    several = _of_prompts(pair)
    cards = [card_of(one, pair_sentences.moved_title(one)) for one in several[:MOST_MOVED]]
    texts = [one.text for one in several[:MOST_MOVED]]
    chosen = texts.index(view["s"]) if view["s"] in texts else -1
    words = Words(pair_sentences.moved_words(several), hint=pair_sentences.CLICK)
    return scene(words, HeadCards(cards, chosen, key="moved"))


def text_at(pair: Pair, place: int) -> str:
    """The prompt on a card."""
    return _of_prompts(pair)[place].text


def card_of(one: Moved, title: str) -> HeadCard:
    """The card of one sentence: its answer in the base, and in the tuned model."""
    before, after = apart(one.before, one.after)
    return {
        "title": title,
        "words": card_words(one.pieces),
        "weights": [0.0] * len(one.pieces),
        "answer": word_of(one.word),
        "before": before,
        "after": after,
        "shares": (one.before, one.after),
    }


def openings(base: str) -> list[KnownHead]:
    """The sentence that each packaged model is shown with that was tuned from a model."""
    return [
        KnownHead(pair_sentences.INTRODUCED, name, one.text, 0, 0, len(one.pieces) - 1)
        for name, one in _shown_with(base)
    ]


def opening_cards(base: str) -> list[HeadCard]:
    """The cards of `openings`."""
    return [card_of(one, pair_sentences.INTRODUCED) for _, one in _shown_with(base)]


def _shown_with(base: str) -> list[tuple[str, Moved]]:
    return [
        (name, packaged()[name][0])
        for name in options.tuned_models()
        if name in packaged() and sources.base_of(name) == base
    ]
