"""A training as it was told, in memory and as a safetensors file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, save, save_file
from torch import Tensor, nn

from attention.training.settings import TrainingSettings

NAMED = ("loss", "accuracy", "seconds", "measures")


@dataclass(frozen=True, eq=False)
class Progress:
    """State of a training after some steps.

    loss: of each network, in nats, the mean since the last progress (at step 0 on one batch);
    accuracy: shares by curve, see `Task.curves`; seconds: of the processor, each network's own
    until now; maps: the weights over the fixed example, see `Task.maps`; measures: of each head,
    (layers, heads); networks: as they are now, empty where they are elsewhere.
    """

    step: int
    loss: Mapping[str, float]
    accuracy: Mapping[str, float]
    seconds: Mapping[str, float]
    maps: Tensor
    measures: Mapping[str, Tensor] = field(default_factory=dict)
    networks: Mapping[str, nn.Module] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """Settings of a training, and how far it was each time: `progress` is never empty."""

    settings: TrainingSettings
    progress: Sequence[Progress]

    @property
    def last(self) -> Progress:
        """The latest progress."""
        return self.progress[-1]

    @property
    def nbytes(self) -> int:
        """Bytes that its maps take."""
        return sum(each.maps.nbytes for each in self.progress)

    def accuracy(self, curve: str) -> float:
        """The latest share of right answers of a curve."""
        return self.last.accuracy[curve]


def to_bytes(progress: Progress) -> bytes:
    """A progress as safetensors, without its networks; its maps as 16-bit floats."""
    return save(_tensors(progress))


def from_bytes(data: bytes) -> Progress:
    """A progress as `to_bytes` writes it."""
    return _progress(load(data))


def write(run: Run, path: Path, **more: str) -> None:
    """Write a run into a safetensors file. more: further words, as the command it was made by.

    Each tensor has all its moments; of what is not told from the first on, it has the last ones.
    """
    told = [_tensors(progress) for progress in run.progress]
    tensors = {
        name: torch.stack([each[name] for each in told if name in each]) for name in told[-1]
    }
    save_file(tensors, path, {"settings": json.dumps(asdict(run.settings)), **more})


def read(path: Path) -> Run:
    """A run as `write` has written it. Raises ValueError where the file has another shape."""
    settings = TrainingSettings(**json.loads(about(path).get("settings", "{}")))
    tensors = load_file(path)
    if "step" not in tensors:
        raise ValueError(f"{path.name} must hold a run, got {[*tensors] or 'no tensors'}")
    told: list[dict[str, Tensor]] = [{} for _ in tensors["step"]]
    for name, stacked in tensors.items():
        for each, tensor in zip(told[-len(stacked) :], stacked, strict=True):
            each[name] = tensor
    return Run(settings, [_progress(each) for each in told])


def about(path: Path) -> dict[str, str]:
    """Words that a safetensors file carries."""
    with safe_open(path, "pt") as file:
        return dict(file.metadata() or {})


def _tensors(progress: Progress) -> dict[str, Tensor]:
    tensors = {
        f"{kind}.{name}": torch.as_tensor(number, dtype=torch.float64).contiguous()
        for kind in NAMED
        for name, number in getattr(progress, kind).items()
    }
    step, maps = torch.tensor(progress.step), progress.maps.half().contiguous()
    return tensors | {"step": step, "maps": maps}


def _progress(tensors: Mapping[str, Tensor]) -> Progress:
    named: dict[str, dict[str, Any]] = {kind: {} for kind in NAMED}
    for key, tensor in tensors.items():
        kind, dot, name = key.partition(".")
        if dot:
            named[kind][name] = tensor if tensor.dim() else tensor.item()
    return Progress(int(tensors["step"]), maps=tensors["maps"].float(), **named)
