"""Files of a result, beyond the numbers of its picture."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core import analysis
from attention.figures import files, result_words
from attention.figures.picture import PARTS, AttentionPicture
from attention.figures.result_pictures import picture_of
from attention.figures.script import pytorch_script
from attention.figures.worked_out import page_of_scene
from attention.pipeline import Result


def offer_files(result: Result, query: int) -> None:
    """Offer vectors, the row of a query term by term, the picture, and a script of a result."""

    def heatmaps() -> str:
        over = f" over {' '.join(result.key_tokens)}" if result.memory else ""
        title = f"{result.layer.title}: {' '.join(result.tokens)}{over}"
        return page_of_scene(AttentionPicture(picture_of(result, PARTS)), title, query)

    variant = "trained" if result.trained else result.settings.variant
    files.offer_matrix("vectors x", result.x, _named(result.tokens))
    files.offer_csv(
        f"row {query} term by term",
        lambda: _term_by_term(result, query),
        result_words.head_words(result),
    )
    files.offer("Heatmaps and weighted sum, HTML", "heatmaps-and-weighted-sum.html", heatmaps)
    if result.trained is None:  # the parameters of a trained layer would make it 13 MB long
        script = f"{variant}_attention.py"
        files.offer("PyTorch script of every step", script, lambda: pytorch_script(result))


def _term_by_term(result: Result, query: int) -> str:
    """One row of a result as CSV, a line for each key."""
    columns = analysis.table(result.trace, query, _named(result.key_tokens))
    (title, names), *others = columns.items()
    lines = [*zip(*(column for _, column in others), strict=True)]
    return files.written([*map(str, names)], [name for name, _ in others], lines, title)


def _named(tokens: Sequence[str]) -> list[str]:
    return [f"{position} {token}" for position, token in enumerate(tokens)]
