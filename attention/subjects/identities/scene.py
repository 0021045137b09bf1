"""Scenes of Identities: both sides of a claim and how far they differ, then all else to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attention.figures.files import first_words
from attention.figures.matrices import Matrices
from attention.figures.scene import Figure, Scene, Table, Words, note, scene
from attention.figures.tables import Cell
from attention.subjects.identities import claim
from attention.subjects.identities.claim import ClaimResult, Row
from attention.subjects.identities.questions import TITLES, Question

EMPTY = "Type a sentence above, or take random numbers."
NO_DIFFERENCE = "Here a difference does not show: try more tokens, other words or other numbers."


def card(question: Question, guess: str, checked: ClaimResult, key: str) -> Scene:
    """One statement once it is guessed: if that was right, its picture, and how far it is true."""
    answer = question.answer(checked)
    verdict = {answer: "Right. "}.get(guess, "Not quite. ") if guess in TITLES else ""
    picture = Matrices(checked.picture(question.at), key=key, of=first_words(question.statement))
    told = Words(f"{verdict}It is {TITLES[answer].lower()}.", "told")
    return scene(told, picture, Words(checked.checks[question.at].verdict))


def sides(checked: ClaimResult, problems: Sequence[str]) -> Scene:
    """The first matrices of a claim, and how far the sides of each check differ."""
    first, *_ = rows(checked)
    return scene(*map(note, problems), *matrices_of(first, "matrices_0"), verdicts(checked))


def verdicts(checked: ClaimResult) -> Table:
    """Differences of the two sides of each check, and what that makes them."""
    checks = checked.checks
    columns: dict[str, Sequence[Cell]] = {
        "greatest difference": [check.difference for check in checks],
        "rounding allows": [check.allowed for check in checks],
        "so they are": ["the same" if check.same else "different" for check in checks],
    }
    names = [check.label for check in checks]
    return Table("differences of the checks", names, columns)


def rows(checked: ClaimResult) -> list[Row]:
    """The rows of matrices of a claim."""
    return [item for item in checked.shown if isinstance(item, Row)]


def others(checked: ClaimResult) -> Scene:
    """All matrices of a claim but the first, and its tables, in order."""
    return scene(
        None if all(check.holds for check in checked.checks) else note(NO_DIFFERENCE),
        *_others(checked),
    )


def _others(checked: ClaimResult) -> Iterator[Figure]:
    count = 0
    for item in checked.shown:
        if isinstance(item, Row):
            if count:
                yield from matrices_of(item, f"matrices_{count}")
            count += 1
        elif isinstance(item, claim.Table):
            yield Words(item.caption)
            yield Table(first_words(item.caption), item.names, item.columns)


def matrices_of(row: Row, key: str) -> list[Figure]:
    """A row of matrices that are compared, under a sentence."""
    return [Words(row.caption), Matrices(row.parts, key=key, of=first_words(row.caption))]


def origin(checked: ClaimResult) -> Scene:
    """The matrices that all of a claim is made from."""
    given = claim.separated(checked.given, "")
    return scene(Matrices(given, key="matrices_origin", of="given"))
