"""Numbers that a page shows at the link of a step: what the browser is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch import Tensor

from attention.figures.matrix import read_stack
from attention.subjects.sources.steps import Step, sources
from tests.running import App, opened


def every_step() -> Iterator[tuple[str, Step]]:
    """Each step and each mistake of all documents, with a name that finds it again."""
    for source in sources().values():
        count = 0
        for section in source.sections:
            for step in section.steps:
                count += 1
                yield f"{source.name} {count}", step
                yield from ((f"{source.name} {count}, wrong", wrong) for wrong in step.mistakes)


def tensor_at(step: Step) -> Tensor:
    """The numbers of a step as its link shows them, those of a stack together."""
    return tensor_on(opened(step.page, **step.link), step)


def tensor_on(app: App, step: Step) -> Tensor:
    """The numbers of a step on a page that is open: of matrices by name, or of a picture."""
    named = re.compile(re.escape(step.of) + r"(\[\d+\])?")
    found = [
        matrix
        for row in app.rows
        for name, matrix in zip(row.names, row.matrices, strict=True)
        if named.fullmatch(name)
    ]
    pictures = [part for part in app.sent.values() if step.of in part.header.get("sent", ())]
    found += [part.parts[step.of] for part in pictures[:1]]
    assert found, (step.of, [row.names for row in app.rows])
    stack = torch.stack(found) if len(found) > 1 else found[0]
    return stack[tuple(step.at)]


def numbers_of(step: Step) -> Tensor:
    """The numbers that a step gives."""
    stack = read_stack(step.numbers)
    return stack if "|" in step.numbers else stack[0]


def residual(step: Step) -> float:
    """Greatest distance of the numbers that a step gives from those that its link shows."""
    shown, given = tensor_at(step), numbers_of(step)
    assert shown.numel() == given.numel(), (shown.shape, given.shape)
    return float((shown.reshape(given.shape) - given).abs().max())
