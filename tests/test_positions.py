"""Position encodings against their definition."""

from __future__ import annotations

import math

import pytest
import torch

from attention.positions import sinusoidal


@pytest.mark.parametrize(("n_tokens", "d_model"), [(3, 5), (7, 11), (11, 2), (5, 1), (1, 7)])
def test_sinusoidal_is_sines_and_cosines_of_the_position(n_tokens: int, d_model: int) -> None:
    encoding = sinusoidal(n_tokens, d_model)
    assert encoding.shape == (n_tokens, d_model)
    assert encoding.dtype == torch.float32
    for position in range(n_tokens):
        for dimension in range(d_model):
            wave = (math.sin, math.cos)[dimension % 2]
            angle = position / 10000 ** (dimension // 2 * 2 / d_model)
            assert encoding[position, dimension].item() == pytest.approx(wave(angle), abs=1e-7)


def test_the_first_position_is_zeros_and_ones() -> None:
    assert sinusoidal(3, 7)[0].tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_far_positions_stay_exact_within_bounds_and_different() -> None:
    encoding = sinusoidal(512, 50)
    assert encoding.abs().max() <= 1
    assert encoding[511, 0].item() == pytest.approx(math.sin(511), abs=1e-7)
    assert len(encoding.unique(dim=0)) == 512


def test_positions_depend_on_the_offset_alone() -> None:
    encoding = sinusoidal(11, 8)
    products = encoding @ encoding.T
    assert torch.allclose(products.diagonal(3), products[0, 3].expand(8), atol=1e-5)


def test_no_tokens_have_no_positions() -> None:
    assert sinusoidal(0, 5).shape == (0, 5)
