"""Runs of one input kept at chosen steps of a `Trainer` of transformers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attention.capture.capturing import capture

if TYPE_CHECKING:
    from transformers import TrainerCallback


def keep_runs(
    inputs: Mapping[str, Tensor],
    into: str | Path,
    steps: Collection[int],
    tokens: Sequence[str] | None = None,
) -> TrainerCallback:
    """Callback for a `Trainer` that keeps a run of the same input at each of these steps.

    inputs: as the model takes them; into: the folder for files that `open_folder` opens, with
    values and no gradients, the model as in a test; steps: optimiser steps that are done, 0 =
    before the first; tokens: names of the positions. Raises ValueError for steps below 0.
    """
    from transformers import TrainerCallback

    if any(step < 0 for step in steps):
        raise ValueError(f"steps must be at least 0, got {sorted(steps)}")

    class KeepRuns(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self.on_step_end(args, state, control, **more)

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.global_step not in steps:
                return
            model, training = more["model"], more["model"].training
            moved = {name: tensor.to(model.device) for name, tensor in inputs.items()}
            model.eval()
            with torch.no_grad(), capture(values=True) as captured:
                model(**moved)
            model.train(training)
            Path(into).mkdir(parents=True, exist_ok=True)
            name = f"{state.global_step:08d}-{type(model).__name__}.safetensors"
            captured.save(Path(into) / name, tokens=tokens)

    return KeepRuns()
