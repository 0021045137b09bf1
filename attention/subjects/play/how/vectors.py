"""The steps from word vectors to queries, keys and values."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.core.positions import Rotary
from attention.core.printing import fixed
from attention.figures.matrix import Matrix
from attention.figures.tables import number, typed
from attention.figures.working import Working
from attention.subjects.play.how.step import (
    LETTERS,
    NORMED,
    ROTATED,
    SYMBOLS,
    Computation,
    Step,
    dimension_names,
    symbol_of,
    with_bias,
)

ONE = {"queries": "query", "keys": "key"}
WHY = {
    "queries": "A query is what a token looks for.",
    "keys": "A key is what a token offers.",
    "values": "A value is what a token passes on.",
}


def x_step(done: Computation) -> Step:
    """The vectors, and the positions added to them."""
    x, positions = done.x, done.positions
    result = Matrix("X", x, done.names)
    parts: list[Matrix | str] = [result]
    if positions is not None:
        vectors = Matrix("vectors", done.vectors, done.names, lights="cell")
        encoding = Matrix("positions", positions, done.names, lights="cell")
        parts = [vectors, "+", encoding, "=", *parts]

    def working(row: int, column: int) -> Working:
        value = float(x[row, column])
        cell = f"X for “{done.names[row]}”, dimension {column}"
        if positions is None:
            return Working(f"{cell}: {result.write(value)}.", ())
        terms = [float(done.vectors[row, column]), float(positions[row, column])]
        names = ("vector", "position")
        words = f"{cell}, is its vector plus its position."
        return Working(words, names, {"number": terms}, "sum", value)

    return Step(
        r"X = \begin{pmatrix} x_0 \\ \vdots \\ x_{n-1} \end{pmatrix}",
        "Each token comes in as a vector: one row of numbers.",
        parts,
        working,
    )


def projection_step(done: Computation, role: str) -> Step:
    """Queries, keys or values, before any norm and any rotation."""
    symbol, letter = SYMBOLS[role], LETTERS[role]
    made = done.forms(role)[role]
    W, b = done.layer.projection(role)
    if W is None:
        return _unprojected(done, role, made)
    result = Matrix(symbol, made, done.rows(letter))
    name, columns = _part_of_head(done, role, made.shape[-1])
    weight = W.detach()[:, columns]
    bias = None if b is None else b.detach()[columns]

    def working(row: int, column: int) -> Working:
        left, right = done.x[row], weight[:, column]
        names = dimension_names(len(left))
        numbers: dict[str, list[float | str]] = {
            "x": [*left.tolist()],
            name: [*right.tolist()],
            "product": [*(left * right).tolist()],
        }
        with_bias(names, numbers, bias, column)
        return Working(
            f"{letter} of “{result.row_names[row]}”, dimension {column}: "
            f"row {row} of X times column {column} of {name}, term by term.",
            names,
            numbers,
            "sum",
            float(made[row, column]),
        )

    parts: list[Matrix | str] = [
        Matrix("X", done.x, done.names, lights="row"),
        "×",
        Matrix(name, weight, lights="column"),
    ]
    formula = f"{symbol} = X\\,W_{letter}"
    if bias is not None:
        parts += ["+", Matrix(name.replace("W", "b", 1), bias[None], ("bias",))]
        formula += f" + b_{letter}"
    return Step(
        formula,
        WHY[role],
        [*parts, "=", result],
        working,
    )


def norm_step(done: Computation, role: str) -> Step:
    """Queries or keys through the norm of their head."""
    before, made = _forms(done, role, NORMED)
    terms, head = done.layer.norm_terms(done.linear(role), role), done.head_of(role)
    norm = done.layer.norm(role)
    assert terms is not None
    assert norm is not None
    inverse, gain = (term.detach()[head if len(term) > 1 else 0] for term in terms)
    letter, width = LETTERS[role], len(norm.weight)

    def working(row: int, column: int) -> Working:
        over = float(inverse[row])
        return Working(
            f"{letter} of “{done.names[row]}”, dimension {column}: over {number(1 / over)}, the "
            f"root of ε + the mean of the squares of its {width} numbers, times the gain.",
            ("before", "1 / root", "gain"),
            {"number": [float(before[row, column]), over, float(gain[0, column])]},
            "product",
            float(made[row, column]),
        )

    return Step(
        rf"{letter}'_c = \frac{{g_c\, {letter}_c}}"
        rf"{{\sqrt{{\varepsilon + \frac{{1}}{{{width}}} \sum_d {letter}_d^2}}}}",
        f"The norm divides all numbers of a {ONE[role]} by one root, so that its length no longer "
        "counts.",
        [
            Matrix(SYMBOLS[role], before, done.names, lights="row"),
            "÷ root ×",
            Matrix("gain", gain, ("gain",), lights="column"),
            "=",
            Matrix(symbol_of(f"{NORMED} {role}"), made, done.names),
        ],
        working,
    )


def rotation_step(done: Computation, role: str) -> Step:
    """Queries or keys rotated by their positions."""
    name, (before, made) = f"{ROTATED} {role}", _forms(done, role, ROTATED)
    d_k, letter, rotary = made.shape[-1], LETTERS[role], done.layer.rotary or Rotary()
    cosines, sines = rotary.rotations(len(made), d_k).to(made).unbind(-1)
    turns = rotary.frequencies(d_k)
    dimensions = [[*range(d_k)[side]] for side in rotary.sides(d_k)]

    def working(row: int, column: int) -> Working:
        cell = f"{letter} of “{done.names[row]}”, dimension {column}"
        total = float(made[row, column])
        if column == d_k // 2 * 2:
            return Working(f"{cell}, has no partner to turn with: {number(total)}.", ())
        second = column in dimensions[1]
        pair = dimensions[second].index(column)
        partner = dimensions[not second][pair]
        numbers, sign = before[row, [column, partner]], "" if second else "−"
        factors = torch.stack([cosines[row, pair], sines[row, pair] * (1 if second else -1)])
        return Working(
            f"{cell}, turns with its partner, dimension {partner}, by θ = position {row} × "
            f"frequency {typed(round(float(turns[pair]), 7))} = "
            f"{fixed(row * float(turns[pair]), 4)}.",
            (f"dimension {column}, × cos θ", f"dimension {partner}, × {sign}sin θ"),
            {
                "before": numbers.tolist(),
                "times": factors.tolist(),
                "product": (numbers * factors).tolist(),
            },
            "sum",
            total,
        )

    slower = r"s_i\, " if rotary.slower else ""
    return Step(
        rf"\begin{{gathered}} {letter}'_a = {letter}_a \cos\theta - {letter}_b \sin\theta \\ "
        rf"{letter}'_b = {letter}_a \sin\theta + {letter}_b \cos\theta \\ "
        rf"\theta = p \,/\, {slower}{rotary.base:.10g}^{{2i/{d_k}}} \end{{gathered}}",
        f"Rotary positions turn each {ONE[role]} by the position p of its token, two dimensions at "
        "a time.",
        [
            Matrix(symbol_of([*done.forms(role)][-2]), before, done.names, lights="cell"),
            "↻",
            Matrix(symbol_of(name), made, done.names),
        ],
        working,
    )


def _forms(done: Computation, role: str, how: str) -> tuple[Tensor, Tensor]:
    """Queries or keys before and after they are normed, or rotated."""
    forms = done.forms(role)
    at = [*forms].index(f"{how} {role}")
    before, after = [*forms.values()][at - 1 : at + 1]
    return before, after


def _unprojected(done: Computation, role: str, made: Tensor) -> Step:
    """The vector itself serves as a query, a key or a value, or as all three."""
    roles = (role, *done.alike)
    symbol = " = ".join(SYMBOLS[each] for each in roles)
    letters = " = ".join(LETTERS[each] for each in roles)
    return Step(
        f"{symbol} = X",
        f"No matrix comes before: {letters} = x, the vector itself serves.",
        [Matrix("X", done.x, done.names, lights="cell"), "=", Matrix(symbol, made, done.names)],
        lambda row, column: Working(
            f"{letters} of “{done.names[row]}”, dimension {column}, "
            f"is x itself: {number(float(made[row, column]))}.",
            (),
        ),
    )


def _part_of_head(done: Computation, role: str, width: int) -> tuple[str, slice]:
    """Name of the part of a projection that the head uses, and its columns."""
    layer, name = done.layer, done.layer.projections[role]
    if layer.heads == 1:
        return name, slice(None)
    index = done.head_of(role)
    what = "group" if role != "queries" and layer.groups < layer.heads else "head"
    return f"{name}, {what} {index}", slice(index * width, (index + 1) * width)
