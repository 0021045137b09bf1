"""Registries: entries by name, each of which is refused where a part of it is missing."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from importlib import import_module
from pkgutil import iter_modules

from attention.core.printing import listed


def lacking(entry: type) -> list[str]:
    """Names of the parts that a class has to say and does not, in order.

    These are the class variables that a base of it declares without a value, the abstract methods,
    and a docstring.
    """
    declared = {
        name: None
        for base in reversed(entry.__mro__)
        for name, kind in inspect.get_annotations(base).items()
        if "ClassVar" in str(kind)
    }
    absent = [name for name in declared if not hasattr(entry, name)]
    for name in dir(entry):
        if getattr(inspect.getattr_static(entry, name), "__isabstractmethod__", False):
            absent.append(name)
    return absent if entry.__doc__ else [*absent, "docstring"]


def check_entry(
    kind: str, entry: type, name: str, known: Iterable[str], own: Sequence[str] = ()
) -> None:
    """Refuse a class that cannot stand in a registry.

    kind: in words; known: names that the registry has; own: parts that no base can say for it.
    Raises ValueError, naming all that the class lacks, or where its name is taken.
    """
    absent = dict.fromkeys((*lacking(entry), *(part for part in own if part not in vars(entry))))
    if absent:
        raise ValueError(f"{kind} {entry.__name__} lacks its {listed(absent)}")
    if name in known:
        raise ValueError(f"{kind} {name!r} is registered already")


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import all modules of a package, by name, so that what they register is there."""
    for module in iter_modules(path):
        import_module(f"{package}.{module.name}")
