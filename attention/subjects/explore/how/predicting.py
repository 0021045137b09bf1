"""Questions about a step before its result is shown, and the replies to an answer.

An answer counts by what the page shows: numbers that look the same are the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.core.printing import listed
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.subjects.explore.how.step import SHORT, Step

MOST_CELLS = 32  # tokens of a mask to be painted
SHARE, LEAST = 0.05, 0.01  # how far from a number an answer may be

HINTS = {
    "row": "Click it in that row.",
    "number": "",
    "terms": "",
    "mask": "Click or drag over them below, then check.",
    "greatest": "Click it, or go there and press Enter.",
}

Cell = tuple[int, int]


@dataclass(frozen=True)
class Answer:
    """Answer of somebody about the step of that identity.

    asked: the question; cell: the one clicked, or the one whose number was said; number: of the
    cell, or of its terms; marked: the cells
    taken for hidden.
    """

    identity: int
    asked: str
    cell: Cell = (0, 0)
    number: float = 0.0
    marked: frozenset[Cell] = frozenset()


def possible(step: Step) -> tuple[str, ...]:
    """The questions there are about a step."""
    rows, columns = step.result.numbers.shape
    about_mask = step.asks == "mask"
    there = {
        "greatest": True,
        "row": bool(step.result.column_names),
        "number": not about_mask,
        "mask": about_mask and max(rows, columns) <= MOST_CELLS,
        "terms": not about_mask and _terms(step) > 1,
    }
    return tuple(question for question, is_there in there.items() if is_there)


def question(step: Step, wanted: str, cell: Cell) -> str:
    """The question that is asked: the wanted one, or the one that suits the step.

    Each can be worked out from what the step shows: where that are too many numbers, how many
    terms there are.
    """
    there = possible(step)
    if wanted in there:
        return wanted
    if step.asks in there:
        return step.asks
    if step.asks == "mask":
        return "row"
    few = len(step.working(*cell).names) <= SHORT
    return "number" if few or "terms" not in there else "terms"


def _terms(step: Step) -> int:
    """Number of terms added up to one cell of a step's result, a bias aside; 0 without a sum."""
    made = step.working(0, 0)
    return sum(name != "bias" for name in made.names) if made.total_name == "sum" else 0


def words(step: Step, asked: str, cell: Cell) -> str:
    """The question in a sentence."""
    matrix, (row, column) = step.result, cell
    if asked == "row":
        name = _named(matrix.row_names, row)
        return f"Which key gets the most in the row of {name}?"
    if asked == "number":
        return f"What number is in the cell of {_cell(matrix, row, column)}?"
    if asked == "terms":
        aside = ", the bias aside" if "bias" in step.working(0, 0).names else ""
        return f"How many terms are added up to one cell of {matrix.name}{aside}?"
    if asked == "mask":
        return "Which cells become hidden?"
    return "Which cell will hold the greatest number?"


def read_number(typed: str) -> float | None:
    """The number that was typed, with a point or a comma; None where it is none."""
    try:
        said = float(typed.strip().replace("−", "-").replace(",", "."))
    except ValueError:
        return None
    return said if math.isfinite(said) else None


def mask_of_marks(step: Step, marked: Collection[Cell]) -> Tensor:
    """The cells of a step's result, False where one is marked. bool, (rows, columns)."""
    left = torch.ones(step.result.numbers.shape, dtype=torch.bool)
    for cell in marked:
        left[cell] = False
    return left


def verdict(step: Step, answer: Answer) -> str:
    """Reply to an answer, in a sentence."""
    if answer.asked == "mask":
        return of_mask(step, answer.marked)
    if answer.asked == "terms":
        return of_terms(step, answer.number)
    if answer.asked == "number":
        return of_number(step, *answer.cell, answer.number)
    return (of_row if answer.asked == "row" else of_greatest)(step, *answer.cell)


