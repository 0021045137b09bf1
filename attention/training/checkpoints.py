"""Parameters of networks that have learned, as safetensors files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from attention.training.run import about
from attention.training.settings import TrainingSettings
from attention.training.tasks import ATTENTION, TASKS


def write_checkpoint(path: Path, settings: TrainingSettings, network: nn.Module) -> None:
    """Write the parameters of a network into a safetensors file, with the settings."""
    tensors = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    save_file(tensors, path, {"settings": json.dumps(asdict(settings))})


def read_checkpoint(path: Path) -> tuple[TrainingSettings, nn.Module]:
    """The settings of a checkpoint, and the network with attention that it holds."""
    settings = TrainingSettings(**json.loads(about(path)["settings"]))
    task = TASKS[settings.task](settings)
    network = task.learners(torch.Generator().manual_seed(0))[ATTENTION]
    network.load_state_dict(load_file(path))
    return settings, network
