"""The sentence of the weight that changes most, true for its numbers whatever these are."""

from __future__ import annotations

from typing import Any

import torch

from attention.subjects.explore.against.change_words import change_words
from tests.cases import over
from tests.properties import given, settings, strategies
from tests.subjects.explore.how.making import drawn

NAMES = [f"w{at}" for at in range(7)]
ROWS = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.2, 0.3, 0.5]]
LAST = "no weight changes more."
SIGNED = {"shares": False}
# Weights before and after, what else is given, and the sentence.
CASES: dict[str, tuple[list[list[float]], list[list[float]], dict[str, Any], str]] = {
    "one loses what another gains": (
        ROWS,
        [ROWS[0], [0.45, 0.3, 0.25], ROWS[2]],
        {},
        f"With B “b” looks less at itself, 70 → 30 %, and more at a, 10 → 45 %: {LAST}",
    ),
    "a small change has tenths": (
        [[0.5, 0.5], [0.502, 0.498]],
        [[0.5, 0.5], [0.504, 0.496]],
        {},
        f"With B “b” looks more at a, 50.2 → 50.4 %, and less at itself, 49.8 → 49.6 %: {LAST}",
    ),
    "none": (ROWS, ROWS, {}, "With B no weight changes by as much as 0.1 %."),
    "nothing is left": (
        [[0.75, 0.25], [0.5, 0.5]],
        [[0.0, 0.0], [0.5, 0.5]],
        {},
        "With B “a” may look at nothing any more.",
    ),
    "first keys": (
        [[0.0, 0.0], [0.5, 0.5]],
        [[0.75, 0.25], [0.5, 0.5]],
        {},
        f"With B “a” looks more at itself, 0 → 75 %: {LAST}",
    ),
    "a query of one side alone": (
        [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1.0, 0, 0], [0, 0, 0], [0, 0.25, 0.75]],
        {"both": torch.tensor([True, False, True])},
        f"With B “c” looks more at b, 0 → 25 %, and less at itself, 100 → 75 %: {LAST}",
    ),
    "below 0": (
        [[1.0, 0.0], [0.25, 0.75]],
        [[-0.05, 0.14], [0.25, 0.7501]],
        SIGNED,
        "With B the weight of “a” on itself goes from 1.00 to −0.05, and that on b from 0.00 to "
        f"0.14: {LAST}",
    ),
    "below 0, close": (
        [[1.0, 0.0], [0.25, 0.75]],
        [[1.002, 0.0], [0.25, 0.75]],
        SIGNED,
        f"With B the weight of “a” on itself goes from 1.000 to 1.002: {LAST}",
    ),
    "below 0, none": (ROWS, ROWS, SIGNED, "With B no weight changes by as much as 0.001."),
    "below 0, nothing is left": (
        [[1.0, 0.0], [0.0, 0.5]],
        [[0.0, 0.0], [0.0, 0.5]],
        SIGNED,
        "With B “a” takes nothing in any more.",
    ),
}


@over("case", CASES)
def test_the_greatest_change_is_told_with_what_gains_and_what_loses_it(case: str) -> None:
    before, after, more, sentence = CASES[case]
    numbers = torch.tensor(before), torch.tensor(after)
    assert "".join(change_words(*numbers, "abc"[: len(before)], "With B", **more)) == sentence


@settings(max_examples=60)
@given(strategies.integers(0, 9999), strategies.floats(0.5, 8.0), strategies.booleans())
def test_of_any_weights_the_first_key_named_is_that_of_the_greatest_change(
    seed: int, sharpness: float, shares: bool
) -> None:
    before, after = 2 * drawn(7, 7, seed=seed), sharpness * drawn(7, 7, seed=seed + 1)
    if shares:
        before, after = before.softmax(-1), after.softmax(-1)
    change = after.double() - before.double()
    query, key = divmod(int(change.abs().argmax()), 7)
    parts = change_words(before, after, NAMES, "With B", shares=shares)
    assert f"“w{query}”" in parts[0]
    assert ("looks" in parts[0]) == shares
    assert parts[1] == ("itself" if key == query else NAMES[key])
    if len(parts) > 3:
        other = query if parts[3] == "itself" else NAMES.index(parts[3])
        ends = {int(change[query].argmax()), int(change[query].argmin())}
        assert {key, other} == ends
