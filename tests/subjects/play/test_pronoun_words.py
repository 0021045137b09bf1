"""Where a word looks, in words: each against the numbers it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchtext.vocab import Vectors

from attention.app.state.openings import OPENINGS
from attention.core.functional import WeightsAlone
from attention.figures.layer_words import shown
from attention.pipeline import Result, Settings, compute
from attention.subjects.play import pronoun_words
from attention.trained.sources import NONE
from tests.cases import over

LINES: dict[tuple[tuple[float, ...], int], str] = {  # of a row of a, b, c, d and the chosen word
    ((0, 0, 0, 0), 1): "“b” may look at nothing: the mask hides every word.",
    ((1, 0, 0, 0), 1): "“b” looks only at a.",
    ((0.15, 0.192, 0.19, 0.18), 1): "“b” spreads its attention: the most that a word gets is 19 %.",
    ((0.3, 0.28, 0.26, 0.16), 0): "“a” spreads its attention: the most that a word gets is 30 %.",
    ((0.4, 0.42, 0.1, 0.08), 0): "“a” looks at b 42 %, itself 40 %: it cannot decide.",
    ((0.1, 0.7, 0.1, 0.1), 0): "“a” looks at b, 70 %.",
    ((0.06, 0.04, 0.04, 0.86), 3): "“d” looks most at itself, 86 %, then at a, 6 %.",
    ((0.04, 0.04, 0.04, 0.88), 3): "“d” looks at itself, 88 %.",
    ((0, 0.13, 0.49, 0.37), 1): "“b” looks most at c, 49 %, then at d, 37 %.",
}
SURE, EVEN = (0.6, 0.2, 0.1, 0.1), (0.25, 0.25, 0.25, 0.25)
CHANGES: dict[tuple[tuple[float, ...], tuple[float, ...], int], str] = {  # with z in place of d
    (SURE, SURE, 1): "“b” still looks most at a, 60 %.",
    (SURE, (0.7, 0.1, 0.1, 0.1), 1): "“b” looks at a more, 70 %.",
    (SURE, (0.5, 0.2, 0.2, 0.1), 1): "“b” looks at a less, 50 %.",
    (SURE, (0.5, 0.3, 0.1, 0.1), 1): "“b” divides its attention: a 50 %, itself 30 %.",
    (SURE, (0.1, 0.7, 0.1, 0.1), 1): "“b” looks most at itself instead, 70 %.",
    (SURE, (0.42, 0.4, 0.1, 0.08), 1): "“b” cannot decide: a 42 %, itself 40 %.",
    (SURE, EVEN, 1): "“b” spreads its attention: the most that a word gets is 25 %.",
    (SURE, (0.1, 0.1, 0.1, 0.7), 2): "“c” looks most at z instead, 70 %.",
    (EVEN, (0.1, 0.7, 0.1, 0.1), 2): "“c” looks most at b, 70 %.",
    (EVEN, (0.27, 0.2, 0.1, 0.1), 2): "“c” looks most at a, 27 %.",
}


def test_a_line_says_where_a_word_looks_as_far_as_one_sees_it():
    for (row, query), words in LINES.items():
        assert "".join(pronoun_words.line(row, "abcd", query)) == words


def test_a_change_of_the_last_word_is_told_by_what_another_row_has_otherwise():
    for (row, other, query), words in CHANGES.items():
        said = "".join(pronoun_words.change(row, other, "abc", query, ("d", "z")))
        assert said == f"Change d to z and {words}"
    assert pronoun_words.change(SURE, EVEN, "abc", 3, ("d", "z")) == []


WORDS = {
    ("[CLS]", "he", "##ute", "ist"): ["[CLS]", "heute", "heute", "ist"],
    ("He", "ute", "·ist", "."): ["Heute", "Heute", "·ist", "."],
    ("he", "was"): ["he", "was"],
}


@over("tokens", WORDS)
def test_a_word_in_pieces_is_asked_as_a_word(tokens):
    weights = torch.eye(len(tokens))
    found = pronoun_words.lines_of(WeightsAlone(weights), tokens)
    assert [asked for asked, _ in found] == [pronoun_words.question(each) for each in WORDS[tokens]]


@pytest.fixture
def read(glove: Vectors) -> Callable[..., Result]:
    return lambda text, **settings: compute(Settings(text, **settings), lambda name: glove)


def test_openings_and_a_sentence_of_ones_own_are_told_as_they_stand(read):
    def line(at: int, text: str, other: str = "", **settings: Any) -> str:
        result, second = (read(each, **settings) for each in (text, other or text))
        tokens = pronoun_words.as_typed(text, shown(result)[0])
        more = (second.tokens[-1], second.trace) if other else None
        question, words = pronoun_words.lines_of(result.trace, tokens, more)[at]
        return f"{question} {''.join(words)}"

    opening, plain = OPENINGS["minilm"], OPENINGS[NONE]
    (tired, wide), it = opening.sentences, opening.query
    assert line(it, tired, wide, **opening.chosen) == (
        "Which word does “it” look at? “it” looks at animal, 76 %. Change tired to wide and “it” "
        "divides its attention: animal 46 %, street 24 %."
    )
    assert line(it, wide, tired, **opening.chosen).endswith(
        "then at street, 24 %. Change wide to tired and “it” looks at animal more, 76 %."
    )
    assert "Change" not in line(-1, tired, wide, **opening.chosen)
    marked = {**opening.chosen, "special": "shown"}
    assert "Change" not in line(it + 1, tired, wide, **marked), "[SEP] stands behind the last word"
    assert line(plain.query, *plain.sentences) == (
        "Which word does “bass” look at? “bass” looks at itself 46 %, guitar 42 %: it cannot "
        "decide. Change guitar to fish and “bass” looks at itself more, 71 %."
    )
    own = line(4, "Anna told Maria that she had won the prize", **opening.chosen)
    assert own.endswith("“she” looks at Anna 43 %, Maria 42 %: it cannot decide.")


def test_a_sentence_is_asked_about_a_pronoun_else_the_last_noun_else_the_last_word():
    asked = {
        "Anna told Maria that she had won the prize": "she",
        "he saw that it was hers": "hers",
        "the cat walks on the street": "street",
        "the quick brown fox jumps over the lazy dog": "dog",
        "we gave the old captain a warm welcome": "welcome",
        **{"dogs love cats": "cats", "hello !": "hello", "and or": "or", "? !": "!"},
    }
    found = {text: text.split()[pronoun_words.asked_about(text.split())] for text in asked}
    assert found == asked


def test_a_sentence_unlike_those_a_model_is_at_home_in_says_what_to_expect(read):
    chosen = OPENINGS["minilm"].chosen
    for text, expected in {
        OPENINGS["minilm"].sentences[0]: [],
        "Le chat a grimpé": ["This model knows English: “grimpé” is read in pieces."],
    }.items():
        assert pronoun_words.to_expect(read(text, **chosen), text) == expected
    assert pronoun_words.to_expect(read("grimpé et grimpé"), "grimpé et grimpé") == []


def test_tokens_stand_in_the_letters_of_the_text_where_these_are_all_there_is():
    for text, tokens, typed in (
        ("Le Chat a grimpé", "le chat a grim ##pe", "Le Chat a grim ##pé"),
        ("Straße", "stras ##se", "stras ##se"),
        ("Don't", "do n't", "Do n't"),
        ("it is", "other words", "other words"),
        ("a b", "ab", "ab"),
    ):
        assert pronoun_words.as_typed(text, tokens.split()) == typed.split()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0.5, -0.25, 0.0], "“c” adds most of a, 0.50, and takes b away, −0.25."),
        ([-0.5, -0.25, -0.75], "“c” takes itself away, −0.75."),
        ([0.125, 0.25, 1.5], "“c” adds most of itself, 1.50."),
        ([0.0, 0.0, 0.0], "“c” takes nothing in: all its weights are 0."),
    ],
)
def test_of_weights_of_any_sign_it_is_said_what_is_added_and_what_is_taken_away(row, expected):
    said = "".join(pronoun_words.signed_line(row, ["a", "b", "c"], 2))
    assert said.startswith(expected)
    assert "look" not in said
    assert "attention" not in said
    if any(row):
        total = f"{sum(row):.2f}".replace("-", "−")
        assert said.endswith(f" Its weights are no shares: they sum to {total}.")
