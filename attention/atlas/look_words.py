"""Sentences of a passport on where its head looks."""

from __future__ import annotations

from attention.analysis.heads import MEASURES
from attention.analysis.names import WORDS
from attention.atlas.number_words import MOST, WORTH, share, share_of
from attention.atlas.passport import Measured, Name, Passport
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
UNNAMED = "It looks from what is written; names are tried on what is read alone."


def place(name: str) -> str:
    """The words a head of that name looks at: "one word back"."""
    return LOOKS.get(name) or f"at {WORDS[name] if name in WORDS else MEASURES[name].words}"


def looks(one: Passport) -> list[str]:
    """Its names with their nulls, those whose check failed, and where else its weight lies."""
    told = [*map(name_words, sorted(one.names, key=lambda name: not name.holds))]
    told += [measure_words(each) for each in beyond_chance(one)]
    if not holding(one):
        told.insert(0, "No name holds for it." if one.rows else UNNAMED)
    return [*told, *distance_words(one)]


def name_words(name: Name) -> str:
    """A name that holds, or one whose check failed and why."""
    nulls = f"shuffled keys: {share(name.shuffled)}; the untrained twin's best head: "
    nulls += share(name.untrained)
    if name.holds:
        return (
            f"Looks {place(name.name)}, with {share(name.weight.mean)} of its weight: on "
            f"{share_of(name.found)} of {name.found.count} "
            f"sentences; on {name.checked.count} others: {share_of(name.checked)}; {nulls}."
        )
    return (
        f"Seemed to look {place(name.name)}, on {share_of(name.found)} of {name.found.count} "
        f"sentences, but the check on {name.checked.count} others failed: "
        f"{share_of(name.checked)}, {failed_words(name)} ({nulls})."
    )


def failed_words(name: Name) -> str:
    """Reasons why the check of a name failed, see `Name.holds`."""
    reasons = []
    if name.checked.mean <= 0.5:
        reasons.append("not on more than half")
    for null, words in ((name.shuffled, "shuffled keys"), (name.untrained, "the untrained twin")):
        if name.checked.low <= null:
            reasons.append(f"not surely above {words}")
    return listed(reasons) if reasons else "not surely"


def beyond_chance(one: Passport) -> list[Measured]:
    """The measures of where it looks that lie above both nulls on both halves, and that no name of
    it says already; the greatest first."""
    named = {name.name for name in one.names if name.holds}
    found = [
        each
        for each in one.measures
        if each.name in SHARES and each.name not in named
        if each.size >= WORTH
        if min(each.found.low, each.checked.low) > max(each.shuffled.high, each.untrained.high)
    ]
    return sorted(found, key=lambda each: -each.size)


def measure_words(each: Measured) -> str:
    """A share of its weight that lies above both nulls."""
    return (
        f"{share_of(each.found)} of its weight lies on {MEASURES[each.name].words}, on "
        f"other sentences {share_of(each.checked)}; shuffled keys: {share(each.shuffled.mean)}; "
        f"heads of the untrained twin: up to {share(each.untrained.high)}."
    )


def distance_words(one: Passport) -> list[str]:
    """The distance it looks over, where that was measured."""
    return [
        f"It looks {fixed(each.found.mean, 1)} words far on average, on other sentences "
        f"{fixed(each.checked.mean, 1)}; shuffled keys: {fixed(each.shuffled.mean, 1)}."
        for each in one.measures
        if each.name == "distance"
    ]


def least_weight(name: Name) -> str:
    """The share of its weight that a head looks there with, where that is not most of it."""
    weight = name.weight.mean
    return "" if weight >= MOST else f" with {share(weight)} of its weight"


def holding(one: Passport) -> list[Name]:
    """Names that hold, the surest first."""
    return sorted((name for name in one.names if name.holds), key=lambda name: -name.checked.mean)
