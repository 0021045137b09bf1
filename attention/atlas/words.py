"""A passport in plain sentences, one for each part, each no surer than its numbers as shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.analysis.heads import MEASURES, NAMINGS
from attention.analysis.names import WORDS
from attention.atlas.claims import (
    MOVED_ELSEWHERE,
    NEEDED,
    NEEDED_ELSEWHERE,
    Elsewhere,
    elsewhere,
)
from attention.atlas.corpus import EVERYDAY
from attention.atlas.passport import (
    Atlas,
    Cost,
    Effects,
    Kind,
    Mean,
    Measured,
    Name,
    Passport,
)
from attention.core.printing import fixed, listed

LOOKS = {
    "previous": "one word back",
    "next": "one word ahead",
    "itself": "at the word itself",
    "same word": "at the same word elsewhere",
    "induction": "at the word that followed the same one before",
    "first": "at the beginning of the text",
    "separator": "at the marker at the end",
}
SHARES = ("previous", "itself", "next", "induction")  # measures that tell where it looks
SINKS = [naming.name for naming in NAMINGS.values() if naming.sinks]
UNNAMED = "It looks from what is written; names are tried on what is read alone."
KINDS_NAMED = 2
MOST = 0.5  # of a head's weight: less is said to be part
PART = 0.05  # of it: less is not told
MISLEADS = 0.05  # by which zero must take more than the mean does
LEAST: dict[Elsewhere, str] = {
    "needs": "other sentences need it",
    "gains": "other sentences gain without it",
}
# By whether the answer is a vector.
CLAIMS: dict[bool, dict[Elsewhere, str]] = {
    False: {
        "needs": "Other sentences need it too",
        "gains": "Other sentences gain without it",
        "loses nothing": f"Other sentences lose less than {NEEDED_ELSEWHERE} nats a piece without "
        "it",
        "is open": "It is open if other sentences need it",
    },
    True: {
        "needs": "Vectors of other sentences need it too",
        "gains": "",  # no vector moves by less than nothing
        "loses nothing": "Vectors of other sentences move by less than "
        f"{fixed(100 * MOVED_ELSEWHERE, 0)} % without it",
        "is open": "It is open if vectors of other sentences need it",
    },
}


@dataclass(frozen=True)
class Said:
    """The sentences of a passport: it all in one, and one for each part."""

    title: str
    looks: str
    fails: str
    elsewhere: str


def said(atlas: Atlas, one: Passport) -> Said:
    """The sentences of a passport."""
    return Said(
        title(atlas, one),
        looks(one),
        fails(atlas, one),
        elsewhere_words(atlas, one.effects),
    )


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
    claim = elsewhere(one.effects.elsewhere, of_vectors(atlas))
    if claim in LEAST:
        return LEAST[claim]
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


# Numbers


def share(value: float) -> str:
    """A share in per cent: whole from 10 % on, below with a decimal."""
    return f"{hundred(value, value)} %"


def hundred(value: float, like: float) -> str:
    """A hundred times a number, with as many decimals as another one needs."""
    return fixed(100 * value, 0 if abs(like) >= 0.0995 or not like else 1)


def share_of(found: Mean) -> str:
    """A share with its interval: "86 % (78 to 92)"."""
    ends = " to ".join(hundred(end, found.mean) for end in (found.low, found.high))
    return f"{share(found.mean)} ({ends})"


def of_vectors(atlas: Atlas) -> bool:
    """True of a model that gives vectors and no answer: its effects are those on a cosine."""
    return all(not text.answer for text in atlas.prompts)


def unit_of(atlas: Atlas) -> str:
    """The unit of effects: points of a probability, or per cent of a cosine."""
    return "%" if of_vectors(atlas) else "points"


def loss_of(atlas: Atlas, found: Mean) -> str:
    """The loss of an answer, "12 points (8 to 16)", or how far vectors move, "12 % (8 to 16)"."""
    ends = " to ".join(hundred(-end, found.mean) for end in (found.high, found.low))
    return f"{hundred(-found.mean, found.mean)} {unit_of(atlas)} ({ends})"


def cost_of(atlas: Atlas, found: Mean) -> str:
    """A cost with its error: "0.002 ± 0.003 nats a piece", of vectors "0.20 ± 0.30 %"."""
    factor, digits, unit = (100, 2, "%") if of_vectors(atlas) else (1, 3, "nats a piece")
    cost, width = (fixed(factor * n, digits) for n in (found.mean, (found.high - found.low) / 2))
    return f"{cost} ± {width} {unit}"


def capital(words: str) -> str:
    """Words with their first letter large."""
    return words[:1].upper() + words[1:]


# Where it looks


def place(name: str) -> str:
    """The words a head of that name looks at: "one word back"."""
    return LOOKS.get(name) or f"at {WORDS[name] if name in WORDS else MEASURES[name].words}"


def holding(one: Passport) -> list[Name]:
    """Names that hold, the surest first."""
    return sorted((name for name in one.names if name.holds), key=lambda name: -name.checked.mean)


def looks(one: Passport) -> str:
    """Its surest name, or that none holds."""
    if names := holding(one):
        return name_words(names[0])
    return "No name holds for it." if one.rows else UNNAMED


def name_words(name: Name) -> str:
    """A name that holds."""
    return (
        f"Looks {place(name.name)}, with {share(name.weight.mean)} of its weight: on "
        f"{share_of(name.found)} of {name.found.count} sentences; on {name.checked.count} others: "
        f"{share_of(name.checked)}; shuffled keys: {share(name.shuffled)}; the untrained twin's "
        f"best head: {share(name.untrained)}."
    )


def beyond_chance(one: Passport) -> list[Measured]:
    """The measures of where it looks that lie above both nulls on both halves, and that no name of
    it says already; the greatest first."""
    named = {name.name for name in one.names if name.holds}
    found = [
        each
        for each in one.measures
        if each.name in SHARES and each.name not in named
        if each.size >= PART
        if min(each.found.low, each.checked.low) > max(each.shuffled.high, each.untrained.high)
    ]
    return sorted(found, key=lambda each: -each.size)


def least_weight(name: Name) -> str:
    """The share of its weight that a head looks there with, where that is not most of it."""
    weight = name.weight.mean
    return "" if weight >= MOST else f" with {share(weight)} of its weight"


# What fails without it


def gains(atlas: Atlas, kind: Kind) -> bool:
    """True if the answer surely gains without the head, on both halves; a vector never does."""
    return not of_vectors(atlas) and all(
        each.low > 0 and each.mean >= NEEDED for each in kind.halves
    )


def misleads(kind: Kind) -> bool:
    """True if a head set to zero surely takes more from the answer than set to its mean does."""
    if kind.by_zero is None:
        return False
    most = min(each.mean for each in kind.halves)
    return (
        kind.by_zero.high < min(each.low for each in kind.halves)
        and most - kind.by_zero.mean >= MISLEADS
    )


def fails(atlas: Atlas, one: Passport) -> str:
    """The kind of prompts that needs it most beside a random direction, or that none does."""
    needing = [kind for kind in one.effects.kinds if kind.needed]
    if needing:
        return need_words(atlas, needing[0])
    return least_words(atlas, one.effects.kinds) if one.effects.kinds else ""


def kind_name(kind: Kind) -> str:
    """A kind of prompts by its name."""
    return {"": "sentences at large", EVERYDAY: "everyday sentences"}.get(kind.kind, kind.kind)


def kind_words(kind: Kind) -> str:
    """A kind of prompts in a sentence, in quotation marks where its name lists several things."""
    name = kind_name(kind)
    return f"“{name}”" if {"and", ","} & {*name.replace(",", " , ").split()} else name


def need_words(atlas: Atlas, kind: Kind) -> str:
    """A kind of prompts that needs the head, beside a change as large in a random direction, which
    costs as much where the kind would need it too, losing as much on both halves."""
    changes = "vectors move by" if of_vectors(atlas) else "the answer loses"
    counts = f"on average of {kind.found.count}", f"of {kind.checked.count} others"
    found, checked = (
        f"{loss_of(atlas, half)} {count}" for half, count in zip(kind.halves, counts, strict=True)
    )
    said = f"Needed by {kind_words(kind)}: without it {changes} {found}, and {checked}"
    if kind.turned is None:
        return f"{said}."
    found, checked = (loss_of(atlas, half) for half in kind.turned.halves)
    as_much = "as much: " if kind.unspecific else ""
    return f"{said}; by a step as large in one random direction {as_much}{found}, and {checked}."


def least_words(atlas: Atlas, kinds: Sequence[Kind]) -> str:
    """No kind of prompts needs the head; the one that loses most, if it does on both halves."""
    loses = "moves by" if of_vectors(atlas) else "loses"
    said = f"No kind of prompts surely {loses} {fixed(100 * NEEDED, 0)} {unit_of(atlas)} without it"
    worst = min(kinds, key=lambda kind: kind.found.mean + kind.checked.mean)
    if max(worst.found.mean, worst.checked.mean) >= 0:
        return f"{said}."
    found, checked = (loss_of(atlas, half) for half in worst.halves)
    return (
        f"{said}; {kind_words(worst)}, the most, {loses} {found} on average of "
        f"{worst.found.count}, {checked} of {worst.checked.count} others."
    )


def elsewhere_words(atlas: Atlas, effects: Effects) -> str:
    """The claim on its loss to sentences at large, and the cost on both halves."""
    cost = effects.elsewhere
    found, checked = (cost_of(atlas, half) for half in cost.halves)
    counts = f"{cost.found.count} other sentences", f"{cost.checked.count} more"
    if of_vectors(atlas):
        moves = f"those of {counts[0]} move by {found}, of {counts[1]} by {checked}"
        return f"{claim_words(cost, True)}: {moves}."
    grows = f"the loss on {counts[0]} grows by {found}, on {counts[1]} by {checked}"
    return f"{claim_words(cost, False)}: {grows}."


def claim_words(cost: Cost, vectors: bool) -> str:
    """The claim on other sentences without a head, see `claims.elsewhere`, without its numbers."""
    return CLAIMS[vectors][elsewhere(cost, vectors)]
