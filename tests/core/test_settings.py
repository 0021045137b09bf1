"""Settings as data: what is declared is what is checked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest

from attention.core.settings import Config, check, complaint, read, setting, settings_of
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
    text: str = setting("hi", "Text", maximum=5)
    free: float = setting(0.0, "Free")
    private: int = 0


def wrong(name: str, value: Any) -> str | None:
    default, about = settings_of(Schema)[name]
    return complaint(name, default, about, value)


def test_settings_are_the_declared_fields_in_order() -> None:
    assert list(settings_of(Schema)) == ["whole", "number", "word", "drink", "text", "free"]


def test_a_setting_keeps_all_that_was_declared() -> None:
    default, about = settings_of(Schema)["whole"]
    assert default == 3
    assert (about.label, about.help) == ("Whole", "How many.")
    assert (about.minimum, about.maximum, about.step) == (2, 7, 1)
    assert settings_of(Schema)["drink"][1].when == ("word", "blue")


def test_settings_are_the_same_of_a_class_and_of_its_instance() -> None:
    assert settings_of(Schema) == settings_of(Schema())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("whole", 2),
        ("whole", 7),
        ("number", -1.5),
        ("number", 11.0),
        ("number", 11),
        ("word", "blue"),
        ("text", ""),
        ("text", "12345"),
        ("free", -1e30),
    ],
)
def test_legal_values_have_no_complaint_and_bounds_are_inclusive(name: str, value: Any) -> None:
    assert wrong(name, value) is None
    check(dataclasses.replace(Schema(), **{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("whole", 1, "whole must lie between 2 and 7, got 1"),
        ("whole", 8, "whole must lie between 2 and 7, got 8"),
        ("whole", 3.0, "whole must be a whole number, got 3.0"),
        ("whole", True, "whole must be a whole number, got True"),
        ("whole", "3", "whole must be a whole number, got '3'"),
        ("whole", None, "whole must be a whole number, got None"),
        ("number", -1.51, "number must lie between -1.5 and 11.0, got -1.51"),
        ("number", float("nan"), "number must lie between -1.5 and 11.0, got nan"),
        ("number", float("inf"), "number must lie between -1.5 and 11.0, got inf"),
        ("number", False, "number must be a number, got False"),
        ("number", "1", "number must be a number, got '1'"),
        ("free", float("nan"), "free must lie between -inf and inf, got nan"),
        ("word", "green", "word must be one of red, blue, got 'green'"),
        ("word", 1, "word must be one of red, blue, got 1"),
        ("drink", "mud", "drink must be one of tea, milk, got 'mud'"),
        ("text", 5, "text must be text, got 5"),
    ],
)
def test_a_complaint_says_what_was_expected_and_what_came(
    name: str, value: Any, message: str
) -> None:
    assert wrong(name, value) == message
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole message is compared
        check(dataclasses.replace(Schema(), **{name: value}))
    assert str(error.value) == message


def test_a_complaint_about_length_says_how_long_the_text_was() -> None:
    assert "at most 5 characters" in str(wrong("text", "123456"))
    assert "got 6" in str(wrong("text", "123456"))


def test_choices_from_a_function_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(Schema)["drink"][1].choices() == ("tea", "milk")
    monkeypatch.setitem(globals(), "MENU", ["rum"])
    assert wrong("drink", "rum") is None
    assert wrong("drink", "milk") == "drink must be one of rum, got 'milk'"


@pytest.mark.parametrize(
    ("default", "text", "value"),
    [
        (0, "7", 7),
        (0, "-7", -7),
        (0.0, "7", 7.0),
        (0.0, "1e-2", 0.01),
        ("", "7", "7"),
        (0, "seven", "seven"),
        (0.0, "seven", "seven"),
        (0, "", ""),
    ],
)
def test_text_reads_as_the_type_of_the_default(default: Any, text: str, value: Any) -> None:
    came = read(default, text)
    assert came == value
    assert type(came) is type(value)


@given(text=st.text(max_size=30))
@hypothesis_settings(deadline=None, max_examples=60)
def test_any_text_is_read_and_judged_without_raising(text: str) -> None:
    for name, (default, about) in settings_of(Schema).items():
        value = read(default, text)
        said = complaint(name, default, about, value)
        assert said is None or said.startswith(f"{name} must ")


@given(value=st.floats(allow_nan=True) | st.integers() | st.booleans())
@hypothesis_settings(deadline=None, max_examples=60)
def test_a_number_is_legal_exactly_between_the_bounds(value: float) -> None:
    legal = not isinstance(value, bool) and -1.5 <= value <= 11.0
    assert (wrong("number", value) is None) == legal


def test_config_refuses_vectors_without_dimensions() -> None:
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        Config(0)


def test_d_model_follows_from_the_vectors_and_is_no_setting() -> None:
    assert settings_of(Config) == {}


def test_a_config_checks_the_settings_its_subclass_adds() -> None:
    @dataclass(frozen=True)
    class Own(Config):
        reach: int = setting(1, "Reach", minimum=1, maximum=5)

    assert Own(3, reach=5).reach == 5
    with pytest.raises(ValueError, match="reach must lie between 1 and 5, got 6"):
        Own(3, reach=6)
