"""Numbers that a page shows at the link of a step: what the browser is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch import Tensor

from attention.figures.matrix import read_stack
from attention.subjects.sources.steps import Step, names, source
from tests.running import App, opened


def every_step() -> Iterator[tuple[str, Step]]:
    """Each step and each mistake of all documents, with a name that finds it again."""
    for name in names():
        steps = (step for section in source(name).sections for step in section.steps)
        for count, step in enumerate(steps, 1):
            yield f"{name} {count}", step
            for at, mistake in enumerate(step.mistakes, 1):
                yield f"{name} {count}, mistake {at}", mistake


def tensor_on(app: App, name: str) -> Tensor:
    """A matrix on a page, those of a stack together, 0 where masked: (batch, rows, columns).

    The figures where it stands first count, those of a batch together, not a working further below.
    A row of matrices comes before pictures, and those before a column of a table.
    """
    named = re.compile(re.escape(name) + r"(\[\d+\])?")
    stacks: dict[str, list[Tensor]] = {}
    for key, row in app.sent.items():
        pairs = zip(row.names, row.matrices, strict=True) if "joins" in row.header else ()
        for called, matrix in pairs:
            if named.fullmatch(called):
                stacks.setdefault(key.rstrip("0123456789"), []).append(matrix)
    found = next(iter(stacks.values()), [])
    pictures = [part for part in app.sent.values() if name in part.header.get("sent", ())]
    found = found or [part.parts[name] for part in pictures[-1:]]
    found = found or [column(table[name]) for table in app.tables if name in table]
    assert found, (name, [row.names for row in app.rows])
    return torch.stack(found).nan_to_num(0.0)


def column(cells: list[str]) -> Tensor:
    """The numbers in a column of a table. (rows, 1)."""
    return torch.tensor([[float(cell.replace("−", "-"))] for cell in cells if cell])


def residual(step: Step) -> float:
    """Greatest distance of the numbers of a step from those that its link shows."""
    stack = tensor_on(opened(step.page, **step.link), step.of)
    shown = (stack if "|" in step.numbers else stack[0])[tuple(step.at)]
    given = read_stack(step.numbers).reshape(shown.shape)
    return float((shown - given).abs().max())


def sizes(step: Step) -> str:
    """Sizes of the matrix of a step, with the batch where the step gives it."""
    stack = tensor_on(opened(step.page, **step.link), step.of)
    batch = [len(stack)] if step.numbers.count("×") == 2 else []
    return " × ".join(map(str, [*batch, *stack.shape[1:]]))


def said(step: Step) -> str:
    """Words in place of numbers: the cell of a table, or that two matrices are the same."""
    app = opened(step.page, **step.link)
    for table in app.tables:
        if step.of in table:
            return table[step.of][0]
        if step.of in table[""] and "so they are" in table:
            return table["so they are"][table[""].index(step.of)]
    named = {
        name: matrix
        for row in app.rows
        for name, matrix in zip(row.names, row.matrices, strict=True)
    }
    one, other = (named[name] for name in step.of.split(" and "))
    return "the same" if torch.allclose(one, other) else "different"
