"""A passport as it is read: from its numbers to words, bars, dots and links."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

from attention.analysis.heads import MEASURES
from attention.atlas import sentences as atlas_words
from attention.atlas.passport import HALVES, Atlas, Kind, Mean, Measured, Name, Passport, Row
from attention.atlas.sentences import apart, percent, quoted, word_of
from attention.core.printing import fixed
from attention.core.printing import percent as share
from attention.figures.card import card_words
from attention.subjects.model.options import named_head
from attention.subjects.model.passport_figures import (
    Bar,
    Fallen,
    HeadPassport,
    KindSaid,
    Looked,
    MeasureSaid,
    NameSaid,
    PassportSaid,
)
from attention.subjects.model.shades import change

LEAST_SCALE = 0.1  # of the axis of effects
ROWS = 6  # that are shown


def link_to(page: str, model: str, head: tuple[int, int], **more: object) -> str:
    """The address of a page on a head of a model."""
    return f"{page}?{urlencode({'model': model, **named_head(head), **more})}"


def passport_of(atlas: Atlas, head: tuple[int, int]) -> HeadPassport:
    """The passport of a head."""
    one = atlas.of(*head)
    most = max(map(abs, one.effects.by_mean), default=0.0)
    return HeadPassport(
        {
            "passport": said_of(atlas, one),
            "unit": atlas_words.unit_of(atlas),
            "most": max(LEAST_SCALE, math.ceil(10 * most) / 10),
        },
        key="passport",
    )


def said_of(atlas: Atlas, one: Passport) -> PassportSaid:
    """A passport in words, bars and dots."""
    said = atlas_words.said(atlas, one)
    needed = any(kind.needed for kind in one.effects.kinds)
    hangs = [fallen_of(atlas, one, at) for at in one.effects.hangs]
    rows = [looked_of(atlas, row) for row in one.rows]
    named = sorted(one.names, key=lambda name: not name.holds)
    names = [name_of(atlas, name) for name in named]
    holds = bool(names) and names[0]["holds"]
    looked = names[0]["example"] if holds else rows[-1] if rows else None
    first = said.looks if holds and not needed else said.fails
    return {
        "name": one.name,
        "place": f"Layer {one.layer}, head {one.head} of {atlas.title}",
        "title": said.title,
        "told": [first, said.elsewhere],
        "looked": None if needed and hangs else looked,
        "fallen": hangs[0] if needed and hangs else None,
        "names": names,
        "looks": said.looks,
        "measures": [measure_of(measure) for measure in one.measures],
        "rows": rows[:: -(-len(rows) // ROWS) or 1],
        "kinds": [kind_of(atlas, one, kind) for kind in one.effects.kinds],
        "hangs": hangs,
        "controls": [fallen_of(atlas, one, at) for at in one.effects.controls],
        "bars": [
            bar("attention that no name foretells", one.unexplained),
            bar("attention on the sink", one.sink),
        ],
    }


def bar(title: str, found: Mean, say: Callable[[float], str] = share) -> Bar:
    """A share with its interval."""
    return Bar(title=title, mean=found.mean, low=found.low, high=found.high, said=say(found.mean))


def level(title: str, value: float) -> Bar:
    """A share without an interval."""
    return Bar(title=title, mean=value, low=value, high=value, said=percent(value))


def looked_of(atlas: Atlas, row: Row) -> Looked:
    """A row of attention over the words of its sentence."""
    pieces = atlas.sentences[row.sentence].pieces
    weights = [*row.weights, *([0.0] * (len(pieces) - len(row.weights)))]
    most = weights.index(max(weights))
    there = "itself" if most == row.query else quoted(word_of(pieces[most]))
    asks = quoted(word_of(pieces[row.query]))
    return {
        "words": card_words(pieces),
        "weights": weights,
        "query": row.query,
        "told": f"From {asks} it looks most at {there}: {percent(weights[most])}.",
    }


def name_of(atlas: Atlas, name: Name) -> NameSaid:
    """A name with its shares on both halves and by chance."""
    return {
        "title": atlas_words.capital(f"looks {atlas_words.place(name.name)}"),
        "holds": name.holds,
        "bars": [
            bar("found on", name.found),
            bar("checked on", name.checked),
            level("keys shuffled", name.shuffled),
            level("untrained", name.untrained),
        ],
        "example": looked_of(atlas, name.example),
        "counter": None if name.counter is None else looked_of(atlas, name.counter),
    }


def measure_of(measure: Measured) -> MeasureSaid:
    """A measure on both halves and by chance."""
    about = MEASURES.get(measure.name)
    say = share if about is None or about.targets is not None else (lambda value: fixed(value, 2))
    low, high = measure.untrained.low, measure.untrained.high
    means = (measure.found, measure.checked, measure.shuffled)
    return {
        "title": about.words if about else measure.name,
        "cells": [*(say(each.mean) for each in means), f"{say(low)} to {say(high)}"],
    }


def kind_of(atlas: Atlas, one: Passport, kind: Kind) -> KindSaid:
    """Effects on the prompts of a kind, each as a dot."""
    effects = zip(one.effects.by_mean, atlas.prompts, strict=True)
    say = partial(change, atlas_words.unit_of(atlas))
    return {
        "kind": atlas_words.kind_name(kind),
        "needed": kind.needed,
        "dots": [
            (effect, HALVES.index(prompt.half))
            for effect, prompt in effects
            if prompt.kind == kind.kind
        ],
        "means": [bar("found", kind.found, say), bar("checked", kind.checked, say)],
        "said": say(kind.checked.mean),
        "turned": [half.mean for half in kind.turned.halves] if kind.turned else [],
        "turnedSaid": say(kind.turned.checked.mean) if kind.turned else "",
        "zero": "" if kind.by_zero is None else say(kind.by_zero.mean),
        "misleads": atlas_words.misleads(kind),
    }


def fallen_of(atlas: Atlas, one: Passport, at: int) -> Fallen:
    """A prompt whose answer changes without the head."""
    prompt, effect = atlas.prompts[at], one.effects.by_mean[at]
    after = min(1.0, max(0.0, prompt.before + effect))  # its numbers are rounded in files
    before, then = apart(prompt.before, after)
    answer = word_of(prompt.answer) if prompt.answer else ""
    return {
        "text": prompt.text,
        "answer": answer,
        "before": before,
        "after": then,
        "said": f"{quoted(answer)} {before} → {then}" if answer else f"cosine {before} → {then}",
        "link": link_to("model", atlas.model, one.place, s=prompt.text, off=one.name),
    }
