"""Where a word looks, in words: each against the numbers it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from torchtext.vocab import Vectors

from attention.app.state.openings import OPENINGS
from attention.figures.layer_words import shown
from attention.pipeline import Result, Settings, compute
from attention.subjects.explore import pronoun_words
from attention.trained.sources import NONE
from tests.properties import given
from tests.properties import strategies as st
from tests.subjects.steps.test_sentences import Claim, Said, hold

Row = Sequence[float]
CLOSE, EVEN = 0.05, 0.2
WORD, SHARE = r"(\w+)", r"(\d+) %"


@dataclass(frozen=True, eq=False)
class Seen:
    """The weights of a word, those with another last word, and the words."""

    row: Row
    other: Row
    names: list[str]
    query: int

    def at(self, name: str, row: Row | None = None) -> float:
        key = self.query if name == "itself" else self.names.index(name)
        return (self.row if row is None else row)[key]

    def grown(self, name: str) -> float:
        return self.at(name, self.other) - self.at(name)

    @property
    def now(self) -> Seen:
        return replace(self, row=self.other)

    def has(self, weights: Row, *said: str) -> bool:
        """True if words have these weights, which their shares tell: (a, p, b, q)."""
        pairs = zip(weights, said[::2], said[1::2], strict=True)
        return all(self.at(a) == weight and p == f"{100 * weight:.0f}" for weight, a, p in pairs)

    @property
    def sorted(self) -> list[float]:
        return sorted(self.row, reverse=True)

    @property
    def lead(self) -> float:
        return self.sorted[0] - self.sorted[1]

    def spreads(self, share: str) -> bool:
        first, *others = self.sorted
        near = first < EVEN or first - (others[1] if len(others) > 1 else 0.0) < CLOSE
        return 0 <= int(share) - 100 * first < 1 and near

    def undecided(self, *said: str) -> bool:
        return self.has(self.sorted[:2], *said) and self.lead < CLOSE

    def leads(self, *said: str) -> bool:
        """True if these words have the greatest weights and the first one stands out."""
        return self.has(self.sorted[: len(said) // 2], *said) and self.lead >= CLOSE

    def led_before(self, name: str) -> bool:
        key = self.query if name == "itself" else self.names.index(name)
        return self.names[key] != "z" and self.row[key] == max(self.row)

    def stood_out(self) -> bool:
        """True if a word was said to be looked at most before."""
        first, second, *rest = sorted(self.row, reverse=True)
        return first - second >= CLOSE and first >= EVEN and first - max(rest, default=0) >= CLOSE


def said_of_rows(row: Row, other: Row, query: int) -> Iterator[Said]:
    """Sentences on a row of two to six words, and on a pair that differs in the last one."""
    size = min(len(row), len(other))
    rows = [[n / (sum(each[:size]) or 1) for n in each[:size]] for each in (row, other)]
    names, query = list("abcdef"[:size]), query % size
    yield Said(
        "line", "".join(pronoun_words.line(rows[0], names, query)), Seen(*rows, names, query)
    )
    words = "".join(pronoun_words.change(*rows, names[:-1], query, (names[-1], "z")))
    yield Said("change", words, Seen(*rows, [*names[:-1], "z"], query))


CLAIMS = (
    Claim("line", "may look at nothing", lambda seen: not any(seen.row), always=True),
    Claim("line", rf"looks only at {WORD}\.", lambda seen, a: seen.at(a) == sum(seen.row)),
    Claim("line", f"no word gets more than {SHARE}", Seen.spreads),
    Claim("line", f"looks at {WORD} {SHARE}, {WORD} {SHARE}: it cannot decide", Seen.undecided),
    Claim(
        "line",
        rf"looks at {WORD}, {SHARE}\.$",
        lambda seen, a, p: (
            seen.leads(a, p) and int(p) >= 50 and (a != "itself" or seen.sorted[1] < CLOSE)
        ),
    ),
    Claim("line", f"looks most at {WORD}, {SHARE}, then at {WORD}, {SHARE}", Seen.leads),
    Claim("change", "^Change . to z and “[^z]”", lambda seen: seen.query < len(seen.row) - 1),
    Claim("change", f"no word gets more than {SHARE}", lambda seen, p: seen.now.spreads(p)),
    Claim(
        "change",
        f"cannot decide: {WORD} {SHARE}, {WORD} {SHARE}",
        lambda seen, *said: seen.now.undecided(*said),
    ),
    Claim(
        "change",
        f"looks most at {WORD} instead, {SHARE}",
        lambda seen, a, p: seen.now.leads(a, p) and not seen.led_before(a),
    ),
    Claim(
        "change",
        f"still looks most at {WORD}, {SHARE}",
        lambda seen, a, p: (
            seen.now.leads(a, p)
            and seen.led_before(a)
            and abs(seen.grown(a)) < CLOSE
            and seen.stood_out()
        ),
    ),
    Claim("change", f" looks most at {WORD}, {SHARE}", lambda seen, a, p: seen.now.leads(a, p)),
    Claim(
        "change",
        f" looks at {WORD} more, {SHARE}",
        lambda seen, a, p: seen.now.leads(a, p) and seen.grown(a) >= CLOSE,
    ),
    Claim(
        "change",
        f" looks at {WORD} less, {SHARE}",
        lambda seen, a, p: seen.now.leads(a, p) and seen.grown(a) <= -CLOSE,
    ),
    Claim(
        "change",
        f"divides its attention: {WORD} {SHARE}, {WORD} {SHARE}",
        lambda seen, a, p, b, q: (
            seen.now.leads(a, p, b, q)
            and seen.grown(a) <= -CLOSE
            and 2 * seen.now.at(b) >= seen.now.at(a)
        ),
    ),
)


def test_what_is_said_of_a_word_holds_for_its_weights() -> None:
    number = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 4.0, 9.0]), st.floats(0, 9))
    row = st.lists(number, min_size=2, max_size=6)
    hold(CLAIMS, 300, [(said_of_rows, {"row": row, "other": row, "query": st.integers(0, 5)})])


@pytest.fixture
def read(glove: Vectors) -> Callable[..., Result]:
    return lambda text, **settings: compute(Settings(text, **settings), lambda name: glove)


def test_openings_and_a_sentence_of_ones_own_are_told_as_they_stand(
    read: Callable[..., Result],
) -> None:
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
    assert line(plain.query, *plain.sentences) == (
        "Which word does “bass” look at? “bass” looks at itself 46 %, guitar 42 %: it cannot "
        "decide. Change guitar to fish and “bass” looks at itself more, 71 %."
    )
    own = line(4, "Anna told Maria that she had won the prize", **opening.chosen)
    assert own.endswith("“she” looks at Anna 43 %, Maria 42 %: it cannot decide.")


def test_a_sentence_is_asked_about_a_pronoun_else_the_last_noun_else_the_last_word() -> None:
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


def test_a_sentence_unlike_those_a_model_is_at_home_in_says_what_to_expect(
    read: Callable[..., Result],
) -> None:
    opening = OPENINGS["minilm"]
    expected = {
        opening.sentences[0]: [],
        "Le chat a grimpé": ["This model knows English: “grimpé” is read in pieces."],
        "Hello": ["A word alone has only itself to look at: type a few more."],
        "it was cold " * 20: [
            "A long text: each word divides its attention among 60, so most arcs are thin."
        ],
    }
    found = {text: pronoun_words.to_expect(read(text, **opening.chosen), text) for text in expected}
    assert found == expected
    assert pronoun_words.to_expect(read("grimpé et grimpé"), "grimpé et grimpé") == []


def test_tokens_stand_in_the_letters_of_the_text_where_these_are_all_there_is() -> None:
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
def test_of_weights_of_any_sign_it_is_said_what_is_added_and_what_is_taken_away(
    row: list[float], expected: str
) -> None:
    said = "".join(pronoun_words.signed_line(row, ["a", "b", "c"], 2))
    assert said.startswith(expected)
    assert "look" not in said
    assert "attention" not in said
    if any(row):
        total = f"{sum(row):.2f}".replace("-", "−")
        assert said.endswith(f" Its weights are no shares: they sum to {total}.")


@given(st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=7), st.data())
def test_a_signed_line_names_the_greatest_and_the_least_weight(row: list[float], data: Any) -> None:
    names = [f"w{at}" for at in range(len(row))]
    query = data.draw(st.integers(0, len(row) - 1))
    said = pronoun_words.signed_line(row, names, query)
    ends = [value for value in (max(row), min(row)) if value]
    named = [max(row)] * (max(row) > 0) + [min(row)] * (min(row) < 0)
    assert len(said[1::2]) == len(named) <= len(ends)
    for word, value in zip(said[1::2], named, strict=True):
        assert row[query if word == "itself" else names.index(word)] == value
