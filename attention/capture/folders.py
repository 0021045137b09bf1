"""The recordings of a folder, as `capture(into=…)` writes them: one model, step by step."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attention.capture.recording import Recording

FILE = re.compile(r"(\d{8,15})-(.+)\.safetensors")


class Recordings(Mapping[int, Recording]):
    """Recordings of a model by their steps, in rising order; each is opened when asked for."""

    def __init__(self, files: Mapping[int, Path]) -> None:
        self.files = dict(sorted(files.items()))

    def __getitem__(self, step: int) -> Recording:
        return Recording.open(self.files[step])

    def __iter__(self) -> Iterator[int]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def show(self, tokens: Sequence[str] | None = None, **options: Any) -> Any:
        """`attention.show(self, tokens, …)`: the run of a step, with a slider over all steps."""
        return sys.modules[__name__.partition(".")[0]].show(self, tokens, **options)


def open_folder(folder: str | Path, model: str | None = None) -> Recordings:
    """The recordings that `capture(into=folder)` has written of a model.

    model: its name in the files' names, where there are several. Raises ValueError where there is
    none, or more than one.
    """
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(Path(folder).iterdir()):
        if named := FILE.fullmatch(path.name):
            found.setdefault(named[2], {})[int(named[1])] = path
    names = ", ".join(sorted(found))[:300] or "none"
    if model is None and len(found) == 1:
        return Recordings(*found.values())
    if model not in found:
        expected = "files of one model" if model is None else f"files of the model {model}"
        more = ": name one, as open_folder(folder, model=…)" if len(found) > 1 else ""
        raise ValueError(
            f"the folder must have {expected}, as 00000100-{model or 'Model'}.safetensors, "
            f"got {names}{more}"
        )
    return Recordings(found[model])
