"""Every sentence that stands in a table, at numbers at which it is said and at which it is not."""

from __future__ import annotations

import importlib
import math
import pkgutil
from types import SimpleNamespace
from typing import Any

import attention.atlas
import attention.subjects.model
from attention.atlas.moved import Moved
from attention.atlas.sentences import Sentences, said_of, say
from attention.subjects.model.answers import Answered, Other
from attention.subjects.model.options import LOOKS, LOST, SAYS
from tests.cases import over


def tables() -> dict[str, Sentences]:
    """All tables of sentences, by module and name."""
    return {
        f"{module.name.rpartition('.')[2]}.{name}": vars(there)[name]
        for package in (attention.atlas, attention.subjects.model)
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        if not module.name.endswith("__main__")
        for there in [importlib.import_module(module.name)]
        for name, kind in getattr(there, "__annotations__", {}).items()
        if kind == "Sentences"
    }


def given(*parts: dict[str, Any], **numbers: Any) -> dict[str, Any]:
    """Numbers, with others in place of some of them."""
    return {name: value for each in (numbers, *parts) for name, value in each.items()}


def answered(kind: str, **more: Any) -> Answered:
    likeliest = [("Tom", 0.5, 1), ("Anna", 0.25, 2)]
    return Answered(kind, 0, "Tom", 0.75, 0.5, (likeliest, likeliest), **more)


PIECE, WRITTEN, VECTOR = (answered(kind) for kind in ("piece", "written", "vector"))
OTHER = Other("the tuned model", "the base", 0.25)
PAIR, PAIR_OF_VECTORS = (answered(kind, other=OTHER) for kind in ("piece", "vector"))
CLAIM = {"others": "other sentences", "moved": 2.0, "lost": 0.03, "vectors": False}
TITLE = {"title": "A model", "poor": False}
HEAD = {
    "lens": LOST, "name": "1.2", "looks": "It looks.", "looked": "it looks.", "effect": 0.5,
    "says": 1.0, "size": 1.0, "words": ["Tom", "Anna"], "gap": "", "fall": "It falls.", "there": "",
}  # fmt: skip
SUMS = {"vector": False, "sizes": (0.5, 0.25)}
TRIED = {"place": "back", "words": "4 words", "query": "a", "there": "itself", "count": 4}
LISTED = {"surely": True, "of": 9, "shown": 3}
STAGE = {"now": PIECE, "head": (1, 2), "stage": 1}
SET = {
    "way": "zero", "known": 30, "count": 30, "enough": 20, "seed": 0, "heads": 270, "named": 2,
    "least": "5 points", "reworded": False,
}  # fmt: skip
MOVED = Moved("capitals", "a", ("a",), "·b", 0.5, 0.25, "·b")
# Of each table numbers for each of its sentences in turn, and for none where there is but one.
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "sentences.CLAIMS": [
        given(CLAIM, {"claim": "needs"}),
        given(CLAIM, {"claim": "gains"}),
        given(CLAIM, {"claim": "is open"}),
        given(CLAIM, {"claim": "loses nothing", "vectors": True}),
        given(CLAIM, {"claim": "loses nothing"}),
    ],
    "head_sentences.PURPOSE": [
        given(TITLE, {"poor": True, "kind": "piece"}),
        *(given(TITLE, {"kind": kind}) for kind in ("piece", "written", "vector")),
    ],
    "head_sentences.SURVIVAL": [
        {"now": PIECE, "head": (1, 2), "least": "5", "fails": fails, "ways": ways, "ways_told": ""}
        for fails, ways in (((), ""), (("zero",), "set to zero"))
    ],
    "head_sentences.BEGIN": [{"heads": "head 1.2", "other": other} for other in (None, OTHER)],
    "head_sentences.SUMS": [
        given(SUMS, {"alone": 0.5, "together": 0.505}),
        given(SUMS, {"alone": 0.5, "together": 0.25, "vector": True}),
        given(SUMS, {"alone": 0.5, "together": 0.25}),
        given(SUMS, {"alone": -0.5, "together": -0.25}),
        given(SUMS, {"alone": 0.5, "together": -0.25}),
        given(SUMS, {"alone": -0.5, "together": 0.25}),
    ],
    "head_sentences.HEAD": [
        given(HEAD, {"lens": LOOKS}),
        given(HEAD, {"lens": SAYS}),
        given(HEAD, {"effect": None}),
        given(HEAD, {"effect": math.nan}),
        HEAD,
    ],
    "head_sentences.TRYING": [{"tried": tried, "heads": 72} for tried in (71, 72)],
    "head_sentences.LOST_TILES": [
        {"vector": vector, "word": "“Tom”", "most": 0.5, "dot": ""} for vector in (True, False)
    ],
    "head_sentences.LISTED": [
        given(LISTED, {"surely": False, "count": 9}),
        *(given(LISTED, {"count": count}) for count in (0, 4, 3)),
    ],
    "head_sentences.TRIED": [
        given(TRIED, {"count": 0, "right": 0}),
        *(given(TRIED, {"right": right}) for right in (4, 3, 2)),
    ],
    "head_sentences.STAGE": [
        given(STAGE, {"head": None}),
        given(STAGE, {"head": None, "now": PAIR}),
        given(STAGE, {"stage": 2}),
        STAGE,
        given(STAGE, {"now": PAIR}),
    ],
    "head_sentences.FOUND": [{"tried": tried, "heads": 72} for tried in (None, 72, 24)],
    "head_sentences.LOOKED": [{"at": ("cat", 0.5)}, {"at": None}],
    "head_sentences.ALL_ON": [{"now": now} for now in (VECTOR, PAIR, WRITTEN, PIECE)],
    "head_sentences.GOES": [
        given(STAGE, {"now": now, "stage": stage}) for now in (PIECE, PAIR) for stage in (1, 2)
    ],
    "head_sentences.COST_TITLE": [{"count": 1, "counted": "one"}, {"count": 2, "counted": "two"}],
    "pair_sentences.BOTH": [
        {"now": now, "shares": ("75 %", "25 %"), "moved": "5.0 %"}
        for now in (PAIR_OF_VECTORS, PAIR)
    ],
    "pair_sentences.RANK": [
        {"most": most, "more": more, "last": last}
        for most, more, last in (
            (None, 0, False),
            (0.0, 0, True),
            (0.5, 3, True),
            (0.5, 0, False),
            (0.5, 1, False),
            (0.5, 2, False),
        )
    ],
    "pair_sentences.WEIGHTS": [
        {"told": told, "head": (1, 2), "heads": 72} for told in (None, "W_QK moved", "")
    ],
    "pair_sentences.CHANCE": [
        {"told": "They undo 1 point", "others": others, "teams": 2, "ends": (0.1, 0.2)}
        for others in ([], [0.1, 0.2])
    ],
    "pair_sentences.OTHERS": [{"of": 9, "others": others, "by": 0.25} for others in (1, 2)],
    "pair_sentences.PROMPT": [
        {"one": MOVED, "leader": "b"},
        {"one": SimpleNamespace(kind="capitals", word="·b", leader="·c"), "leader": "c"},
    ],
    "association_sentences.MISSING": [
        {"model": SimpleNamespace(laid_out=laid_out), "titles": ["ALTI"]}
        for laid_out in (True, False)
    ],
    "continuations.NOT_ADDED": [
        {"pieces": pieces, "limit": 9, "more": more, "problem": problem}
        for pieces, more, problem in (
            (9, True, ""),
            (8, False, ""),
            (8, True, "long"),
            (8, True, ""),
        )
    ],
    "set_scene.ROWS": [
        {"count": 20, "own": own, "others": 3, "first": 25} for own in ("Paris", "")
    ],
    "set_scene.SUMMARY": [
        given(SET, {"known": 4}),
        given(SET, {"enough": 40}),
        given(SET, {"named": 0}),
        given(SET, {"reworded": True}),
        SET,
    ],
    "long_text_scene.SAMPLE": [{"rows": rows, "of": 4096} for rows in (256, 4096)],
}


