"""Packaged runs, made at seed 0 by `python -m attention.training --write`."""

from __future__ import annotations

import functools
from dataclasses import fields
from pathlib import Path

from attention.training.run import Run, read
from attention.training.settings import TrainingSettings

FOLDER = Path(__file__).parent / "runs"


def path_of(settings: TrainingSettings) -> Path:
    """The file of a packaged run: named after its task and what differs from its usual settings."""
    differs = [
        f"{getattr(settings, each.name)}".replace(" ", "-")
        for each in fields(settings)
        if each.name != "task" and getattr(settings, each.name) != each.default
    ]
    return FOLDER / f"{'-'.join([settings.task, *differs])}.safetensors"


def finished(task: str) -> Run | None:
    """The packaged run of a task with its usual settings, None where there is none."""
    return packaged(TrainingSettings(task))


@functools.lru_cache(maxsize=64)
def packaged(settings: TrainingSettings) -> Run | None:
    """The packaged run of these settings, None where there is none."""
    path = path_of(settings)
    run = read(path) if path.exists() else None
    return run if run is not None and run.settings == settings else None
