"""The types of messages for the modules in the browser: `python -m tests.app.declarations`.

What each component is sent, and what its events carry, is declared beside it in Python. The same
is written for TypeScript from these types, before it checks the modules.
"""

from __future__ import annotations

import dataclasses
import pkgutil
import types
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints
from typing import is_typeddict as is_typed

import attention.app.components.answers  # noqa: F401, all components are declared then
from attention import figures, subjects
from attention.app.components.base import COMPONENTS
from attention.figures import scene
from attention.figures.modules import BROWSER
from attention.figures.scene_message import SceneHeader

FILE = BROWSER / "messages.d.ts"
PLAIN = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null"}


def declarations() -> str:
    """The text of that file."""
    named: dict[str, str] = {}
    headers, events = [], []
    subjects.declare_pages()
    for module in pkgutil.iter_modules(figures.__path__, f"{figures.__name__}."):
        import_module(module.name)
    _written(SceneHeader, named)
    every: dict[str, Any] = {**COMPONENTS, **scene.KINDS}
    for name, component in sorted(every.items()):
        first, *behind = (_written(header, named) for header in component.headers)
        headers.append(f"  {name}: {first}")
        headers += [f"  {name}_content: {header}" for header in behind]
        its = (f"{event}: {_written(kind, named)}" for event, kind in component.answers.items())
        events.append(f"  {name}: {{ {'; '.join(its)} }}".replace("{  }", "{}"))
    return (
        "\n\n".join(
            [
                "// Written by python -m tests.app.declarations, from the types in Python.",
                *named.values(),
                _interface("Headers", headers),
                _interface("Answers", events),
            ]
        )
        + "\n"
    )


def _interface(name: str, lines: Iterable[str]) -> str:
    return "\n".join([f"export interface {name} {{", *lines, "}"])


def _written(kind: Any, named: dict[str, str]) -> str:
    """A type as TypeScript writes it; those with fields are declared under their names."""
    origin = get_origin(kind)
    if origin is Literal:
        return " | ".join(f'"{text}"' for text in get_args(kind))
    parts = [_written(part, named) for part in get_args(kind) if part is not ...]
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is Any:
        return "unknown"
    if is_typed(kind) or dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        lines = []
        for field, its in ((name, hints[name]) for name in scene.sent_of(kind)):
            may_miss = get_origin(its) is NotRequired
            its = get_args(its)[0] if may_miss else its
            lines.append(f"  {field}{'?' if may_miss else ''}: {_written(its, named)}")
        named[kind.__name__] = _interface(kind.__name__, lines)
        return str(kind.__name__)
    if origin in (Union, types.UnionType):
        return " | ".join(parts)
    if origin is tuple and get_args(kind)[-1] is not ...:
        return f"[{', '.join(parts)}]"
    if origin in (list, tuple, Sequence):
        return f"({parts[0]})[]" if " | " in parts[0] else f"{parts[0]}[]"
    if origin in (dict, Mapping):
        return f"Record<{', '.join(parts)}>"
    raise TypeError(f"no message may hold {kind}")


if __name__ == "__main__":
    FILE.write_text(declarations(), "utf-8")
