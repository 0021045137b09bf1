"""Settings as data: one declaration gives a setting its default, label, bounds and help.

Everything that lets a person change a setting (widgets, links, error messages, tests) reads the
declarations made with :func:`setting`. Standard library only.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = str | int | float | tuple[str, ...]
Options = tuple[str, ...] | Callable[[], tuple[str, ...]]
Names = Mapping[str, str] | Callable[[], Mapping[str, str]]


@dataclass(frozen=True)
class Setting:
    """One setting: its name, its default, and what a value may be.

    Numbers carry ``minimum``, ``maximum`` and ``step``; choices carry ``options``; text carries
    ``maximum`` as its greatest number of characters. A choice whose default is a tuple may have
    any number of its options. ``options`` may be a function, for menus that follow a registry.
    ``when`` names another setting and the value, or one of the values, it must have, or hold, for
    this one to have any effect: ``("mask", "window")``; ``unless`` one it must not have.
    ``divides`` names the setting, or d_model, that a whole number must divide; only such numbers
    are offered. ``exact``: a number to be typed, with all its digits, and not moved to in steps.
    ``names``: by option its title in a search, and behind a semicolon further names.
    """

    name: str
    default: Value
    label: str
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    options: Options = ()
    when: tuple[str, ...] | None = None
    unless: tuple[str, str] | None = None
    divides: str = ""
    exact: bool = False
    names: Names = dataclasses.field(default_factory=dict)

    @property
    def searched(self) -> Mapping[str, str]:
        """The names of options that a search finds, by option."""
        return self.names() if callable(self.names) else self.names

    @property
    def choices(self) -> tuple[str, ...]:
        """The legal values of a choice at this moment; empty for numbers and text."""
        return self.options() if callable(self.options) else self.options

    @property
    def is_text(self) -> bool:
        """True if any text up to the maximum length will do."""
        return isinstance(self.default, str) and not self.choices

    def applies(self, value_of: Callable[[str], Value]) -> bool:
        """True if the setting has any effect while the others have the values of `value_of`."""
        if self.unless is not None and value_of(self.unless[0]) == self.unless[1]:
            return False
        if self.when is None:
            return True
        name, *values = self.when
        other = value_of(name)
        return any(
            value in other if isinstance(other, tuple) else value == other for value in values
        )

    def problem(self, value: object) -> str | None:
        """Why a value is not legal: what was expected and what came. None where it is legal."""
        name, choices = self.name, self.choices
        if isinstance(self.default, tuple):
            some = isinstance(value, tuple) and set(value) <= set(choices)
            return None if some else f"{name} must be some of {', '.join(choices)}, got {value!r}"
        if choices:
            one = value in choices
            return None if one else f"{name} must be one of {', '.join(choices)}, got {value!r}"
        if isinstance(self.default, str):
            if not isinstance(value, str):
                return f"{name} must be text, got {value!r}"
            longest = self.maximum or math.inf
            too_long = f"{name} must have at most {longest} characters, got {len(value)}"
            return too_long if len(value) > longest else None
        whole = isinstance(self.default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            return f"{name} must be {'a whole number' if whole else 'a number'}, got {value!r}"
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        inside = low <= value <= high
        return None if inside else f"{name} must lie between {low} and {high}, got {value}"

    def parse(self, text: str) -> Value:
        """The text of a value as one of the default's type, or the text where it is none.

        Whole numbers may be written with a point or an exponent, as in a link written by hand.
        A choice of several reads as that one option.
        """
        if isinstance(self.default, tuple):
            return (text,)
        if isinstance(self.default, str):
            return text
        try:
            number = float(text)
        except ValueError:
            return text
        if isinstance(self.default, float):
            return number
        return int(number) if number.is_integer() else text

    def parse_all(self, texts: Sequence[str]) -> Value:
        """The value that a link gives by one or more texts: the last one counts.

        A choice of several takes all of them, in the order of its options.
        """
        if not isinstance(self.default, tuple):
            return self.parse(texts[-1])
        unknown = [text for text in texts if text not in self.choices]
        return (*(choice for choice in self.choices if choice in texts), *unknown)


Declared = dict[str, Setting]


def setting(default: Value, label: str, **about: Any) -> Any:
    """A dataclass field that people can set; about: further fields of :class:`Setting`."""
    return dataclasses.field(
        default=default, metadata={"setting": Setting("", default, label, **about)}
    )


def choice(default: str | tuple[str, ...], label: str, options: Options, **about: Any) -> Any:
    """One of the options; any number of them where the default is a tuple."""
    return setting(default, label, options=options, **about)


def text(default: str, label: str, longest: int, **about: Any) -> Any:
    """Any text of up to `longest` characters."""
    return setting(default, label, maximum=longest, **about)


def whole(default: int, label: str, low: int, high: int, **about: Any) -> Any:
    """A whole number from low to high."""
    return setting(default, label, minimum=low, maximum=high, step=1, **about)


def decimal(default: float, label: str, low: float, high: float, step: float, **about: Any) -> Any:
    """A number from low to high, in steps."""
    return setting(default, label, minimum=low, maximum=high, step=step, **about)


def same_as(schema: Any, name: str) -> Any:
    """The field of that name that another dataclass declares: one setting, of both."""
    (field,) = (field for field in dataclasses.fields(schema) if field.name == name)
    return dataclasses.field(default=field.default, metadata=field.metadata)


def seed_setting() -> Any:
    """The seed, the same setting wherever something is drawn at random."""
    return whole(
        0,
        "Seed",
        0,
        9999,
        help="Draws other random numbers, repeatably. "
        "Parameters made of them are random and untrained: what they attend to says nothing about "
        "language.",
    )


def settings_of(schema: Any) -> Declared:
    """The settings that a dataclass, or an instance of one, declares: by name, in order."""
    return dict(_settings_of(schema if isinstance(schema, type) else type(schema)))


@functools.cache
def _settings_of(schema: Any) -> Declared:
    return {
        field.name: dataclasses.replace(field.metadata["setting"], name=field.name)
        for field in dataclasses.fields(schema)
        if "setting" in field.metadata
    }


def read_numbers(text: str) -> list[int]:
    """The numbers that a text names, as in "0,2,3", each once, in order.

    Raises ValueError, saying how they are written, where it has anything else.
    """
    words = text.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise ValueError(
                f"Heads are written as numbers with commas between, as in 0,2,3, got {word[:20]!r}"
            )
    return sorted({int(word) for word in words})


def divisors(number: int, largest: int) -> list[int]:
    """The numbers from 1 to `largest` that divide a number."""
    return [divisor for divisor in range(1, largest + 1) if number % divisor == 0]


def with_divisors(declared: Declared, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values, each that must divide another lowered to the greatest that does.

    values: of all settings that are divided, d_model among them; the others may be left out.
    """
    fitting = {name: about.default for name, about in declared.items()} | dict(values)
    for name, about in declared.items():
        if about.divides:
            most, whole = fitting[name], fitting[about.divides]
            assert isinstance(most, int)
            assert isinstance(whole, int)
            fitting[name] = max(divisors(whole, most), default=most)
    return fitting


def validate(config: Any) -> None:
    """Raise ValueError, naming what was expected and what came, unless every setting is legal."""
    for name, about in settings_of(config).items():
        value = getattr(config, name)
        if problem := about.problem(value):
            raise ValueError(problem)
        if about.divides and getattr(config, about.divides) % value:
            whole = getattr(config, about.divides)
            raise ValueError(f"{name} must divide {about.divides} = {whole}, got {value}")


@dataclass(frozen=True)
class Config:
    """The settings of one attention variant; subclasses add their own with :func:`setting`.

    ``d_model`` is the width of the vectors the variant is applied to; it follows from the vectors
    and is therefore not a setting itself.
    """

    d_model: int = 50

    def __post_init__(self) -> None:
        if self.d_model < 1:
            raise ValueError(f"d_model must be at least 1, got {self.d_model}")
        validate(self)
