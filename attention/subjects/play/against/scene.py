"""Scenes of Against: the row of the chosen word in A and in B, and their difference."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attention.core.printing import percent
from attention.core.weighing import SOFTMAX
from attention.figures import layer_words, result_words
from attention.figures.scene import Scene, Words, note, scene
from attention.figures.word_rows import Slider, WordRow, WordRows, kind_of, sent_rows
from attention.pipeline import Result
from attention.subjects.play.against.change_words import change_words
from attention.subjects.play.against.numbers import Sides
from attention.subjects.play.against.words import MAX_FACTOR, Comparison
from attention.subjects.play.figures import ComparedHeatmaps
from attention.subjects.play.heads.scene import head_name

NO_WORDS = "The sentence of B needs a word."
SAME = "A and B are the same so far: change one thing."


def rows(sides: Sides, differs: str, factor: float, tokens: Sequence[str], query: int) -> Scene:
    """The chosen row of A, of B, and its change, with a sentence.

    tokens: as they were typed; differs, factor: see `AgainstSettings`.
    """
    compared = sides.compared
    if compared is None or sides.b is None:
        return scene(Words(NO_WORDS, "info"))
    both = bool((compared.in_a & compared.in_b).all())
    slot = compared.slot_of(query)
    first, second = names(sides, differs, factor)
    kind = kind_of(*compared.weighings)
    made = [
        WordRow(first, compared.a, kind, allowed=~compared.hidden_a),
        WordRow(second, compared.b, kind, allowed=~compared.hidden_b),
        WordRow("difference", compared.b - compared.a, "change", "points"),
    ]
    slider = None
    if differs == "scale" and slides(sides.a):
        trace = sides.a.trace
        made.insert(0, WordRow("scores of A", trace.scaled, "score", allowed=trace.mask))
        slider = Slider(0.0, MAX_FACTOR, 0.01, factor, "Scale, as a multiple of that of A", 0, 2, 3)
    return scene(
        WordRows(
            tokens if both else compared.names,
            sent_rows(made, slot, alone=not both),
            slider=slider,
            label="A and B",
            key="rows",
        ),
        Words(words_on(compared, slot, second), "told"),
        *moved(sides, differs, query),
        *problems(sides),
    )


def moved(sides: Sides, differs: str, query: int) -> list[Words]:
    """Distance between the chosen word's new vectors in A and B, [] where they are of different
    heads or sentences, or weights alone are known."""
    if differs not in ("scale", "mask") or sides.b is None or layer_words.words_of(sides.a):
        return []
    before, after = (one.trace.output[query] for one in (sides.a, sides.b))
    if not bool(before.any()) or torch.equal(before, after):
        return []
    share = float((after - before).norm() / before.norm())
    return [Words(f"Its new vector moves by {percent(share, 1)} of its length.")]


def problems(sides: Sides) -> list[Words]:
    """All that could not be used as it was set in B, but for what is so in A."""
    if sides.b is None:
        return []
    known = [words.text for words in result_words.problems(sides.a)]
    return [words for words in result_words.problems(sides.b) if words.text not in known]


def slides(a: Result) -> bool:
    """True if the weights are the softmax of scores that the scale alone multiplies.

    A bias is added after the scale, and of scores that are mixed across heads one is not enough.
    """
    trace, joined = a.trace, bool(layer_words.words_of(a))
    scaled = trace.bias is None and trace.mixed_scores is None
    return scaled and trace.weighing == SOFTMAX and not joined


def names(sides: Sides, differs: str, factor: float) -> tuple[str, str]:
    """The names of A and B, by what they differ in."""
    a, b = sides.a, sides.b
    assert b is not None
    assert sides.compared is not None
    if differs == "word":
        changed = sides.compared.changed_words
        return changed if changed else ("A", "B")
    return {
        "head": (head_name(a, a.head), head_name(b, b.head)),
        "variant": (_layer(a), _layer(b)),
        "scale": ("A", f"× {factor:g}"),
        "mask": (_masks(a), _masks(b)),
    }[differs]


def when(name: str) -> str:
    """Begin of a sentence on B. name: see `names`."""
    return f"At {name}" if name.startswith("×") else f"With “{name[:40]}”"


def _layer(result: Result) -> str:
    return "as trained" if result.trained else result.settings.variant


def _masks(result: Result) -> str:
    return " ∧ ".join(result.settings.mask) or "no mask"


def words_on(compared: Comparison, slot: int, name: str) -> Sequence[str] | str:
    """Tell which weights of the chosen word change most."""
    only = torch.zeros(len(compared.names), 1)
    only[slot] = 1
    a, b = compared.a * only, compared.b * only
    if not bool((compared.in_a & compared.in_b)[slot]):
        return "This word stands in one of the sentences alone."
    both = compared.in_a & compared.in_b
    if torch.equal(a, b):
        return SAME
    return change_words(a, b, compared.names, when(name), both, compared.shares)


def maps(sides: Sides, differs: str, factor: float) -> Scene:
    """All weights of A and B, and their difference."""
    if sides.compared is None or sides.b is None:
        return scene(Words(NO_WORDS, "info"))
    first, second = names(sides, differs, factor)
    compared = sides.compared
    changed = change_words(
        compared.a,
        compared.b,
        compared.names,
        when(second),
        compared.in_a & compared.in_b,
        compared.shares,
    )
    same = torch.equal(compared.a, compared.b)
    return scene(
        note(SAME) if same else Words(changed, "told"),
        ComparedHeatmaps(compared, (f"A · {first}", f"B · {second}", "B − A"), key="comparison"),
        *problems(sides),
    )
