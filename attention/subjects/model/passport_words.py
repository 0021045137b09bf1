"""Setting of passports, and sentences on them that `attention.atlas` does not say: how many heads
are listed, and a name tried on a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.atlas.words import place
from attention.core.settings import text
from attention.subjects.model.words import quoted


@dataclass(frozen=True)
class PassportSettings:
    """The number that colours the tiles of the map."""

    tiles: str = text("", "Tiles show", 120)


def missing_words(model: str, title: str) -> str:
    """The command that makes passports of a model that has none."""
    return f"There are no passports of {title} yet. To make them: python -m attention.atlas {model}"


def listed_words(count: int, of: int, shown: int, surely: bool) -> str:
    """Count of the heads that a shade surely holds of, or of those that are listed by a number."""
    if not surely:
        return f"The {shown} greatest of {of} heads."
    first = f", the first {shown}" if count > shown else ""
    return f"Surely so of {count or 'none'} of {of} heads{first}."


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
