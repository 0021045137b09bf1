"""The steps from word vectors to queries, keys and values."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.core.positions import Rotary
from attention.core.printing import fixed
from attention.figures.captions import group_words
from attention.figures.matrix import Matrix
from attention.figures.tables import number, typed
from attention.figures.working import Working
from attention.subjects.steps.step import (
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
# By who has given the tokens positions before, and whether positions are added to them here.
ORDER = {
    ("nobody", False): "It does not say where the word stands.",
    ("nobody", True): "Its position is added, so it says where the word stands.",
    ("sum", False): "The model added a position to it before its first layer.",
    ("sum", True): "Its position is added once more: the model did so before its first layer.",
    (ROTATED, False): "No position was added to it: the model turns queries and keys instead.",
    (ROTATED, True): "Its position is added, though the model turns queries and keys instead.",
}
STILL = " Here this layer does not turn them."
# By whether scores are the same for the same distance, see `Variant.by_distance`.
BY_DISTANCE = {
    True: "So a query and a key get the same score wherever they stand equally far apart.",
    False: "This score can depend on both positions, not on the distance alone.",
}
MADE_BY = {
    "": "A matrix turns the vector into it.",
    "seeded": "A matrix of random numbers turns the vector into it.",
    "identity": "A matrix of ones and zeros copies it from the vector, number by number.",
    "learned": "A learned matrix turns the vector into it.",
    "typed": "A matrix of your own turns the vector into it.",
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

    given = ROTATED if done.layer.rotary else "sum"
    by = given if done.layer.origin == "learned" else "nobody"
    order = ORDER[by, positions is not None]
    if by == ROTATED and done.trace.unrotated is None:
        order += STILL
    return Step(
        "The vectors",
        r"X = \begin{pmatrix} x_0 \\ \vdots \\ x_{n-1} \end{pmatrix}",
        f"Each token comes in as a vector: one row of numbers. {order}",
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
    ended = done.layer.origin == "identity" and bool((weight == 0).all(0).any())
    beyond = " Beyond the end of the vector it is 0." if ended else ""
    if bias is not None:
        parts += ["+", Matrix(name.replace("W", "b", 1), bias[None], ("bias",))]
        formula += f" + b_{letter}"
    return Step(
        role.capitalize(),
        formula,
        f"{WHY[role]} {MADE_BY[done.layer.origin]}{beyond}{_shared(done, role)}",
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
    gained = "learned gain" if done.layer.origin == "learned" else "gain of 1/√d_k: its length is 1"

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
        f"{role.capitalize()}, {NORMED}",
        rf"{letter}'_c = \frac{{g_c\, {letter}_c}}"
        rf"{{\sqrt{{\varepsilon + \frac{{1}}{{{width}}} \sum_d {letter}_d^2}}}}",
        f"The norm divides all numbers of a {ONE[role]} by one root, so that its length no longer "
        f"counts. Then each dimension is multiplied by a {gained}.",
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

    pairs = f"i and i + {d_k // 2}" if rotary.halves else "2i and 2i + 1"
    slower = r"s_i\, " if rotary.slower else ""
    return Step(
        f"{role.capitalize()}, {ROTATED}",
        rf"\begin{{gathered}} {letter}'_a = {letter}_a \cos\theta - {letter}_b \sin\theta \\ "
        rf"{letter}'_b = {letter}_a \sin\theta + {letter}_b \cos\theta \\ "
        rf"\theta = p \,/\, {slower}{rotary.base:.10g}^{{2i/{d_k}}} \end{{gathered}}",
        f"Rotary positions turn each {ONE[role]} by the position p of its token, two dimensions at "
        f"a time: here {pairs}. {BY_DISTANCE[done.layer.by_distance]}"
        + (" Longer texts turn slower, by s." if slower else ""),
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


def _shared(done: Computation, role: str) -> str:
    words = "" if role == "queries" else group_words(done.layer, done.head)
    return f" {words}" if words else ""


def _unprojected(done: Computation, role: str, made: Tensor) -> Step:
    """The vector itself serves as a query, a key or a value, or as all three."""
    roles = (role, *done.alike)
    symbol = " = ".join(SYMBOLS[each] for each in roles)
    letters = " = ".join(LETTERS[each] for each in roles)
    title, none = role.capitalize(), "No matrix comes before it: the vector itself serves."
    if done.alike:
        title = "Queries, keys and values"
        none = f"No matrix comes before them: {letters} = x, each vector serves as all three."
    return Step(
        title,
        f"{symbol} = X",
        f"{' '.join(WHY[each] for each in roles)} {none}",
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