def of_greatest(step: Step, row: int, column: int) -> str:
    """Reply to somebody who took (row, column) for the greatest cell of what a step gives."""
    result, shown = step.result, _shown(step.result)
    most = float(shown.max())
    if most == -torch.inf:
        return "Every cell is hidden: there is no greatest one."
    guess, best = float(shown[row, column]), divmod(int(shown.argmax()), shown.shape[1])
    if number(guess) == number(most):
        return f"Right: {_cell(result, row, column)} is the greatest, {result.write(most)}."
    return (
        f"Not {_cell(result, row, column)}, {_holds(result, guess)}; {_cell(result, *best)} holds "
        f"{result.write(most)}."
    )


def of_row(step: Step, row: int, column: int) -> str:
    """Reply to somebody who took a key for the one that gets most in a row."""
    result, names = step.result, step.result.column_names
    shown = _shown(result)[row].tolist()
    query, most = _named(result.row_names, row), max(shown)
    if most == -torch.inf:
        return f"{query} may look at nothing: every key of its row is hidden."
    best = [key for key, value in enumerate(shown) if number(value) == number(most)]
    others = [_named(names, key) for key in best if key != column]
    if column in best:
        more = f"; {listed(others)} as much" if others else ""
        key = _named(names, column)
        return f"Right: in the row of {query} {key} gets most, {result.write(most)}{more}."
    gets = f"{listed(others)} {'gets' if len(others) == 1 else 'get'} most, {result.write(most)}"
    holds = _holds(result, shown[column])
    return f"Not {_named(names, column)}, {holds}; in the row of {query} {gets}."


def of_number(step: Step, row: int, column: int, said: float) -> str:
    """Reply to somebody who took a number for that of a cell."""
    exact = float(step.result.numbers[row, column])
    far = max(SHARE * abs(exact), LEAST)
    holds = f"{_cell(step.result, row, column)} holds {step.result.write(exact)}"
    if abs(said - exact) <= far * (1 + 1e-6):  # 4.2 counts for 4, whose bound in binary is below
        return f"Right: {holds}, and {number(said)} is within ±{number(far)}."
    return f"Not {number(said)}: {holds}, ±{number(far)} would have counted."


def of_terms(step: Step, said: float) -> str:
    """Reply to somebody who took a number for that of the terms of one cell."""
    told = f"{_terms(step)} terms are added up to one cell of {step.result.name}"
    return f"Right: {told}." if said == _terms(step) else f"Not {said:g}: {told}."


def of_mask(step: Step, marked: Collection[Cell]) -> str:
    """Reply to somebody who took these cells for the hidden ones."""
    allowed = step.result.allowed
    hidden = set() if allowed is None else {(r, c) for r, c in (~allowed).nonzero().tolist()}
    if hidden == {*marked}:
        return f"Right: {_counted(len(hidden))} hidden."
    wrong = (("hidden too", hidden - {*marked}), ("not hidden", {*marked} - hidden))
    said = [
        f"{_counted(len(cells))} {what}, as {_cell(step.result, *min(cells))}"
        for what, cells in wrong
        if cells
    ]
    return f"Not quite: {listed(said)}."


def _counted(cells: int) -> str:
    return "1 cell is" if cells == 1 else f"{cells or 'no'} cells are"


def _shown(matrix: Matrix) -> Tensor:
    """The numbers, −∞ where hidden."""
    if matrix.allowed is None:
        return matrix.numbers
    return matrix.numbers.masked_fill(~matrix.allowed, -torch.inf)


def _holds(matrix: Matrix, value: float) -> str:
    return "it is hidden" if value == -torch.inf else f"it holds {matrix.write(value)}"


def _named(names: Sequence[str], position: int) -> str:
    """A name, with its position where it stands more than once."""
    name = names[position]
    return f"“{name} ({position})”" if list(names).count(name) > 1 else f"“{name}”"


def _cell(matrix: Matrix, row: int, column: int) -> str:
    names = matrix.column_names
    across = _named(names, column) if names else f"dimension {column}"
    return f"{_named(matrix.row_names, row)} and {across}"
