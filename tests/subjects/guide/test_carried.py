"""Lessons within links, and result codes: what is packed comes out again, what is wrong is told."""

from __future__ import annotations

import pytest

from attention.subjects.guide.carried import (
    LONGEST,
    MOST_CODES,
    Result,
    code_of,
    made_up,
    pack,
    read_class,
    result_of,
    told,
    unpack,
    with_repeats,
)
from attention.subjects.guide.chapters import Chapter, Lesson
from attention.subjects.guide.reading import LINE_ENDS, MAX_LESSON, MAX_LINES, read_text, text_told
from tests.properties import given, strategies


def chapter(question: str, answer: int, choices: int = 3) -> Chapter:
    texts = tuple(f"choice {at}" for at in range(choices))
    return Chapter("01-a.md", "A", "words", "picture", {}, "", question, texts, answer, "so")


LESSON = Lesson((chapter("one", 0), chapter("two", 2), chapter("three", 1, 4)), ())
ALL = strategies.tuples(*[strategies.none() | strategies.integers(0, 3)] * 3)


@given(strategies.text(max_size=2000))
def test_a_packed_lesson_comes_out_as_it_was(text):
    packed = pack(text.encode("utf-8", "replace").decode())
    assert unpack(packed) == text.encode("utf-8", "replace").decode()
    assert packed.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("packed", ["a", "é", "AAAA", pack("a lesson")[:-5], "=" * 9, ""])
def test_what_is_no_lesson_is_told(packed):
    with pytest.raises(ValueError, match="no lesson that can be read"):
        unpack(packed)


def test_a_packed_lesson_that_grows_beyond_measure_is_refused():
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(b"a" * (1 << 20), 9)).decode()
    assert len(bomb) < LONGEST
    with pytest.raises(ValueError, match="no lesson that can be read"):
        unpack(bomb)


class Whole(str):
    """A text that must not be split."""

    def splitlines(self, keepends: bool = False) -> list[str]:
        raise AssertionError("split")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("\n" * (MAX_LESSON + 1), "60,000 letters"),
        *((end * (MAX_LINES + 1), "5,000 lines") for end in ("\n", "\r", "\u2028", "\r\n")),
    ],
)
def test_a_lesson_of_too_many_letters_or_lines_is_refused_before_it_is_split(text, bound):
    with pytest.raises(ValueError, match=bound):
        text_told(Whole(text))
    read = read_text(Whole(text), lambda link, page: [])
    assert read == Lesson((), (f"The lesson has more than {bound}.",))
    assert told(pack(text)) is None
    assert text_told("\r\n" * MAX_LINES)


@given(strategies.text(strategies.sampled_from(f"a={LINE_ENDS}"), max_size=40))
def test_lines_are_counted_as_they_are_split(text):
    counted = sum(map(text.count, LINE_ENDS)) - text.count("\r\n")
    assert counted == len(f"{text}a".splitlines()) - 1


def test_no_more_letters_are_unpacked_than_a_link_carries(monkeypatch):
    import base64

    monkeypatch.setattr(base64, "urlsafe_b64decode", None)
    with pytest.raises(ValueError, match="no lesson that can be read"):
        unpack("A" * (LONGEST + 1))


def test_a_lesson_too_long_for_a_link_is_told_with_both_lengths():
    import random

    text = "".join(chr(random.Random(0).randrange(32, 900)) for _ in range(6000))
    letters = "".join(map(chr, random.Random(1).choices(range(32, 900), k=6000)))
    assert pack(text)
    with pytest.raises(ValueError, match=rf"up to {LONGEST} letters, this lesson takes \d+"):
        pack(letters)


@given(ALL)
def test_a_code_says_what_was_chosen_and_is_short(guesses):
    code = code_of(Result(guesses), LESSON)
    assert result_of(code, LESSON).guesses == guesses
    second = Result(guesses, "second")
    assert result_of(code_of(second, LESSON), LESSON) == second != result_of(code, LESSON)
    assert result_of(code.lower().replace("1", "l").replace("0", "o"), LESSON).guesses == guesses
    assert len(code) <= 6


@given(ALL, strategies.integers(0, 5), strategies.sampled_from("0123456789ABCDEFGHJKMNPQRSTVWXYZ"))
def test_a_wrong_letter_makes_no_other_result_but_by_the_check_letters_chance(guesses, at, letter):
    code = code_of(Result(guesses), LESSON).replace("-", "")
    wrong = code[:at] + letter + code[at + 1 :]
    if at < len(code) - 2 and letter != code[at]:  # one in 1,024 passes, as another result
        found = read_class(wrong, LESSON)
        assert found.problems or found.results[0].guesses != guesses
    elif at < len(code) and letter != code[at]:
        assert read_class(wrong, LESSON).problems


def test_a_class_is_counted_by_question_and_by_score():
    results = [(0, 2, 1), (0, 2, 3), (1, None, 3)]
    codes = [code_of(Result(guesses), LESSON) for guesses in results]
    found = read_class(f"{codes[0]}, {codes[1]}\n{codes[2]};nonsense!", LESSON)
    assert [found.counts(at, 4) for at in range(3)] == [[2, 1, 0, 0], [0, 0, 2, 0], [0, 1, 0, 2]]
    assert found.scores(LESSON) == [1, 0, 1, 1]
    assert found.problems == (
        "Code 4, “nonsense!”, is not counted: a code is letters and digits, as in 1A2B-3C.",
    )


def test_a_code_without_any_answer_is_nobodys():
    code = code_of(Result((None, None, None)), LESSON)
    found = read_class(code, LESSON)
    assert not found.results
    assert found.problems == (f"Code 1, “{code}”, is not counted: no answer is in this code.",)


def test_only_so_many_codes_are_counted():
    code = code_of(Result((0, 0, 0)), LESSON)
    found = read_class(f"{code} ×{MOST_CODES + 7}", LESSON)
    assert len(found.results) == MOST_CODES
    assert found.problems == (
        f"Only the first {MOST_CODES} of {MOST_CODES + 7} codes are counted.",
    )


def test_the_same_code_counts_once_more_only_where_that_is_said():
    code, other = code_of(Result((0, 2, 1)), LESSON), code_of(Result((1, 0, 3)), LESSON)
    lower = code.lower().replace("-", "")
    for pasted, sent, counts, repeats in (
        (f"{code} {lower}", (), 1, [2]),
        (f"{code} ×2", (), 2, []),
        (f"{code}×3, {lower}", (), 3, [4]),
        (code, (code,), 1, []),
        (code, (code, code), 2, []),
        (f"{code} ×3", (code, other), 4, []),
        ("", (code, other), 2, []),
    ):
        found = read_class(pasted, LESSON, sent)
        assert (len(found.results), [*found.repeats.values()]) == (counts, repeats)
        whole = read_class(with_repeats(pasted), LESSON, sent)
        assert not whole.repeats
        assert len(whole.results) == max([counts, *repeats])


def test_an_example_class_has_learners_of_the_lesson():
    found = read_class(made_up(LESSON, 17), LESSON)
    assert (len(found.results), found.problems, found.repeats) == (17, (), {})
