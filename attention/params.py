"""Settings as data: one declaration gives a setting its default, label, bounds and help.

Everything that lets a person change a setting (widgets, links, error messages, tests) reads the
declarations made with :func:`setting`. Standard library only.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Value = str | int | float
Options = tuple[str, ...] | Callable[[], tuple[str, ...]]


@dataclass(frozen=True)
class Setting:
    """What is known about one setting besides its name and default.

    Numbers carry ``minimum``, ``maximum`` and ``step``; choices carry ``options``; text carries
    ``maximum`` as its greatest number of characters. ``options`` may be a function, for menus that
    follow a registry. ``when`` names another setting and the value it must have for this one to
    mean anything: ``("mask", "window")``. ``divides`` names a number that a whole number must
    divide; only such numbers are offered.
    """

    label: str
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    options: Options = ()
    when: tuple[str, Value] | None = None
    divides: str = ""

    def choices(self) -> tuple[str, ...]:
        """The legal values of a choice, as they stand now; empty for numbers and text."""
        return self.options() if callable(self.options) else self.options


Declared = dict[str, tuple[Value, Setting]]


def setting(
    default: Value,
    label: str,
    *,
    help: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    step: float | None = None,
    options: Options = (),
    when: tuple[str, Value] | None = None,
    divides: str = "",
) -> Any:
    """A dataclass field that people can set; see :class:`Setting` for its parts."""
    about = Setting(label, help, minimum, maximum, step, options, when, divides)
    return dataclasses.field(default=default, metadata={"setting": about})


def seed_setting() -> Any:
    """The seed, the same setting wherever something is drawn at random."""
    return setting(
        0, "Seed", minimum=0, maximum=9999, step=1, help="Draws other random numbers, repeatably."
    )


def settings_of(schema: Any) -> Declared:
    """The settings declared by a dataclass, in order: name -> (default, its Setting)."""
    declared: Declared = {}
    for field in dataclasses.fields(schema):
        if "setting" in field.metadata:
            default: Any = field.default
            declared[field.name] = (default, field.metadata["setting"])
    return declared


def complaint(name: str, default: Value, about: Setting, value: object) -> str | None:
    """Why a value is not legal for a setting (what was expected, what came), or None if it is."""
    choices = about.choices()
    if choices:
        legal = value in choices
        return None if legal else f"{name} must be one of {', '.join(choices)}, got {value!r}"
    if isinstance(default, str):
        if not isinstance(value, str):
            return f"{name} must be text, got {value!r}"
        most, length = about.maximum or math.inf, len(value)
        too_long = f"{name} must have at most {most} characters, got {length}"
        return too_long if length > most else None
    whole = isinstance(default, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        return f"{name} must be {'a whole number' if whole else 'a number'}, got {value!r}"
    low = -math.inf if about.minimum is None else about.minimum
    high = math.inf if about.maximum is None else about.maximum
    inside = low <= value <= high
    return None if inside else f"{name} must lie between {low} and {high}, got {value}"


def divisors(number: int, most: int) -> list[int]:
    """The numbers from 1 to most that divide a number."""
    return [divisor for divisor in range(1, most + 1) if number % divisor == 0]


def check(config: Any) -> None:
    """Raise ValueError, naming what was expected and what came, unless every setting is legal."""
    for name, (default, about) in settings_of(config).items():
        if wrong := complaint(name, default, about, getattr(config, name)):
            raise ValueError(wrong)


def read(default: Value, text: str) -> Value:
    """The text of a setting as a value of its default's type, or the text where it is none.

    Whole numbers may be written with a point or an exponent, as in a link made by hand.
    """
    if isinstance(default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if isinstance(default, float):
        return number
    return int(number) if number.is_integer() else text


@dataclass(frozen=True)
class Config:
    """The settings of one attention variant; subclasses add their own with :func:`setting`.

    ``d_model`` is the width of the vectors the variant is applied to; it follows from the vectors
    and is therefore not a setting of its own.
    """

    d_model: int = 50

    def __post_init__(self) -> None:
        if self.d_model < 1:
            raise ValueError(f"d_model must be at least 1, got {self.d_model}")
        check(self)
