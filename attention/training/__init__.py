"""Small tasks learned live on a CPU, with this project's own layers, told step by step.

`settings` says what decides a training, `networks` are what learns, `tasks` what is learned, one
class each, `fitting.fit` trains and tells, `run` keeps what was told, also as a file,
`checkpoints` what has learned, `finished` are the packaged runs, `worker` trains in another
process.

May import: core; torch, safetensors.
"""

from attention.training.fitting import fit
from attention.training.run import Progress, Run
from attention.training.settings import TrainingSettings
from attention.training.tasks import TASKS

__all__ = ["TASKS", "Progress", "Run", "TrainingSettings", "fit"]
