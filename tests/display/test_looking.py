"""Where a word looks, in words: each against the numbers it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from attention.display import looking
from attention.display.trained import shown
from attention.inputs.vectors import PackagedGlove
from attention.lessons.opening import OPENINGS
from attention.pipeline import Result, Settings, compute
from attention.trained.sources import NONE
from tests.lessons.test_sentences import Claim, Said, hold
from tests.properties import strategies as st

Row = Sequence[float]
CLOSE, EVEN = 0.05, 0.2
WORD, SHARE = r"(\w+)", r"(\d+) %"


def said_of_rows(row: Row, other: Row, query: int) -> Iterator[Said]:
    """Sentences on a row of two to six words, and on a pair that differs in the last one."""
    size = min(len(row), len(other))
    rows = [[n / (sum(each[:size]) or 1) for n in each[:size]] for each in (row, other)]
    names, query = list("abcdef"[:size]), query % size
    yield Said("line", "".join(looking.line(rows[0], names, query)), (rows[0], names, query))
    words = "".join(looking.change(*rows, names[:-1], query, (names[-1], "z")))
    yield Said("change", words, (*rows, [*names[:-1], "z"], query))


def at(name: str, names: list[str], query: int) -> int:
    return query if name == "itself" else names.index(name)


def is_share(said: str, weight: float) -> bool:
    return said == f"{100 * weight:.0f}"


def greatest(row: Row) -> list[float]:
    return sorted(row, reverse=True)


def spreads(row: Row, share: str) -> bool:
    first, *others = greatest(row)
    third = others[1] if len(others) > 1 else 0.0
    return is_share(share, first) and (first < EVEN or first - third < CLOSE)


def undecided(row: Row, names: list[str], query: int, *said: str) -> bool:
    (a, p, b, q), (first, second) = said, greatest(row)[:2]
    found = [row[at(name, names, query)] for name in (a, b)]
    return (
        found == [first, second]
        and is_share(p, first)
        and is_share(q, second)
        and (first - second < CLOSE)
    )


def leads(row: Row, names: list[str], query: int, name: str, share: str) -> bool:
    """True if that word has the greatest weight, that one, and stands out from the next."""
    first, second = greatest(row)[:2]
    found = row[at(name, names, query)]
    return found == first and is_share(share, found) and first - second >= CLOSE


def follows(about: Any, a: str, p: str, b: str, q: str) -> bool:
    row, names, query = about
    second = row[at(b, names, query)]
    return leads(*about, a, p) and second == greatest(row)[1] and is_share(q, second)


def led_before(about: Any, name: str) -> bool:
    row, _, names, query = about
    key = at(name, names, query)
    return names[key] != "z" and bool(row[key] == max(row))


def grown(about: Any, name: str) -> float:
    row, other, names, query = about
    key = at(name, names, query)
    return float(other[key] - row[key])


def leads_now(about: Any, name: str, share: str) -> bool:
    _, other, names, query = about
    return leads(other, names, query, name, share)


CLAIMS = (
    Claim("line", "may look at nothing", lambda about: not any(about[0]), always=True),
    Claim(
        "line",
        rf"looks only at {WORD}\.",
        lambda about, name: about[0][at(name, *about[1:])] == sum(about[0]),
    ),
    Claim("line", f"no word gets more than {SHARE}", lambda about, p: spreads(about[0], p)),
    Claim(
        "line",
        f"looks at {WORD} {SHARE}, {WORD} {SHARE}: it cannot decide",
        lambda about, *said: undecided(*about, *said),
    ),
    Claim(
        "line",
        rf"looks at {WORD}, {SHARE}\.$",
        lambda about, name, p: leads(*about, name, p) and name != "itself" and int(p) >= 50,
    ),
    Claim("line", f"looks most at {WORD}, {SHARE}, then at {WORD}, {SHARE}", follows),
    Claim("change", "^Change . to z and “[^z]”", lambda about: about[3] < len(about[0]) - 1),
    Claim("change", f"no word gets more than {SHARE}", lambda about, p: spreads(about[1], p)),
    Claim(
        "change",
        f"cannot decide: {WORD} {SHARE}, {WORD} {SHARE}",
        lambda about, *said: undecided(*about[1:], *said),
    ),
    Claim(
        "change",
        f"looks most at {WORD} instead, {SHARE}",
        lambda about, name, p: leads_now(about, name, p) and not led_before(about, name),
    ),
    Claim(
        "change",
        f"still looks most at {WORD}, {SHARE}",
        lambda about, name, p: (
            leads_now(about, name, p)
            and led_before(about, name)
            and abs(grown(about, name)) < CLOSE
        ),
    ),
    Claim("change", f" looks most at {WORD}, {SHARE}", leads_now),
    Claim(
        "change",
        f" looks at {WORD} more, {SHARE}",
        lambda about, name, p: leads_now(about, name, p) and grown(about, name) >= CLOSE,
    ),
    Claim(
        "change",
        f" looks at {WORD} less, {SHARE}",
        lambda about, name, p: leads_now(about, name, p) and grown(about, name) <= -CLOSE,
    ),
    Claim(
        "change",
        f"divides its attention: {WORD} {SHARE}, {WORD} {SHARE}",
        lambda about, a, p, b, q: (
            follows(about[1:], a, p, b, q)
            and grown(about, a) <= -CLOSE
            and 2 * at_weight(about, b) >= at_weight(about, a)
        ),
    ),
)


def at_weight(about: Any, name: str) -> float:
    return float(about[1][at(name, *about[2:])])


def test_what_is_said_of_a_word_holds_for_its_weights() -> None:
    number = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 4.0, 9.0]), st.floats(0, 9))
    row = st.lists(number, min_size=2, max_size=6)
    hold(CLAIMS, 400, [(said_of_rows, {"row": row, "other": row, "query": st.integers(0, 5)})])


def read(text: str, **settings: Any) -> Result:
    return compute(Settings(text, **settings), lambda name: PackagedGlove())


def lines_of(text: str, other: str = "", **settings: Any) -> list[str]:
    """The question and the line of each word, with what another last word would change."""
    result, second = (read(each, **settings) for each in (text, other or text))
    tokens = looking.as_typed(text, shown(result)[0])
    more = (second.tokens[-1], second.trace) if other else None
    return [
        f"{question} {''.join(line)}"
        for question, line in looking.lines_of(result.trace, tokens, more)
    ]


def test_the_trained_head_is_less_sure_and_does_not_switch() -> None:
    opening = OPENINGS["minilm"]
    tired, wide = opening.sentences
    assert lines_of(tired, wide, **opening.chosen)[opening.query] == (
        "Which word does “it” look at? “it” looks at animal, 76 %. Change tired to wide and “it” "
        "divides its attention: animal 46 %, street 24 %."
    )
    assert lines_of(wide, tired, **opening.chosen)[opening.query].endswith(
        "then at street, 24 %. Change wide to tired and “it” looks at animal more, 76 %."
    )
    assert lines_of(tired, wide, **opening.chosen)[-1].count("Change") == 0


def test_word_vectors_look_at_the_word_that_tells_the_meaning() -> None:
    opening = OPENINGS[NONE]
    assert lines_of(*opening.sentences)[opening.query] == (
        "Which word does “bass” look at? “bass” looks at itself 46 %, guitar 42 %: it cannot "
        "decide. Change guitar to fish and “bass” looks at itself more, 71 %."
    )


def test_a_sentence_of_ones_own_is_said_in_the_letters_it_was_typed_in() -> None:
    said = lines_of("Anna told Maria that she had won the prize", **OPENINGS["minilm"].chosen)
    assert said[4] == (
        "Which word does “she” look at? “she” looks at Anna 43 %, Maria 42 %: it cannot decide."
    )


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("Anna told Maria that she had won the prize", "she"),
        ("he saw that it was hers", "hers"),
        ("the cat walks on the street", "street"),
        ("the quick brown fox jumps over the lazy dog", "dog"),
        ("we gave the old captain a warm welcome", "welcome"),
        ("dogs love cats", "cats"),
        ("hello !", "hello"),
        ("and or", "or"),
        ("? !", "!"),
    ],
)
def test_a_sentence_is_asked_about_a_pronoun_else_the_last_noun_else_the_last_word(
    sentence: str, word: str
) -> None:
    tokens = sentence.split()
    assert tokens[looking.asked_about(tokens)] == word


def test_a_sentence_unlike_those_a_model_is_at_home_in_says_what_to_expect() -> None:
    chosen = OPENINGS["minilm"].chosen

    def expected(text: str) -> list[str]:
        return looking.to_expect(read(text, **chosen), text)

    assert expected(OPENINGS["minilm"].sentences[0]) == []
    assert expected("Le chat a grimpé") == ["This model knows English: “grimpé” is read in pieces."]
    assert expected("Hello") == ["A word alone has only itself to look at: type a few more."]
    assert expected("it was cold " * 20) == [
        "A long text: each word divides its attention among 60, so most arcs are thin."
    ]
    untrained = "grimpé et grimpé"
    assert looking.to_expect(read(untrained), untrained) == []


@pytest.mark.parametrize(
    ("text", "tokens", "typed"),
    [
        ("Le Chat a grimpé", "le chat a grim ##pe", "Le Chat a grim ##pé"),
        ("Straße", "stras ##se", "stras ##se"),
        ("Don't", "do n't", "Do n't"),
        ("it is", "other words", "other words"),
        ("a b", "ab", "ab"),
    ],
)
def test_tokens_stand_in_the_letters_of_the_text_where_these_are_all_there_is(
    text: str, tokens: str, typed: str
) -> None:
    assert looking.as_typed(text, tokens.split()) == typed.split()
