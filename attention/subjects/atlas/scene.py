"""Scenes of the atlas: its map with the passports that are read, and a sentence that is tried."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attention.analysis.heads import NAMINGS
from attention.app.cached import kept
from attention.app.state.view import View
from attention.atlas.passport import Atlas, Passport
from attention.atlas.words import place
from attention.core.printing import distinct_names
from attention.figures.scene import Scene, Words, note, scene
from attention.subjects.atlas import numbers, words
from attention.subjects.atlas.figures import (
    Bar,
    HeadAtlas,
    NameTried,
    OwnSentence,
    Passports,
)
from attention.subjects.atlas.numbers import Head, Opened, Own
from attention.subjects.atlas.passports import level, link_to, passports_of
from attention.subjects.atlas.shades import Shade, shade_named
from attention.subjects.model.words import Answered, fall_words, word_of
from attention.trained.models import NoWords

LISTED = 20  # heads, the most


def atlas_scene(view: View, opened: Opened) -> Scene:
    """The map of all heads, and the passports of the chosen one and of that beside it."""
    shade = shade_named(opened.shades, view["tiles"])
    head, other = numbers.chosen(view, opened.atlas, shade), numbers.second(view, opened.atlas)
    heads = (head,) if other in (None, head) else (head, other)
    problems = []
    if view["tiles"] not in ("", shade.name):
        problems.append(words.unknown_shade_words(view["tiles"], shade.name))
    if view["second_head"] and other is None:
        problems.append(words.unknown_second_words(view["second_head"]))
    return scene(
        *map(note, problems),
        map_of(opened, shade, heads),
        passports_in(opened, heads),
    )


@kept(64)
def passports_in(opened: Opened, heads: tuple[Head, ...]) -> Passports:
    """The passports of one head or two, made once for all visitors."""
    return passports_of(opened.atlas, heads)


def map_of(opened: Opened, shade: Shade, heads: Sequence[Head]) -> HeadAtlas:
    """The map of all heads, and the first of them by its shade."""
    atlas, listed = opened.atlas, heads_by(opened, shade)
    chosen, *others = map(atlas.position, heads)
    return HeadAtlas(
        shades=opened.shades,
        shade=shade,
        layers=[f"layer {layer}" for layer in range(len(atlas.shape))],
        told=opened.titles,
        chosen=chosen,
        other=others[0] if others else -1,
        listed=(first := listed[:LISTED]),
        listed_words=words.listed_words(
            len(listed), len(atlas.passports), len(first), shade.sure is not None
        ),
        key="head_atlas",
    )


@kept(64)
def heads_by(opened: Opened, shade: Shade) -> list[int]:
    """Positions of the heads that a shade surely holds of, or of all where it is a number alone;
    the largest numbers first."""
    atlas, sizes = opened.atlas, shade.numbers.abs().flatten().tolist()
    sure = [one for one in atlas.passports if shade.sure is None or shade.sure(one)]
    heads = [atlas.position(one.place) for one in sure]
    return sorted(
        (head for head in heads if not math.isnan(sizes[head])), key=lambda head: -sizes[head]
    )


def own_scene(view: View, atlas: Atlas, one: Passport) -> Scene:
    """The chosen head on the sentence of the page, or what that lacks."""
    name = numbers.name_tried(view, one)
    try:
        own = numbers.own_of(view, one.place, name)
    except NoWords:
        return scene(Words(words.NO_SENTENCE, "info"))
    if (pieces := max(own.weights.shape)) > words.MOST_PIECES:
        return scene(note(words.too_long_words(pieces)))
    return scene(own_sentence(view, atlas, one, own, name))


def own_sentence(view: View, atlas: Atlas, one: Passport, own: Own, name: str) -> OwnSentence:
    """The figure of a head on a sentence."""
    head = one.name
    keys = [*map(word_of, own.keys.texts)]
    answered, tried, crosses = own.answered, own.tried, own.queries is not own.keys
    marks = [-1] * len(own.queries.texts)
    if tried is not None:
        for at, right in zip(tried.asking, tried.right, strict=True):
            marks[at] = int(right)
    more = {"s": view["s"], "query": own.query, "off": head}
    return OwnSentence(
        {
            "head": head,
            "words": keys,
            "queries": [*map(word_of, own.queries.texts)],
            "same": not crosses,
            "effect": fall_words(answered, answered.now, f"head {head}"),
            "bars": effect_bars(answered),
            "link": link_to("model", atlas.model, one.place, **more),
            "evidence": ""
            if tried is None
            else link_to("atlas", atlas.model, one.place, s=view["s"], head_name=tried.name),
            "names": [] if crosses else names_to_try(one),
            "tried": name,
            "verdict": words.untried_words(name, crosses)
            if tried is None
            else words.tried_words(tried, distinct_names(keys)),
            "breaks": tried is not None and bool(tried.asking) and not tried.holds,
            "holds": tried is not None and tried.holds,
            "marks": marks,
        },
        own.weights,
        key="own_sentence",
    )


def effect_bars(answered: Answered) -> list[Bar]:
    """The probability of the answer with the head and without it; none of vectors."""
    if answered.kind == "vector":
        return []
    return [level("with it", answered.before), level("without it", answered.now)]


def names_to_try(one: Passport) -> list[NameTried]:
    """All names that can be tried, those of the head first."""
    earned = {name.name: name.holds for name in one.names}
    order = dict.fromkeys((*earned, *NAMINGS))
    return [
        {
            "name": name,
            "title": f"looks {place(name)}",
            "holds": earned.get(name, False),
        }
        for name in order
    ]
