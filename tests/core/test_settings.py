"""Settings as data: what is declared is what is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from attention.core.limits import LIMITS_VARIABLE, Limits, limits, read_limits
from attention.core.settings import Config, setting, settings_of, validate, with_divisors
from tests.cases import over
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st

MENU = ["tea", "milk"]


@dataclass(frozen=True)
class Schema:
    whole: int = setting(3, "Whole", minimum=2, maximum=7, step=1, help="How many.")
    number: float = setting(0.5, "Number", minimum=-1.5, maximum=11.0)
    word: str = setting("red", "Word", options=("red", "blue"))
    drink: str = setting("tea", "Drink", options=lambda: tuple(MENU), when=("word", "blue"))
    some: tuple[str, ...] = setting((), "Some", options=("a", "b", "c"))
    of_b: int = setting(0, "Of b", when=("some", "b"))
    of_two: int = setting(0, "Of a or c", when=("some", "a", "c"))
    text: str = setting("hi", "Text", maximum=5)
    free: float = setting(0.0, "Free")
    private: int = 0


DECLARED = settings_of(Schema)


def test_settings_are_the_declared_fields_in_order_with_all_that_was_declared():
    names = ["whole", "number", "word", "drink", "some", "of_b", "of_two", "text", "free"]
    assert list(DECLARED) == [about.name for about in DECLARED.values()] == names
    assert settings_of(Schema()) == DECLARED
    about = DECLARED["whole"]
    assert (about.default, about.label, about.help) == (3, "Whole", "How many.")
    assert (about.minimum, about.maximum, about.step) == (2, 7, 1)
    assert [name for name, about in DECLARED.items() if about.is_text] == ["text"]


PROBLEMS: list[tuple[str, Any, str]] = [
    ("whole", 1, "lie between 2 and 7, got 1"),
    ("whole", 8, "lie between 2 and 7, got 8"),
    *(("whole", value, f"be a whole number, got {value!r}") for value in (3.0, True, "3", None)),
    ("number", -1.51, "lie between -1.5 and 11.0, got -1.51"),
    ("number", float("nan"), "lie between -1.5 and 11.0, got nan"),
    ("number", False, "be a number, got False"),
    ("number", "1", "be a number, got '1'"),
    ("free", float("nan"), "lie between -inf and inf, got nan"),
    ("word", "green", "be one of red, blue, got 'green'"),
    ("word", 1, "be one of red, blue, got 1"),
    ("drink", "mud", "be one of tea, milk, got 'mud'"),
    ("some", ("a", "d"), "be some of a, b, c, got ('a', 'd')"),
    ("some", "a", "be some of a, b, c, got 'a'"),
    ("text", 5, "be text, got 5"),
    ("text", "123456", "have at most 5 characters, got 6"),
]


@over("name, value, words", PROBLEMS)
def test_a_problem_says_what_was_expected_and_what_came(name, value, words):
    assert DECLARED[name].problem(value) == f"{name} must {words}"
    with pytest.raises(ValueError, match=f"^{re.escape(f'{name} must {words}')}$"):
        validate(replace(Schema(), **{name: value}))


def test_choices_from_a_function_follow_it(monkeypatch):
    drink = DECLARED["drink"]
    assert drink.choices == ("tea", "milk")
    monkeypatch.setitem(globals(), "MENU", ["rum"])
    assert drink.problem("rum") is None
    assert drink.problem("milk") == "drink must be one of rum, got 'milk'"


def test_a_setting_applies_while_another_has_or_holds_a_value():
    for name, values, applies in (
        ("whole", {}, True),
        ("drink", {"word": "red"}, False),
        ("drink", {"word": "blue"}, True),
        ("of_b", {"some": ("a", "c")}, False),
        ("of_b", {"some": ("a", "b")}, True),
        ("of_two", {"some": ("b",)}, False),
        ("of_two", {"some": ("b", "c")}, True),
    ):
        assert DECLARED[name].applies(values.__getitem__) == applies, (name, values)


def test_text_reads_as_the_type_of_the_default():
    for name, text, value in (
        *(("whole", "7", 7), ("whole", "-7", -7), ("whole", "5e0", 5), ("whole", "1.5", "1.5")),
        *(("whole", "seven", "seven"), ("whole", "", ""), ("whole", "inf", "inf")),
        *(("number", "7", 7.0), ("number", "1e-2", 0.01), ("number", "seven", "seven")),
        *(("text", "7", "7"), ("word", "green", "green"), ("some", "b", ("b",))),
    ):
        came = DECLARED[name].parse(text)
        assert (came, type(came)) == (value, type(value)), (name, text)


def test_the_last_of_several_texts_counts_but_a_choice_of_several_takes_all_in_its_order():
    assert DECLARED["whole"].parse_all(["7", "3"]) == 3
    assert DECLARED["some"].parse_all(["c", "x", "a", "c"]) == ("a", "c", "x")


@given(texts=st.lists(st.sampled_from(["a", "b", "nan"]) | st.text(max_size=20), min_size=1))
@hypothesis_settings(deadline=None, max_examples=60)
def test_any_text_is_read_and_judged_without_raising(texts):
    for name, about in DECLARED.items():
        problem = about.problem(about.parse_all(texts))
        assert problem is None or problem.startswith(f"{name} must ")


@dataclass(frozen=True)
class Own(Config):
    reach: int = setting(1, "Reach", minimum=1, maximum=5)
    heads: int = setting(6, "Heads", minimum=1, maximum=50, divides="d_model")
    groups: int = setting(2, "Groups", minimum=1, maximum=50, divides="heads")


REFUSED = {
    "d_model must be at least 1, got 0": {"d_model": 0},
    "reach must lie between 1 and 5, got 6": {"reach": 6},
    "heads must divide d_model = 12, got 5": {"heads": 5},
    "groups must divide heads = 6, got 4": {"groups": 4},
}


@over("message", REFUSED)
def test_a_config_checks_d_model_and_the_settings_its_subclass_adds(message):
    assert list(settings_of(Own)) == ["reach", "heads", "groups"], "d_model follows from vectors"
    with pytest.raises(ValueError, match=message):
        Own(**{"d_model": 12} | REFUSED[message])


def test_a_number_that_must_divide_another_becomes_the_greatest_below_it_that_does():
    cases: list[tuple[dict[str, Any], int, int]] = [
        ({"d_model": 12}, 6, 2),
        ({"d_model": 50}, 5, 1),
        ({"d_model": 50, "groups": 5}, 5, 5),
        ({"d_model": 7}, 1, 1),
        ({"d_model": 64, "heads": 50, "groups": 31}, 32, 16),
    ]
    for values, heads, groups in cases:
        fitting = with_divisors(settings_of(Own), values)
        assert fitting == {"reach": 1} | values | {"heads": heads, "groups": groups}
        Own(**fitting)


# Limits that an owner sets, written in one variable


def test_limits_are_read_by_name_with_spaces_or_commas_between_and_else_are_the_default():
    assert read_limits("") == Limits()
    assert read_limits("tokens=31, sessions=7  share=3") == Limits(tokens=31, sessions=7, share=3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cores=2", r"must name some of tokens, models, .* got 'cores=2'"),
        ("tokens", "tokens must be a whole number, got ''"),
        ("tokens=many", "tokens must be a whole number, got 'many'"),
        ("tokens=2.5", "tokens must be a whole number, got '2.5'"),
        ("tokens=4097", "tokens must lie between 16 and 4096, got 4097"),
        ("sessions=0", "sessions must lie between 1 and 100000, got 0"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_was_expected(text, problem):
    with pytest.raises(ValueError, match=rf"^{LIMITS_VARIABLE}.*{problem}$"):
        read_limits(text)


def test_the_limits_of_the_process_are_those_of_its_environment(monkeypatch):
    monkeypatch.setenv(LIMITS_VARIABLE, "tokens=17")
    limits.cache_clear()
    try:
        assert limits().tokens == 17
    finally:
        limits.cache_clear()


def test_every_limit_says_what_it_is_for_and_the_docs_list_it_with_its_default():
    assert all(about.help for about in settings_of(Limits).values())
    docs = (Path(__file__).parents[2] / "docs" / "hosting.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (\d+) \|", docs, re.MULTILINE)
    assert listed == [(name, str(about.default)) for name, about in settings_of(Limits).items()]
