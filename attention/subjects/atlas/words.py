"""Settings of the atlas, and its sentences on what `attention.atlas` does not say: how many
heads are listed, how two differ, and a name tried on a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from attention.analysis.names import WORDS
from attention.atlas.passport import Atlas, Mean, Passport
from attention.atlas.words import of_vectors, place, unit_of
from attention.core.printing import listed, percent
from attention.core.settings import choice, same_as, text
from attention.subjects.atlas.shades import change
from attention.subjects.model.words import SwitchSettings, quoted
from attention.trained.sources import installing

FIRST = "its first"
MOST_DIFFERENCES = 3
MOST_PIECES = 128  # of a sentence that is tried
PURPOSE = "A passport for each head: where it looks, what fails without it, what would refute that."


@dataclass(frozen=True)
class AtlasSettings:
    """The colours of the tiles, a second head, and the name that is tried."""

    tiles: str = text("", "Tiles show", 120)
    second_head: str = text("", "A second head", 9, help="as 24.7: head 7 of layer 24.")
    head_name: str = choice(FIRST, "Name to break", (FIRST, *WORDS))
    head_by: str = same_as(SwitchSettings, "head_by")


def missing_words(model: str, title: str) -> str:
    """The command that makes passports of a model that has none."""
    return f"There are no passports of {title} yet. To make them: python -m attention.atlas {model}"


def not_installed_words(names: Sequence[str]) -> str:
    """Models that passports are here of, but that are not installed."""
    return f"There are passports of {listed(names)} too. Install the models: {installing()}"


def unknown_shade_words(name: str, instead: str) -> str:
    """Shade of tiles in place of one that is not known."""
    return f"Tiles cannot show “{name}” here; they show “{instead}”."


def unknown_second_words(named: str) -> str:
    """Why no second head stands beside the first."""
    return f"There is no head “{named}” in this model; write it as 24.7."


def listed_words(count: int, of: int, shown: int, surely: bool) -> str:
    """Count of the heads that a shade surely holds of, or of those that are listed by a number."""
    if not surely:
        return f"The {shown} greatest of {of} heads."
    first = f", the first {shown}" if count > shown else ""
    return f"Surely so of {count or 'none'} of {of} heads{first}."


# Two heads


def apart(one: Mean, other: Mean) -> bool:
    """True if the intervals of two means do not meet."""
    return one.low > other.high or other.low > one.high


def differences(atlas: Atlas, one: Passport, other: Passport) -> list[str]:
    """The numbers in which two heads differ most, of those whose intervals do not meet on the texts
    that nothing was found on."""
    found = sorted(_apart(atlas, one, other), key=lambda each: -abs(each[1] - each[2]))
    if not found:
        return [f"No number of {one.name} and {other.name} surely differs."]
    return [
        f"{what}: {say(ours)} in {one.name}, {say(theirs)} in {other.name}."
        for what, ours, theirs, say in found[:MOST_DIFFERENCES]
    ]


def _apart(
    atlas: Atlas, one: Passport, other: Passport
) -> Iterator[tuple[str, float, float, Callable[[float], str]]]:
    kinds = {kind.kind: kind.checked for kind in other.effects.kinds}
    changing = "Vectors" if of_vectors(atlas) else "Answers"
    for kind in one.effects.kinds:
        if kind.kind in kinds and apart(kind.checked, kinds[kind.kind]):
            yield (
                f"{changing} on {kind.kind} without the head",
                kind.checked.mean,
                kinds[kind.kind].mean,
                partial(change, unit_of(atlas)),
            )
    measures = {measure.name: measure.checked for measure in other.measures}
    for measure in one.measures:
        theirs = measures.get(measure.name)
        if measure.name in WORDS and theirs is not None and apart(measure.checked, theirs):
            yield f"Weight on {WORDS[measure.name]}", measure.checked.mean, theirs.mean, percent


# A name tried


@dataclass(frozen=True)
class Tried:
    """A name of a head tried on a sentence.

    name: one of `heads.NAMINGS`; asking: positions of the pieces that have such a key; right: for
    each if the head's greatest weight lies there; looks: for each the key that it lies on.
    """

    name: str
    asking: Sequence[int]
    right: Sequence[bool]
    looks: Sequence[int]

    @property
    def holds(self) -> bool:
        """True if more than half of these pieces look there, as `names.holds` counts."""
        return 2 * sum(self.right) > len(self.right)


def own_heading(one: Passport) -> str:
    """The title of the part where a sentence is typed."""
    return f"Try head {one.name} on your sentence, and break its name"


def tried_words(tried: Tried, names: Sequence[str]) -> str:
    """The count of a name on a sentence, and the first piece that breaks it. names: of all pieces,
    equal ones told apart."""
    looks = f"Looks {place(tried.name)}"
    if not tried.asking:
        return f"{looks}: no word of this sentence can. Type one where some can."
    count, right = len(tried.right), sum(tried.right)
    verdict = "it holds here" if tried.holds else "it fails here"
    words = "word" if count == 1 else "words"
    said = f"{looks}: {right} of {count} {words} that could. So {verdict}."
    if right == count:
        return said
    query, key = ((tried.asking, tried.looks)[side][tried.right.index(False)] for side in (0, 1))
    there = "itself" if query == key else quoted(names[key])
    return f"{said} At {quoted(names[query])} it looks at {there}."


NO_SENTENCE = "Type a sentence above: it shows what this head does there."


def too_long_words(pieces: int) -> str:
    """Why a sentence is not shown."""
    return f"This sentence has {pieces} pieces; a head is tried on up to {MOST_PIECES}."


def untried_words(name: str, crosses: bool) -> str:
    """Why no name is counted on a sentence. crosses: whether the head looks at another one."""
    if crosses:
        return "This head looks from one sentence at another: names are of heads within one."
    if not name:
        return "This head has no name; try one."
    return f"Looks {place(name)}: that is counted on marked pairs of sentences, not on one."
