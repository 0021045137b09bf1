"""One computation of attention, step by step: what goes in, what comes out, how each cell is made.

Nothing here knows a variant by name: what differs between them is their `projections` and their
`score_terms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.functional import Trace
from attention.matrix import Matrix
from attention.params import setting
from attention.positions import turns
from attention.tables import Working, number
from attention.variants import Variant

STEPS = (
    *("x", "queries", "keys", "values", "scores"),
    *("scaled", "masked", "weights", "dropout", "output"),
)
SYMBOLS = {"queries": "Q", "keys": "K", "values": "V"}
LETTERS = {"queries": "q", "keys": "k", "values": "v"}


@dataclass(frozen=True)
class StepSettings:
    """What the page "Step by step" is set to, besides the settings all pages share."""

    input: str = setting(
        "sentence",
        "Numbers",
        options=("sentence", "hand"),
        help="sentence: its word vectors. hand: small matrices to edit.",
    )
    step: str = setting("x", "Step", options=STEPS)
    row: int = setting(0, "Row", minimum=0, maximum=511, step=1)
    column: int = setting(0, "Column", minimum=0, maximum=511, step=1)
    dropout: float = setting(
        0.2,
        "Dropout",
        minimum=0.0,
        maximum=0.9,
        step=0.05,
        help="The share of weights set to 0 while a model learns. Explore shows none.",
    )
    drop_seed: int = setting(
        0, "Dropout seed", minimum=0, maximum=9999, step=1, help="Draws other weights to drop."
    )
    predict: str = setting(
        "off",
        "Predict, then reveal",
        options=("off", "on"),
        help="Hides what a step gives until you have guessed its greatest cell.",
    )


@dataclass(frozen=True, eq=False)
class Computation:
    """What there is to step through.

    names: a word a row; vectors (tokens, d_model), positions (tokens, d_model) or None: x is their
    sum; before_turning: queries and keys before rotary positions turned them, None where none do;
    trace: with its dropout; rate: the dropout's.
    """

    variant: Variant
    names: Sequence[str]
    vectors: Tensor
    positions: Tensor | None
    x: Tensor
    before_turning: tuple[Tensor, Tensor] | None
    trace: Trace
    rate: float


def compute(
    variant: Variant,
    names: Sequence[str],
    vectors: Tensor,
    mask: Tensor | None,
    settings: StepSettings,
    *,
    positions: Tensor | None = None,
    scale: float | None = None,
    rotate: bool = False,
    bias: Tensor | None = None,
) -> Computation:
    """Attention over vectors + positions, with the settings' dropout drawn from its own seed."""
    x = vectors if positions is None else vectors + positions
    generator = torch.Generator().manual_seed(settings.drop_seed)
    with torch.no_grad():
        projected = variant.project(x)
        trace = variant(
            x,
            mask,
            scale=scale,
            rotate=rotate,
            bias=bias,
            dropout=settings.dropout,
            generator=generator,
        )
    before = projected[:2] if rotate else None
    return Computation(variant, names, vectors, positions, x, before, trace, settings.dropout)


@dataclass(frozen=True, eq=False)
class Step:
    """One step: its LaTeX formula, why it is there, its matrices (the last is what it gives).

    working: (row, column) of the result -> how that cell came about.
    """

    title: str
    formula: str
    why: str
    parts: Sequence[Matrix | str]
    working: Callable[[int, int], Working]

    @property
    def result(self) -> Matrix:
        last = self.parts[-1]
        assert isinstance(last, Matrix)
        return last

    @property
    def identity(self) -> int:
        """The same for the same numbers, hidden in the same places."""
        result = self.result
        allowed = None if result.allowed is None else result.allowed.numpy().tobytes()
        numbers = result.numbers
        return hash((self.title, *numbers.shape, numbers.numpy().tobytes(), allowed))

    @property
    def shapes(self) -> str:
        """The shapes before and after, in words."""
        return " ".join(
            part if isinstance(part, str) else f"{part.name} {tuple(part.numbers.shape)}"
            for part in self.parts
        )


def step(name: str, done: Computation) -> Step:
    """The step of that name, one of `STEPS`. Raises ValueError for another."""
    makers: dict[str, Callable[[Computation], Step]] = {
        "x": _x,
        "queries": lambda done: _turned(done, "queries"),
        "keys": lambda done: _turned(done, "keys"),
        "values": lambda done: _projected(done, "values", done.trace.values),
        "scores": _scores,
        "scaled": _scaled,
        "masked": _masked,
        "weights": _weights,
        "dropout": _dropout,
        "output": _output,
    }
    if name not in makers:
        raise ValueError(f"step must be one of {', '.join(STEPS)}, got {name!r}")
    return makers[name](done)


