"""Runs of any model: queries and keys kept as its own kernels run, weights made when asked for.

`attention.capture()` is this room, called: see `capturing.capture`. `attentions` are kept with all
that is made of each, `recurrences` those without a softmax, `recording` is a whole run of them,
`masking` holds masks and biases in little room, `calls` what one call of an attention function
says, `marks` marks weights of one's own code, `handing` reads how heads are handed on, `functions`
sees the calls of torch's, `transformers_models` those of models of transformers, `kernels` those of
their layers without a softmax, `compiled` those of compiled functions, `mixing` tells that a module
mixes tokens, `watching` hands on all of these as models run, `runs` puts calls together to runs,
`growing` those of one attention, `report` is a table of what was kept, `files` saves and opens runs
(`checks` what a file says, `recurring_files` of layers without a softmax), `folders` opens those of
a training loop, and `trainers` keeps those of a `Trainer`.

May import: core; torch, pandas, safetensors, transformers.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

from attention.capture.attentions import Attention
from attention.capture.capturing import Captured, capture
from attention.capture.folders import Recordings, open_folder
from attention.capture.recording import Recording
from attention.capture.trainers import keep_runs

__all__ = ["Attention", "Captured", "Recording", "Recordings", "keep_runs", "open_folder"]


class _Room(ModuleType):
    """This module, which can be called as the function in it."""

    def __call__(self, **options: Any) -> AbstractContextManager[Captured]:
        return capture(**options)


sys.modules[__name__].__class__ = _Room
