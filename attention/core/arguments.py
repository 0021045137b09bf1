"""Arguments of a wrong kind, answered in a sentence that says what was expected and what came."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real

TITLES = {
    **{"int": "a whole number", "float": "a number", "str": "a str"},
    **{"Sequence": "a list", "Callable": "a function"},
}
NUMBERS: dict[type, type] = {int: Integral, float: Real}  # numpy's too


def must_be(name: str, given: object, *kinds: type, how: str = "") -> None:
    """Raises ValueError unless an argument is of one of these types; bool is no number.

    how: where one comes from, as "model.run(text) gives one".
    """
    if not _is(given, kinds):
        expected = " or ".join(map(_title, kinds))
        raise ValueError(f"{name} must be {expected}{how and f' ({how})'}, got {_came(given)}")


def must_be_several(name: str, given: object, *kinds: type, example: str) -> None:
    """Raises ValueError unless an argument is a list, or the like, of these types.

    example: such a list, as "[3]"; a text is no list of texts.
    """
    many: object = given.tolist() if hasattr(given, "tolist") else given  # tensors and arrays
    text = isinstance(many, str | bytes)
    if text or not isinstance(many, Collection) or not all(_is(each, kinds) for each in many):
        expected = " or ".join(map(_title, kinds))
        raise ValueError(
            f"{name} must be a list, each {expected}, as {example}, got {_came(given)}"
        )


def must_be_within(name: str, given: object, count: int) -> None:
    """Raises ValueError unless a position is one of so many, or one counted from the end."""
    must_be(name, given, int)
    if not (isinstance(given, Integral) and -count <= int(given) < count):
        raise ValueError(f"{name} must be one of {count}, counted from 0, got {given}")


def _is(given: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(given, bool):
        return bool in kinds
    return isinstance(given, tuple(NUMBERS.get(kind, kind) for kind in kinds))


def _title(kind: type) -> str:
    name = kind.__name__
    return TITLES.get(name, name if name.endswith("s") else f"a {name}")


def _came(given: object) -> str:
    said = repr(given)
    kind = type(given).__name__
    return f"{said if len(said) <= 60 else f'{said[:60]}…'} ({kind})"
