"""Models, and what was tuned of them: copies of which every number is moved a little."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attention.trained.checkpoints import load_folder
from attention.trained.models import Model, tensors_of
from tests.changing.kinds import TINY
from tests.trained.making import write_checkpoint


@torch.no_grad()
def tuned(model: Any, by: float = 0.1) -> Any:
    """The model, its every number moved a little."""
    generator = torch.Generator().manual_seed(7)
    moved = tensors_of([*vars(model).values()]) if isinstance(model, Model) else model.parameters()
    for each in {each.data_ptr(): each for each in moved if each.is_floating_point()}.values():
        each.add_(
            torch.randn(each.shape, generator=generator),
            alpha=by * float(each.std(0, correction=int(len(each) > 1)).mean()),
        )
    return model


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Model]:
    """A model of a known layout whose heads share keys, and what was tuned of it."""
    folder = tmp_path_factory.mktemp("known")
    write_checkpoint(folder, "llama")
    return load_folder(folder, TINY), tuned(load_folder(folder, TINY))
