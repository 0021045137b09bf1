"""One test over many cases, where a case is no claim of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def parts_of(trace: object) -> dict[str, Any]:
    """Numbers of a trace by their names."""
    return {name: part for name, part in vars(trace).items() if name != "weighing"}


def over(name: str, cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Runs a test for each of these values of an argument; a failure names its value.

    As `pytest.mark.parametrize`, but as one test: "name, other" has values of two arguments. The
    other arguments are set up once.
    """
    names, values = name.split(", "), list(cases)
    assert values, f"no case of {name}"

    def joined(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        others = [given for given in signature.parameters.values() if given.name not in names]

        @functools.wraps(test)
        def run(**given: Any) -> None:
            for value in values:
                parts = value if len(names) > 1 else [value]
                try:
                    test(**given, **dict(zip(names, parts, strict=True)))
                except BaseException as failure:
                    failure.add_note(f"{name} = {value!r}"[:1000])
                    raise

        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return joined
