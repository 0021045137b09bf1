"""Packaged runs, one for each task, made at seed 0 by `python -m attention.training --write`."""

from __future__ import annotations

import functools
from pathlib import Path

from attention.training.run import Run, read
from attention.training.settings import TrainingSettings

FOLDER = Path(__file__).parent / "runs"


@functools.cache
def finished(task: str) -> Run | None:
    """The packaged run of a task with its usual settings, None where there is none."""
    path = FOLDER / f"{task}.safetensors"
    return read(path) if path.exists() else None


def packaged(settings: TrainingSettings) -> Run | None:
    """The packaged run of these settings, None where they are others."""
    run = finished(settings.task)
    return run if run is not None and run.settings == settings else None
