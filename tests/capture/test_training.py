"""Runs of a training loop: some of them, each in a file of its own."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import nn

import attention
from attention.capture import Recording, open_folder
from tests.capture.making import OwnAttention, inputs, model


def train(steps: int, **options):
    """Train: what is captured, the losses, the keys before each step; without options, plainly."""
    net, criterion = model(OwnAttention(is_causal=True)), nn.MSELoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    losses, keys = [], []
    with attention.capture(**options) if options else nullcontext() as captured:
        for step in range(steps):
            keys.append(net[0].mix.keys(inputs(seed=step)).detach())
            loss = criterion(net(inputs(seed=step)), torch.zeros(2, 7, 12))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return captured, losses, keys


def test_every_third_run_is_a_file_of_a_folder_and_learning_is_as_without(tmp_path):
    captured, losses, keys = train(8, every=3, into=tmp_path / "runs")
    assert losses == train(8)[1]
    names = [f"0000000{step}-Sequential.safetensors" for step in (0, 3, 6)]
    assert [path.name for path in captured.files] == names
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == names
    assert captured.runs == []
    opened = Recording.open(captured.files[1])
    assert opened.step == 3
    expected = keys[3].unflatten(-1, (3, 4)).transpose(1, 2)
    assert torch.equal(opened.attentions[0].keys, expected)
    (tmp_path / "runs" / "model.safetensors").touch()
    runs = open_folder(tmp_path / "runs")
    assert [*runs] == [0, 3, 6]
    assert runs[3].step == 3
    assert runs.show([*"abcdefg"], layer=0, head=2) == runs[6].show([*"abcdefg"], layer=0, head=2)


def test_a_folder_of_several_models_or_none_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"files of one model, as 00000100-Model.*, got none"):
        open_folder(tmp_path)
    refused = pytest.raises(ValueError, match="every must be 1 or more, got 0")
    with refused, attention.capture(every=0):
        pass
    with attention.capture(into=tmp_path):
        model(OwnAttention())(inputs())
        OwnAttention()(inputs())
    with pytest.raises(ValueError, match=r"got OwnAttention, Sequential: name one, as open_folder"):
        open_folder(tmp_path)
    assert [*open_folder(tmp_path, "OwnAttention")] == [0]
