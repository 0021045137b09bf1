"""Small tasks learned live on a CPU, with this project's own layers, told step by step.

`settings` says what decides a training, `networks` are what learns, `tasks` what is learned, one
class each, `fitting.fit` trains and tells, `run` keeps what was told, also as a file,
`finished` are the packaged runs, `tuning` tunes a known model, `worker` trains in another
process. A task of one's own is a class of `Task` behind `register`: docs/training.md has one.

May import: core, trained, changing; torch, safetensors.
"""

from attention.training.fitting import fit
from attention.training.networks import Writer
from attention.training.run import Progress, Run
from attention.training.settings import Sizes, TrainingSettings
from attention.training.tasks import ATTENTION, TASKS, Batch, Example, Target, Task, register

__all__ = [
    "ATTENTION",
    "TASKS",
    "Batch",
    "Example",
    "Progress",
    "Run",
    "Sizes",
    "Target",
    "Task",
    "TrainingSettings",
    "Writer",
    "fit",
    "register",
]
