"""The steps of a computation as boxes, and what goes from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from torch import Tensor

from attention.subjects.steps.figures import Arrow, Box, Graph
from attention.subjects.steps.step import LETTERS, NORMED, ROLES, ROTATED, SYMBOLS, Computation

WEIGHED = {"softmax": ("softmax", "each row"), "sum": ("÷ sum", "each row"), "": ("", "weights")}


def graph(done: Computation) -> Graph:
    """The computation's operations from x to y; shapes are those of its trace."""
    words = _words(done)
    roles = [role for role in ROLES if role in done.steps]
    apart = len(roles) > 1
    boxes = [Box("x", *words["x"], 0, 1 if apart else 0)]
    columns: dict[str, tuple[int, int]] = {}
    for lane, role in enumerate(roles):
        columns |= {form: (column, lane) for column, form in enumerate(done.forms(role), 1)}
    boxes += [Box(name, *words[name], *columns[name]) for name in done.steps if name in columns]
    middle, behind = 0.5 if apart else 0, 1 + max(column for column, _ in columns.values())
    chain = done.steps[len(boxes) :]
    boxes += [Box(name, *words[name], column, middle) for column, name in enumerate(chain, behind)]
    boxes.append(Box("", "y", "", len(chain) + behind, middle))
    return Graph(tuple(boxes), tuple(_arrows(done, [box.step for box in boxes])))


def _arrows(done: Computation, steps: list[str]) -> Iterator[Arrow]:
    gives = {step: tuple(made.shape) for step, made in _given(done).items()}
    scores = steps.index("scores")
    enters = {"queries": "scores", "keys": "scores", "values": "output"}
    names: dict[tuple[int, int], list[str]] = {}
    for role, end in enters.items():
        forms = [steps.index(done.alike.get(form, form)) for form in done.forms(role)]
        if role not in done.alike:
            yield Arrow(0, forms[0], "", gives["x"])
        for start, last in pairwise(forms):
            yield Arrow(start, last, "", gives[steps[start]])
        names.setdefault((forms[-1], steps.index(end)), []).append(SYMBOLS[role])
    for (start, last), letters in names.items():
        yield Arrow(start, last, ", ".join(letters), gives[steps[start]])
    for start, last in pairwise(range(scores, len(steps))):
        yield Arrow(start, last, "", gives[steps[start]])


def _given(done: Computation) -> dict[str, Tensor]:
    """Results of the steps; of the last one what has its shape."""
    trace, W_o = done.trace, done.layer.projection("output")[0]
    given = {
        "x": done.x,
        **{name: made for role in ROLES for name, made in done.forms(role).items()},
        "scores": trace.scores,
        "scaled": trace.scaled,
        "mixed scores": trace.scaled,
        "masked": trace.logits,
        "erased": trace.logits,
        "weights": trace.logits,
        "mixed weights": trace.weights,
        "dropout": trace.applied,
        "output": trace.output,
    }
    if W_o is not None:
        given["joined"] = trace.output.new_empty(len(done.names), W_o.shape[1])
    return given


def _words(done: Computation) -> dict[str, tuple[str, str]]:
    """Texts in the box of each step: its operation, and a note."""
    trace, layer = done.trace, done.layer
    hidden = 0 if trace.mask is None else int((~trace.mask).sum())
    bias = "+ bias" if layer.has_bias else "+ ALiBi"
    words = {
        "x": ("x", "vectors" if done.positions is None else "+ positions"),
        "scores": (layer.scoring, "scores"),
        "scaled": ("scale", f"× {trace.scale:.4g}" if trace.bias is None else bias),
        "mixed scores": ("mix", "all heads"),
        "masked": ("mask", f"{hidden} hidden"),
        "erased": ("erase", "by later keys"),
        "weights": WEIGHED[trace.normed_by],
        "mixed weights": ("mix", "all heads"),
        "dropout": ("dropout", f"p = {done.dropout:g}"),
        "output": ("matmul", "output"),
        "joined": (layer.projections.get("output", ""), "all heads"),
    }
    if trace.decay is not None:
        words["mixed scores"] = "decay", "with distance"
    for role in ROLES:
        words[role] = layer.projections.get(role) or f"{LETTERS[role]} = x", role
        words |= {f"{NORMED} {role}": ("norm", role), f"{ROTATED} {role}": ("rotate", role)}
    if done.alike:
        words[ROLES[0]] = "= x", "q, k, v"
    return words
