"""Words on the map of a long text, and on the wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attention.analysis.heads import Overview
from attention.core import analysis
from attention.core.functional import Trace
from attention.core.printing import fixed
from attention.trained.models import Model

TERMS = 12  # of a weighted sum, besides all others together
UNFELT = 1.5  # seconds


def heading(model: Model) -> tuple[str, str]:
    """Title over the map of a text in the window of a model, and what one finds there."""
    heads = sum(layer.attention.heads for layer in model.layers)
    return (
        f"{heads} heads read a long text",
        f"{model.about.title} reads it whole. Choose a layer and a head, and see where each token "
        "looks.",
    )


def wait_words(pieces: int, layers: int, seconds: float) -> str:
    """Tell how long some layers take over a text."""
    through = "1 layer" if layers == 1 else f"{layers} layers"
    return f"{pieces:,} pieces through {through} take about {max(1, round(seconds))} s here."


def sample_words(seen: Overview) -> str:
    """Tell of which queries the pictures of heads are, "" where of all."""
    rows, of = seen.rows
    return "" if rows == of else f"· of {rows:,} of {of:,} queries, spread evenly over the run"


def sum_table(
    trace: Trace, tokens: Sequence[str]
) -> tuple[list[str], Mapping[str, Sequence[float | str | None]], list[str]]:
    """Names, columns and last row: the greatest terms of the only query of a trace, the others
    together, and their sum.

    trace: (1, keys); tokens: of the keys.
    """
    terms = analysis.strongest(trace, tokens, 0, TERMS)
    names = [
        name if position is None else f"{position} {name}"
        for name, position in zip(terms.keys, terms.positions, strict=True)
    ]
    numbers = dict(terms.numbers)
    columns = {
        **{name: numbers.pop(name) for name in ("score", "scaled")},
        "weight": terms.weights.tolist(),
        **numbers,
    }
    length = float(trace.output.norm())
    sums = {
        "weight": fixed(float(terms.weights.sum()), 4),
        "‖w·v‖": f"‖y‖ = {fixed(length, 4)}",
        "share of y": fixed(sum(share or 0 for share in numbers["share of y"]), 4),
    }
    return names, columns, ["Σ = y", *(sums.get(name, "") for name in columns)]
