"""Norms taken apart: what each makes of the parts of a sum."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core.norms import RmsNorm
from attention.trained.parts import LayerNorm

WIDTH = 7


def drawn(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(
    ("norm", "bias"),
    [
        (LayerNorm(drawn(WIDTH), drawn(WIDTH) + 1, 1e-3), drawn(WIDTH) + 1),
        (LayerNorm(drawn(WIDTH), None, 0.0), 0.0),
        (RmsNorm(drawn(WIDTH), 1e-3), 0.0),
    ],
)
def test_what_a_norm_makes_of_parts_adds_up_to_the_norm_of_their_sum_less_its_bias(norm, bias):
    parts = drawn(11, 3, WIDTH)
    total = parts.sum(0)
    assert_close(norm.split(parts, total).sum(0), norm(total) - bias)
    assert_close(norm.split(total, total), norm(total) - bias)
    assert_close(norm.split(2 * parts, total), 2 * norm.split(parts, total))


def test_a_root_mean_square_norm_by_hand():
    """Of 3 and 4 the squares are 12.5 on average."""
    norm = RmsNorm(torch.tensor([1.0, 2.0]), 0.0)
    root = 12.5**0.5
    assert norm(torch.tensor([3.0, 4.0])).tolist() == pytest.approx([3 / root, 8 / root])
