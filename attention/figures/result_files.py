"""Files of a result, beyond the numbers of its picture."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core import analysis
from attention.figures import files, result_words
from attention.figures.script import pytorch_script
from attention.pipeline import Result


def offer_files(result: Result, query: int) -> None:
    """Offer vectors, the row of a query term by term, and a script of a result."""
    files.offer_matrix("vectors x", result.x, _named(result.tokens))
    files.offer_csv(
        f"row {query} term by term",
        lambda: _term_by_term(result, query),
        result_words.head_words(result),
    )
    if result.trained is None:  # the parameters of a trained layer would make it 13 MB long
        files.offer("PyTorch script", "pytorch-script.py", lambda: pytorch_script(result))


def _term_by_term(result: Result, query: int) -> str:
    """One row of a result as CSV, a line for each key."""
    columns = analysis.table(result.trace, query, _named(result.key_tokens))
    (title, names), *others = columns.items()
    lines = [*zip(*(column for _, column in others), strict=True)]
    return files.written([*map(str, names)], [name for name, _ in others], lines, title)


def _named(tokens: Sequence[str]) -> list[str]:
    return [f"{position} {token}" for position, token in enumerate(tokens)]