def verdict(step: Step, row: int, column: int) -> str:
    """What to say to somebody who took (row, column) for the greatest cell of what a step gives."""
    result = step.result
    shown = result.numbers
    if result.allowed is not None:
        shown = shown.masked_fill(~result.allowed, -torch.inf)
    most = float(shown.max())
    if most == -torch.inf:
        return "Every cell is hidden: there is no greatest one."
    guess, best = float(shown[row, column]), divmod(int(shown.argmax()), shown.shape[1])
    if number(guess) == number(most):
        return f"Right: {_cell(result, row, column)} is the greatest, {number(most)}."
    there = "it is hidden" if guess == -torch.inf else f"it holds {number(guess)}"
    return (
        f"Not {_cell(result, row, column)}, {there}; {_cell(result, *best)} holds {number(most)}."
    )


def _cell(matrix: Matrix, row: int, column: int) -> str:
    across = f"“{matrix.column_names[column]}”" if matrix.column_names else f"dimension {column}"
    return f"“{matrix.row_names[row]}” and {across}"


def _x(done: Computation) -> Step:
    positions = done.positions
    parts: list[Matrix | str] = [Matrix("X", done.x, done.names)]
    if positions is not None:
        vectors = Matrix("vectors", done.vectors, done.names, lights="cell")
        encoding = Matrix("positions", positions, done.names, lights="cell")
        parts = [vectors, "+", encoding, "=", *parts]

    def working(row: int, column: int) -> Working:
        value = float(done.x[row, column])
        place = f"X for “{done.names[row]}”, dimension {column}"
        if positions is None:
            return Working(f"{place}: {number(value)}.", ())
        terms = [float(done.vectors[row, column]), float(positions[row, column])]
        names = ("vector", "position")
        words = f"{place}, is its vector plus its position."
        return Working(words, names, {"number": terms}, "sum", value)

    return Step(
        "The vectors",
        r"X = \begin{pmatrix} x_1 \\ \vdots \\ x_n \end{pmatrix}",
        "Each token comes in as a row of numbers that says what the word means. "
        + ("Order is not in it." if positions is None else "Its position is added: order counts."),
        parts,
        working,
    )


