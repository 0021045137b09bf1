"""A passport in plain sentences, each no surer than its numbers as they are shown."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from attention.analysis.heads import MEASURES, NAMINGS
from attention.atlas.look_words import beyond_chance, holding, least_weight, looks, place
from attention.atlas.loss_words import (
    elsewhere_words,
    fails,
    gains,
    kind_words,
    of_vectors,
    zero_elsewhere_words,
)
from attention.atlas.number_words import capital, share, share_of
from attention.atlas.passport import Atlas, Passport
from attention.atlas.weight_words import kin_words, weights_words
from attention.core.printing import listed

KINDS_NAMED = 2
SINKS = [naming.name for naming in NAMINGS.values() if naming.sinks]


@dataclass(frozen=True)
class Said:
    """The sentences of a passport, under what they are about; title: it all in one."""

    title: str
    looks: tuple[str, ...]
    fails: tuple[str, ...]
    elsewhere: tuple[str, ...]
    weights: tuple[str, ...]
    kin: tuple[str, ...]
    unexplained: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """All of them, the title first."""
        title, *parts = astuple(self)
        return [title, *(sentence for part in parts for sentence in part)]


def said(atlas: Atlas, one: Passport) -> Said:
    """All sentences of a passport."""
    return Said(
        title(atlas, one),
        tuple(looks(one)),
        tuple(fails(atlas, one)),
        (elsewhere_words(atlas, one.effects), *zero_elsewhere_words(atlas, one.effects)),
        tuple(weights_words(one)),
        tuple(kin_words(atlas, one)),
        tuple(unexplained_words(one)),
    )


def unexplained_words(one: Passport) -> list[str]:
    """The share that no name foretells, and that on the sink."""
    return [
        f"{share_of(one.unexplained)} of its attention is foretold by no name.",
        f"{share_of(one.sink)} of its attention rests on the first word or on markers.",
    ]


def title(atlas: Atlas, one: Passport) -> str:
    """The passport in one short sentence: its names that hold and the kinds that need it, else the
    most that can be said. That it rests on a sink, as most heads do, is said where nothing else is.
    """
    best = next((name for name in holding(one) if name.name not in SINKS), None)
    parts = [] if best is None else [f"looks {place(best.name)}{least_weight(best)}"]
    needing = [kind_words(kind) for kind in one.effects.kinds if kind.needed]
    if needing:
        more = len(needing) - KINDS_NAMED
        named = needing[:KINDS_NAMED] + ([f"{more} more kinds"] if more > 1 else needing[-1:])
        parts.append(f"needed by {listed(dict.fromkeys(named))}")
    return capital("; ".join(parts or [least_title(atlas, one)])) + "."


def least_title(atlas: Atlas, one: Passport) -> str:
    """The most that can be said of a head without a name that no kind of prompts needs."""
    gaining = [kind_words(kind) for kind in one.effects.kinds if gains(atlas, kind)]
    if gaining:
        return f"hinders {listed(gaining[:KINDS_NAMED])}"
    if not of_vectors(atlas) and one.effects.elsewhere.sure:
        return (
            f"other sentences {'need it' if one.effects.elsewhere.sure > 0 else 'gain without it'}"
        )
    if sinks := holding(one):
        return f"rests {place(sinks[0].name).replace('at ', 'on ', 1)}"
    if one.names:
        return f"seemed to look {place(one.names[0].name)}, but the check failed"
    beyond = beyond_chance(one)
    if beyond:
        each = beyond[0]
        weight = share(each.size)
        return f"no name holds; {weight} of its weight lies on {MEASURES[each.name].words}"
    if one.sink.mean >= 0.5:
        weight = share(one.sink.mean)
        return f"no name holds; {weight} of its weight rests on the first word or on markers"
    return f"{'no name holds; ' if one.rows else ''}no kind of prompts surely needs it"
