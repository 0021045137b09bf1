"""Scenes of associations: a method's links, the yardstick of the whole model, a method by hand."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.associations import Method
from attention.analysis.associations.two_words import INTRODUCTION
from attention.app.state.view import View
from attention.core.functional import WeightsAlone
from attention.core.papers import link_of
from attention.figures.matrices import Matrices
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.scene import Figure, Row, Scene, Table, Words, heading, scene, titled
from attention.subjects.model import association_numbers, association_sentences
from attention.subjects.model.association_sentences import Misleading


def picture(view: View, method: str) -> Scene:
    """An association as lines and as a heatmap, of which the darkest is the greatest share."""
    shown = association_numbers.association(view, method)
    of_shares = Picture(
        WeightsAlone(shown.shares, shown.seen),
        shown.tokens,
        [True] * len(shown.tokens),
        parts=("lines", "heatmap"),
        masks={} if shown.seen is None else {"causal": shown.seen},
        of=shown.method.title,
        words=association_sentences.shown_words(shown),
        most=float(shown.shares.max()) or 1.0,
    )
    return scene(AttentionPicture(of_shares, key="association"))


def strongest(view: View, method: str) -> Scene:
    """The strongest pairs of words as a table."""
    shown = association_numbers.association(view, method)
    by = f"by {shown.method.title}"
    pairs = Table(f"pairs {by}", *association_numbers.pairs_table(shown))
    return scene(titled("The strongest pairs", by), pairs)


def question() -> Scene:
    """The question that erasure answers, as the yardstick of other methods."""
    return scene(
        heading("What does the whole model make of all heads and layers?"),
        Words(association_sentences.QUESTION, "titled"),
    )


def whole_model(view: View, offered: Sequence[str]) -> Scene:
    """The answer of erasure, and how far each method says the same.

    offered: methods that are worked out for the sentence.
    """
    here = {
        name: association_numbers.agreement_with_erasure(view, name)
        for name in offered
        if name != "erasure"
    }
    erased = association_numbers.association(view, "erasure")
    table = association_numbers.agreement_table(here, view["model"])
    return scene(
        Words(association_sentences.answer(erased, here, view["query"]), "told"),
        titled("Agreement with erasure", "· Spearman’s ρ, the best first"),
        Table("rank agreement with erasure", *table, key="agreement"),
        Words(association_sentences.AGREEMENT),
    )


def explained(example: Misleading) -> Scene:
    """Explain an association, which method to trust, and why weights alone mislead."""
    return scene(
        heading("What is an association?"),
        Row([_prose(association_sentences.WHAT), _prose(association_sentences.TRUST)], (1, 1)),
        _prose(example.before),
    )


def _prose(words: str) -> Words:
    """Words in which what stands between two ** stands out."""
    return Words(words.split("**"), "titled")


def verdict(example: Misleading, guess: str) -> Scene:
    """The answer to a guess on the example of weights that mislead."""
    right = guess == example.choices[example.answer]
    return scene(titled("Yes." if right else "Not quite.", example.because))


def by_hand(method: Method) -> Scene:
    """A method: who described it, its definition, and a small case."""
    parts: list[Figure] = []
    for place, step in enumerate(method.by_hand):
        of, key = f"{method.title} by hand, step {place + 1}", f"small_{method.name}_{place}"
        parts += [Words(step.words), Matrices(step.parts, of=of, key=key)]
    return scene(
        heading("By hand"),
        Words(INTRODUCTION),
        Words(("", method.title, " · "), "titled", link=link_of(method.source)),
        Words(method.definition, "told"),
        *parts,
    )
