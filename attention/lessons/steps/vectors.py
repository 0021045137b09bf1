"""The steps from word vectors to queries, keys and values."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attention.core.positions import Rotary
from attention.display.matrix import Matrix
from attention.display.tables import Working, number
from attention.lessons.steps.step import Computation, Step, dimension_names, with_bias

SYMBOLS = {"queries": "Q", "keys": "K", "values": "V"}
LETTERS = {"queries": "q", "keys": "k", "values": "v"}
WHY = {
    "queries": "A query is what a token looks for.",
    "keys": "A key is what a token offers to be found by.",
    "values": "A value is what a token hands over where it is attended to.",
}
# By whether the vectors come from a trained model, and whether positions are added to them here.
ORDER = {
    (False, False): "Order is not in it.",
    (False, True): "Its position is added: order counts.",
    (True, False): "Its position is in it, since the model has added one before its first layer.",
    (True, True): "Its position is added once more: the model has added one before its first "
    "layer.",
}
ROTATES = "No position was added to it: the model rotates queries and keys by theirs instead."
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
        place = f"X for “{done.names[row]}”, dimension {column}"
        if positions is None:
            return Working(f"{place}: {result.write(value)}.", ())
        terms = [float(done.vectors[row, column]), float(positions[row, column])]
        names = ("vector", "position")
        words = f"{place}, is its vector plus its position."
        return Working(words, names, {"number": terms}, "sum", value)

    trained = done.layer.origin == "learned"
    order = ROTATES if trained and done.layer.rotary else ORDER[trained, positions is not None]
    return Step(
        "The vectors",
        r"X = \begin{pmatrix} x_0 \\ \vdots \\ x_{n-1} \end{pmatrix}",
        f"Each token comes in as a vector: one row of numbers. {order}",
        parts,
        working,
    )


def projection_step(done: Computation, role: str) -> Step:
    """Queries, keys or values, with rotary positions as one more matrix where there are any."""
    made: Tensor = getattr(done.trace, role)
    if done.trace.unrotated is None or role == "values":
        return _projected(done, role, made)
    before = done.trace.unrotated[role == "keys"]
    plain = _projected(done, role, before)
    d_k, rotary = made.shape[-1], done.layer.rotary or Rotary()
    cosines, sines = rotary.rotations(len(made), d_k).to(made).unbind(-1)
    dimensions = [[*range(d_k)[side]] for side in rotary.sides(d_k)]

    def working(row: int, column: int) -> Working:
        place = f"{LETTERS[role]} of “{done.names[row]}”, dimension {column}"
        total = float(made[row, column])
        if column == d_k // 2 * 2:
            return Working(f"{place}, has no partner to rotate with: {number(total)}.", ())
        second = column in dimensions[1]
        pair = dimensions[second].index(column)
        partner = dimensions[not second][pair]
        numbers = before[row, [column, partner]]
        sine = sines[row, pair] if second else -sines[row, pair]
        factors = torch.stack([cosines[row, pair], sine])
        return Working(
            f"{place}: with its partner, dimension {partner}, rotated by the angle of position "
            f"{row} (its cosine and sine).",
            (f"dimension {column}", f"dimension {partner}"),
            {
                "before": numbers.tolist(),
                "times": factors.tolist(),
                "product": (numbers * factors).tolist(),
            },
            "sum",
            total,
        )

    inputs = [*plain.parts[:-1], replace(plain.result, lights="cell")]
    result = Matrix(f"{SYMBOLS[role]}, rotated", made, done.names)
    why = f"{plain.why} Rotary positions then rotate each pair of dimensions by the token's place."
    formula = rf"{plain.formula} \quad\circlearrowright\; R_{{p}}"
    return Step(plain.title, formula, why, [*inputs, "↻", result], working)


def _projected(done: Computation, role: str, made: Tensor) -> Step:
    symbol, letter = SYMBOLS[role], LETTERS[role]
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
        f"{WHY[role]} {MADE_BY[done.layer.origin]}{beyond}",
        [*parts, "=", result],
        working,
    )


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
    """What the part of a projection is called that the head uses, and its columns."""
    layer, name = done.layer, done.layer.projections[role]
    if layer.heads == 1:
        return name, slice(None)
    index, what = done.head, "head"
    if role != "queries" and layer.groups < layer.heads:
        index, what = done.head // (layer.heads // layer.groups), "group"
    return f"{name}, {what} {index}", slice(index * width, (index + 1) * width)