def _turned(done: Computation, role: str) -> Step:
    """Queries or keys, with the turn by rotary positions as one more matrix where there is one."""
    made: Tensor = getattr(done.trace, role)
    if done.before_turning is None:
        return _projected(done, role, made)
    before = done.before_turning[role == "keys"].detach()
    plain = _projected(done, role, before)
    d_k = made.shape[-1]
    cosines, sines = turns(len(made), d_k).unbind(-1)

    def working(row: int, column: int) -> Working:
        place = f"{LETTERS[role]} of “{done.names[row]}”, dimension {column}"
        total = float(made[row, column])
        if column == d_k // 2 * 2:
            return Working(f"{place}, has no partner to turn with: {number(total)}.", ())
        pair, second = column // 2, column % 2
        partner = column + 1 - 2 * second
        numbers = before[row, [column, partner]]
        sine = sines[row, pair] if second else -sines[row, pair]
        factors = torch.stack([cosines[row, pair], sine])
        return Working(
            f"{place}: with its partner, dimension {partner}, turned by the angle of position "
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
    result = Matrix(f"{SYMBOLS[role]}, turned", made, done.names)
    why = f"{plain.why} Rotary positions then turn each pair of dimensions by the token's place."
    formula = rf"{plain.formula} \quad\circlearrowright\; R_{{p}}"
    return Step(plain.title, formula, why, [*inputs, "↻", result], working)


def _projected(done: Computation, role: str, made: Tensor) -> Step:
    symbol, letter = SYMBOLS[role], LETTERS[role]
    result = Matrix(symbol, made, done.names)
    name = done.variant.projections.get(role)
    why = {
        "queries": "A query is what a token looks for.",
        "keys": "A key is what a token offers to be found by.",
        "values": "A value is what a token hands over where it is attended to.",
    }[role]
    if name is None:
        return Step(
            role.capitalize(),
            f"{symbol} = X",
            f"{why} This variant has no matrix for it: the vector itself serves.",
            [Matrix("X", done.x, done.names, lights="cell"), "=", result],
            lambda row, column: Working(
                f"{letter} of “{done.names[row]}”, dimension {column}, "
                f"is x itself: {number(float(made[row, column]))}.",
                (),
            ),
        )
    weight: Tensor = getattr(done.variant, name).detach()

    def working(row: int, column: int) -> Working:
        left, right = done.x[row], weight[:, column]
        return Working(
            f"{letter} of “{done.names[row]}”, dimension {column}: "
            f"row {row} of X times column {column} of {name}, term by term.",
            _dimensions(len(left)),
            {"x": left.tolist(), name: right.tolist(), "product": (left * right).tolist()},
            "sum",
            float(made[row, column]),
        )

    return Step(
        role.capitalize(),
        f"{symbol} = X\\,{name[0]}_{{{name[2:]}}}",
        f"{why} A learned matrix turns the vector into it.",
        [
            Matrix("X", done.x, done.names, lights="row"),
            "×",
            Matrix(name, weight, lights="column"),
            "=",
            result,
        ],
        working,
    )


def _scores(done: Computation) -> Step:
    trace, names = done.trace, done.names
    result = Matrix("scores", trace.scores, names, names)

    def working(row: int, column: int) -> Working:
        with torch.no_grad():
            terms = done.variant.score_terms(trace.queries[row], trace.keys[column])
        score = float(trace.scores[row, column])
        pair = f"How well the query “{names[row]}” matches the key “{names[column]}”"
        if not terms:
            return Working(f"{pair}: {number(score)}.", ())
        columns = {name: numbers.tolist() for name, numbers in terms.items()}
        length = len(next(iter(columns.values())))
        return Working(f"{pair}, term by term.", _dimensions(length), columns, "sum", score)

    return Step(
        "Scores",
        done.variant.formula.split(r"\\")[0],
        "Every query meets every key, and one number says how well they match.",
        [
            Matrix("Q", trace.queries, names, lights="row"),
            "and",
            Matrix("K", trace.keys, names, lights="row of the column"),
            "→",
            result,
        ],
        working,
    )


def _scaled(done: Computation) -> Step:
    trace, names = done.trace, done.names
    bias = trace.bias

    def working(row: int, column: int) -> Working:
        score, scaled = float(trace.scores[row, column]), float(trace.scaled[row, column])
        pair = f"“{names[row]}” to “{names[column]}”"
        if bias is None:
            terms = {"number": [score, trace.scale]}
            words = f"{pair}: the score times the scale."
            return Working(words, ("score", "scale"), terms, "product", scaled)
        product, penalty = float(trace.scores[row, column] * trace.scale), float(bias[row, column])
        return Working(
            f"{pair}: {number(score)} × {trace.scale:.6g}, less the distance times the slope.",
            ("score × scale", "− slope × distance"),
            {"number": [product, penalty]},
            "sum",
            scaled,
        )

    parts: list[Matrix | str] = [
        Matrix("scores", trace.scores, names, names, lights="cell"),
        f"× {trace.scale:.4g} =",
        Matrix("scaled", trace.scaled, names, names),
    ]
    if bias is not None:
        parts[1:2] = [
            f"× {trace.scale:.4g} +",
            Matrix("−slope·distance", bias, names, names, lights="cell"),
            "=",
        ]
    added = "" if bias is None else " ALiBi then takes something off for every token in between."
    return Step(
        "Scale",
        rf"s'_{{ij}} = {trace.scale:.6g}\; s_{{ij}}" + ("" if bias is None else r" - m\,|i-j|"),
        "Sums over many dimensions come out large, and the softmax of large numbers gives nearly "
        "all to one key; 1/√d_k keeps their spread near 1, whatever d_k is." + added,
        parts,
        working,
    )


def _masked(done: Computation) -> Step:
    trace, names = done.trace, done.names
    mask = trace.mask

    def working(row: int, column: int) -> Working:
        pair = f"The query “{names[row]}” and the key “{names[column]}”"
        if mask is not None and not mask[row, column]:
            return Working(f"{pair}: hidden, so the softmax gets −∞ and the weight will be 0.", ())
        kept = number(float(trace.scaled[row, column]))
        return Working(f"{pair}: not hidden, the scaled score stays {kept}.", ())

    hidden = 0 if mask is None else int((~mask).sum())
    return Step(
        "Mask",
        r"m_{ij} = \begin{cases} s'_{ij} & \text{if } i \text{ may attend to } j \\"
        r" -\infty & \text{otherwise} \end{cases}",
        "What a query may not see gets −∞, not 0: the softmax turns −∞ into exactly no weight. "
        + (
            f"{hidden} {'cell is' if hidden == 1 else 'cells are'} hidden."
            if hidden
            else "Nothing is hidden now."
        ),
        [
            Matrix("scaled", trace.scaled, names, names, lights="cell"),
            "→",
            Matrix("masked", trace.scaled, names, names, allowed=mask),
        ],
        working,
    )


def _weights(done: Computation) -> Step:
    trace, names = done.trace, done.names
    mask = trace.mask

    def working(row: int, column: int) -> Working:
        allowed = torch.ones(len(names), dtype=torch.bool) if mask is None else mask[row]
        keys = [key for key, may in enumerate(allowed.tolist()) if may]
        if not keys:
            return Working(f"“{names[row]}” may attend to nothing: all its weights are 0.", ())
        scores = trace.scaled[row, keys]
        powers = (scores - scores.max()).exp()
        total = number(float(powers.double().sum()))
        shown = number(float(trace.weights[row, column]))
        why = "" if column in keys else ", since it is hidden"
        return Working(
            f"“{names[row]}” to “{names[column]}”: {shown}{why}. Each weight of the row is its "
            f"exponential over the sum of them all, {total}; the greatest "
            f"score, {number(float(scores.max()))}, is taken off first and changes nothing.",
            [names[key] for key in keys],
            {
                "scaled": scores.tolist(),
                "exp(scaled − greatest)": powers.tolist(),
                "weight": trace.weights[row, keys].tolist(),
            },
            "sum",
            float(trace.weights[row].double().sum()),
        )

    return Step(
        "Softmax",
        r"w_{ij} = \frac{e^{m_{ij}}}{\sum_k e^{m_{ik}}}",
        "Each row becomes shares that sum to 1: how a query splits its attention over the keys.",
        [
            Matrix("masked", trace.scaled, names, names, allowed=mask, lights="row"),
            "→",
            Matrix("weights", trace.weights, names, names, kind="share", allowed=mask),
        ],
        working,
    )


def _dropout(done: Computation) -> Step:
    trace, names = done.trace, done.names
    after = trace.weights if trace.dropped is None else trace.dropped
    growth = 1 / (1 - done.rate)

    def working(row: int, column: int) -> Working:
        weights, dropped = trace.weights[row].tolist(), after[row].tolist()
        fate = [
            "—" if not before else "kept" if left else "dropped"
            for before, left in zip(weights, dropped, strict=True)
        ]
        return Working(
            f"The row of “{names[row]}”: what is kept grows by 1 / (1 − {done.rate:g}) = "
            f"{growth:.4f}, so that a row sums to 1 on average, though rarely at any one time.",
            list(names),
            {"weight": weights, "": fate, "after dropout": dropped},
            "sum",
            float(after[row].double().sum()),
        )

    return Step(
        "Dropout",
        r"\tilde w_{ij} = \frac{b_{ij}}{1-p}\, w_{ij}, \quad b_{ij} \sim \text{Bernoulli}(1-p)",
        f"While a model learns, each weight is dropped with probability p = {done.rate:g}, lest it "
        "rely on single keys. The rows then no longer sum to 1. In use nothing is dropped.",
        [
            Matrix("weights", trace.weights, names, names, kind="share", lights="cell"),
            "→",
            Matrix("after dropout", after, names, names, kind="share"),
        ],
        working,
    )


def _output(done: Computation) -> Step:
    trace, names = done.trace, done.names
    weights = trace.weights if trace.dropped is None else trace.dropped
    name = "weights" if trace.dropped is None else "after dropout"

    def working(row: int, column: int) -> Working:
        left, right = weights[row], trace.values[:, column]
        return Working(
            f"y of “{names[row]}”, dimension {column}: each value's number times its weight.",
            list(names),
            {
                "weight": left.tolist(),
                "v": right.tolist(),
                "product": (left * right).tolist(),
            },
            "sum",
            float(trace.output[row, column]),
        )

    dropping = f" Dropout {done.rate:g} is in it; at 0 this is what Explore shows."
    return Step(
        "Output",
        r"y_i = \sum_j w_{ij}\, v_j"
        if trace.dropped is None
        else r"y_i = \sum_j \tilde w_{ij}\, v_j",
        "The new vector of a token is the sum of all values, each as strong as its weight."
        + (dropping if trace.dropped is not None else ""),
        [
            Matrix(name, weights, names, names, kind="share", lights="row"),
            "×",
            Matrix("V", trace.values, names, lights="column"),
            "=",
            Matrix("Y", trace.output, names),
        ],
        working,
    )


def _dimensions(count: int) -> list[str]:
    return [str(dimension) for dimension in range(count)]