# Tables whose sentences are held to their whole words beside this test, or in those of the atlas.
WORDED = {
    *(f"association_sentences.{name}" for name in ("TOO_LONG", "SHOWN", "LAYER", "ANSWER")),
    *(f"head_sentences.{name}" for name in ("HEADING", "ALSO", "NO_NEXT_WORD", "MOVES", "FALL")),
    *(f"head_sentences.{name}" for name in ("ATTENTION", "GAP", "LINKED", "USUALLY", "STEP")),
    *(f"head_sentences.{name}" for name in ("COST", "CHANCE", "REWORDED")),
    *(f"sentences.{name}" for name in ("LEAST", "NAMED", "NEEDS", "NO_NEED", "COSTS")),
    "pair_sentences.HEADING",
}


@over("table", {*tables(), *EXAMPLES} - WORDED)
def test_each_sentence_is_said_at_some_numbers_and_not_at_others(table):
    sentences, examples = tables()[table], EXAMPLES[table]
    said = [said_of(sentences, **numbers) for numbers in examples]
    assert said[: len(sentences)] == [*sentences]
    for text in sentences:
        assert {*said} != {text}
    for numbers in examples:
        assert "{" not in say(sentences, **numbers)


def test_a_text_that_is_given_is_never_read_as_a_sentence_to_be_filled():
    assert say({"From {word:quoted}.": lambda n: True}, word="{word.__class__}") == (
        "From “{word.__class__}”."
    )
